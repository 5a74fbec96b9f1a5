"""The minimum number of partitions of topics, and since when, by the records that name the partitions.

A topic only grows. So a snapshot that has fewer partitions than an earlier record names is stale.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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


def named_by_commits(rows: pa.Table) -> list[NamedPartitions]:
    """From rows of offset_commits. A deletion does not prove that its partition exists."""
    values = rows.filter(pc.invert(rows.column("is_tombstone")))
    names, name_codes = coded(values.column("topic"))
    ids, id_codes = coded(values.column("topic_id"))
    # Grouping by one number is much faster than by three columns.
    topics = name_codes * len(ids) + id_codes
    keys = topics << 32 | values.column("partition").to_numpy().astype(np.int64) & 0xFFFFFFFF
    times = values.column("record_time").cast(pa.int64())
    least = pa.table({"key": keys, "time": times}).group_by("key").aggregate([("time", "min")])
    found = least.column("key").to_numpy()
    columns = [
        names.take(pa.array((found >> 32) // len(ids))),
        ids.take(pa.array((found >> 32) % len(ids))),
        pa.array((found & 0xFFFFFFFF).astype(np.int32).astype(np.int64) + 1),
        least.column("time_min"),
    ]
    return steps([pa.table(columns, SCHEMA)])


def coded(column: pa.ChunkedArray) -> tuple[pa.StringArray, NDArray[np.int64]]:
    """Distinct values, the last of which is NULL, and a code for each row."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    values = pa.concat_arrays([whole.dictionary.cast(pa.string()), pa.nulls(1, pa.string())])
    return values, whole.indices.cast(pa.int64()).fill_null(len(values) - 1).to_numpy(zero_copy_only=False)


def named_by_groups(tables: Mapping[str, pa.Table]) -> list[NamedPartitions]:
    """From rows of tables of groups: assigned partitions, and numbers of partitions in records."""
    parts = [
        assigned(batch, path)
        for name, paths in PATHS.items()
        for batch in (tables[name].to_batches() if name in tables else ())
        for path in paths
    ]
    return steps([*parts, *(listed(batch) for batch in (tables[TOPICS].to_batches() if TOPICS in tables else ()))])


def assigned(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Table:
    rows, entries = entries_at(batch, path)
    partitions = field(entries, "partitions")
    of_entry = pc.list_parent_indices(partitions).to_numpy(zero_copy_only=False)
    numbers = pc.add(partitions.flatten().cast(pa.int64()), 1)
    return table_of(entries.take(pa.array(of_entry)), numbers, times_of(batch, rows[of_entry]))


def listed(batch: pa.RecordBatch) -> pa.Table:
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
    rows = pa.concat_tables([SCHEMA.empty_table(), *(part.cast(SCHEMA) for part in parts)])
    rows = rows.filter(
        pc.and_kleene(pc.greater(rows.column("num_partitions"), 0), pc.is_valid(rows.column("from_time")))
    )
    least = rows.group_by(SCHEMA.names[:3]).aggregate([("from_time", "min")]).rename_columns(SCHEMA.names)
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


def merged(*found: Iterable[NamedPartitions]) -> list[NamedPartitions]:
    """The steps of all of them together, in any order of input."""
    by_topic: dict[tuple[str | None, str | None], list[NamedPartitions]] = {}
    for some in found:
        for each in some:
            by_topic.setdefault((each.topic, each.topic_id), []).append(each)
    return [
        step
        for _, each in sorted(by_topic.items(), key=lambda item: tuple(text or "" for text in item[0]))
        for step in rising(each)
    ]


def rising(found: Iterable[NamedPartitions]) -> Iterator[NamedPartitions]:
    most = 0
    for each in sorted(found, key=lambda each: (each.from_time, -each.num_partitions)):
        if each.num_partitions > most:
            most = each.num_partitions
            yield each
