"""What rules of one offsets partition are given, from rows as dictionaries; what is not named is NULL or plain."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from schemas.tables import TABLES
from tests.builders.tables.history import PARTITION, at
from tests.make.tables import filled
from udfs.lag.partition_history import COMMITS, READ, BrokerSettings, PartitionHistory
from udfs.lag.watermarks import Watermarks

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(seconds: float) -> int:
    """So many seconds after START, since 1970."""
    return round((at(seconds) - EPOCH).total_seconds() * 1_000_000)


def partition_history(rows: Rows, as_of: float, broker: BrokerSettings | None = None) -> PartitionHistory:
    """`rows` by table; `as_of` in seconds after START."""
    tables = {name: filled(TABLES[name], rows.get(name, ())).select(list(columns)) for name, columns in READ.items()}
    commits = filled(TABLES["offset_commits"], rows.get("offset_commits", ())).select(list(COMMITS))
    snapshots = filled(TABLES["topic_snapshots"], rows.get("topic_snapshots", ()))
    marks = Watermarks.of(snapshots)
    return PartitionHistory(PARTITION, tables, commits, marks, micros(as_of), broker or BrokerSettings())
