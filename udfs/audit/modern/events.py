"""Reads records of consumer, share and streams groups for recomputing assignments. Lists keep their order, since
Kafka's answer depends on it. It reads column by column, like the replay (`udfs.groups.readers.modern_records`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.assignors.questions.specs import Topic
from udfs.groups.readers.classic_records import TYPE as CLASSIC_TYPE
from udfs.groups.readers.classic_records import array, filled, micros, shared
from udfs.groups.readers.modern_records import flat, group_epochs, lists, plain, records_of, target_epochs
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.rows.typed_arrays import bounds_of
from udfs.topics.partition_codes import TopicCodes

INITIALIZED = "initialized"


class Held(NamedTuple):
    """Partitions in the order of their record: codes of topics, and partitions."""

    topics: NDArray[np.int64]
    partitions: NDArray[np.int32]


NOTHING = Held(np.empty(0, np.int64), np.empty(0, np.int32))


class Subscriber(NamedTuple):
    """Types 5, 10 and 19."""

    group_instance_id: str | None
    rack_id: str | None
    names: tuple[str, ...]
    regex: str | None
    assignor: str | None
    is_classic: bool


class Owned(NamedTuple):
    """Types 8 and 14."""

    epoch: int
    state: str | None
    assigned: Held
    pending: Held


class Tasks(NamedTuple):
    """Types 21: active tasks of a streams group."""

    active: tuple[tuple[str, int], ...]


class ListedTopics(NamedTuple):
    """Types 4 and 15: topics with ids; for share groups also the partitions that may be assigned."""

    topics: tuple[Topic, ...]
    assignable: tuple[tuple[int, ...], ...] | None
    # Written by the early access version (3.7), which had other assignors.
    is_early: bool = False


class ClassicGroup(NamedTuple):
    """Type 2: whether it has members."""

    has_members: bool


def modern_events(tables: Mapping[str, pa.Table], codes: TopicCodes) -> list[tuple[str, Record]]:
    """Sorted by offset."""
    found: list[tuple[str, Record]] = []
    with uncollected():
        found += records_of(tables, VALUES, codes)
        found += classic_records(tables.get("classic_group_metadata"))
        return sorted(found, key=lambda each: each[1].offset)


def classic_records(table: pa.Table | None) -> Iterator[tuple[str, Record]]:
    if table is None or not table.num_rows:
        return
    table = table.unify_dictionaries().combine_chunks()
    sizes = np.diff(bounds_of(array(table, "members"))).tolist()
    for group, offset, time, batch, dead, size in zip(
        shared(table["group_id"]), array(table, "record_offset").to_pylist(), micros(table["record_time"]),
        filled(table, "batch_first_offset", -1), array(table, "is_tombstone").to_pylist(), sizes, strict=True,
    ):  # fmt: skip
        yield group, Record(offset, time, batch, -1, CLASSIC_TYPE, None, None if dead else ClassicGroup(size > 0))


def subscribers(table: pa.Table, _: TopicCodes) -> Iterator[Subscriber]:
    names = lists(array(table, "subscribed_topic_names"))
    return map(
        Subscriber,
        plain(table, "group_instance_id"),
        (rack or None for rack in plain(table, "rack_id")),
        (tuple(each or ()) for each in names),
        # NULL and empty both mean none.
        (regex or None for regex in plain(table, "subscribed_topic_regex")),
        (assignor or None for assignor in plain(table, "server_assignor")),
        array(table, "classic_member").is_valid().to_pylist(),
    )


def targets(table: pa.Table, codes: TopicCodes) -> Iterator[Held | Tasks]:
    held = held_lists(array(table, "topic_partitions"), codes)
    is_streams = [each == "streams" for each in plain(table, "group_type")]
    if not any(is_streams):
        return iter(held)
    tasks = task_lists(array(table, "active_tasks"))
    return (own if streams else tps for own, tps, streams in zip(tasks, held, is_streams, strict=True))


def owned(table: pa.Table, codes: TopicCodes) -> Iterator[Owned]:
    """Records of 3.7 are used as they are: nothing needs their other fields."""
    return map(
        Owned,
        (epoch or 0 for epoch in plain(table, "member_epoch")),
        plain(table, "member_state"),
        held_lists(array(table, "assigned_partitions"), codes),
        held_lists(array(table, "partitions_pending_revocation"), codes),
    )


def resolved(table: pa.Table, _: TopicCodes) -> Iterator[tuple[str, ...]]:
    return (tuple(each or ()) for each in lists(array(table, "topics")))


def held_lists(lists_of_topics: pa.ListArray, codes: TopicCodes) -> list[Held]:
    bounds, items = flat(lists_of_topics)
    inner, numbers = flat(items.field("partitions"))
    encoded = items.field("topic_id").dictionary_encode()
    of_id = np.array([codes.of_id(topic_id) for topic_id in encoded.dictionary.to_pylist()], np.int64)
    topics = of_id[encoded.indices.to_numpy(zero_copy_only=False)] if len(of_id) else np.zeros(0, np.int64)
    all_topics = np.repeat(topics, np.diff(inner))
    all_partitions = numbers.to_numpy(zero_copy_only=False).astype(np.int32)
    ends = inner[bounds].tolist()
    return [
        Held(all_topics[first:last], all_partitions[first:last]) if last > first else NOTHING
        for first, last in pairwise(ends)
    ]


def task_lists(lists_of_tasks: pa.ListArray) -> list[Tasks]:
    bounds, items = flat(lists_of_tasks)
    inner, numbers = flat(items.field("partitions"))
    ids = np.repeat(np.array(items.field("subtopology_id").to_pylist(), object), np.diff(inner)).tolist()
    pairs = tuple(zip(ids, numbers.to_pylist(), strict=True))
    return [Tasks(pairs[first:last]) for first, last in pairwise(inner[bounds].tolist())]


def listed_topics(table: pa.Table, _: TopicCodes) -> Iterator[ListedTopics]:
    """For share groups only initialized topics, since only these are assigned."""
    bounds, items = flat(array(table, "topics"))
    columns = {
        name: items.field(name).to_pylist()
        for name in ("state", "topic_id", "topic_name", "num_partitions", "partitions", "partition_metadata")
    }
    is_share = [each == "share" for each in plain(table, "group_type")]
    is_early = array(table, "epoch").is_valid().to_pylist()
    for share, early, first, last in zip(is_share, is_early, bounds[:-1], bounds[1:], strict=True):
        told = [at for at in range(first, last) if not share or columns["state"][at] == INITIALIZED]
        yield ListedTopics(
            tuple(listed_topic(*(columns[name][at] for name in TOPIC_COLUMNS)) for at in told),
            tuple(tuple(columns["partitions"][at] or ()) for at in told) if share else None,
            early,
        )


TOPIC_COLUMNS = ("topic_name", "topic_id", "num_partitions", "partitions", "partition_metadata")


def listed_topic(
    name: str | None, topic_id: str | None, count: int | None, partitions: Sequence[int] | None, metadata: Any
) -> Topic:
    """Share state names partitions but not how many a topic has. So the highest named one counts."""
    if count is None:
        count = max(partitions or (), default=-1) + 1
    racks: dict[int, tuple[str, ...]] = {each["partition"]: tuple(each["racks"] or ()) for each in metadata or ()}
    return Topic(name or "", count, topic_id, tuple(racks.get(at, ()) for at in range(count)) if racks else None)


VALUES: Mapping[str, Callable[[pa.Table, TopicCodes], Iterator[Any]]] = {
    "group_metadata": group_epochs,
    "group_partition_metadata": listed_topics,
    "group_member_metadata": subscribers,
    "target_assignment_metadata": target_epochs,
    "target_assignment_members": targets,
    "current_member_assignments": owned,
    "group_regular_expressions": resolved,
}
