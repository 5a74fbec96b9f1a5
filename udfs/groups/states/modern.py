"""A consumer, share or streams group as its coordinator has it, for the replay and the audit; and what the replay
remembers of it between operations."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from schemas.words.records import GroupType
from udfs.groups.history.change_details import Change
from udfs.groups.history.reading_ends import UNKNOWN_END, ReadingEnd
from udfs.groups.readers.modern_values import STABLE, About, Topics, Topology
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Record
from udfs.groups.states.holders import Holders

AWAY = -2
# Of a member removed by its type 8 tombstone; its type 5 tombstone follows.
GONE = -1

# Keys of `group.seen`: one for all records of the group; with a member's id, those of types 5 and 8.
GROUP_KEY = "group"
KEY_OF_MEMBER = "member"
KEY_OF_OWNED = "owned"

# A partition and a role: what a member can own.
Place = tuple[int, str | None]
Tps = frozenset[int]
# By phase and role.
Placed = dict[tuple[str, str | None], Tps]
TpsByRole = dict[str | None, Tps]
NOTHING: Tps = frozenset()


class Standing(NamedTuple):
    """What a member's newest record of what it owns said: its epoch, its state, and the time of the record."""

    epoch: int
    state: str | None
    since: int | None


@dataclass(slots=True)
class Member:
    """`about` is None if its record is missing."""

    about: About | None = None
    epoch: int = 0
    state: str | None = STABLE
    # Time of the newest record of what it owns.
    since: int | None = None
    assigned: ByRole = field(default_factory=dict)
    pending: ByRole = field(default_factory=dict)
    # Before the tombstone of what it owned.
    before_gone: Standing | None = None
    # Of a replay: what the ledger has for it, by phase and role.
    shown: Placed = field(default_factory=dict)

    @property
    def group_instance_id(self) -> str | None:
        return None if self.about is None else self.about.group_instance_id


@dataclass
class CoordinatorGroup:
    """The group after any of its records (see `record_handlers`). Epochs are None if records are missing."""

    group_type: GroupType
    epoch: int | None = None
    # -1: its record was deleted.
    target_epoch: int | None = None
    metadata_hash: int | None = None
    validated_topology_epoch: int | None = None
    topology: Topology | None = None
    # None: no record lists them.
    topics: Topics | None = None
    configs: tuple[tuple[str, str], ...] | None = None
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # In the order in which the coordinator added them to its map.
    members: dict[str, Member] = field(default_factory=dict)
    targets: dict[str, ByRole] = field(default_factory=dict)
    is_deleted: bool = False


class Base(NamedTuple):
    """A member in the previous assignment."""

    group_instance_id: str | None
    assigned: frozenset[int]
    # The static member has come back under this member id since then, and a rebalance follows.
    is_restarted: bool = False


class Start(NamedTuple):
    """The first record that proves a rebalance."""

    time: int | None
    offset: int
    is_exact: bool


class Cause(NamedTuple):
    """What caused a group epoch. Newer epochs may exist before the target of an older one."""

    epoch: int | None
    trigger: str
    start: Start
    changes: list[Change]


class Stop(NamedTuple):
    """A partition that its member lost and that no member has taken over yet."""

    member_id: str
    time: int | None
    offset: int
    # The assignment that took it away. None: the member left, so it is the next assignment.
    assignment_offset: int | None
    is_reported: bool = False
    # When the member stopped reading it.
    end: ReadingEnd = UNKNOWN_END
    # That assignment was completed, or left the group without members.
    is_over: bool = False


@dataclass(slots=True)
class Rebalance:
    """A target assignment that members have not all reached yet."""

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


@dataclass(slots=True)
class Operation:
    """What the records of one operation did, until it is applied."""

    # Members with records of type 5 or 8, in log order: whether none of these can be missing before.
    touched: dict[str, bool] = field(default_factory=dict)
    departed: dict[str, Member] = field(default_factory=dict)
    # Members with their first epoch in the operation: they joined in it.
    joining: set[str] = field(default_factory=set)
    # Causes of changes of members, by member; and of the group as a whole.
    changes: dict[str, list[Change]] = field(default_factory=dict)
    evidence: list[Change] = field(default_factory=list)
    # Of share groups: new partitions of topics. They explain an epoch of this operation, and cause none themselves.
    set_up: list[Change] = field(default_factory=list)
    # Newest records of types 3, 6 and 7.
    bump: Record | None = None
    is_hash_changed: bool = True
    completion: Record | None = None
    last_target: Record | None = None
    is_topology_changed: bool = False
    deletion: Record | None = None


@dataclass
class Modern(CoordinatorGroup):
    """The group with what a replay remembers of it."""

    # Counted as records are read, so that the cost of a member's record does not grow with the group.
    unsettled: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    with_tasks: set[str] = field(default_factory=set)
    assignors: Counter[str] = field(default_factory=Counter)
    # Earlier records are missing: members that wrote nothing since are unknown.
    is_partial: bool = False
    # From here on: state for rebalances.
    is_created: bool = False
    # The group's type before a conversion. None: it had no other, or the rebalance after the conversion is written.
    former_type: str | None = None
    # Assignor and generation of the newest target that was written as a rebalance.
    assignor: str | None = None
    generation: int | None = None
    # Epoch of the newest target that was written as a rebalance. A group that was emptied without a target has a later
    # generation.
    reported_target: int | None = None
    assignment_offset: int | None = None
    base: dict[str, Base] = field(default_factory=dict)
    start: Start | None = None
    causes: list[Cause] = field(default_factory=list)
    # Changes in operations without an epoch, for the next epoch.
    carried: list[Change] = field(default_factory=list)
    rebalance: Rebalance | None = None
    # Of what the ledger has.
    holders: Holders = field(default_factory=Holders)
    stops: dict[Place, Stop] = field(default_factory=dict)
    # Offset of a target that is not completed yet.
    incomplete: int | None = None
    operation: Operation = field(default_factory=Operation)
