"""Problems of records that show without their group: they cannot be read, or are where they do not belong."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from jobs.replaying.task.replay_messages import Rules
from schemas.words.history import AnomalyKind, Confidence, Severity
from udfs.groups.group_partition import partition_for
from udfs.groups.history.anomaly_rows import anomaly_row
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.records import Moment
from udfs.sentences.counts import counted

# A key begins with its type; then come the length and the text of the group id.
NAME_AT = 4


def group_of(key: bytes | None) -> str | None:
    """The group in a key, if it can be read: keys of all types begin in the same way."""
    if key is None or len(key) < NAME_AT:
        return None
    size = int.from_bytes(key[2:NAME_AT], "big", signed=True)
    if size < 0 or len(key) < NAME_AT + size:
        return None
    try:
        return key[NAME_AT : NAME_AT + size].decode()
    except UnicodeDecodeError:
        return None


def add_unreadable(rows: RowsByTable, rejected: pa.Table) -> None:
    columns = ("record_offset", "record_time", "record_type", "reason", "part", "field", "key_bytes")
    values = rejected.set_column(
        rejected.column_names.index("record_time"), "record_time", rejected.column("record_time").cast(pa.int64())
    )
    for offset, time, kind, reason, part, field, key in zip(
        *(values.column(name).to_pylist() for name in columns), strict=True
    ):
        where = part if field is None else f"{part}, field {field}"
        message = f"record of type {kind} cannot be read: {reason} ({where}); the rest was replayed"
        at = Moment(offset, time)
        rows.add(anomaly_row(group_of(key), AnomalyKind.UNREADABLE_RECORD, Severity.WARNING, at, message))


def add_misplaced(
    rows: RowsByTable, first_records: Iterable[tuple[str, int, int | None]], partition: int, rules: Rules
) -> None:
    """`first_records`: of new groups, with offset and time of their first record."""
    split = dict(rules.split_groups)
    for group_id, offset, time in first_records:
        answer = misplaced(group_id, partition, rules.num_offsets_partitions, split)
        if answer is not None:
            message, confidence = answer
            kind, at = AnomalyKind.GROUP_IN_WRONG_PARTITION, Moment(offset, time)
            rows.add(anomaly_row(group_id, kind, Severity.WARNING, at, message, confidence=confidence))


def misplaced(
    group_id: str, partition: int, number: int | None, split: Mapping[str, Sequence[int]]
) -> tuple[str, Confidence] | None:
    if number is None:
        if group_id not in split:
            return None
        places = ", ".join(map(str, split[group_id]))
        message = f"records of the group are in offsets partitions {places}; its coordinator reads only one of them"
        return message, Confidence.POSSIBLE
    expected = partition_for(group_id, number)
    if expected == partition:
        return None
    of = counted(number, "partition")
    message = f"records of the group are in offsets partition {partition}; its hash gives {expected} (of {of})"
    return message, Confidence.CERTAIN
