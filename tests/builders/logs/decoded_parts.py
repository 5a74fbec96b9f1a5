"""Decoded tables of many short logs at once, as an ingest makes them: one call decodes all, since a call costs the same
for one log as for hundreds."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tests.builders.logs.short_logs import ShortLog
from tests.make.log import Decoded, LoggedBatch, without_columns
from tests.make.log import decoded as decoded_logs


def decoded(logs: Sequence[ShortLog]) -> list[list[Decoded]]:
    """Of each log, what each of its runs brings."""
    tables = decoded_logs(list(map(batches_of, logs)))
    return [runs_of(log, of_log) for log, of_log in zip(logs, tables, strict=True)]


def batches_of(log: ShortLog) -> list[LoggedBatch]:
    return [batch for part in log.parts for batch in part.batches]


def runs_of(log: ShortLog, tables: Decoded) -> list[Decoded]:
    if log.is_archive:
        tables = {name: without_columns(rows) for name, rows in tables.items()}
    return [{name: of_run(rows, log, run) for name, rows in tables.items()} for run in range(log.num_runs)]


def of_run(rows: pa.Table, log: ShortLog, run: int) -> pa.Table:
    offsets = rows.column("record_offset").to_numpy()
    mask = np.zeros(len(offsets), np.bool_)
    for part in log.of_run(run):
        mask |= (offsets >= part.first) & (offsets <= part.last)
    return rows.filter(pa.array(mask))
