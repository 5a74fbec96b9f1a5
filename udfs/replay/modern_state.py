"""A consumer, share or streams group as its coordinator has it, and what is remembered of it between operations."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from schemas.vocabulary import GroupType
from udfs.replay.details import Change
from udfs.replay.modern_values import STABLE, About, ByRole, Topics, Topology
from udfs.replay.reading_ends import ReadingEnd
from udfs.replay.records import Record

AWAY = -2
# Of a member that its type 8 tombstone sent away; its type 5 tombstone follows.
GONE = -1

# Keys of `group.seen`: of all of a group's records; with a member's id, of types 5 and 8.
GROUP_KEY = "group"
KEY_OF_MEMBER = "member"
KEY_OF_OWNED = "owned"

# A partition in a role: what a member owns.
Place = tuple[int, str | None]
Placed = dict[tuple[str, str | None], frozenset[int]]
NOTHING: frozenset[int] = frozenset()


@dataclass(slots=True)
class Member:
    """`about` is None where its record is missing."""

    about: About | None = None
    epoch: int = 0
    state: str | None = STABLE
    # Time of its newest record of what it owns.
    since: int | None = None
    assigned: ByRole = field(default_factory=dict)
    pending: ByRole = field(default_factory=dict)
    # Epoch, state and time before the tombstone of what it owned.
    before_gone: tuple[int, str | None, int | None] | None = None
    # What the ledger has of it, by phase and role.
    shown: Placed = field(default_factory=dict)

    @property
    def group_instance_id(self) -> str | None:
        return None if self.about is None else self.about.group_instance_id


class Base(NamedTuple):
    """A member at the assignment before."""

    group_instance_id: str | None
    assigned: frozenset[int]
    # The static instance came back under this member id since, and a rebalance follows.
    is_restarted: bool = False


class Start(NamedTuple):
    """The first record that proves a rebalance."""

    time: int | None
    offset: int
    is_exact: bool


class Cause(NamedTuple):
    """What set a group epoch off. Newer epochs may be there before the target of an older one."""

    epoch: int | None
    trigger: str
    start: Start
    changes: list[Change]


class Stop(NamedTuple):
    """A partition that its member lost and that nobody has taken over yet."""

    member_id: str
    time: int | None
    offset: int
    # The assignment that took it away; None: the member left, so the next one to come.
    assignment_offset: int | None
    is_told: bool = False
    # When the member stopped reading it.
    end: ReadingEnd | None = None


@dataclass(slots=True)
class Rebalance:
    """A target assignment on its way to the members."""

    assignment_offset: int
    from_generation: int | None
    to_generation: int
    start: Start
    trigger: str
    members_joined: list[str]
    members_departed: list[str]
    num_members_before: int
    num_members_after: int
    num_partitions: int
    assignor_before: str | None
    assignor_after: str | None
    detail: str | None
    num_moved: int = 0
    num_returned: int = 0
    num_unowned: int = 0
    stopped_ms: int = 0
    # Of moves that earlier runs counted: how long the partitions were unread (`jobs.replaying.unread_times`).
    unread_low_ms: int | None = None
    unread_high_ms: int | None = None
    longest_unread_ms: int | None = None


@dataclass(slots=True)
class Operation:
    """What the records of one operation did, until it is settled."""

    # Members that records of type 5 or 8 are about, in log order: whether none can be missing before.
    touched: dict[str, bool] = field(default_factory=dict)
    departed: dict[str, Member] = field(default_factory=dict)
    # Members whose first epoch stands in the operation: they joined in it.
    joining: set[str] = field(default_factory=set)
    # What set members' changes off, by member; and what is of the group as a whole.
    changes: dict[str, list[Change]] = field(default_factory=dict)
    evidence: list[Change] = field(default_factory=list)
    # Newest records of types 3, 6 and 7.
    bump: Record | None = None
    is_hash_changed: bool = True
    completion: Record | None = None
    last_target: Record | None = None
    is_topology_changed: bool = False
    deletion: Record | None = None


@dataclass
class Modern:
    """Epochs are None where records are missing."""

    group_type: GroupType
    epoch: int | None = None
    target_epoch: int | None = None
    metadata_hash: int | None = None
    validated_topology_epoch: int | None = None
    topology: Topology | None = None
    topics: Topics = field(default_factory=lambda: Topics(()))
    configs: tuple[tuple[str, str], ...] | None = None
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    targets: dict[str, ByRole] = field(default_factory=dict)
    # Counted as records come, so that one member's record costs nothing of the group's size.
    unsettled: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    with_tasks: set[str] = field(default_factory=set)
    assignors: Counter[str] = field(default_factory=Counter)
    # The log before was not seen: members that wrote nothing since are not known.
    is_partial: bool = False
    # Of rebalances.
    is_created: bool = False
    # The type that the group had before; None: it had no other, or its rebalance after that is told.
    former_type: str | None = None
    # Of the newest target that was told.
    assignor: str | None = None
    generation: int | None = None
    # Epoch of the newest target that was told; a group emptied without one stands at a later generation.
    told_target: int | None = None
    assignment_offset: int | None = None
    base: dict[str, Base] = field(default_factory=dict)
    start: Start | None = None
    causes: list[Cause] = field(default_factory=list)
    # Of operations without an epoch, for the next one.
    carried: list[Change] = field(default_factory=list)
    rebalance: Rebalance | None = None
    stops: dict[Place, Stop] = field(default_factory=dict)
    # Since when all members have been away, or gone; None: some are there.
    deserted_since: int | None = None
    # Offset of a target that no completion followed yet.
    incomplete: int | None = None
    operation: Operation = field(default_factory=Operation)
