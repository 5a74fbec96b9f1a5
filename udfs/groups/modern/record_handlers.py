"""What records of types 3 to 23 do to a group, as the coordinator applies them when it loads the log: any subset, in
any order. A tombstone is a record like any other.

A handler changes only the group and returns what the record replaced. The replay and the audit of assignments note what
that means to each of them (`udfs.groups.modern.notes`, `udfs.audit.modern.group`).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from schemas.records import types_of
from udfs.groups.readers.modern_values import About, Current, GroupEpoch, Pattern, Target, TargetEpoch, Topics, Topology
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Record
from udfs.groups.states.modern import GONE, CoordinatorGroup, Member, Standing

# Applies a record and returns what it replaced.
Handler = Callable[[CoordinatorGroup, Record], object]


class Had(NamedTuple):
    """A member before a record of its own; `member` is None if it was not in the group."""

    member: Member | None
    about: About | None
    epoch: int
    since: int | None
    assigned: ByRole
    pending: ByRole


NEW = Had(member=None, about=None, epoch=0, since=None, assigned={}, pending={})


def had_of(member: Member | None) -> Had:
    if member is None:
        return NEW
    return Had(
        member=member,
        about=member.about,
        epoch=member.epoch,
        since=member.since,
        assigned=member.assigned,
        pending=member.pending,
    )


def on_group(now: CoordinatorGroup, record: Record) -> GroupEpoch | None:
    """Types 3, 11 and 17. Returns the epoch before, None if it is unknown."""
    if record.value is None:
        now.is_deleted = True
        return None
    value: GroupEpoch = record.value
    before = None
    if now.epoch is not None:
        before = GroupEpoch(now.epoch, now.metadata_hash, now.validated_topology_epoch, now.configs)
    now.epoch, now.metadata_hash, now.validated_topology_epoch, now.configs = value
    return before


def on_member(now: CoordinatorGroup, record: Record) -> Had:
    """Types 5, 10 and 19. The tombstone removes the member."""
    member_id = str(record.member)
    if record.value is None:
        return had_of(now.members.pop(member_id, None))
    before = had_of(now.members.get(member_id))
    member = before.member
    if member is None:
        member = now.members[member_id] = Member()
    member.about = record.value
    return before


def on_target_epoch(now: CoordinatorGroup, record: Record) -> int | None:
    """Types 6, 12 and 20. Returns the target epoch before."""
    value: TargetEpoch | None = record.value
    before = now.target_epoch
    now.target_epoch = -1 if value is None else value.epoch
    return before


def on_target(now: CoordinatorGroup, record: Record) -> ByRole | None:
    """Types 7, 13 and 21. Returns the member's target before."""
    member_id = str(record.member)
    value: Target | None = record.value
    if value is None:
        return now.targets.pop(member_id, None)
    before = now.targets.get(member_id)
    now.targets[member_id] = value.assigned
    return before


def on_current(now: CoordinatorGroup, record: Record) -> Had:
    """Types 8, 14 and 22. The member of a tombstone stays until its type 5 tombstone."""
    member_id = str(record.member)
    before = had_of(now.members.get(member_id))
    member = before.member
    value: Current | None = record.value
    if value is None:
        if member is not None:
            member.before_gone = Standing(member.epoch, member.state, member.since)
            member.epoch, member.assigned, member.pending = GONE, {}, {}
        return before
    if member is None:
        member = now.members[member_id] = Member()
    member.epoch, member.state, member.since = value.epoch, value.state, record.time
    member.assigned, member.pending, member.before_gone = value.assigned, value.pending, None
    return before


def on_pattern(now: CoordinatorGroup, record: Record) -> tuple[str, ...] | None:
    """Type 16. Returns the topics that the pattern matched before."""
    pattern = str(record.member)
    value: Pattern | None = record.value
    if value is None:
        return now.patterns.pop(pattern, None)
    before = now.patterns.get(pattern)
    now.patterns[pattern] = value.topics
    return before


def on_topics(now: CoordinatorGroup, record: Record) -> Topics | None:
    """Types 4, 9, 15 and 18. Returns the topics before."""
    before, now.topics = now.topics, record.value
    return before


def on_topology(now: CoordinatorGroup, record: Record) -> Topology | None:
    """Type 23. In a deletion, its tombstone comes after that of the group. Returns the topology before."""
    before, now.topology = now.topology, record.value
    return before


# By the table that a record type declares. Whoever follows groups applies records by these.
HANDLERS_OF_TABLES: Mapping[str, Handler] = {
    "group_metadata": on_group,
    "group_partition_metadata": on_topics,
    "group_member_metadata": on_member,
    "target_assignment_metadata": on_target_epoch,
    "target_assignment_members": on_target,
    "current_member_assignments": on_current,
    "group_regular_expressions": on_pattern,
    "streams_group_topologies": on_topology,
}
HANDLERS = {number: handler for table, handler in HANDLERS_OF_TABLES.items() for number in types_of(table)}
