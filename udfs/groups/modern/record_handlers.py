"""What records of types 3 to 23 do to a group, as the coordinator applies them when it loads the log: any subset, in
any order.

A handler changes only `group.now` and notes what it did in `now.operation`. The effects are applied once all records of
the operation are read. A tombstone is a record like any other.
"""

from collections.abc import Callable

from schemas.records.registry import GROUP_TYPES, types_of
from schemas.words.history import AnomalyKind, Severity
from udfs.groups.history.group import Group
from udfs.groups.modern import details
from udfs.groups.modern.state import AWAY, GONE, GROUP_KEY, KEY_OF_MEMBER, KEY_OF_OWNED, Member, Modern
from udfs.groups.readers.modern_values import (
    STABLE,
    About,
    Current,
    GroupEpoch,
    Pattern,
    Target,
    TargetEpoch,
    Topics,
    Topology,
)
from udfs.groups.readers.recorded_lists import has_some
from udfs.groups.readers.records import Record

Handler = Callable[[Group, Record], None]


def taken(group: Group, record: Record) -> Modern | None:
    """The group of the record. A value creates it, a tombstone never does."""
    group_type = GROUP_TYPES[record.type]
    now = group.now
    if isinstance(now, Modern) and now.group_type == group_type:
        return now
    if record.value is None:
        return None
    if now is not None:
        told = f"record type {record.type} of a {group_type} group while the group is of another type"
        group.anomaly(record, AnomalyKind.TYPE_CONFLICT, Severity.WARNING, told)
    first = group.context.first_epoch
    # Whether the group is new; else only its earlier records are missing.
    is_whole = group.context.gaps.is_complete(group.seen.get(GROUP_KEY, -1), record.offset)
    created = Modern(group_type, first, first, is_created=True) if is_whole else Modern(group_type)
    # A group that was of another type continues with everything it has.
    created.is_partial = now is None and is_behind_hole(group, record)
    group.now = created
    return created


def is_behind_hole(group: Group, record: Record) -> bool:
    """Whether records are missing between the group's newest record and this one."""
    before = max(group.seen.values(), default=-1)
    return any(before <= hole < record.offset for hole in group.context.holes)


def on_group(group: Group, record: Record) -> None:
    """Types 3, 11 and 17."""
    now = taken(group, record)
    if now is None:
        return
    if record.value is None:
        now.operation.deletion = record
        group.now = None
        return
    value: GroupEpoch = record.value
    if now.epoch is not None and value.epoch < now.epoch:
        went_back(group, record, "group epoch", value.epoch, now.epoch)
    if now.epoch is None or value.epoch != now.epoch:
        now.operation.bump = record
    now.operation.is_hash_changed = value.metadata_hash is None or value.metadata_hash != now.metadata_hash
    if now.epoch is not None:
        now.operation.evidence += details.epoch_changes(now, value)
    if now.epoch is None and value.epoch == group.context.first_epoch + 1:
        # The first of all epochs proves that no group existed before, even if records are missing.
        now.is_created, now.is_partial = True, False
        if now.target_epoch is None:
            reach(now, group.context.first_epoch)
    now.epoch, now.metadata_hash = value.epoch, value.metadata_hash
    now.validated_topology_epoch, now.configs = value.validated_topology_epoch, value.configs


def on_member(group: Group, record: Record) -> None:
    """Types 5, 10 and 19."""
    now = taken(group, record)
    if now is None:
        return
    member_id = str(record.member)
    touch(group, now, record, KEY_OF_MEMBER)
    if record.value is None:
        forget(group, now, member_id, record)
        return
    about: About = record.value
    member = now.members.get(member_id) or new_member(now, member_id)
    if member.about is not None:
        found = details.member_changes(member_id, member.about, about)
        now.operation.changes.setdefault(member_id, []).extend(found)
    count_assignor(now, member.about, -1)
    count_assignor(now, about, 1)
    member.about = about
    if member_id not in now.unsettled:
        count_member(now, member_id, member)


def new_member(now: Modern, member_id: str) -> Member:
    """A member that left and came back within one operation still has what it had."""
    before = now.operation.departed.pop(member_id, None)
    member = now.members[member_id] = Member(shown={} if before is None else before.shown)
    return member


def forget(group: Group, now: Modern, member_id: str, record: Record) -> None:
    member = now.members.pop(member_id, None)
    if member is None:
        return
    if member.epoch != GONE and member.before_gone is None and is_whole(now, member_id) and any(member.shown):
        told = f"member {member_id} removed while it still has its assignment at epoch {member.epoch}"
        group.anomaly(record, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, told)
    now.operation.departed[member_id] = member
    count_assignor(now, member.about, -1)
    now.unsettled.discard(member_id)
    now.away.discard(member_id)
    forget_seen(group, member_id)


def forget_seen(group: Group, member_id: str) -> None:
    for key in (KEY_OF_MEMBER, KEY_OF_OWNED):
        group.seen.pop(f"{key} {member_id}", None)


def on_target_epoch(group: Group, record: Record) -> None:
    """Types 6, 12 and 20."""
    now = taken(group, record)
    if now is None:
        return
    if record.value is None:
        now.target_epoch = -1
        return
    value: TargetEpoch = record.value
    if now.target_epoch is not None and value.epoch < now.target_epoch:
        went_back(group, record, "target epoch", value.epoch, now.target_epoch)
    now.operation.completion = record
    now.incomplete = None
    if value.epoch != now.target_epoch:
        reach(now, value.epoch)


def reach(now: Modern, target_epoch: int) -> None:
    """The epoch that members must reach from now on."""
    now.target_epoch = target_epoch
    for member_id, member in now.members.items():
        count_member(now, member_id, member)


def on_target(group: Group, record: Record) -> None:
    """Types 7, 13 and 21."""
    now = taken(group, record)
    if now is None:
        return
    member_id = str(record.member)
    if record.value is None:
        now.targets.pop(member_id, None)
        now.with_tasks.discard(member_id)
        return
    value: Target = record.value
    now.targets[member_id] = value.assigned
    if has_some(value.assigned):
        now.with_tasks.add(member_id)
    else:
        now.with_tasks.discard(member_id)
    now.operation.last_target = record


def on_current(group: Group, record: Record) -> None:
    """Types 8, 14 and 22."""
    now = taken(group, record)
    if now is None:
        return
    member_id = str(record.member)
    member = now.members.get(member_id)
    if record.value is None:
        if member is not None:
            touch(group, now, record, KEY_OF_OWNED)
            member.before_gone = (member.epoch, member.state, member.since)
            member.epoch, member.assigned, member.pending = GONE, {}, {}
            count_member(now, member_id, member)
        return
    touch(group, now, record, KEY_OF_OWNED)
    if member is None:
        member = new_member(now, member_id)
    value: Current = record.value
    if 0 <= value.epoch < member.epoch:
        went_back(group, record, f"epoch of member {member_id}", value.epoch, member.epoch)
    # A static member that came back keeps the 0 of its first record when it leaves again.
    if value.previous_epoch <= 0 and value.epoch != AWAY and member.since is None:
        now.operation.joining.add(member_id)
    member.epoch, member.state, member.since = value.epoch, value.state, record.time
    member.assigned, member.pending, member.before_gone = value.assigned, value.pending, None
    count_member(now, member_id, member)


def on_pattern(group: Group, record: Record) -> None:
    """Type 16. It is written again when cluster metadata changes; only changed topics matter."""
    now = taken(group, record)
    if now is None:
        return
    pattern = str(record.member)
    if record.value is None:
        now.patterns.pop(pattern, None)
        return
    value: Pattern = record.value
    now.operation.evidence += details.pattern_changes(pattern, now.patterns.get(pattern), value.topics)
    now.patterns[pattern] = value.topics


def on_topics(group: Group, record: Record) -> None:
    """Types 4, 9, 15 and 18."""
    now = taken(group, record)
    if now is None:
        return
    value = Topics() if record.value is None else record.value
    now.operation.evidence += details.listed_topics_changes(now, value)
    now.topics = value


def on_topology(group: Group, record: Record) -> None:
    """Type 23. In a deletion, its tombstone comes after that of the group."""
    now = taken(group, record)
    if now is None:
        return
    value: Topology | None = record.value
    if now.topology is not None and value is not None and value.epoch != now.topology.epoch:
        now.operation.evidence.append(details.other_topology(now.topology.epoch, value.epoch))
    now.operation.is_topology_changed = value != now.topology
    now.topology = value


HANDLERS_OF_TABLES: dict[str, Handler] = {
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


def touch(group: Group, now: Modern, record: Record, key: str) -> None:
    """Notes that the operation changes the member, and whether a record of the key can be missing before this one."""
    member_id = str(record.member)
    is_exact = group.is_exact(f"{key} {member_id}", record)
    now.operation.touched[member_id] = is_exact and now.operation.touched.get(member_id, True)


def is_whole(now: Modern, member_id: str) -> bool:
    return now.operation.touched.get(member_id, False)


def count_assignor(now: Modern, about: About | None, by: int) -> None:
    if about is not None and about.assignor is not None:
        now.assignors[about.assignor] += by
        if not now.assignors[about.assignor]:
            del now.assignors[about.assignor]


def count_member(now: Modern, member_id: str, member: Member) -> None:
    """A member has settled when it has reached the target. Members of share groups have no states."""
    is_settled = member.state in (STABLE, None) and now.target_epoch in (None, member.epoch)
    (now.unsettled.discard if is_settled else now.unsettled.add)(member_id)
    (now.away.add if member.epoch == AWAY else now.away.discard)(member_id)


def went_back(group: Group, record: Record, what: str, found: int, before: int) -> None:
    told = f"{what} {found} after {before}: epochs only rise"
    group.anomaly(record, AnomalyKind.EPOCH_WENT_BACK, Severity.WARNING, told)
