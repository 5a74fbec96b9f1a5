"""A consumer, share or streams group as its coordinator had it when it computed an assignment, folded record by record:
the members in order, what each subscribed to, and the targets of the previous epoch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.records.registry import types_of
from schemas.words.records import GroupType
from udfs.assignors.java.timeline_map import room_of_put
from udfs.audit.modern.owner_watch import Change, Watch, held, watch_changes, watch_needs, watch_owned
from udfs.groups.readers.modern_values import About, Current, GroupEpoch, Topics
from udfs.groups.readers.recorded_lists import ByRole, partitions_of
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

# The first epoch that is written; and the first from 4.3 on, which hashes topics.
FIRST_EPOCH, FIRST_EPOCH_HASHED = 1, 2
# Epochs that may still wait for their targets: a coordinator computes one at a time.
MOST_BUMPS = 8
# For a member removed by its type 8 tombstone; its type 5 tombstone follows.
GONE = -1
BEGINS_LATER = "the group's first records are missing"
NOT_FOLLOWED = "the record at offset {} cannot be followed: {}"
HAS_HOLE = "records of this epoch are missing"
HAS_GAP = "records are missing between group epochs {} and {}"


@dataclass(slots=True)
class Member:
    about: About | None = None
    epoch: int = 0
    assigned: ByRole = field(default_factory=dict)
    pending: ByRole = field(default_factory=dict)


class Bump(NamedTuple):
    """The group at a new epoch. A target may be for this epoch although the group has changed since (KIP-1263)."""

    members: Mapping[str, About | None]
    metadata_hash: int | None


class Newest(NamedTuple):
    """The newest target assignment, for what-ifs."""

    assignment_offset: int
    record_time: int | None
    first_offset: int
    assignor: str | None
    counts_source: str | None
    # By name: partitions and id.
    topics: Mapping[str, tuple[int, str | None]]
    # Why nothing can be computed.
    reason: str | None


@dataclass(slots=True)
class Operation:
    """The records of one batch and time."""

    key: tuple[int, int | None]
    first_offset: int
    # Added to the group's map of members only after the whole operation is written.
    joined: list[str] = field(default_factory=list)
    room: int = 0
    # By static instance: the member that left, and its subscription.
    departed: dict[str, tuple[str, About]] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    # Targets before the consecutive target records of this computation.
    replaced: dict[str, ByRole | None] = field(default_factory=dict)
    first_target_offset: int | None = None
    # Its last record, and the first record after which no record is missing.
    last_offset: int = -1
    unbroken_from: int = -1
    bump_offset: int | None = None


@dataclass
class ModernGroup:
    group_type: GroupType
    # Why inputs may be missing; None: the records are complete since the group began.
    missing: str | None = BEGINS_LATER
    epoch: int | None = None
    metadata_hash: int | None = None
    target_epoch: int | None = None
    # In the order in which the coordinator added them to its map; and the largest capacity the map ever needed.
    members: dict[str, Member] = field(default_factory=dict)
    room: int = 0
    targets: dict[str, ByRole] = field(default_factory=dict)
    # Targets at the newest target epoch, by the current ids of members.
    base: dict[str, ByRole] = field(default_factory=dict)
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    listed: Topics | None = None
    # Names of topics by id, as far as the group's own records show them.
    names: dict[str, str] = field(default_factory=dict)
    bumps: dict[int, Bump] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    # Its first targets were copied from the classic group that it was.
    is_converted: bool = False
    # Kafka release and Java version that reproduced the newest assignment, and the inferred assignor.
    variant: tuple[Any, ...] | None = None
    inferred: str | None = None
    newest: Newest | None = None
    # Topics that a hash confirmed, by hash and names. Not stored between runs.
    confirmed: tuple[Any, Any] | None = None
    operation: Operation = field(default_factory=lambda: Operation((-1, None), -1))

    def begin(self, record: Record) -> None:
        key = (record.batch, record.time)
        if key != self.operation.key:
            self.settle()
            self.operation = Operation(key, record.offset)
        if record.offset != self.operation.last_offset + 1:
            self.operation.unbroken_from = record.offset
        self.operation.last_offset = record.offset

    @property
    def missing_now(self) -> str | None:
        """Compaction can remove records from the middle of an operation."""
        begin = self.operation.bump_offset
        if begin is None:
            begin = self.operation.first_target_offset
        is_broken = begin is not None and self.operation.unbroken_from > begin
        return self.missing or (HAS_HOLE if is_broken else None)

    def settle(self) -> None:
        """New members are in the coordinator's map from now on."""
        self.look()
        self.room = max(self.room, self.operation.room)
        self.operation.joined.clear()
        self.operation.replaced.clear()

    def look(self) -> None:
        """Looks at the subscriptions in this operation. If earlier records are missing, they prove nothing."""
        if self.operation.changes and self.missing is None:
            abouts = {member_id: member.about for member_id, member in self.members.items()}
            watch_changes(self.watch, self.operation.changes, abouts, self.operation.bump_offset is not None)
        self.operation.changes.clear()

    def epoch_of(self, member_id: str) -> int | None:
        member = self.members.get(member_id)
        return None if member is None else member.epoch

    def members_of(self, epoch: int) -> tuple[Mapping[str, About | None], int | None]:
        """The members when the epoch began, and the hash of the topics then."""
        bump = self.bumps.get(epoch)
        if bump is None or epoch == self.epoch:
            return {member_id: member.about for member_id, member in self.members.items()}, self.metadata_hash
        return bump.members, bump.metadata_hash

    def targets_before(self) -> dict[str, ByRole]:
        """Targets before this computation's own records."""
        found = {**self.targets, **self.operation.replaced}
        return {member_id: target for member_id, target in found.items() if target is not None}


def on_group(group: ModernGroup, record: Record, _: TopicCodes) -> None:
    """Types 3, 11 and 17."""
    value: GroupEpoch = record.value
    epoch, metadata_hash = value.epoch, value.metadata_hash
    if group.epoch is None:
        # If records are missing, a group may first appear at its second epoch, with one member and no target.
        last_first = FIRST_EPOCH if metadata_hash is None else FIRST_EPOCH_HASHED
        if epoch <= last_first and len(group.members) <= 1 and not group.targets:
            group.missing = None
    elif epoch == group.epoch + 1:
        # What compaction leaves is complete at the end of the log: there, records follow each other.
        group.missing = None if group.missing == BEGINS_LATER else group.missing
    elif epoch > group.epoch + 1 and group.missing in (None, BEGINS_LATER):
        group.missing = HAS_GAP.format(group.epoch, epoch)
    group.epoch, group.metadata_hash = epoch, metadata_hash
    group.operation.bump_offset = record.offset
    abouts = {member_id: member.about for member_id, member in group.members.items()}
    group.bumps[epoch] = Bump(abouts, metadata_hash)
    while len(group.bumps) > MOST_BUMPS:
        del group.bumps[next(iter(group.bumps))]


def on_member(group: ModernGroup, record: Record, _: TopicCodes) -> None:
    """Types 5, 10 and 19."""
    member_id = str(record.member)
    if record.value is None:
        gone = group.members.pop(member_id, None)
        if gone is not None:
            group.watch.move(member_id, held(gone.assigned, gone.pending), ())
        if gone is not None and gone.about is not None and gone.about.group_instance_id is not None:
            group.operation.departed[gone.about.group_instance_id] = member_id, gone.about
        return
    about: About = record.value
    old_id, old = group.operation.departed.get(about.group_instance_id or "", (None, None))
    member = put(group, member_id)
    group.operation.changes.setdefault(member_id, Change(member.about, old))
    member.about = about
    if old_id in group.base and member_id not in group.base:
        # The static member came back under another member id and still has what it had.
        group.base[member_id] = group.base.pop(old_id)


def put(group: ModernGroup, member_id: str) -> Member:
    group.operation.room = max(group.operation.room, room_of_put(len(group.members)))
    member = group.members.get(member_id)
    if member is None:
        member = group.members[member_id] = Member()
        group.operation.joined.append(member_id)
    return member


def on_target(group: ModernGroup, record: Record, _: TopicCodes) -> None:
    """Types 7, 13 and 21."""
    member_id = str(record.member)
    if record.value is None:
        group.targets.pop(member_id, None)
        return
    group.operation.replaced.setdefault(member_id, group.targets.get(member_id))
    group.targets[member_id] = record.value.assigned


def on_owned(group: ModernGroup, record: Record, codes: TopicCodes) -> None:
    """Types 8, 14 and 22."""
    member_id = str(record.member)
    before = group.members.get(member_id)
    had: frozenset[int] = frozenset() if before is None else held(before.assigned, before.pending)
    if record.value is None:
        group.watch.move(member_id, had, ())
        if before is not None:
            before = put(group, member_id)
            before.epoch, before.assigned, before.pending = GONE, {}, {}
        return
    owned: Current = record.value
    member = put(group, member_id)
    member.epoch, member.assigned, member.pending = owned.epoch, owned.assigned, owned.pending
    group.watch.move(member_id, had, held(owned.assigned, owned.pending))
    if group.group_type == GroupType.CONSUMER and group.missing is None:
        watch_owned(group.watch, member_id, owned, had, group.epoch_of, codes)
        names = [codes.topics[code][0] for code in set(partitions_of(owned.assigned).topics.tolist())]
        watch_needs(group.watch, member_id, owned, member.about, group.targets.get(member_id, {}), names)


def on_topics(group: ModernGroup, record: Record, _: TopicCodes) -> None:
    """Types 4 and 15."""
    group.listed = record.value
    if group.listed is not None:
        group.names.update({topic.topic_id: topic.name for topic in group.listed.topics if topic.topic_id})


def on_pattern(group: ModernGroup, record: Record, _: TopicCodes) -> None:
    """Type 16."""
    pattern = str(record.member)
    if record.value is None:
        group.patterns.pop(pattern, None)
    else:
        group.patterns[pattern] = record.value.topics


Handler = Callable[[ModernGroup, Record, TopicCodes], None]
HANDLERS_OF_TABLES: Mapping[str, Handler] = {
    "group_metadata": on_group,
    "group_partition_metadata": on_topics,
    "group_member_metadata": on_member,
    "target_assignment_members": on_target,
    "current_member_assignments": on_owned,
    "group_regular_expressions": on_pattern,
}
HANDLERS = {number: handler for table, handler in HANDLERS_OF_TABLES.items() for number in types_of(table)}
TARGET_TYPES = types_of("target_assignment_members")
COMPLETIONS = types_of("target_assignment_metadata")
EPOCH_TYPES = types_of("group_metadata")


def apply(group: ModernGroup, record: Record, codes: TopicCodes) -> None:
    """Applies any record except those that complete a target (see `modern_audit`)."""
    group.begin(record)
    if record.type in TARGET_TYPES and record.value is not None:
        if group.operation.first_target_offset is None or not group.operation.replaced:
            group.operation.first_target_offset = record.offset
    else:
        # The copy of a static member's target is separate from the targets of a computation.
        group.operation.replaced.clear()
    HANDLERS[record.type](group, record, codes)
