"""Records of consumer, share and streams groups from decoded tables. The replay, the audit and the progress of upgrades
read them here. What is in the value of each kind of record is read by `record_kinds`."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from schemas.records.registry import types_by_group_type
from schemas.words.history import TaskRole
from udfs.groups.readers.negative_partitions import negative_partitions, some_of
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import array, column, one_piece, places_of
from udfs.groups.readers.record_kinds import READERS_OF_TABLES, Reader
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

# Fields with partitions, and the field of their items that says what the partitions belong to.
PARTITION_COLUMNS = {
    "topic_partitions": "topic_id",
    "assigned_partitions": "topic_id",
    "partitions_pending_revocation": "topic_id",
    **dict.fromkeys(
        (f"{role}_tasks{phase}" for role in TaskRole for phase in ("", "_pending_revocation")), "subtopology_id"
    ),
}
# Keys apart from the group.
KEY_COLUMNS = {"group_regular_expressions": "regular_expression"}


def modern_records(tables: Mapping[str, pa.Table], topics: TopicCodes) -> list[tuple[str, Record]]:
    """Sorted by offset."""
    with uncollected():
        return sorted(records_of(tables, topics), key=lambda each: each[1].offset)


def records_of(tables: Mapping[str, pa.Table], topics: TopicCodes) -> Iterator[tuple[str, Record]]:
    """Table by table."""
    for name, read in READERS_OF_TABLES.items():
        table = tables.get(name)
        if table is not None and table.num_rows:
            yield from table_records(name, one_piece(table), read, topics)


def table_records(name: str, table: pa.Table, read: Reader, topics: TopicCodes) -> Iterator[tuple[str, Record]]:
    types = {str(group_type): number for group_type, number in types_by_group_type(name).items()}
    rows = table.num_rows
    has_types = "group_type" in table.column_names
    group_types = column(table, "group_type") if has_types else [next(iter(types))] * rows
    key = KEY_COLUMNS.get(name, "member_id")
    members = column(table, key) if key in table.column_names else [None] * rows
    left_out = left_out_of(table)
    for row, (group, offset, time, batch, epoch, is_dead, group_type, member, value) in enumerate(zip(
        *places_of(table), group_types, members, read(table, topics), strict=True
    )):  # fmt: skip
        yield (
            group,
            Record(
                offset=offset,
                time=time,
                batch=batch,
                leader_epoch=epoch,
                type=types[group_type],
                member=member,
                value=None if is_dead else value,
                left_out=left_out.get(row),
            ),
        )


def left_out_of(table: pa.Table) -> dict[int, str]:
    """By row: partition numbers below 0 that it names, as text."""
    by_row: dict[int, list[str]] = {}
    for field, name in PARTITION_COLUMNS.items():
        if field in table.column_names:
            for row, numbers in negative_partitions(array(table, field), name).items():
                by_row.setdefault(row, []).append(f"{field} {some_of(numbers)}")
    return {row: "; ".join(texts) for row, texts in by_row.items()}
