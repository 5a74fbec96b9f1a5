"""Reads records of consumer, share and streams groups from decoded tables, column by column. Nested lists are flattened
once per table and never become Python objects one by one."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records.registry import types_by_group_type
from schemas.words.history import TaskRole
from udfs.groups.readers.classic_records import array, shared, shared_sets
from udfs.groups.readers.modern_values import (
    STABLE,
    About,
    ByRole,
    Current,
    GroupEpoch,
    Pattern,
    Share,
    Target,
    TargetEpoch,
    Topics,
    Topology,
)
from udfs.groups.readers.negative_partitions import negative_partitions, some_of, without_negative
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import SHIFT, TopicCodes

# Archives may have no batches. Then records with equal times are one operation.
NO_BATCH = -1
NO_LEADER_EPOCH = -1

TP_BYTES = 8
Values = Callable[[pa.Table, TopicCodes], Iterator[Any]]
# Fields with partitions, and the field of their items that says what the partitions belong to.
PARTITION_COLUMNS = {
    "topic_partitions": "topic_id",
    "assigned_partitions": "topic_id",
    "partitions_pending_revocation": "topic_id",
    **dict.fromkeys(
        (f"{role}_tasks{phase}" for role in TaskRole for phase in ("", "_pending_revocation")), "subtopology_id"
    ),
}
# Topics that exist and can be assigned.
LISTED_STATES = ("subscribed", "initialized")
# Keys apart from the group.
KEY_COLUMNS = {"group_regular_expressions": "regular_expression"}


def modern_records(tables: Mapping[str, pa.Table], topics: TopicCodes) -> list[tuple[str, Record]]:
    """Sorted by offset."""
    with uncollected():
        return sorted(records_of(tables, VALUES, topics), key=lambda each: each[1].offset)


def records_of(
    tables: Mapping[str, pa.Table], values: Mapping[str, Values], topics: TopicCodes
) -> Iterator[tuple[str, Record]]:
    """Table by table."""
    for name, of_table in values.items():
        table = tables.get(name)
        if table is not None and table.num_rows:
            yield from table_records(name, table.unify_dictionaries().combine_chunks(), of_table, topics)


def table_records(name: str, table: pa.Table, values: Values, topics: TopicCodes) -> Iterator[tuple[str, Record]]:
    types = {str(group_type): number for group_type, number in types_by_group_type(name).items()}
    rows = table.num_rows
    group_types = plain(table, "group_type") if "group_type" in table.column_names else [next(iter(types))] * rows
    key = KEY_COLUMNS.get(name, "member_id")
    members = plain(table, key) if key in table.column_names else [None] * rows
    times = table.column("record_time").cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    batches = pc.fill_null(table.column("batch_first_offset"), NO_BATCH).to_pylist()
    epochs = pc.fill_null(table.column("partition_leader_epoch"), NO_LEADER_EPOCH).to_pylist()
    left_out = left_out_of(table)
    for row, (group, offset, time, batch, epoch, group_type, member, dead, value) in enumerate(zip(
        plain(table, "group_id"), plain(table, "record_offset"), times, batches, epochs, group_types, members,
        plain(table, "is_tombstone"), values(table, topics), strict=True,
    )):  # fmt: skip
        told = None if dead else value
        yield group, Record(offset, time, batch, epoch, types[group_type], member, told, left_out.get(row))


def left_out_of(table: pa.Table) -> dict[int, str]:
    """By row: partition numbers below 0 that it names, as text."""
    found: dict[int, list[str]] = {}
    for column, name in PARTITION_COLUMNS.items():
        if column in table.column_names:
            for row, told in negative_partitions(array(table, column), name).items():
                found.setdefault(row, []).append(f"{column} {some_of(told)}")
    return {row: "; ".join(told) for row, told in found.items()}


def plain(table: pa.Table, name: str) -> list[Any]:
    """Equal texts become one object."""
    column = table.column(name)
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return shared(column)
    found: list[Any] = column.to_pylist()
    return found


def group_epochs(table: pa.Table, _: TopicCodes) -> Iterator[GroupEpoch]:
    names = ("group_epoch", "metadata_hash", "validated_topology_epoch")
    return map(GroupEpoch, *(plain(table, name) for name in names), configs(table))


def configs(table: pa.Table) -> Iterator[tuple[tuple[str, str], ...] | None]:
    for each in plain(table, "last_assignment_configs"):
        yield None if each is None else tuple(sorted((of["key"], of["value"]) for of in each))


def target_epochs(table: pa.Table, _: TopicCodes) -> Iterator[TargetEpoch]:
    return map(TargetEpoch, plain(table, "assignment_epoch"))


def abouts(table: pa.Table, _: TopicCodes) -> Iterator[About]:
    names = ("group_instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms")
    return map(
        About,
        *(plain(table, name) for name in names),
        words(table, "subscribed_topic_names"),
        # NULL and empty both mean none.
        (regex or None for regex in plain(table, "subscribed_topic_regex")),
        (assignor or None for assignor in plain(table, "server_assignor")),
        array(table, "classic_member").is_valid().to_pylist(),
        plain(table, "topology_epoch"),
        session_timeouts(array(table, "classic_member")),
    )


def session_timeouts(classic_members: pa.StructArray) -> list[int | None]:
    found: list[int | None] = pc.struct_field(classic_members, "session_timeout_ms").to_pylist()
    return found


def targets(table: pa.Table, topics: TopicCodes) -> Iterator[Target]:
    tasks = {
        TaskRole.ACTIVE: "active_tasks",
        TaskRole.STANDBY: "standby_tasks",
        TaskRole.WARMUP: "warmup_tasks",
    }
    return map(Target, by_role(table, topics, "topic_partitions", tasks))


def currents(table: pa.Table, topics: TopicCodes) -> Iterator[Current]:
    tasks = {TaskRole.ACTIVE: "active_tasks", TaskRole.STANDBY: "standby_tasks", TaskRole.WARMUP: "warmup_tasks"}
    pending_tasks = {role: f"{name}_pending_revocation" for role, name in tasks.items()}
    assigned = by_role(table, topics, "assigned_partitions", tasks)
    pending = by_role(table, topics, "partitions_pending_revocation", pending_tasks)
    waiting = partitions(array(table, "partitions_pending_assignment"), topics)
    return map(
        current, plain(table, "member_epoch"), plain(table, "previous_member_epoch"), plain(table, "member_state"),
        plain(table, "target_member_epoch"), assigned, pending, waiting,
    )  # fmt: skip


def current(
    epoch: int | None, previous: int | None, state: str | None, target_epoch: int | None, assigned: ByRole,
    pending: ByRole, waiting: frozenset[int],
) -> Current:  # fmt: skip
    """Records of 3.7 have a target epoch and, instead of the member's state, what it waits for."""
    if state is None and target_epoch is not None:
        if any(pending.values()):
            state = "UNREVOKED_PARTITIONS"
        else:
            state = "UNRELEASED_PARTITIONS" if waiting or epoch != target_epoch else STABLE
    return Current(epoch or 0, -1 if previous is None else previous, state, assigned, pending)


def patterns(table: pa.Table, _: TopicCodes) -> Iterator[Pattern]:
    return map(Pattern, (each or () for each in words(table, "topics")))


def known_topics(table: pa.Table, _: TopicCodes) -> Iterator[Topics]:
    """In share groups only initialized topics, since only these are assigned."""
    bounds, items = flat(array(table, "topics"))
    names, states, numbers = (items.field(each).to_pylist() for each in ("topic_name", "state", "num_partitions"))
    of_share = pc.list_value_length(items.field("partitions")).to_pylist()
    for first, last in pairwise(bounds):
        told = range(first, last)
        known = {names[at] or "": numbers[at] or of_share[at] for at in told if states[at] in LISTED_STATES}
        yield Topics(tuple(sorted(known)), tuple(known[name] for name in sorted(known)))


def topologies(table: pa.Table, _: TopicCodes) -> Iterator[Topology]:
    bounds, items = flat(array(table, "subtopologies"))
    ids = items.field("subtopology_id").to_pylist()
    sources = lists(items.field("source_topics"))
    repartition_bounds, repartition = flat(items.field("repartition_source_topics"))
    names = repartition.field("name").to_pylist()
    for epoch, first, last in zip(plain(table, "epoch"), bounds[:-1], bounds[1:], strict=True):
        yield Topology(
            epoch,
            {
                ids[at]: (*(sources[at] or ()), *names[repartition_bounds[at] : repartition_bounds[at + 1]])
                for at in range(first, last)
            },
        )


VALUES: dict[str, Callable[[pa.Table, TopicCodes], Iterator[Any]]] = {
    "group_metadata": group_epochs,
    "group_partition_metadata": known_topics,
    "group_member_metadata": abouts,
    "target_assignment_metadata": target_epochs,
    "target_assignment_members": targets,
    "current_member_assignments": currents,
    "group_regular_expressions": patterns,
    "streams_group_topologies": topologies,
}


def by_role(
    table: pa.Table, topics: TopicCodes, of_partitions: str, of_tasks: Mapping[TaskRole, str]
) -> Iterator[ByRole]:
    """Streams groups have tasks in three roles, other groups have partitions."""
    owned = partitions(array(table, of_partitions), topics)
    is_streams = [each == "streams" for each in plain(table, "group_type")]
    if not any(is_streams):
        for tps in owned:
            yield {None: tps}
        return
    by_task = {str(role): tasks(array(table, name)) for role, name in of_tasks.items()}
    for row, (tps, streams) in enumerate(zip(owned, is_streams, strict=True)):
        yield {role: shares[row] for role, shares in by_task.items()} if streams else {None: tps}


def partitions(lists_of_topics: pa.ListArray, topics: TopicCodes) -> list[frozenset[int]]:
    bounds, items = flat(lists_of_topics)
    inner, numbers = flat(items.field("partitions"))
    encoded = items.field("topic_id").dictionary_encode()
    of_id = np.array([topics.of_id(topic_id) for topic_id in encoded.dictionary.to_pylist()], np.int64)
    codes = of_id[encoded.indices.to_numpy(zero_copy_only=False)] if len(of_id) else np.zeros(0, np.int64)
    number = numbers.to_numpy(zero_copy_only=False)
    tps, places = without_negative(np.repeat(codes, np.diff(inner)) << SHIFT | number, number, inner[bounds])
    return shared_sets(tps.astype(np.int64).tobytes(), (places * TP_BYTES).tolist(), {b"": frozenset()})


def tasks(lists_of_tasks: pa.ListArray) -> list[Share]:
    bounds, items = flat(lists_of_tasks)
    inner, numbers = flat(items.field("partitions"))
    ids = np.repeat(np.array(items.field("subtopology_id").to_pylist(), object), np.diff(inner)).tolist()
    pairs = list(zip(ids, numbers.to_pylist(), strict=True))
    ends = inner[bounds].tolist()
    return [frozenset(pair for pair in pairs[first:last] if pair[1] >= 0) for first, last in pairwise(ends)]


def words(table: pa.Table, name: str) -> list[tuple[str, ...] | None]:
    return [None if each is None else tuple(sorted(each)) for each in lists(array(table, name))]


def lists(found: pa.ListArray) -> list[list[str] | None]:
    bounds, items = flat(found)
    values = shared(items)
    bounds = bounds.tolist()
    return [
        values[first:last] if is_there else None
        for first, last, is_there in zip(bounds[:-1], bounds[1:], found.is_valid().to_pylist(), strict=True)
    ]


def flat(found: pa.ListArray) -> tuple[Any, Any]:
    """Bounds of each row in the flattened items. A NULL list is empty."""
    sizes = pc.fill_null(pc.list_value_length(found), 0).to_numpy(zero_copy_only=False)
    return np.append(0, np.cumsum(sizes)), found.flatten()
