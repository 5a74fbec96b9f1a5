"""What is wrong with records before any group is asked: they cannot be read, or stand where they do not belong."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from schemas.history_words import AnomalyKind, Confidence, Severity
from udfs.replay.rows import Rows

# A key opens with its type; the group's name follows with its length.
NAME_AT = 4


def group_of(key: bytes | None) -> str | None:
    """The group that a key names, as far as it can be read: those of all types begin alike."""
    if key is None or len(key) < NAME_AT:
        return None
    size = int.from_bytes(key[2:NAME_AT], "big", signed=True)
    if size < 0 or len(key) < NAME_AT + size:
        return None
    try:
        return key[NAME_AT : NAME_AT + size].decode()
    except UnicodeDecodeError:
        return None


def add_unreadable(rows: Rows, rejected: pa.Table) -> None:
    columns = ("record_offset", "record_time", "record_type", "reason", "part", "field", "key_bytes")
    values = rejected.set_column(
        rejected.column_names.index("record_time"), "record_time", rejected.column("record_time").cast(pa.int64())
    )
    for offset, time, kind, reason, part, field, key in zip(
        *(values.column(name).to_pylist() for name in columns), strict=True
    ):
        where = part if field is None else f"{part}, field {field}"
        told = f"record of type {kind} cannot be read: {reason} ({where}); the rest was replayed"
        anomaly = (AnomalyKind.UNREADABLE_RECORD, Severity.WARNING, offset, time, told, offset, offset)
        rows.add("replay_anomalies", (group_of(key), *anomaly, Confidence.CERTAIN))


def java_hash(name: str) -> int:
    """Of a string of Java: over units of UTF-16, as a signed number of 32 bits."""
    found = 0
    for unit in np.frombuffer(name.encode("utf-16-le", "surrogatepass"), "<u2").tolist():
        found = (31 * found + unit) & 0xFFFFFFFF
    return found - (1 << 32) if found >= 1 << 31 else found


def partition_for(group_id: str, num_partitions: int) -> int:
    found = java_hash(group_id)
    return 0 if found == -(1 << 31) else abs(found) % num_partitions


def add_misplaced(
    rows: Rows, first_records: Iterable[tuple[str, int, int | None]], partition: int, num_partitions: int | None
) -> None:
    """`first_records`: of groups that are new, with offset and time of their first record."""
    if num_partitions is None:
        return
    for group_id, offset, time in first_records:
        expected = partition_for(group_id, num_partitions)
        if expected != partition:
            told = f"stands in partition {partition}, of {num_partitions} partitions {expected} was expected"
            anomaly = (AnomalyKind.GROUP_IN_WRONG_PARTITION, Severity.WARNING, offset, time, told, offset, offset)
            rows.add("replay_anomalies", (group_id, *anomaly, Confidence.CERTAIN))
