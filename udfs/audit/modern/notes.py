"""What an audit notes of each record of types 3 to 22: what decides the assignor's input beyond the group itself, such
as the order of the coordinator's map, earlier epochs and targets, and signs of known defects."""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.records.registry import types_of
from schemas.words.records import GroupType
from udfs.assignors.java.maps import room_of_put
from udfs.audit.modern.group import BEGINS_LATER, HAS_GAP, ModernGroup
from udfs.audit.modern.owner_watch import Change, all_partitions, watch_needs, watch_owned
from udfs.groups.modern.record_handlers import HANDLERS, Had
from udfs.groups.readers.modern_values import About, Current, GroupEpoch, Topics
from udfs.groups.readers.recorded_lists import ByRole, partitions_of
from udfs.groups.readers.records import Record
from udfs.topics.least_partitions import UNKNOWN
from udfs.topics.partition_codes import TopicCodes

# The first epoch that is written; and the first from 4.3 on, which hashes topics.
FIRST_EPOCH, FIRST_EPOCH_HASHED = 1, 2
TARGET_TYPES = types_of("target_assignment_members")
COMPLETIONS = types_of("target_assignment_metadata")

# The group after the record, the record, and what it replaced. Its type depends on that of the record:
# the handler of the same type returns it.
Note = Callable[[ModernGroup, Record, Any, TopicCodes], None]


def follow(group: ModernGroup, record: Record, codes: TopicCodes) -> None:
    """Follows any record except those that complete a target (see `modern_targets`)."""
    group.begin(record)
    if record.type in TARGET_TYPES and record.value is not None:
        if group.operation.first_target_offset is None or not group.operation.replaced:
            group.operation.first_target_offset = record.offset
    else:
        # The copy of a static member's target is separate from the targets of a computation.
        group.operation.replaced.clear()
    before = HANDLERS[record.type](group, record)
    NOTES[record.type](group, record, before, codes)


def note_group(group: ModernGroup, record: Record, before: GroupEpoch | None, _: TopicCodes) -> None:
    value: GroupEpoch | None = record.value
    if value is None:
        return
    if before is None:
        # If records are missing, a group may first appear at its second epoch, with one member and no target.
        last_first = FIRST_EPOCH if value.metadata_hash is None else FIRST_EPOCH_HASHED
        if value.epoch <= last_first and len(group.members) <= 1 and not group.targets:
            group.missing = None
    elif value.epoch == before.epoch + 1:
        # What compaction leaves is complete at the end of the log: there, records follow each other.
        group.missing = None if group.missing == BEGINS_LATER else group.missing
    elif value.epoch > before.epoch + 1 and group.missing in (None, BEGINS_LATER):
        group.missing = HAS_GAP.format(before.epoch, value.epoch)
    group.operation.bump_offset = record.offset
    group.keep_inputs()


def note_member(group: ModernGroup, record: Record, had: Had, _: TopicCodes) -> None:
    member_id = str(record.member)
    about: About | None = record.value
    if about is None:
        group.watch.move(member_id, all_partitions(had.assigned, had.pending), ())
        if had.about is not None and had.about.group_instance_id is not None:
            group.operation.departed[had.about.group_instance_id] = member_id, had.about
        return
    old_id, old = group.operation.departed.get(about.group_instance_id or "", (None, None))
    note_put(group, member_id, had)
    group.operation.changes.setdefault(member_id, Change(had.about, old))
    group.operation.has_returned |= old_id is not None and had.about is None
    if old_id in group.base and member_id not in group.base:
        # The static member came back under another member id and still has what it had.
        group.base[member_id] = group.base.pop(old_id)


def note_put(group: ModernGroup, member_id: str, had: Had) -> None:
    is_new = had.member is None
    group.operation.room = max(group.operation.room, room_of_put(len(group.members) - is_new))
    if is_new:
        group.operation.joined.append(member_id)


def note_target(group: ModernGroup, record: Record, before: ByRole | None, _: TopicCodes) -> None:
    if record.value is not None:
        group.operation.replaced.setdefault(str(record.member), before)


def note_current(group: ModernGroup, record: Record, had: Had, codes: TopicCodes) -> None:
    member_id = str(record.member)
    before = all_partitions(had.assigned, had.pending)
    current: Current | None = record.value
    if current is None:
        group.watch.move(member_id, before, ())
        if had.member is not None:
            note_put(group, member_id, had)
        return
    note_put(group, member_id, had)
    group.watch.move(member_id, before, all_partitions(current.assigned, current.pending))
    if group.group_type == GroupType.CONSUMER and group.missing is None:
        watch_owned(group.watch, member_id, current, before, group.epoch_of, codes)
        names = [codes.topics[code][0] for code in set(partitions_of(current.assigned).topics.tolist())]
        watch_needs(group.watch, member_id, current, had.about, group.targets.get(member_id, {}), names)


def note_topics(group: ModernGroup, record: Record, _: object, __: TopicCodes) -> None:
    value: Topics | None = record.value
    if value is not None:
        named = (topic for topic in value.topics if topic.topic_id and topic.name not in ("", UNKNOWN))
        group.names.update({str(topic.topic_id): topic.name for topic in named})


def note_nothing(_: ModernGroup, __: Record, ___: object, ____: TopicCodes) -> None:
    """The group itself has all that is needed."""


# Without target epochs: `modern_targets` recomputes. Nor topologies: tasks cannot be recomputed.
NOTES_OF_TABLES: Mapping[str, Note] = {
    "group_metadata": note_group,
    "group_partition_metadata": note_topics,
    "group_member_metadata": note_member,
    "target_assignment_members": note_target,
    "current_member_assignments": note_current,
    "group_regular_expressions": note_nothing,
}
NOTES = {number: note for table, note in NOTES_OF_TABLES.items() for number in types_of(table)}
