"""The minimum number of partitions of topics, and since when, by the records that name the partitions.

A topic only grows. So a snapshot that has fewer partitions than an earlier record names is stale.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Numbers, first_of, numbers
from udfs.arrays.texts import KIND, listed
from udfs.codes.names import Names
from udfs.topics.named_topics import NamedTopics

TOPICS = "group_partition_metadata"
# Of classic groups, whose leaders assign.
LED = "classic_group_metadata"
# Columns of decoded tables that list topics with partitions, and the name of the topic field in these lists.
PATHS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    LED: (("members", "assignment", "partitions"),),
    "target_assignment_members": (("topic_partitions",),),
    "current_member_assignments": (("assigned_partitions",), ("partitions_pending_revocation",)),
}
UNKNOWN = "<UNKNOWN>"
SCHEMA = pa.schema([("topic", KIND), ("topic_id", KIND), ("num_partitions", pa.int64()), ("from_time", pa.int64())])


class NamedPartitions(NamedTuple):
    """From `from_time` on (microseconds) the topic had `num_partitions` or more. It has a name, an id or both."""

    topic: str | None
    topic_id: str | None
    num_partitions: int
    from_time: int


class NamedByGroups:
    """What the tables of groups name: assigned partitions, and numbers of partitions in records. What leaders of
    classic groups assigned stands apart: their metadata may be old, so it proves no partition."""

    def __init__(self) -> None:
        self.topics, self.topic_ids, self.led, self.proved = Names(), Names(), NamedTopics(), NamedTopics()

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        self.note(self.led, assigned_parts(tables, [LED]))
        self.note(self.proved, [*assigned_parts(tables, PATHS.keys() - {LED}), *listed_parts(tables)])

    def note(self, named: NamedTopics, parts: Iterable[pa.Table]) -> None:
        if some := [part for part in parts if part.num_rows]:
            rows = pa.concat_tables(some)
            number, time = numbers(rows["num_partitions"]), numbers(rows["from_time"])
            topic, topic_id = self.topics.codes(rows["topic"]), self.topic_ids.codes(rows["topic_id"])
            named.add(topic, topic_id, number - 1, time, np.ones(len(number), np.bool_))

    def table(self) -> pa.Table:
        parts = [each.table(self.topics, self.topic_ids) for each in (self.led, self.proved)]
        return pa.concat_tables(parts).unify_dictionaries()

    def proved_table(self) -> pa.Table:
        """Without what leaders assigned."""
        return self.proved.table(self.topics, self.topic_ids)


def assigned_parts(tables: Mapping[str, pa.Table], names: Iterable[str]) -> Iterator[pa.Table]:
    for name in sorted(names):
        for batch in tables[name].to_batches() if name in tables else ():
            yield from (assigned_partitions(batch, path) for path in PATHS[name])


def listed_parts(tables: Mapping[str, pa.Table]) -> Iterator[pa.Table]:
    yield from map(listed_partitions, tables[TOPICS].to_batches() if TOPICS in tables else ())


def assigned_partitions(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Table:
    rows, entries = entries_at(batch, path)
    partitions = field(entries, "partitions")
    of_entry = pc.list_parent_indices(partitions)
    numbers = pc.add(partitions.flatten().cast(pa.int64()), 1)
    names = [each.take(of_entry) for each in names_of(entries)]
    return pa.table([*names, numbers, times_of(batch, rows[of_entry.to_numpy(zero_copy_only=False)])], SCHEMA)


def listed_partitions(batch: pa.RecordBatch) -> pa.Table:
    """Share state of topics that the coordinator does not know has the name `<UNKNOWN>`."""
    rows, entries = entries_at(batch, ("topics",))
    is_known = pc.not_equal(field(entries, "topic_name"), UNKNOWN).fill_null(False)
    kept = entries.filter(is_known)
    chosen = rows[np.asarray(is_known.to_numpy(zero_copy_only=False), dtype=np.bool_)]
    numbers = field(kept, "num_partitions").cast(pa.int64())
    return pa.table([*names_of(kept), numbers, times_of(batch, chosen)], SCHEMA)


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


def names_of(entries: pa.StructArray) -> list[pa.DictionaryArray]:
    """Names and ids of topics, one for each entry. They are repeated for each partition of an entry later, which takes
    less time than to repeat the entries, each with all its partitions."""
    fields = {each.name for each in entries.type}
    of = (next((name for name in names if name in fields), None) for names in (("topic", "topic_name"), ("topic_id",)))
    return [
        pa.nulls(len(entries), KIND) if name is None else field(entries, name).cast(pa.string()).dictionary_encode()
        for name in of
    ]


def steps(named: pa.Table) -> list[NamedPartitions]:
    """For each topic, only the records that show more partitions than all earlier ones. `named`: of `NamedTopics`. In
    the order of names, then of ids."""
    number, time = numbers(named["partition"]) + 1, numbers(named["first_time"])
    topic, topic_id = ranks(named["topic"]), ranks(named["topic_id"])
    rows = np.flatnonzero((number > 0) & (time != NONE))
    rows = rows[np.lexsort((-number[rows], time[rows], topic_id[rows], topic[rows]))]
    # Numbers of topics ascend, so the running maximum starts again with each topic.
    of_topic = np.cumsum(first_of(topic[rows]) | first_of(topic_id[rows]))
    keys = of_topic << 32 | number[rows]
    is_step = first_of(np.maximum.accumulate(keys))
    places = rows[is_step]
    names = (listed(named[each].take(pa.array(places))) for each in ("topic", "topic_id"))
    return list(map(NamedPartitions, *names, number[places].tolist(), time[places].tolist()))


def ranks(column: pa.ChunkedArray) -> Numbers:
    """NULL comes first."""
    names = Names()
    codes = names.codes(column)
    return np.append(names.ranks(), -1)[codes]


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
