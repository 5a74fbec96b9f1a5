"""The minimum number of partitions of topics, and since when, by the records that name the partitions.

A topic only grows. So a snapshot that has fewer partitions than an earlier record names is stale.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TOPICS = "group_partition_metadata"
# Columns of decoded tables that list topics with partitions, and the name of the topic field in these lists.
PATHS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "classic_group_metadata": (("members", "assignment", "partitions"),),
    "target_assignment_members": (("topic_partitions",),),
    "current_member_assignments": (("assigned_partitions",), ("partitions_pending_revocation",)),
}
UNKNOWN = "<UNKNOWN>"
SCHEMA = pa.schema(
    [("topic", pa.string()), ("topic_id", pa.string()), ("num_partitions", pa.int64()), ("from_time", pa.int64())]
)


class NamedPartitions(NamedTuple):
    """From `from_time` on (microseconds) the topic had `num_partitions` or more. It has a name, an id or both."""

    topic: str | None
    topic_id: str | None
    num_partitions: int
    from_time: int


def named_by_commits(topics: pa.Table) -> list[NamedPartitions]:
    """From `committed_topics`."""
    columns = [topics["topic"], topics["topic_id"], pc.add(topics["partition"], 1), topics["first_time"]]
    return steps([pa.table(columns, SCHEMA)])


def named_by_groups(tables: Mapping[str, pa.Table]) -> list[NamedPartitions]:
    """From rows of tables of groups: assigned partitions, and numbers of partitions in records."""
    parts = [
        assigned_partitions(batch, path)
        for name, paths in PATHS.items()
        for batch in (tables[name].to_batches() if name in tables else ())
        for path in paths
    ]
    return steps(
        [*parts, *(listed_partitions(batch) for batch in (tables[TOPICS].to_batches() if TOPICS in tables else ()))]
    )


def assigned_partitions(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Table:
    rows, entries = entries_at(batch, path)
    partitions = field(entries, "partitions")
    of_entry = pc.list_parent_indices(partitions).to_numpy(zero_copy_only=False)
    numbers = pc.add(partitions.flatten().cast(pa.int64()), 1)
    return table_of(entries.take(pa.array(of_entry)), numbers, times_of(batch, rows[of_entry]))


def listed_partitions(batch: pa.RecordBatch) -> pa.Table:
    """Share state of topics that the coordinator does not know has the name `<UNKNOWN>`."""
    rows, entries = entries_at(batch, ("topics",))
    is_known = pc.not_equal(field(entries, "topic_name"), UNKNOWN).fill_null(False)
    kept = entries.filter(is_known)
    chosen = rows[np.asarray(is_known.to_numpy(zero_copy_only=False), dtype=np.bool_)]
    return table_of(kept, field(kept, "num_partitions").cast(pa.int64()), times_of(batch, chosen))


def entries_at(batch: pa.RecordBatch, path: tuple[str, ...]) -> tuple[np.ndarray, pa.StructArray]:
    """The structs at the end of the path, through nested lists, each with the number of its row."""
    values = batch.column(path[0])
    rows = np.arange(batch.num_rows)
    for name in (*path[1:], None):
        while pa.types.is_list(values.type):
            rows = rows[pc.list_parent_indices(values).to_numpy(zero_copy_only=False)]
            values = values.flatten()
        if name is not None:
            values = field(values, name)
    return rows, values


def field(values: pa.StructArray, name: str) -> pa.Array:
    """Not `values.field`, which also returns values inside structs that are NULL."""
    return values.flatten()[values.type.get_field_index(name)]


def times_of(batch: pa.RecordBatch, rows: np.ndarray) -> pa.Array:
    return batch.column("record_time").cast(pa.int64()).take(pa.array(rows))


def table_of(entries: pa.StructArray, numbers: pa.Array, times: pa.Array) -> pa.Table:
    nothing = pa.nulls(len(entries), pa.string())
    names = {each.name for each in entries.type}
    topic = next((field(entries, name) for name in ("topic", "topic_name") if name in names), nothing)
    topic_id = field(entries, "topic_id") if "topic_id" in names else nothing
    return pa.table([topic.cast(pa.string()), topic_id.cast(pa.string()), numbers, times], SCHEMA)


def steps(parts: Sequence[pa.Table]) -> list[NamedPartitions]:
    """For each topic, only the records that show more partitions than all earlier ones."""
    parts = [part for part in parts if part.num_rows]
    if not parts:
        return []
    rows = pa.concat_tables([part.cast(SCHEMA) for part in parts])
    rows = rows.filter(
        pc.and_kleene(pc.greater(rows.column("num_partitions"), 0), pc.is_valid(rows.column("from_time")))
    )
    by_number = rows.group_by(SCHEMA.names[:3], use_threads=False)
    least = by_number.aggregate([("from_time", "min")]).rename_columns(SCHEMA.names)
    ordered = least.sort_by(
        [
            ("topic", "ascending"),
            ("topic_id", "ascending"),
            ("from_time", "ascending"),
            ("num_partitions", "descending"),
        ]
    )
    if not ordered.num_rows:
        return []
    codes = np.cumsum(np.append(True, changes(ordered.column("topic")) | changes(ordered.column("topic_id"))))
    # Codes ascend, so the running maximum starts again with each topic.
    keys = codes.astype(np.int64) << 32 | ordered.column("num_partitions").to_numpy()
    is_step = np.append(True, keys[1:] > np.maximum.accumulate(keys)[:-1])
    return [NamedPartitions(**row) for row in ordered.filter(pa.array(is_step)).to_pylist()]


def changes(column: pa.ChunkedArray) -> np.ndarray:
    """Whether each value differs from the one before it; NULL is a value."""
    codes = column.dictionary_encode(null_encoding="encode").unify_dictionaries().combine_chunks().indices
    return np.asarray(np.diff(codes.to_numpy(zero_copy_only=False)) != 0)


def merged(*several: Iterable[NamedPartitions]) -> list[NamedPartitions]:
    """The steps of all of them together, in any order of input."""
    by_topic: dict[tuple[str | None, str | None], list[NamedPartitions]] = {}
    for some in several:
        for each in some:
            by_topic.setdefault((each.topic, each.topic_id), []).append(each)
    return [
        step
        for _, each in sorted(by_topic.items(), key=lambda item: tuple(text or "" for text in item[0]))
        for step in rising(each)
    ]


def rising(named: Iterable[NamedPartitions]) -> Iterator[NamedPartitions]:
    most = 0
    for each in sorted(named, key=lambda each: (each.from_time, -each.num_partitions)):
        if each.num_partitions > most:
            most = each.num_partitions
            yield each
