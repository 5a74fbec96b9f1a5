"""What a replay notes of each record of types 3 to 23: it keeps its counts, and remembers in `now.operation` what the
record changed. The effects are applied once all records of the operation are read (`modern_groups.settle`)."""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.records import GROUP_TYPES, types_of
from schemas.words.history import AnomalyKind, Severity
from udfs.groups.modern import details
from udfs.groups.modern.record_handlers import HANDLERS, Had
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
from udfs.groups.states.group import Group
from udfs.groups.states.modern import AWAY, GONE, GROUP_KEY, KEY_OF_MEMBER, KEY_OF_OWNED, Member, Modern

# The group, its state after the record, the record, and what it replaced. Its type depends on that of the record:
# the handler of the same type returns it.
Note = Callable[[Group, Modern, Record, Any], None]


def take(group: Group, record: Record) -> None:
    """Changes only the group's current state."""
    now = group_of(group, record)
    if now is not None:
        before = HANDLERS[record.type](now, record)
        NOTES[record.type](group, now, record, before)


def group_of(group: Group, record: Record) -> Modern | None:
    """The group of the record. A value creates it, a tombstone never does."""
    group_type = GROUP_TYPES[record.type]
    now = group.now
    if isinstance(now, Modern) and now.group_type == group_type:
        return now
    if record.value is None:
        return None
    if now is not None:
        line = f"a record of a {group_type} group (type {record.type}), but the group is of another type"
        group.anomaly(record, AnomalyKind.TYPE_CONFLICT, Severity.WARNING, line)
    first = group.context.lines.at(record.offset).first_epoch
    # Whether the group is new; else only its earlier records are missing.
    is_whole = group.context.gaps.is_complete(group.seen.get(GROUP_KEY, -1), record.offset)
    created = Modern(group_type, first, first, is_created=True) if is_whole else Modern(group_type)
    # A group that was of another type continues with everything it has.
    created.is_partial = now is None and is_after_hole(group, record)
    group.now = created
    return created


def is_after_hole(group: Group, record: Record) -> bool:
    """Whether records are missing between the group's newest record and this one."""
    before = max(group.seen.values(), default=-1)
    return any(before <= hole < record.offset for hole in group.context.holes)


def note_group(group: Group, now: Modern, record: Record, before: GroupEpoch | None) -> None:
    if record.value is None:
        now.operation.deletion = record
        group.now = None
        return
    value: GroupEpoch = record.value
    if before is not None and value.epoch < before.epoch:
        went_back(group, record, "group epoch", value.epoch, before.epoch)
    if before is None or value.epoch != before.epoch:
        now.operation.bump = record
    hash_before = None if before is None else before.metadata_hash
    now.operation.is_hash_changed = value.metadata_hash is None or value.metadata_hash != hash_before
    if before is not None:
        now.operation.evidence += details.epoch_changes(before, value)
    first = group.context.lines.at(record.offset).first_epoch
    if before is None and value.epoch == first + 1:
        # The first of all epochs proves that no group existed before, even if records are missing.
        now.is_created, now.is_partial = True, False
        if now.target_epoch is None:
            reach(now, first)


def note_member(group: Group, now: Modern, record: Record, had: Had) -> None:
    member_id = str(record.member)
    touch(group, now, record, KEY_OF_MEMBER)
    if record.value is None:
        if had.member is not None:
            forget(group, now, member_id, had.member, record)
        return
    about: About = record.value
    member = now.members[member_id]
    if had.member is None:
        show_again(now, member_id, member)
    if had.about is not None:
        changes = details.member_changes(member_id, had.about, about)
        now.operation.changes.setdefault(member_id, []).extend(changes)
    count_assignor(now, had.about, -1)
    count_assignor(now, about, 1)
    if member_id not in now.unsettled:
        count_member(now, member_id, member)


def show_again(now: Modern, member_id: str, member: Member) -> None:
    """A member that left and came back within one operation still has what it had."""
    before = now.operation.departed.pop(member_id, None)
    if before is not None:
        member.shown = before.shown


def forget(group: Group, now: Modern, member_id: str, member: Member, record: Record) -> None:
    if member.epoch != GONE and member.before_gone is None and is_whole(now, member_id) and any(member.shown):
        line = f"member {member_id} removed before the tombstone of its current assignment (epoch {member.epoch})"
        group.anomaly(record, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, line)
    now.operation.departed[member_id] = member
    count_assignor(now, member.about, -1)
    now.unsettled.discard(member_id)
    now.away.discard(member_id)
    forget_seen(group, member_id)


def forget_seen(group: Group, member_id: str) -> None:
    for key in (KEY_OF_MEMBER, KEY_OF_OWNED):
        group.seen.pop(f"{key} {member_id}", None)


def note_target_epoch(group: Group, now: Modern, record: Record, before: int | None) -> None:
    value: TargetEpoch | None = record.value
    if value is None:
        return
    if before is not None and value.epoch < before:
        went_back(group, record, "target epoch", value.epoch, before)
    else:
        report_repeated(group, now, record, value.epoch)
    now.operation.completion = record
    now.incomplete = None
    if value.epoch != before:
        reach(now, value.epoch)


def report_repeated(group: Group, now: Modern, record: Record, epoch: int) -> None:
    """A coordinator completes one target for each epoch. After missing records the group may be another one of the same
    name. The copy of a classic group's assignment is the first target of a group: nothing comes before it."""
    completion = now.operation.completion
    if completion is not None and completion.value.epoch == epoch:
        first = completion.offset
    elif now.reported_target == epoch and now.assignment_offset is not None:
        first = now.assignment_offset
    else:
        return
    if group.context.gaps.is_complete(first, record.offset):
        line = f"target epoch {epoch} is completed again: each target has an epoch of its own"
        group.anomaly(record, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, line, first)


def reach(now: Modern, target_epoch: int) -> None:
    """The epoch that members must reach from now on."""
    now.target_epoch = target_epoch
    for member_id, member in now.members.items():
        count_member(now, member_id, member)


def note_target(_: Group, now: Modern, record: Record, __: object) -> None:
    value: Target | None = record.value
    has_tasks = value is not None and has_some(value.assigned)
    (now.with_tasks.add if has_tasks else now.with_tasks.discard)(str(record.member))
    if value is not None:
        now.operation.last_target = record


def note_current(group: Group, now: Modern, record: Record, had: Had) -> None:
    member_id = str(record.member)
    value: Current | None = record.value
    if value is None and had.member is None:
        return
    touch(group, now, record, KEY_OF_OWNED)
    member = now.members[member_id]
    if value is not None:
        if had.member is None:
            show_again(now, member_id, member)
        if 0 <= value.epoch < had.epoch:
            went_back(group, record, f"epoch of member {member_id}", value.epoch, had.epoch)
        # A static member that came back keeps the 0 of its first record when it leaves again.
        if value.previous_epoch <= 0 and value.epoch != AWAY and had.since is None:
            now.operation.joining.add(member_id)
    count_member(now, member_id, member)


def note_pattern(_: Group, now: Modern, record: Record, before: tuple[str, ...] | None) -> None:
    """It is written again when cluster metadata changes; only changed topics matter."""
    value: Pattern | None = record.value
    if value is not None:
        now.operation.evidence += details.pattern_changes(str(record.member), before, value.topics)


def note_topics(_: Group, now: Modern, record: Record, before: Topics | None) -> None:
    before, after = before or Topics(), record.value or Topics()
    now.operation.evidence += details.listed_topics_changes(now.group_type, before, after)
    now.operation.set_up += details.set_up_changes(before, after)


def note_topology(_: Group, now: Modern, record: Record, before: Topology | None) -> None:
    value: Topology | None = record.value
    if before is not None and value is not None and value.epoch != before.epoch:
        now.operation.evidence.append(details.other_topology(before.epoch, value.epoch))
    now.operation.is_topology_changed = value != before


NOTES_OF_TABLES: Mapping[str, Note] = {
    "group_metadata": note_group,
    "group_partition_metadata": note_topics,
    "group_member_metadata": note_member,
    "target_assignment_metadata": note_target_epoch,
    "target_assignment_members": note_target,
    "current_member_assignments": note_current,
    "group_regular_expressions": note_pattern,
    "streams_group_topologies": note_topology,
}
NOTES = {number: note for table, note in NOTES_OF_TABLES.items() for number in types_of(table)}


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


def went_back(group: Group, record: Record, what: str, epoch: int, before: int) -> None:
    line = f"{what} {epoch} after {before}: epochs only rise"
    group.anomaly(record, AnomalyKind.EPOCH_WENT_BACK, Severity.WARNING, line)
