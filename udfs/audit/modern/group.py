"""A consumer, share or streams group as its coordinator had it when it computed an assignment: the members in order,
what each subscribed to, and the targets of the previous epoch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from udfs.audit.checks.results import Trial
from udfs.audit.modern.owner_watch import Change, Watch, all_partitions, watch_changes
from udfs.groups.readers.modern_values import About, Topics
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Record
from udfs.groups.states.modern import CoordinatorGroup, Member

BEGINS_LATER = "the group's first records are missing"
HAS_HOLE = "records of this epoch are missing"
HAS_GAP = "records are missing between group epochs {} and {}"


# Inputs that are kept since the newest target: of the newest so many epochs, and of fewer if all of them together have
# more members than this. Those of the newest epoch are kept in any case.
MOST_INPUTS = 32
MOST_INPUT_MEMBERS = 100_000


class Inputs(NamedTuple):
    """The group as it was at one epoch. A coordinator may compute a target from it and write the target when the group
    has changed (KIP-1263)."""

    epoch: int
    # In the order of the coordinator's map, but for those who joined with the epoch.
    members: Mapping[str, About | None]
    joined: tuple[str, ...]
    room: int
    metadata_hash: int | None
    targets: Mapping[str, ByRole]
    patterns: Mapping[str, tuple[str, ...]]
    topics: Topics | None


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
    # Whether one of them came back under another member id.
    has_returned: bool = False
    changes: dict[str, Change] = field(default_factory=dict)
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
        if self.operation.has_returned and self.operation.bump_offset is None:
            self.keep_inputs()
        self.operation.has_returned = False

    def keep_inputs(self) -> None:
        """Of epochs that may still get a target."""
        if self.epoch is None or (self.target_epoch is not None and self.epoch <= self.target_epoch):
            return
        self.inputs.append(
            Inputs(
                epoch=self.epoch,
                members=self.abouts,
                joined=tuple(self.operation.joined),
                room=self.room,
                metadata_hash=self.metadata_hash,
                targets=dict(self.targets),
                patterns=dict(self.patterns),
                topics=self.topics,
            )
        )
        while len(self.inputs) > 1 and (
            len(self.inputs) > MOST_INPUTS or sum(len(each.members) for each in self.inputs) > MOST_INPUT_MEMBERS
        ):
            del self.inputs[0]
            self.is_cut = True

    def drop_inputs(self, epoch: int) -> None:
        """The target of this epoch is there."""
        kept = [each for each in self.inputs if each.epoch > epoch]
        self.is_cut = self.is_cut and bool(kept) and len(kept) == len(self.inputs)
        self.inputs = kept

    def look(self) -> None:
        """Looks at the subscriptions in this operation. If earlier records are missing, they prove nothing."""
        if self.operation.changes and self.missing is None:
            watch_changes(self.watch, self.operation.changes, self.abouts, self.operation.bump_offset is not None)
        self.operation.changes.clear()

    @property
    def abouts(self) -> dict[str, About | None]:
        return {member_id: member.about for member_id, member in self.members.items()}

    def epoch_of(self, member_id: str) -> int | None:
        member = self.members.get(member_id)
        return None if member is None else member.epoch

    def inputs_of(self, epoch: int) -> Inputs | None:
        """The group at an earlier epoch; None: the group is still at this one, or it is not known."""
        if epoch == self.epoch:
            return None
        return next((each for each in reversed(self.inputs) if each.epoch == epoch), None)

    def members_of(self, epoch: int) -> tuple[Mapping[str, About | None], int | None]:
        """Of the members of the epoch those who are still there, by their present ids, or all if none of them is; and
        the hash of its topics."""
        was = self.inputs_of(epoch)
        if was is None:
            return self.abouts, self.metadata_hash
        heirs = self.heirs_of(was)
        known = {heirs[each]: about for each, about in was.members.items() if each in heirs}
        return known or self.abouts, was.metadata_hash

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

    def as_it_was(self, was: Inputs) -> "ModernGroup":
        """The group with earlier inputs. What it learns of topics' names stays."""
        members = {each: Member(about) for each, about in was.members.items()}
        past = ModernGroup(
            self.group_type, was.epoch, metadata_hash=was.metadata_hash, topics=was.topics, members=members,
            patterns=dict(was.patterns), targets=dict(was.targets), room=was.room, names=self.names,
            variant=self.variant, inferred=self.inferred, confirmed=self.confirmed,
        )  # fmt: skip
        past.operation.joined = list(was.joined)
        return past

    def targets_before(self) -> dict[str, ByRole]:
        """Targets before this computation's own records."""
        targets = {**self.targets, **self.operation.replaced}
        return {member_id: target for member_id, target in targets.items() if target is not None}
