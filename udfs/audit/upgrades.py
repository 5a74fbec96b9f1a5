"""Groups that migrate: to a cooperative assignor (KIP-429), to the consumer protocol (KIP-848), or back. The rows of
`assignor_upgrades`, with what keeps members from it.

To a cooperative assignor, a group goes in two rolling restarts. The first adds cooperative-sticky to each member's
assignors. No record shows it. The second removes the old assignor: with the first member that lacks it, the group uses
cooperative-sticky. Members that still have both give up everything before they join, so they claim to own nothing. A
member that restarts leaves the group and comes back. So when the last one that has both leaves, nobody is left who has
the old assignor, but the restarts are not over: the migration ends with the record in which that member is back.

To the consumer protocol, a group goes online, where the coordinator rewrites it in one operation and members change one
by one: their records show which members still use the classic protocol. Or it goes offline: then it is empty in
between, so all members change at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.records import (
    CONNECT,
    CONSUMER,
    COOPERATIVE_STICKY_PROTOCOL,
    SCHEMA_REGISTRY,
    STREAM_PROTOCOL,
    types_by_group_type,
)
from schemas.words.assignments import WITHOUT_CONSUMER_PROTOCOL, BlockerKind, Migration, MigrationPhase, Readiness
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.questions import LEADERS
from udfs.audit.checks.facts import Facts
from udfs.groups.readers.classic_columns import OWNED_SINCE, ClassicColumns
from udfs.groups.readers.classic_columns import TYPE as CLASSIC_TYPE
from udfs.groups.readers.client_libraries import ANY_LIBRARY, library_sets, named
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record, operations
from udfs.topics.partition_codes import TopicCodes

CLASSIC_TABLE, EPOCHS_TABLE, MEMBERS_TABLE = "classic_group_metadata", "group_metadata", "group_member_metadata"
EPOCH_TYPE, MEMBER_TYPE = (types_by_group_type(name)[GroupType.CONSUMER] for name in (EPOCHS_TABLE, MEMBERS_TABLE))
# From this version on, a subscription says since which generation the member owns what it claims.
GENERATION_SINCE = 2
# Epochs of a group's first records: 2 since 4.3.
FIRST_EPOCHS = (1, 2)
# For so long after a member left, another one may be its return. By default, rebalances within this time count as one
# row of rebalances too (storm_gap_s).
BACK_WITHIN = 5 * 60 * 1_000_000
# A migration is stuck after this many rebalances and this much time without a changed member. One of the two alone is
# normal: in a storm of rebalances, or in a group that runs quietly.
STUCK_AFTER_ROUNDS = 3
STUCK_AFTER = 24 * 60 * 60 * 1_000_000


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


Members = Mapping[str, ConsumerMember]


def identities(members: Iterable[ClassicMemberSummary] | Members) -> tuple[MemberIdentity, ...]:
    rows = ((each, *of) for each, of in members.items()) if isinstance(members, Mapping) else members
    return tuple(MemberIdentity(*row[:4]) for row in rows)


def classic_ids(members: Members | None) -> set[str]:
    """The members of a consumer group that still use the classic protocol."""
    return {member_id for member_id, member in (members or {}).items() if member.versions is not None}


def records_by_group(tables: Mapping[str, pa.Table]) -> dict[str, list[Record]]:
    """Types 2, 3 and 5, by offset. Not of share and streams groups."""
    ours = {
        name: rows.filter(pc.equal(rows["group_type"].cast(pa.string()), GroupType.CONSUMER.value))
        for name in (EPOCHS_TABLE, MEMBERS_TABLE)
        if (rows := tables.get(name)) is not None
    }
    by_group: dict[str, list[Record]] = {}
    with uncollected():
        records = list(modern_records(ours, TopicCodes()))
        if (classic := tables.get(CLASSIC_TABLE)) is not None and classic.num_rows:
            records += classic_values(ClassicColumns(classic))
        for group_id, record in sorted(records, key=lambda each: each[1].offset):
            by_group.setdefault(group_id, []).append(record)
    return by_group


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

    @property
    def is_gone(self) -> bool:
        return self.classic is None and self.members is None


def is_soon(since: int | None, time: int | None) -> bool:
    return since is not None and time is not None and time - since <= BACK_WITHIN


def take_operation(state: State, operation: Sequence[Record]) -> None:
    was_classic, was_consumer, before = state.classic is not None, state.members is not None, classic_ids(state.members)
    first, last = operation[0], operation[-1]
    for record in operation:
        if record.type == CLASSIC_TYPE:
            take_value(state, record.value, record.offset, record.time)
        elif record.value is not None:
            state.members = {} if state.members is None else state.members
            if record.type == MEMBER_TYPE:
                about: About = record.value
                is_at = about.group_instance_id, about.client_id, about.client_host
                state.members[str(record.member)] = ConsumerMember(*is_at, about.offered_versions)
        elif record.type == EPOCH_TYPE:
            state.members = None
        elif state.members is not None:
            state.members.pop(str(record.member), None)
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
        follow_protocols(state, state.members, before, operation)
    state.last_time, state.last_offset = last.time, last.offset


def follow_protocols(state: State, members: Members, before: set[str], operation: Sequence[Record]) -> None:
    """`before`: classic members before the operation."""
    still, first, last = classic_ids(members), operation[0], operation[-1]
    epochs = {record.value.epoch for record in operation if record.type == EPOCH_TYPE and record.value is not None}
    state.is_native |= not still and not epochs.isdisjoint(FIRST_EPOCHS)
    if state.to_consumer is None and still and not state.is_native:
        state.to_consumer = Way(first.offset, last.time, last.time, is_begin_seen=False)
    way, back = state.to_consumer, state.to_classic
    if way is not None and not way.is_finished:
        way.go_on(way.first_offset == first.offset or bool(before - still), bool(epochs), not still, last.time)
    elif not still:
        state.to_classic = None
    # A classic member in a group with the consumer protocol.
    elif back is None:
        state.to_classic = Way(first.offset, last.time, last.time)
    else:
        back.go_on(bool(still - before), bool(epochs), False, last.time)
    # After the end, whoever left to change may still come back; if all have left, then at any time.
    if way is not None and way.is_finished and not still and back is None:
        may_return = is_soon(way.finished_time, last.time) or not way.finished_by
        if may_return and len(members) > len(way.finished_by):
            way.finished_by = list(identities(members))


def take_value(state: State, value: ClassicValueSummary | None, offset: int, time: int | None) -> None:
    if value is None:
        state.classic = state.left_time = None
        return
    num_before, num = 0 if state.classic is None else len(state.classic.members), len(value.members)
    # The group's members are counted as before some of them left, for as long as these may come back.
    are_awaited = is_soon(state.left_time, time)
    state.num_whole = state.num_whole if are_awaited else num_before
    if num >= state.num_whole:
        state.num_whole, state.left_time = num, None
    elif num < num_before:
        state.left_time = time
    if value.members and value.protocol_type == CONSUMER:
        if value.protocol == COOPERATIVE_STICKY_PROTOCOL:
            follow_cooperative(state, value, offset, time, is_back=are_awaited and num > num_before)
        elif value.protocol in LEADERS and (way := state.to_cooperative) is not None and way.turned_back is None:
            way.turned_back = offset
        state.protocol = value.protocol
    state.classic = value


def follow_cooperative(state: State, value: ClassicValueSummary, offset: int, time: int | None, is_back: bool) -> None:
    """`is_back`: some of the members that had left have come back."""
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
    if member.has_claimed or member.version is None:
        return False if member.has_claimed else None
    if member.version < OWNED_SINCE:
        return True
    had = earlier.get(member.member_id)
    if before is None or had is None or not had.has_partitions:
        return None
    # It may have joined a later generation, of which nobody got an assignment: then it still has what it had.
    is_of_before = member.generation_id is not None and member.generation_id >= before.generation
    return True if member.version < GENERATION_SINCE or is_of_before else None


# -- rows


@dataclass(frozen=True)
class Blocker:
    """`member_id` None: it is about the whole group."""

    kind: BlockerKind
    member_id: str | None
    detail: str


class Upgrade(SimpleNamespace):
    """Fields are the columns of `assignor_upgrades`; times are microseconds."""


class Upgrades:
    def __init__(self, facts: Facts, states: Mapping[str, State]) -> None:
        self.facts, self.earlier = facts, states
        self.groups: dict[str, State] = {}

    def take(self, tables: Mapping[str, pa.Table]) -> None:
        """Takes a window of the log, which never splits an operation."""
        for group_id, records in records_by_group(tables).items():
            state = self.groups.get(group_id) or self.earlier.get(group_id) or State()
            for operation in operations(records):
                # An earlier group with the name was deleted.
                state = State() if state.is_gone else state
                take_operation(state, operation)
            self.groups[group_id] = state

    def states(self) -> dict[str, State | None]:
        """States of the groups with records; None: nothing is left to remember."""
        return {group_id: None if state.is_gone else state for group_id, state in self.groups.items()}

    def rows(self) -> list[Upgrade]:
        """Rows of the same groups."""
        return [row for group_id, state in self.groups.items() for row in rows_of(group_id, state, self.facts)]


def rows_of(group_id: str, state: State, facts: Facts) -> Iterator[Upgrade]:
    """One for each migration, and one for each classic group with members: how ready it is."""
    row = partial(upgrade, group_id, state)
    to_cooperative, to_consumer, to_classic = state.to_cooperative, state.to_consumer, state.to_classic
    if state.members is not None:
        native, classic = (
            {each: of for each, of in state.members.items() if (of.versions is not None) == is_classic}
            for is_classic in (False, True)
        )
        if to_consumer is not None:
            # Classic members that come after its end begin the way back.
            others = {} if to_consumer.is_finished else classic
            against = [
                blocker
                for each, of in others.items()
                if of.versions
                for blocker in against_client(group_id, each, of.client_id, int(ANY_LIBRARY), max(of.versions))
            ]
            yield row(Migration.CLASSIC_TO_CONSUMER, to_consumer, identities(native), identities(others), against)
        if to_classic is not None:
            yield row(Migration.CONSUMER_TO_CLASSIC, to_classic, identities(classic), identities(native))
    if state.classic is None:
        return
    members = state.classic.members
    if to_cooperative is not None:
        done, left = done_and_left(to_cooperative, members)
        if to_cooperative.turned_back is None:
            left = [each for each in members if to_cooperative.are_eager.get(each.member_id)]
            done = identities(each for each in members if not to_cooperative.are_eager.get(each.member_id))
        old = [each for each in left if each.version is not None and each.version < OWNED_SINCE]
        line = "subscription version {} cannot say what the member owns"
        against = [Blocker(BlockerKind.OLD_CLIENT, each.member_id, line.format(each.version)) for each in old]
        yield row(Migration.EAGER_TO_COOPERATIVE, to_cooperative, done, identities(left), against)
    if members or to_consumer is not None:
        against = [*against_consumer_protocol(group_id, state.classic, facts)] if members else []
        done, left = done_and_left(to_consumer, members)
        yield row(Migration.CLASSIC_TO_CONSUMER, to_consumer, done, identities(left), against)
    if to_classic is not None:
        yield row(Migration.CONSUMER_TO_CLASSIC, to_classic, identities(members))


def done_and_left(
    way: Way | None, members: Sequence[ClassicMemberSummary]
) -> tuple[tuple[MemberIdentity, ...], Sequence[ClassicMemberSummary]]:
    """After the way back, of which the members of now have nothing."""
    return (tuple(way.finished_by), ()) if way is not None and way.is_finished else ((), members)


def upgrade(
    group_id: str,
    state: State,
    migration: Migration,
    way: Way | None,
    done: tuple[MemberIdentity, ...],
    left: tuple[MemberIdentity, ...] = (),
    against: Sequence[Blocker] = (),
) -> Upgrade:
    """`way` None: it has not begun."""
    phase, why = (MigrationPhase.NOT_STARTED, ()) if way is None else phase_of(way, state.last_time)
    way = way or Way(state.last_offset, None, None, is_begin_seen=False)
    blockers = (*why, *against)
    kinds = {blocker.kind for blocker in blockers}
    # No record shows which client a member runs, whether a member with nothing to claim would claim, or whether one
    # that has just left will come back.
    is_certain = way.is_begin_seen and not way.is_awaiting and all(each is False for each in way.are_eager.values())
    return Upgrade(
        group_id=group_id,
        group_type=GroupType.CLASSIC if state.classic is not None else GroupType.CONSUMER,
        migration=migration,
        phase=phase,
        members_done=done,
        members_remaining=left,
        started_time=way.started_time,
        finished_time=way.finished_time if phase == MigrationPhase.FINISHED else None,
        readiness=Readiness.BLOCKED if kinds - INCONCLUSIVE else Readiness.UNKNOWN if kinds else Readiness.READY,
        blockers=blockers,
        evidence_first_offset=way.first_offset,
        evidence_last_offset=state.last_offset,
        confidence=Confidence.CERTAIN if is_certain else Confidence.LIKELY,
    )


def phase_of(way: Way, now: int | None) -> tuple[MigrationPhase, tuple[Blocker, ...]]:
    """The phase, and why it has not come to its end if it will not. What has ended stays so, whatever is done later."""
    if way.is_finished:
        return MigrationPhase.FINISHED, ()
    if way.turned_back is not None:
        line = f"the group went back to its former protocol; the record at offset {way.turned_back} shows it"
        return MigrationPhase.TAKEN_BACK, (Blocker(BlockerKind.TURNED_BACK, None, line),)
    is_long = now is not None and way.progress_time is not None and now - way.progress_time >= STUCK_AFTER
    if is_long and way.generations_since >= STUCK_AFTER_ROUNDS:
        line = f"no member was upgraded in the last {way.generations_since} generations"
        return MigrationPhase.STUCK, (Blocker(BlockerKind.NO_PROGRESS, None, line),)
    return MigrationPhase.IN_PROGRESS, ()


# -- what keeps members from the consumer protocol

INCONCLUSIVE = frozenset({BlockerKind.UNREADABLE_SUBSCRIPTION, BlockerKind.TURNED_BACK, BlockerKind.NO_PROGRESS})
OTHER_TYPES = {
    CONNECT: "Kafka Connect workers support only the classic protocol",
    SCHEMA_REGISTRY: "Schema Registry uses the group only to elect its primary",
}
# By version of the subscription. Version 3 came with 3.4, before the consumer protocol: a client with an older version
# cannot have that.
CLIENTS_OF = {
    0: "Java clients before 2.4 and of kafka-python and aiokafka",
    1: "Java clients from 2.4 to 3.3 and of Sarama",
    2: "Sarama and of development builds before 3.4",
}
# Values of group.consumer.migration.policy with which a group with members may be converted.
TURNING = frozenset({"upgrade", "bidirectional"})


def against_consumer_protocol(group_id: str, value: ClassicValueSummary, facts: Facts) -> Iterator[Blocker]:
    """For a classic group with members."""
    if value.protocol_type != CONSUMER:
        why = OTHER_TYPES.get(value.protocol_type, "only groups of consumers can change to the consumer protocol")
        yield Blocker(BlockerKind.OTHER_PROTOCOL_TYPE, None, f"protocol type {value.protocol_type}: {why}")
        return
    if value.protocol == STREAM_PROTOCOL:
        yield Blocker(BlockerKind.STREAMS, None, "Kafka Streams: it has a protocol of its own, group.protocol=streams")
    elif value.protocol not in LEADERS:
        # Any assignor that is not of Kafka's clients may do what no assignor of the broker does.
        line = f"assignor {value.protocol}: the broker's assignors do not do what it does"
        yield Blocker(BlockerKind.CUSTOM_ASSIGNOR, None, line)
    policy = facts.migration_policy
    if policy is not None and policy not in TURNING:
        line = f"group.consumer.migration.policy is {policy}: the group can change only while it has no members"
        yield Blocker(BlockerKind.MIGRATION_POLICY, None, line)
    for member in value.members:
        if member.has_assigned_data:
            line = "its assignment carries user data: the coordinator refuses to convert the group online"
            yield Blocker(BlockerKind.ASSIGNED_USER_DATA, member.member_id, line)
        if member.version is None:
            yield Blocker(BlockerKind.UNREADABLE_SUBSCRIPTION, member.member_id, "its subscription cannot be read")
        yield from against_client(group_id, member.member_id, member.client_id, member.libraries, member.version)


def against_client(
    group_id: str, member_id: str, client_id: str | None, libraries: int, version: int | None
) -> Iterator[Blocker]:
    library, certainty = named(libraries, group_id, client_id)
    if library in WITHOUT_CONSUMER_PROTOCOL:
        line = f"a member of {library} ({certainty}), which does not support the consumer protocol"
        yield Blocker(BlockerKind.CLIENT_LIBRARY, member_id, line)
    elif version in CLIENTS_OF:
        line = f"subscription version {version}, of {CLIENTS_OF[version]}: they have no consumer protocol"
        yield Blocker(BlockerKind.OLD_CLIENT, member_id, line)
