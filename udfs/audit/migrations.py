"""Follows groups that migrate: to a cooperative assignor (KIP-429), to the consumer protocol (KIP-848), or back.

To a cooperative assignor, a group goes in two rolling restarts. The first adds cooperative-sticky to each member's
assignors. No record shows it. The second removes the old assignor: with the first member that lacks it, the group uses
cooperative-sticky. Members that still have both give up everything before they join, so they claim to own nothing. A
member that restarts leaves the group and comes back. So when the last one that has both leaves, nobody is left who has
the old assignor, but the restarts are not over: the migration ends with the record in which that member is back.

To the consumer protocol, a group goes online, where the coordinator rewrites it in one operation and members change one
by one: their records show which members still use the classic protocol. Or it goes offline: then it is empty in
between, so all members change at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.payloads import CONSUMER, COOPERATIVE_STICKY_PROTOCOL
from schemas.records import types_by_group_type
from schemas.words.records import GroupType
from udfs.assignors.questions import LEADERS
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import library_sets
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

CLASSIC_TABLE, EPOCHS_TABLE, MEMBERS_TABLE = "classic_group_metadata", "group_metadata", "group_member_metadata"
EPOCH_TYPE, MEMBER_TYPE = (types_by_group_type(name)[GroupType.CONSUMER] for name in (EPOCHS_TABLE, MEMBERS_TABLE))
# From these subscription versions on, it says what the member owns, and since which generation.
OWNED_SINCE, GENERATION_SINCE = 1, 2
# Epochs of a group's first records: 2 since 4.3.
FIRST_EPOCHS = (1, 2)
# For so long after a member left, another one may be its return. By default, rebalances within this time count as one
# row of rebalances too (storm_gap_s).
BACK_WITHIN = 5 * 60 * 1_000_000


# -- what is read of records: of each member only how it takes part


@dataclass(frozen=True)
class MemberIdentity:
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None


class ClassicMemberSummary(NamedTuple):
    """A member in a type 2 value. The replay's `ClassicMember` has its partitions too, which nothing here needs."""

    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    # Version of its subscription; None: cannot be read.
    version: int | None
    # -1: it was reset; None: the version has no such field.
    generation_id: int | None
    # Whether it claimed to own something when it joined.
    has_claimed: bool
    # The set of client libraries that write such a subscription and, as the leader, such assignments, as a number.
    libraries: int
    has_partitions: bool
    # Whether its assignment has user data.
    has_assigned_data: bool


class ClassicValueSummary(NamedTuple):
    protocol_type: str
    generation: int
    protocol: str | None
    members: tuple[ClassicMemberSummary, ...]


class ConsumerMember(NamedTuple):
    """A type 5 value. `versions`: of the subscriptions of a classic member; None: it uses the consumer protocol."""

    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    versions: tuple[int, ...] | None


def identities(members: Sequence[ClassicMemberSummary] | Mapping[str, ConsumerMember]) -> tuple[MemberIdentity, ...]:
    if isinstance(members, Mapping):
        return tuple(MemberIdentity(member_id, *member[:3]) for member_id, member in members.items())
    return tuple(MemberIdentity(*member[:4]) for member in members)


def upgrade_records(tables: Mapping[str, pa.Table]) -> list[tuple[str, Record]]:
    """Types 2, 3 and 5, by offset. Not of share and streams groups."""
    ours = {
        name: rows.filter(pc.equal(rows["group_type"].cast(pa.string()), GroupType.CONSUMER.value))
        for name in (EPOCHS_TABLE, MEMBERS_TABLE)
        if (rows := tables.get(name)) is not None
    }
    with uncollected():
        records = [(group_id, with_member(record)) for group_id, record in modern_records(ours, TopicCodes())]
        classic = tables.get(CLASSIC_TABLE)
        if classic is not None and classic.num_rows:
            records += classic_values(ClassicColumns(classic))
        return sorted(records, key=lambda each: each[1].offset)


def with_member(record: Record) -> Record:
    if record.type != MEMBER_TYPE or record.value is None:
        return record
    about: About = record.value
    member = ConsumerMember(about.group_instance_id, about.client_id, about.client_host, about.offered_versions)
    return record._replace(value=member)


def classic_values(read: ClassicColumns) -> Iterator[tuple[str, Record]]:
    sets = library_sets(read)
    columns = (
        *(read.of_member(name) for name in ("member_id", "group_instance_id", "client_id", "client_host")),
        *(read.subscription_field(name) for name in ("version", "generation_id")),
        read.has_claimed.tolist(),
        (sets.members & sets.as_leaders).tolist(),
        read.has_partitions.tolist(),
        read.has_assigned_data.tolist(),
    )
    listed = read.by_value([*map(ClassicMemberSummary._make, zip(*columns, strict=True))])
    # Coordinators put the members one by one into a map by id, so of a repeated member the last entry counts.
    members = (tuple({member.member_id: member for member in each}.values()) for each in listed)
    values = zip(*(read.column(name) for name in ("protocol_type", "generation", "protocol")), members, strict=True)
    return read.records(map(ClassicValueSummary._make, values))


# -- what is remembered between records


@dataclass
class Way:
    """A migration that has begun. Times are microseconds; None: the record has none."""

    first_offset: int
    started_time: int | None
    # When a member changed last, and the number of generations, or group epochs, since then.
    progress_time: int | None
    generations_since: int = 0
    finished_time: int | None = None
    is_finished: bool = False
    # Who had changed then. While it goes on, and after it, the group's members say that, but not after its way back.
    finished_by: list[MemberIdentity] = field(default_factory=list)
    # Whether members that left in a restart had not come back then.
    is_awaiting: bool = False
    # The record with which the group returned to its former protocol.
    turned_back: int | None = None
    # Whether its beginning was read.
    is_begin_seen: bool = True
    # By member id, for migrations to a cooperative assignor: whether it gave up everything before it joined; None:
    # unknown.
    are_eager: dict[str, bool | None] = field(default_factory=dict)

    def go_on(self, is_progress: bool, is_next: bool, is_finished: bool, time: int | None) -> None:
        """After a record of the group: whether a member changed, whether there was a rebalance, and whether no member
        is left to change."""
        if is_progress:
            self.progress_time, self.generations_since = time, 0
        else:
            self.generations_since += is_next
        if is_finished and not self.is_finished:
            self.finished_time = time
        self.is_finished = is_finished


@dataclass
class State:
    """State of a group. `classic`: its newest value. `members`: of a consumer group by id; None: it is not one."""

    classic: ClassicValueSummary | None = None
    members: dict[str, ConsumerMember] | None = None
    # The last assignor of a value with members.
    protocol: str | None = None
    # Of a classic group: the number of its members before some of them left, and when the last of these left; None:
    # nobody is awaited.
    num_whole: int = 0
    left_time: int | None = None
    to_cooperative: Way | None = None
    to_consumer: Way | None = None
    to_classic: Way | None = None
    # Whether its first members were read and use the consumer protocol.
    is_native: bool = False
    # Of the newest record.
    last_offset: int = -1
    last_time: int | None = None
    # Members of a consumer group that still use the classic protocol. It follows from `members`, so it is not stored.
    classic_members: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        members = (self.members or {}).items()
        self.classic_members = {member_id for member_id, member in members if member.versions is not None}

    @property
    def is_gone(self) -> bool:
        return self.classic is None and self.members is None


def take_operation(state: State, operation: Sequence[Record]) -> None:
    was_classic, was_consumer = state.classic is not None, state.members is not None
    classic_before = set(state.classic_members)
    for record in operation:
        take_record(state, record)
    first, last = operation[0], operation[-1]
    if was_classic and state.members is not None:
        state.to_consumer, state.to_classic, state.to_cooperative = Way(first.offset, last.time, last.time), None, None
        state.protocol = None
    elif was_consumer and state.members is None and state.classic is not None:
        # With members if the last member of the consumer protocol left, else the group started again.
        if state.to_consumer is not None:
            state.to_consumer.turned_back = last.offset
        way = state.to_classic = state.to_classic or Way(first.offset, last.time, last.time)
        way.progress_time, way.finished_time, way.is_finished = last.time, last.time, True
    if state.members is not None:
        follow_protocols(state, state.members, classic_before, operation)
    state.last_time, state.last_offset = last.time, last.offset


def take_record(state: State, record: Record) -> None:
    member_id = str(record.member)
    if record.type == CLASSIC_TYPE:
        if record.value is None:
            state.classic = state.left_time = None
        else:
            take_value(state, record.value, record.offset, record.time)
    elif record.value is not None:
        state.members = {} if state.members is None else state.members
        if record.type == MEMBER_TYPE:
            state.members[member_id] = record.value
            is_classic = record.value.versions is not None
            (state.classic_members.add if is_classic else state.classic_members.discard)(member_id)
    elif record.type == EPOCH_TYPE:
        state.members, state.classic_members = None, set()
    elif state.members is not None:
        state.members.pop(member_id, None)
        state.classic_members.discard(member_id)


# -- between the protocols


def follow_protocols(
    state: State, members: Mapping[str, ConsumerMember], before: set[str], operation: Sequence[Record]
) -> None:
    """`before`: classic members before the operation."""
    still, first, last = state.classic_members, operation[0], operation[-1]
    epochs = [record.value.epoch for record in operation if record.type == EPOCH_TYPE and record.value is not None]
    if not still and any(epoch in FIRST_EPOCHS for epoch in epochs):
        state.is_native = True
    if state.to_consumer is None and still and not state.is_native:
        state.to_consumer = Way(first.offset, last.time, last.time, is_begin_seen=False)
    way = state.to_consumer
    if way is not None and not way.is_finished:
        is_progress = way.first_offset == first.offset or bool(before - still)
        way.go_on(is_progress, bool(epochs), not still, last.time)
        note_changed(way, members, last.time)
        return
    if way is not None and not still and state.to_classic is None:
        note_changed(way, members, last.time)
    # A classic member in a group with the consumer protocol.
    if not still:
        state.to_classic = None
    elif state.to_classic is None:
        state.to_classic = Way(first.offset, last.time, last.time)
    else:
        state.to_classic.go_on(bool(still - before), bool(epochs), False, last.time)


def note_changed(way: Way, members: Mapping[str, ConsumerMember], time: int | None) -> None:
    """After the end, for as long as whoever left to change may still come back."""
    end = way.finished_time
    is_soon = end is not None and time is not None and time - end <= BACK_WITHIN
    if way.is_finished and len(members) > len(way.finished_by) and (is_soon or not way.finished_by):
        way.finished_by = list(identities(members))


# -- to a cooperative assignor


def take_value(state: State, value: ClassicValueSummary, offset: int, time: int | None) -> None:
    is_back = note_members(state, 0 if state.classic is None else len(state.classic.members), len(value.members), time)
    if value.members and value.protocol_type == CONSUMER:
        if value.protocol == COOPERATIVE_STICKY_PROTOCOL:
            follow_cooperative(state, value, offset, time, is_back)
        elif value.protocol in LEADERS and (way := state.to_cooperative) is not None and way.turned_back is None:
            way.turned_back = offset
        state.protocol = value.protocol
    state.classic = value


def note_members(state: State, num_before: int, num: int, time: int | None) -> bool:
    """Notes how many members the group had before some of them left, for as long as they may come back. Returns whether
    some are back now."""
    is_over = state.left_time is None or time is None or time - state.left_time > BACK_WITHIN
    if is_over:
        state.num_whole = num_before
    if num >= state.num_whole:
        state.num_whole, state.left_time = num, None
    elif num < num_before:
        state.left_time = time
    return not is_over and num > num_before


def follow_cooperative(state: State, value: ClassicValueSummary, offset: int, time: int | None, is_back: bool) -> None:
    before = state.classic
    earlier = {} if before is None else {member.member_id: member for member in before.members}
    shown = {member.member_id: is_eager(member, earlier, before) for member in value.members}
    way = state.to_cooperative
    if state.protocol in LEADERS and state.protocol != COOPERATIVE_STICKY_PROTOCOL:
        # Members that were there before still have the old assignor. Changing that takes a restart, which gives them
        # another id.
        way = state.to_cooperative = Way(offset, time, time, are_eager=dict.fromkeys(earlier, True))
    elif way is None:
        if not any(shown.values()):
            return
        way = state.to_cooperative = Way(offset, time, time, is_begin_seen=False)
    left = {each for each, eager in way.are_eager.items() if eager}
    way.are_eager = {each: way.are_eager.get(each) if eager is None else eager for each, eager in shown.items()}
    still = {each for each, eager in way.are_eager.items() if eager}
    was_finished = way.is_finished
    is_next = before is None or before.generation != value.generation
    way.go_on(way.first_offset == offset or bool(left - still), is_next, not still, time)
    if way.is_finished:
        # With this record nobody is left who has the old assignor, or somebody is back who was missing then.
        is_end = not was_finished or (way.is_awaiting and is_back)
        if is_end:
            way.finished_time, way.finished_by = time, list(identities(value.members))
        way.is_awaiting = state.left_time is not None and (is_end or way.is_awaiting)


def is_eager(
    member: ClassicMemberSummary, earlier: Mapping[str, ClassicMemberSummary], before: ClassicValueSummary | None
) -> bool | None:
    """Whether it gave up what it had before it joined; None: it had nothing, or lost it by a reset."""
    if member.has_claimed:
        return False
    if member.version is None:
        return None
    if member.version < OWNED_SINCE:
        return True
    had = earlier.get(member.member_id)
    if before is None or had is None or not had.has_partitions:
        return None
    if member.version < GENERATION_SINCE:
        return True
    # It may have joined a later generation, of which nobody got an assignment: then it still has what it had.
    return True if member.generation_id is not None and member.generation_id >= before.generation else None
