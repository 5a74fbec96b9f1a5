"""A consumer, share or streams group as its coordinator had it when it computed an assignment: the members in order,
what each subscribed to, and the targets of the previous epoch; with what an audit notes of each record of types 3 to
22, and signs of known defects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from schemas.records import types_of
from schemas.words.records import GroupType
from udfs.assignors.java.maps import room_of_put
from udfs.audit.checks.results import Trial
from udfs.groups.modern.record_handlers import HANDLERS, Had
from udfs.groups.readers.modern_values import UNRELEASED, About, Current, GroupEpoch, Topics
from udfs.groups.readers.recorded_lists import ByRole, partitions_of
from udfs.groups.readers.records import Record
from udfs.groups.states.modern import CoordinatorGroup
from udfs.topics.least_partitions import UNKNOWN
from udfs.topics.partition_codes import TopicCodes

BEGINS_LATER = "the group's first records are missing"
HAS_HOLE = "records of this epoch are missing"
HAS_GAP = "records are missing between group epochs {} and {}"
# The first epoch that is written; and the first from 4.3 on, which hashes topics.
FIRST_EPOCH, FIRST_EPOCH_HASHED = 1, 2
TARGET_TYPES = types_of("target_assignment_members")
COMPLETIONS = types_of("target_assignment_metadata")
# Inputs that are kept since the newest target: of the newest so many epochs, and of fewer if all of them together have
# more members than this. Those of the newest epoch are kept in any case.
MOST_INPUTS = 32
MOST_INPUT_MEMBERS = 100_000
MOST_FAULTS = 10


def all_partitions(*shares: ByRole) -> frozenset[int]:
    """All partitions of them. Streams groups have none."""
    return frozenset().union(*(partitions_of(share).tps for share in shares))


class Inputs(NamedTuple):
    """The group as it is or was at one epoch. A coordinator may compute a target from earlier inputs, and write it when
    the group has changed (KIP-1263)."""

    # -1: unknown.
    epoch: int
    # In the order of the coordinator's map, but for those who joined with the epoch.
    members: Mapping[str, About | None]
    joined: tuple[str, ...]
    room: int
    metadata_hash: int | None
    targets: Mapping[str, ByRole]
    patterns: Mapping[str, tuple[str, ...]]
    topics: Topics | None

    @property
    def has_listed_topics(self) -> bool:
        """In a record of type 4, which no release from 4.1 on writes."""
        return self.topics is not None and self.topics.assignable is None

    def subscription(self, about: About) -> tuple[str, ...]:
        """A pattern that is not resolved yet matches nothing."""
        matched = () if about.regex is None else self.patterns.get(about.regex, ())
        return tuple(dict.fromkeys((*(about.topics or ()), *matched)))


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


@dataclass
class Watch:
    """Who owns what, and signs of known defects in records of members."""

    # It follows from what the members have, so it need not be stored.
    owners: dict[int, set[str]] = field(default_factory=dict)
    # Static ids that members changed, by the member that had them.
    renamed: dict[str, str] = field(default_factory=dict)
    # Since the newest target: issues, and partitions that two members owned at the same time.
    issues: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def move(self, member_id: str, had: Iterable[int], has: Iterable[int]) -> None:
        for tp in had:
            self.owners.get(tp, set()).discard(member_id)
        for tp in has:
            self.owners.setdefault(tp, set()).add(member_id)

    def note(self, issue: str) -> None:
        if issue not in self.issues:
            self.issues.append(issue)


class Changed(NamedTuple):
    """A member's type 5 record, at the end of its operation: its subscription before, that of the static member which
    it replaces, and its own. `members`: of the group. `owner`: another one that gave up the member's static id."""

    before: About | None
    replaced: About | None
    now: About
    members: Mapping[str, About | None]
    owner: str | None
    is_bumped: bool


# By Kafka's issue. Three more are noted where a member's partitions change.
CHANGE_DEFECTS: Final[Mapping[str, Callable[[Changed], bool]]] = {
    # A classic member replaced a static member of the consumer protocol and kept its pattern.
    "KAFKA-19720": lambda of: of.now.is_classic and of.now.regex is not None,
    # A member cleared its pattern, and no group epoch followed: its targets keep the topics of the pattern.
    "KAFKA-19891": lambda of: (
        of.before is not None and of.before.regex is not None and of.now.regex is None and not of.is_bumped
    ),
    # A static member was replaced by one that asks for another assignor, and no group epoch followed.
    "KAFKA-20434": lambda of: of.replaced is not None and of.replaced.assignor != of.now.assignor and not of.is_bumped,
    # A classic member replaced a static one of the consumer protocol, and since then no member has that.
    "KAFKA-17317": lambda of: (
        of.replaced is not None
        and not of.replaced.is_classic
        and of.now.is_classic
        and all(about is not None and about.is_classic for about in of.members.values())
    ),
    # A new member inherits the target of the one that gave up its static id.
    "KAFKA-20747": lambda of: of.before is None and of.owner in of.members,
}


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
    # Whether one of them came back under another member id.
    has_returned: bool = False
    # By member, its previous subscription, and that of the static member that it replaces.
    changes: dict[str, tuple[About | None, About | None]] = field(default_factory=dict)
    # Targets before the consecutive target records of this computation.
    replaced: dict[str, ByRole | None] = field(default_factory=dict)
    first_target_offset: int | None = None
    # Its last record, and the first record after which no record is missing.
    last_offset: int = -1
    unbroken_from: int = -1
    bump_offset: int | None = None


@dataclass
class ModernGroup(CoordinatorGroup):
    """The group with what an audit remembers of it."""

    # Why inputs may be missing; None: the records are complete since the group began.
    missing: str | None = BEGINS_LATER
    # The largest capacity that the coordinator's map of members ever needed.
    room: int = 0
    # Targets at the newest target epoch, by the current ids of members.
    base: dict[str, ByRole] = field(default_factory=dict)
    # Names of topics by id, as far as the group's own records show them.
    names: dict[str, str] = field(default_factory=dict)
    # Since the newest target, oldest first: of each epoch, and again where a static member came back during an epoch.
    inputs: list[Inputs] = field(default_factory=list)
    # Whether some of them were dropped.
    is_cut: bool = False
    # By the assignor's name, how often Kafka's gave the recorded target.
    trials: dict[str, Trial] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    # Its first targets were copied from the classic group that it was.
    is_converted: bool = False
    # Kafka release and Java version that reproduced the newest assignment, and the inferred assignor.
    variant: tuple[str, tuple[int, int, int], int] | None = None
    inferred: str | None = None
    newest: Newest | None = None
    # Topics that a hash confirmed, by hash and names. Not stored between runs.
    confirmed: tuple[Any, Any] | None = None
    operation: Operation = field(default_factory=lambda: Operation((-1, None), -1))

    def resume(self) -> None:
        """Restores what is not stored, since it follows from the rest."""
        for member_id, member in self.members.items():
            self.watch.move(member_id, (), all_partitions(member.assigned, member.pending))
        for trial in self.trials.values():
            trial.before = trial.num_equal, trial.num_unequal

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
        of = self.operation
        begin = of.first_target_offset if of.bump_offset is None else of.bump_offset
        is_broken = begin is not None and of.unbroken_from > begin
        return self.missing or (HAS_HOLE if is_broken else None)

    def settle(self) -> None:
        """New members are in the coordinator's map from now on."""
        self.look()
        self.room = max(self.room, self.operation.room)
        self.operation.joined.clear()
        self.operation.replaced.clear()
        if self.operation.has_returned and self.operation.bump_offset is None:
            self.keep_inputs()
        self.operation.has_returned = False

    def complete(self, epoch: int) -> None:
        """The target of this epoch is there."""
        self.base = dict(self.targets)
        kept = [each for each in self.inputs if each.epoch > epoch]
        self.is_cut = self.is_cut and bool(kept) and len(kept) == len(self.inputs)
        self.inputs = kept
        self.watch.issues.clear()
        self.watch.faults.clear()
        self.is_converted = False
        self.settle()
        self.operation.first_target_offset = self.operation.bump_offset = None

    @property
    def abouts(self) -> dict[str, About | None]:
        return {member_id: member.about for member_id, member in self.members.items()}

    def now(self) -> Inputs:
        """Without this computation's own targets."""
        targets = {**self.targets, **self.operation.replaced}
        return Inputs(
            epoch=-1 if self.epoch is None else self.epoch,
            members=self.abouts,
            joined=tuple(self.operation.joined),
            room=self.room,
            metadata_hash=self.metadata_hash,
            targets={member_id: target for member_id, target in targets.items() if target is not None},
            patterns=dict(self.patterns),
            topics=self.topics,
        )

    def keep_inputs(self) -> None:
        """Of epochs that may still get a target."""
        if self.epoch is None or (self.target_epoch is not None and self.epoch <= self.target_epoch):
            return
        self.inputs.append(self.now())
        while len(self.inputs) > 1 and (
            len(self.inputs) > MOST_INPUTS or sum(len(each.members) for each in self.inputs) > MOST_INPUT_MEMBERS
        ):
            del self.inputs[0]
            self.is_cut = True

    def look(self) -> None:
        """Looks at the subscriptions in this operation. If earlier records are missing, they prove nothing."""
        watch, is_bumped = self.watch, self.operation.bump_offset is not None
        abouts = self.abouts if self.operation.changes and self.missing is None else {}
        for member_id, (before, replaced) in self.operation.changes.items():
            now = abouts.get(member_id)
            if now is None:
                continue
            owner = watch.renamed.get(now.group_instance_id or "")
            changed = Changed(before, replaced, now, abouts, None if owner == member_id else owner, is_bumped)
            for issue, fits in CHANGE_DEFECTS.items():
                if fits(changed):
                    watch.note(issue)
            if before is not None and before.group_instance_id not in (None, now.group_instance_id):
                watch.renamed[str(before.group_instance_id)] = member_id
        self.operation.changes.clear()

    def inputs_of(self, epoch: int) -> Inputs | None:
        """The group at an earlier epoch; None: the group is still at this one, or it is not known."""
        if epoch == self.epoch:
            return None
        return next((each for each in reversed(self.inputs) if each.epoch == epoch), None)

    def inputs_at(self, epoch: int) -> Inputs:
        """The group as it is, with the topics' hash of that epoch, and of its members then those who are still there,
        by their present ids, or all that there are now if none of them is."""
        now, was = self.now(), self.inputs_of(epoch)
        if was is None:
            return now
        heirs = self.heirs_of(was)
        known = {heirs[each]: about for each, about in was.members.items() if each in heirs}
        members = {each: known[each] for each in now.members if each in known}
        return now._replace(members=members or now.members, metadata_hash=was.metadata_hash)

    def heirs_of(self, was: Inputs) -> dict[str, str]:
        """By member of earlier inputs, who is to get its target now: itself, or the member that a static member came
        back as. Others have left."""
        instances = {member.group_instance_id: each for each, member in self.members.items()}
        heirs = {}
        for member_id, about in was.members.items():
            instance = None if about is None else about.group_instance_id
            heir = member_id if member_id in self.members else None if instance is None else instances.get(instance)
            if heir is not None:
                heirs[member_id] = heir
        return heirs

    def has_moved_on(self, epoch: int) -> bool:
        """Whether members of this epoch have left since, or come back under another id."""
        was = self.inputs_of(epoch)
        return was is not None and list(self.heirs_of(was).values()) != list(was.members)


# Notes: the group after the record, the record, and what the record replaced. Its type depends on that of the record:
# the handler of the same type returns it.
Note = Callable[[ModernGroup, Record, Any, TopicCodes], None]


def follow(group: ModernGroup, record: Record, codes: TopicCodes) -> None:
    """Follows any record except those that complete a target."""
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
    group.operation.changes.setdefault(member_id, (had.about, old))
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
    member_id, current = str(record.member), record.value
    before = all_partitions(had.assigned, had.pending)
    if current is not None or had.member is not None:
        note_put(group, member_id, had)
    now = frozenset() if current is None else all_partitions(current.assigned, current.pending)
    group.watch.move(member_id, before, now)
    if current is not None and group.group_type == GroupType.CONSUMER and group.missing is None:
        note_owned(group, member_id, current, now - before, had.about, codes)


def note_owned(
    group: ModernGroup, member_id: str, current: Current, gained: frozenset[int], about: About | None, codes: TopicCodes
) -> None:
    watch = group.watch
    for tp in sorted(gained):
        for other in sorted(watch.owners[tp] - {member_id}):
            member = group.members.get(other)
            if member is not None and len(watch.faults) < MOST_FAULTS:
                watch.faults.append(f"{codes.partition_text(tp)}: owned by {other} and {member_id} at once")
                # Only one of them should have reached the epoch.
                if current.epoch == member.epoch:
                    watch.note("KAFKA-19974")
    names = {codes.topics[code][0] for code in set(partitions_of(current.assigned).topics.tolist())}
    # It was assigned, or kept, topics that it does not subscribe to.
    if about is not None and about.regex is None and not names <= {None, *(about.topics or ())}:
        watch.note("KAFKA-19431")
    # A state that is inferred proves no defect.
    if current.state == UNRELEASED and not current.is_state_inferred:
        missing = all_partitions(group.targets.get(member_id, {})) - all_partitions(current.assigned)
        # It waits for partitions that only it has, among those that it gives up.
        if missing and all(watch.owners.get(tp, set()) <= {member_id} for tp in missing):
            watch.note("KAFKA-19449")


def note_topics(group: ModernGroup, record: Record, _: object, __: TopicCodes) -> None:
    value: Topics | None = record.value
    if value is not None:
        named = (topic for topic in value.topics if topic.topic_id and topic.name not in ("", UNKNOWN))
        group.names.update({str(topic.topic_id): topic.name for topic in named})


# Without the epochs of targets, which end a computation. Nor topologies: tasks cannot be recomputed. Of patterns, the
# group itself has all that is needed.
NOTES_OF_TABLES: Mapping[str, Note] = {
    "group_metadata": note_group,
    "group_partition_metadata": note_topics,
    "group_member_metadata": note_member,
    "target_assignment_members": note_target,
    "current_member_assignments": note_current,
    "group_regular_expressions": lambda *_: None,
}
NOTES = {number: note for table, note in NOTES_OF_TABLES.items() for number in types_of(table)}
