"""Progress of groups that migrate to a cooperative assignor, to the consumer protocol, or back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from schemas.words.assignments import Migration, MigrationPhase, Readiness
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from schemas.words.upgrades import BlockerKind
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades.member_records import (
    ClassicMemberSummary,
    ConsumerMember,
    MemberIdentity,
    identity_of,
    upgrade_records,
    who_of_classic,
)
from udfs.audit.upgrades.progress_state import State, Way
from udfs.audit.upgrades.protocol_conversions import take_operation
from udfs.audit.upgrades.readiness import (
    Blocker,
    against_claiming,
    against_classic_members,
    against_consumer_protocol,
    readiness,
)
from udfs.groups.readers.records import Record, operations

# A migration is stuck after this many rebalances and this much time without a changed member. One of the two alone is
# normal: in a storm of rebalances, or in a group that runs quietly.
STUCK_AFTER_ROUNDS = 3
STUCK_AFTER = 24 * 60 * 60 * 1_000_000


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
            state = self.group(group_id)
            for operation in operations(records):
                if state.classic is None and state.members is None:
                    # An earlier group with the name was deleted.
                    state = State()
                take_operation(state, operation)
            self.groups[group_id] = state

    def group(self, group_id: str) -> State:
        if group_id in self.groups:
            return self.groups[group_id]
        state = self.earlier.get(group_id)
        if state is None:
            return State()
        members = (state.members or {}).items()
        state.classic_members = {each for each, member in members if member.versions is not None}
        return state

    def states(self) -> dict[str, State | None]:
        """States of the groups with records; None: nothing is left to remember."""
        return {
            group_id: None if state.classic is None and state.members is None else state
            for group_id, state in self.groups.items()
        }

    def rows(self) -> list[Upgrade]:
        """Rows of the same groups."""
        return [row for group_id, state in self.groups.items() for row in rows_of(group_id, state, self.facts)]


def rows_of(group_id: str, state: State, facts: Facts) -> Iterator[Upgrade]:
    """One for each migration, and one for each classic group with members: how ready it is."""
    if state.members is not None:
        yield from rows_of_consumer_group(group_id, state, state.members)
    if state.classic is None:
        return
    members = tuple(map(who_of_classic, state.classic.members))
    if state.to_cooperative is not None:
        progress = progress_to_cooperative(state.to_cooperative, state.classic.members)
        yield row(group_id, state, Migration.EAGER_TO_COOPERATIVE, progress)
    if members or state.to_consumer is not None:
        blockers = tuple(against_consumer_protocol(group_id, state.classic, facts)) if members else ()
        way = state.to_consumer
        # If it was finished, it has been taken back since.
        done, left = (tuple(way.finished_by), ()) if way is not None and way.is_finished else ((), members)
        yield row(group_id, state, Migration.CLASSIC_TO_CONSUMER, MigrationProgress(way, done, left, blockers))
    if state.to_classic is not None:
        yield row(group_id, state, Migration.CONSUMER_TO_CLASSIC, MigrationProgress(state.to_classic, members))


def rows_of_consumer_group(group_id: str, state: State, members: Mapping[str, ConsumerMember]) -> Iterator[Upgrade]:
    classic = tuple(identity_of(each, member) for each, member in members.items() if member.versions is not None)
    native = tuple(identity_of(each, member) for each, member in members.items() if member.versions is None)
    if (way := state.to_consumer) is not None:
        # Classic members that come after its end begin the way back.
        left, blockers = ((), ()) if way.is_finished else (classic, tuple(against_classic_members(group_id, members)))
        progress = MigrationProgress(way, native, left, blockers)
        yield row(group_id, state, Migration.CLASSIC_TO_CONSUMER, progress)
    if state.to_classic is not None:
        yield row(group_id, state, Migration.CONSUMER_TO_CLASSIC, MigrationProgress(state.to_classic, classic, native))


@dataclass(frozen=True)
class MigrationProgress:
    """`way` None: it has not begun."""

    way: Way | None
    done: tuple[MemberIdentity, ...] = ()
    left: tuple[MemberIdentity, ...] = ()
    blockers: tuple[Blocker, ...] = ()


def progress_to_cooperative(way: Way, members: Sequence[ClassicMemberSummary]) -> MigrationProgress:
    if way.turned_back is not None:
        # Members of now have nothing of it.
        if way.is_finished:
            return MigrationProgress(way, tuple(way.finished_by))
        return MigrationProgress(way, (), tuple(map(who_of_classic, members)), tuple(against_claiming(members)))
    left = [member for member in members if way.are_eager.get(member.member_id)]
    done = [member for member in members if not way.are_eager.get(member.member_id)]
    return MigrationProgress(
        way, tuple(map(who_of_classic, done)), tuple(map(who_of_classic, left)), tuple(against_claiming(left))
    )


def row(group_id: str, state: State, migration: Migration, progress: MigrationProgress) -> Upgrade:
    way = progress.way
    phase, why = (MigrationPhase.NOT_STARTED, ()) if way is None else phase_of(way, state.last_time)
    blockers = (*why, *progress.blockers)
    return Upgrade(
        group_id=group_id,
        group_type=GroupType.CLASSIC if state.classic is not None else GroupType.CONSUMER,
        migration=migration,
        phase=phase,
        members_done=progress.done,
        members_remaining=progress.left,
        started_time=None if way is None else way.started_time,
        finished_time=way.finished_time if way is not None and phase == MigrationPhase.FINISHED else None,
        readiness=readiness(blockers),
        blockers=blockers,
        evidence_first_offset=state.last_offset if way is None else way.first_offset,
        evidence_last_offset=state.last_offset,
        confidence=confidence(migration, way),
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


def confidence(migration: Migration, way: Way | None) -> Confidence:
    """No record shows which client a member runs, whether a member with nothing to claim would claim, or whether one
    that has just left will come back."""
    if way is None or not way.is_begin_seen:
        return Confidence.LIKELY
    is_in_doubt = way.is_awaiting or any(eager is not False for eager in way.are_eager.values())
    if migration == Migration.EAGER_TO_COOPERATIVE and is_in_doubt:
        return Confidence.LIKELY
    return Confidence.CERTAIN
