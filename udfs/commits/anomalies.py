"""Anomalies found in whole columns of commits, as rows of replay_anomalies."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from schemas.tables import TABLES
from schemas.words.history import AnomalyKind, Confidence, Severity
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import Numbers, every, times

SCHEMA = table_schema(TABLES["replay_anomalies"])


@dataclass(frozen=True)
class CommitAnomalies:
    """For each row, the record at which it shows; `first_offset` is where its evidence begins."""

    group: pa.Array
    offset: Numbers
    time: Numbers
    first_offset: Numbers
    messages: Sequence[str]


def certain_rows(kind: AnomalyKind, anomalies: CommitAnomalies, cluster: str, partition: int) -> pa.Table:
    """Rows that do no harm: the log is read correctly, but not as some users may expect."""
    size = len(anomalies.messages)
    columns = {
        "cluster": every(cluster, pa.string(), size),
        "group_id": anomalies.group,
        "kind": every(str(kind), pa.string(), size),
        "severity": every(str(Severity.INFO), pa.string(), size),
        "record_offset": pa.array(anomalies.offset),
        "record_time": times(anomalies.time),
        "message": pa.array(anomalies.messages, pa.string()),
        "evidence_partition": every(partition, pa.int32(), size),
        "evidence_first_offset": pa.array(anomalies.first_offset),
        "evidence_last_offset": pa.array(anomalies.offset),
        "confidence": every(str(Confidence.CERTAIN), pa.string(), size),
    }
    return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)
