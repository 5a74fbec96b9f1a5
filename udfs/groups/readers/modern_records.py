"""Records of consumer, share and streams groups from decoded tables: the replay, the audit and the progress of upgrades
read them here. One reader for each kind of record makes its values (`modern_values`), column by column. Lists keep
their order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.records import types_by_group_type
from schemas.words.history import TaskRole
from schemas.words.records import GroupType, TopicState
from udfs.assignors.questions import MOST_PARTITIONS, Topic
from udfs.groups.readers.modern_values import (
    STABLE,
    UNRELEASED,
    UNREVOKED,
    About,
    BeingSetUp,
    Current,
    GroupEpoch,
    Pattern,
    Target,
    TargetEpoch,
    Topics,
    Topology,
)
from udfs.groups.readers.negative_partitions import negative_partitions, some_of
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import (
    array,
    column,
    flags,
    flat,
    mask_invalid,
    one_piece,
    partition_lists,
    places_of,
    text_lists,
    texts_of,
)
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Tasks, has_some, shared_partitions
from udfs.groups.readers.records import Record
from udfs.topics.least_partitions import UNKNOWN
from udfs.topics.partition_codes import TopicCodes

# The values of all rows of a table.
Reader = Callable[[pa.Table, TopicCodes], Iterator[Any]]
# Topics that exist and can be assigned. Of share groups only initialized ones are.
LISTED_STATES = (TopicState.SUBSCRIBED, TopicState.INITIALIZED)
TOPIC_FIELDS = ("state", "topic_name", "topic_id", "num_partitions", "partitions", "partition_metadata")
# Of the subscription that a classic member offered, in its first bytes.
VERSION_BYTES = 2
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


# -- values, by kind of record


def group_epochs(table: pa.Table, _: TopicCodes) -> Iterator[GroupEpoch]:
    names = ("group_epoch", "metadata_hash", "validated_topology_epoch")
    return map(GroupEpoch, *(column(table, name) for name in names), configs(table))


def configs(table: pa.Table) -> Iterator[tuple[tuple[str, str], ...] | None]:
    for each in column(table, "last_assignment_configs"):
        yield None if each is None else tuple(sorted((of["key"], of["value"]) for of in each))


def target_epochs(table: pa.Table, _: TopicCodes) -> Iterator[TargetEpoch]:
    return map(TargetEpoch, column(table, "assignment_epoch"))


def abouts(table: pa.Table, _: TopicCodes) -> Iterator[About]:
    names = ("group_instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms")
    subscribed, classic = array(table, "subscribed_topic_names"), array(table, "classic_member")
    return map(
        About,
        *(column(table, name) for name in names),
        mask_invalid(texts_of(text_lists(subscribed)), flags(subscribed.is_valid())),
        # NULL and empty both mean none.
        (regex or None for regex in column(table, "subscribed_topic_regex")),
        (assignor or None for assignor in column(table, "server_assignor")),
        classic.is_valid().to_pylist(),
        column(table, "topology_epoch"),
        pc.struct_field(classic, "session_timeout_ms").to_pylist(),
        offered_versions(classic),
    )


def offered_versions(classic_members: pa.StructArray) -> list[tuple[int, ...] | None]:
    if classic_members.null_count == len(classic_members):
        return [None] * len(classic_members)
    versions = [
        tuple(
            int.from_bytes(each["metadata"][:VERSION_BYTES], "big", signed=True)
            for each in offered or ()
            if len(each["metadata"] or b"") >= VERSION_BYTES
        )
        for offered in classic_members.field("supported_protocols").to_pylist()
    ]
    return mask_invalid(versions, flags(classic_members.is_valid()))


def targets(table: pa.Table, topics: TopicCodes) -> Iterator[Target]:
    tasks = {role: f"{role}_tasks" for role in TaskRole}
    return map(Target, by_role(table, topics, "topic_partitions", tasks))


def currents(table: pa.Table, topics: TopicCodes) -> Iterator[Current]:
    tasks = {role: f"{role}_tasks" for role in TaskRole}
    pending_tasks = {role: f"{role}_tasks_pending_revocation" for role in TaskRole}
    assigned = by_role(table, topics, "assigned_partitions", tasks)
    pending = by_role(table, topics, "partitions_pending_revocation", pending_tasks)
    waiting = partitions(array(table, "partitions_pending_assignment"), topics)
    return map(
        current, column(table, "member_epoch"), column(table, "previous_member_epoch"), column(table, "member_state"),
        column(table, "target_member_epoch"), assigned, pending, waiting,
    )  # fmt: skip


def current(
    epoch: int | None, previous: int | None, state: str | None, target_epoch: int | None, assigned: ByRole,
    pending: ByRole, waiting: Partitions,
) -> Current:  # fmt: skip
    """Records of 3.7 have a target epoch and, instead of the member's state, what it waits for."""
    is_inferred = state is None and target_epoch is not None
    if is_inferred and has_some(pending):
        state = UNREVOKED[0]
    elif is_inferred:
        state = UNRELEASED if waiting.tps or epoch != target_epoch else STABLE
    return Current(
        epoch=epoch or 0,
        previous_epoch=-1 if previous is None else previous,
        state=state,
        assigned=assigned,
        pending=pending,
        is_state_inferred=is_inferred,
    )


def patterns(table: pa.Table, _: TopicCodes) -> Iterator[Pattern]:
    return map(Pattern, texts_of(text_lists(array(table, "topics"))))


def known_topics(table: pa.Table, topics: TopicCodes) -> Iterator[Topics]:
    bounds, items = flat(array(table, "topics"))
    states, *fields = (items.field(name).to_pylist() for name in TOPIC_FIELDS)
    rows = list(zip(*fields, strict=True))
    is_share = [each == GroupType.SHARE for each in column(table, "group_type")]
    is_early = array(table, "epoch").is_valid().to_pylist()
    for share, early, (first, last) in zip(is_share, is_early, pairwise(bounds.tolist()), strict=True):
        listed = [rows[at] for at in range(first, last) if states[at] in LISTED_STATES]
        begun = [rows[at] for at in range(first, last) if states[at] == TopicState.INITIALIZING]
        assignable = tuple(tuple(of_topic or ()) for *_, of_topic, _ in listed) if share else None
        set_up = tuple(
            BeingSetUp(known_name(name, topic_id, topics), topic_id, tuple(sorted({*(of_topic or ())})))
            for name, topic_id, _, of_topic, _ in begun
        )
        yield Topics(tuple(topic(*each) for each in listed), assignable, early, set_up)


def known_name(name: str | None, topic_id: str | None, topics: TopicCodes) -> str:
    """A coordinator that finds the topic in no metadata writes its id alone."""
    return (None if name == UNKNOWN else name) or topics.names.get(topic_id or "") or topic_id or ""


def topic(
    name: str | None, topic_id: str | None, count: int | None, partitions: Sequence[int] | None, metadata: Any
) -> Topic:
    """Records of share groups name partitions but not how many a topic has. So the highest named one counts."""
    if count is None:
        count = max(partitions or (), default=-1) + 1
    racks: dict[int, tuple[str, ...]] = {each["partition"]: tuple(each["racks"] or ()) for each in metadata or ()}
    # A damaged count can be any number. An assignment with so many partitions is not recomputed, with or without racks.
    has_racks = racks and count <= MOST_PARTITIONS
    return Topic(name or "", count, topic_id, tuple(racks.get(at, ()) for at in range(count)) if has_racks else None)


def topologies(table: pa.Table, _: TopicCodes) -> Iterator[Topology]:
    bounds, items = flat(array(table, "subtopologies"))
    ids = items.field("subtopology_id").to_pylist()
    sources = texts_of(text_lists(items.field("source_topics")))
    repartition_bounds, repartition = flat(items.field("repartition_source_topics"))
    names = repartition.field("name").to_pylist()
    for epoch, first, last in zip(column(table, "epoch"), bounds[:-1], bounds[1:], strict=True):
        yield Topology(
            epoch,
            {
                ids[at]: (*sources[at], *names[repartition_bounds[at] : repartition_bounds[at + 1]])
                for at in range(first, last)
            },
        )


def by_role(
    table: pa.Table, topics: TopicCodes, of_partitions: str, of_tasks: Mapping[TaskRole, str]
) -> Iterator[ByRole]:
    """Streams groups have tasks in three roles, other groups have partitions."""
    owned = partitions(array(table, of_partitions), topics)
    is_streams = [each == GroupType.STREAMS for each in column(table, "group_type")]
    if not any(is_streams):
        for own in owned:
            yield {None: own}
        return
    by_task = {str(role): tasks(array(table, name)) for role, name in of_tasks.items()}
    for row, (own, streams) in enumerate(zip(owned, is_streams, strict=True)):
        yield {role: shares[row] for role, shares in by_task.items()} if streams else {None: own}


def partitions(lists_of_topics: pa.ListArray, topics: TopicCodes) -> list[Partitions]:
    return shared_partitions(partition_lists(lists_of_topics, "topic_id"), topics.of_id)


def tasks(lists_of_tasks: pa.ListArray) -> list[Tasks]:
    lists = partition_lists(lists_of_tasks, "subtopology_id")
    names = (lists.names[subtopology] for subtopology in lists.topics.tolist())
    listed = list(zip(names, lists.partitions.tolist(), strict=True))
    return [Tasks(listed[first:last]) for first, last in pairwise(lists.starts.tolist())]


# By the table that a record type declares.
READERS_OF_TABLES: Mapping[str, Reader] = {
    "group_metadata": group_epochs,
    "group_partition_metadata": known_topics,
    "group_member_metadata": abouts,
    "target_assignment_metadata": target_epochs,
    "target_assignment_members": targets,
    "current_member_assignments": currents,
    "group_regular_expressions": patterns,
    "streams_group_topologies": topologies,
}
