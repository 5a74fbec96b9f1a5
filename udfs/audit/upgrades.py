"""Progress of groups that migrate to a cooperative assignor, to the consumer protocol, or back: the rows of
`assignor_upgrades`, with what keeps members from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from schemas.payloads import CONNECT, CONSUMER, SCHEMA_REGISTRY, STREAM_PROTOCOL
from schemas.words.assignments import WITHOUT_CONSUMER_PROTOCOL, BlockerKind, Migration, MigrationPhase, Readiness
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.questions import LEADERS
from udfs.audit.checks.facts import Facts
from udfs.audit.migrations import (
    OWNED_SINCE,
    ClassicMemberSummary,
    ClassicValueSummary,
    ConsumerMember,
    MemberIdentity,
    State,
    Way,
    identities,
    take_operation,
    upgrade_records,
)
from udfs.groups.readers.client_libraries import ANY_LIBRARY, named
from udfs.groups.readers.records import Record, operations

# A migration is stuck after this many rebalances and this much time without a changed member. One of the two alone is
# normal: in a storm of rebalances, or in a group that runs quietly.
STUCK_AFTER_ROUNDS = 3
STUCK_AFTER = 24 * 60 * 60 * 1_000_000
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
INCONCLUSIVE = frozenset({BlockerKind.UNREADABLE_SUBSCRIPTION, BlockerKind.TURNED_BACK, BlockerKind.NO_PROGRESS})


@dataclass(frozen=True)
class Blocker:
    """`member_id` None: it is about the whole group."""

    kind: BlockerKind
    member_id: str | None
    detail: str


@dataclass(frozen=True)
class Upgrade:
    """Fields are the columns of `assignor_upgrades`; times are microseconds."""

    group_id: str
    group_type: GroupType
    migration: Migration
    phase: MigrationPhase
    members_done: tuple[MemberIdentity, ...]
    members_remaining: tuple[MemberIdentity, ...]
    started_time: int | None
    finished_time: int | None
    readiness: Readiness
    blockers: tuple[Blocker, ...]
    evidence_first_offset: int
    evidence_last_offset: int
    confidence: Confidence


class Upgrades:
    def __init__(self, facts: Facts, states: Mapping[str, State]) -> None:
        self.facts = facts
        self.earlier = states
        self.groups: dict[str, State] = {}

    def take(self, tables: Mapping[str, pa.Table]) -> None:
        """Takes a window of the log, which never splits an operation."""
        by_group: dict[str, list[Record]] = {}
        for group_id, record in upgrade_records(tables):
            by_group.setdefault(group_id, []).append(record)
        for group_id, records in by_group.items():
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
    to_consumer, to_classic = state.to_consumer, state.to_classic
    if state.members is not None:
        native, classic = (
            identities({each: of for each, of in state.members.items() if (of.versions is not None) == is_classic})
            for is_classic in (False, True)
        )
        if to_consumer is not None:
            # Classic members that come after its end begin the way back.
            is_over = to_consumer.is_finished
            blockers = () if is_over else against_classic_members(group_id, state.members)
            yield row(Migration.CLASSIC_TO_CONSUMER, to_consumer, native, () if is_over else classic, blockers)
        if to_classic is not None:
            yield row(Migration.CONSUMER_TO_CLASSIC, to_classic, classic, native)
    if state.classic is None:
        return
    members = state.classic.members
    if (way := state.to_cooperative) is not None:
        done, left = changed_to_cooperative(way, members)
        yield row(Migration.EAGER_TO_COOPERATIVE, way, done, identities(left), against_claiming(left))
    if members or to_consumer is not None:
        blockers = against_consumer_protocol(group_id, state.classic, facts) if members else ()
        # If it was finished, it has been taken back since.
        done, left = (), members
        if to_consumer is not None and to_consumer.is_finished:
            done, left = tuple(to_consumer.finished_by), ()
        yield row(Migration.CLASSIC_TO_CONSUMER, to_consumer, done, identities(left), blockers)
    if to_classic is not None:
        yield row(Migration.CONSUMER_TO_CLASSIC, to_classic, identities(members))


def changed_to_cooperative(
    way: Way, members: Sequence[ClassicMemberSummary]
) -> tuple[tuple[MemberIdentity, ...], Sequence[ClassicMemberSummary]]:
    """Who has changed, and who is left."""
    if way.turned_back is None:
        done = [member for member in members if not way.are_eager.get(member.member_id)]
        return identities(done), [member for member in members if way.are_eager.get(member.member_id)]
    # Members of now have nothing of it.
    return (tuple(way.finished_by), ()) if way.is_finished else ((), members)


def upgrade(
    group_id: str,
    state: State,
    migration: Migration,
    way: Way | None,
    done: tuple[MemberIdentity, ...],
    left: tuple[MemberIdentity, ...] = (),
    against: Iterable[Blocker] = (),
) -> Upgrade:
    """`way` None: it has not begun."""
    phase, why = (MigrationPhase.NOT_STARTED, ()) if way is None else phase_of(way, state.last_time)
    blockers = (*why, *against)
    kinds = {blocker.kind for blocker in blockers}
    is_blocked = not kinds <= INCONCLUSIVE
    return Upgrade(
        group_id=group_id,
        group_type=GroupType.CLASSIC if state.classic is not None else GroupType.CONSUMER,
        migration=migration,
        phase=phase,
        members_done=done,
        members_remaining=left,
        started_time=None if way is None else way.started_time,
        finished_time=way.finished_time if way is not None and phase == MigrationPhase.FINISHED else None,
        readiness=Readiness.BLOCKED if is_blocked else Readiness.UNKNOWN if kinds else Readiness.READY,
        blockers=blockers,
        evidence_first_offset=state.last_offset if way is None else way.first_offset,
        evidence_last_offset=state.last_offset,
        confidence=confidence(way),
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


def confidence(way: Way | None) -> Confidence:
    """No record shows which client a member runs, whether a member with nothing to claim would claim, or whether one
    that has just left will come back."""
    is_certain = way is not None and way.is_begin_seen and not way.is_awaiting
    if way is None or not is_certain or any(eager is not False for eager in way.are_eager.values()):
        return Confidence.LIKELY
    return Confidence.CERTAIN


# -- blockers


def against_consumer_protocol(group_id: str, value: ClassicValueSummary, facts: Facts) -> Iterator[Blocker]:
    """For a classic group with members."""
    of_group = partial(Blocker, member_id=None)
    if value.protocol_type != CONSUMER:
        why = OTHER_TYPES.get(value.protocol_type, "only groups of consumers can change to the consumer protocol")
        yield of_group(BlockerKind.OTHER_PROTOCOL_TYPE, detail=f"protocol type {value.protocol_type}: {why}")
        return
    if value.protocol == STREAM_PROTOCOL:
        line = "Kafka Streams: it has a protocol of its own, group.protocol=streams"
        yield of_group(BlockerKind.STREAMS, detail=line)
    elif value.protocol not in LEADERS:
        # Any assignor that is not of Kafka's clients may do what no assignor of the broker does.
        line = f"assignor {value.protocol}: the broker's assignors do not do what it does"
        yield of_group(BlockerKind.CUSTOM_ASSIGNOR, detail=line)
    policy = facts.migration_policy
    if policy is not None and policy not in TURNING:
        line = f"group.consumer.migration.policy is {policy}: the group can change only while it has no members"
        yield of_group(BlockerKind.MIGRATION_POLICY, detail=line)
    for member in value.members:
        if member.has_assigned_data:
            line = "its assignment carries user data: the coordinator refuses to convert the group online"
            yield Blocker(BlockerKind.ASSIGNED_USER_DATA, member.member_id, line)
        if member.version is None:
            yield Blocker(BlockerKind.UNREADABLE_SUBSCRIPTION, member.member_id, "its subscription cannot be read")
        yield from against_client(group_id, member.member_id, member.client_id, member.libraries, member.version)


def against_classic_members(group_id: str, members: Mapping[str, ConsumerMember]) -> Iterator[Blocker]:
    """For a consumer group in which some members still use the classic protocol."""
    for member_id, member in members.items():
        if member.versions:
            yield from against_client(group_id, member_id, member.client_id, int(ANY_LIBRARY), max(member.versions))


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


def against_claiming(left: Sequence[ClassicMemberSummary]) -> Iterator[Blocker]:
    """For members that should take part in cooperative rebalances."""
    for member in left:
        if member.version is not None and member.version < OWNED_SINCE:
            line = f"subscription version {member.version} cannot say what the member owns"
            yield Blocker(BlockerKind.OLD_CLIENT, member.member_id, line)
