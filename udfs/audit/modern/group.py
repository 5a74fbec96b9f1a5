"""A consumer, share or streams group as its coordinator had it when it computed an assignment: the members in order,
what each subscribed to, and the targets of the previous epoch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from udfs.audit.modern.owner_watch import Change, Watch, watch_changes
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Record
from udfs.groups.states.modern import CoordinatorGroup

BEGINS_LATER = "the group's first records are missing"
HAS_HOLE = "records of this epoch are missing"
HAS_GAP = "records are missing between group epochs {} and {}"


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
            watch_changes(self.watch, self.operation.changes, self.abouts, self.operation.bump_offset is not None)
        self.operation.changes.clear()

    @property
    def abouts(self) -> dict[str, About | None]:
        return {member_id: member.about for member_id, member in self.members.items()}

    def epoch_of(self, member_id: str) -> int | None:
        member = self.members.get(member_id)
        return None if member is None else member.epoch

    def members_of(self, epoch: int) -> tuple[Mapping[str, About | None], int | None]:
        """The members when the epoch began, and the hash of the topics then."""
        bump = self.bumps.get(epoch)
        if bump is None or epoch == self.epoch:
            return self.abouts, self.metadata_hash
        return bump.members, bump.metadata_hash

    def targets_before(self) -> dict[str, ByRole]:
        """Targets before this computation's own records."""
        targets = {**self.targets, **self.operation.replaced}
        return {member_id: target for member_id, target in targets.items() if target is not None}
