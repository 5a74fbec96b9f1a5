"""Who owns what in consumer, share and streams groups: only records of types 8, 14 and 22 say it."""

from collections.abc import Iterable, Iterator

from schemas.words.history import AnomalyKind, LeaveKind, OwnershipEnd, OwnershipPhase, Severity, TaskRole
from schemas.words.records import GroupType
from udfs.groups.history.intervals import OwnerStretch
from udfs.groups.history.reading_ends import (
    ReadingEnd,
    Timeouts,
    given_up,
    left_or_timed_out,
    overdue,
    timeouts_of_record,
    timeouts_of_setting,
    went_away,
)
from udfs.groups.modern.moves import gain, stop_reading
from udfs.groups.modern.streams_tasks import partitions_of, subtopology_of
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.group import Group
from udfs.groups.states.modern import AWAY, KEY_OF_OWNED, NOTHING, Member, Modern, Place, Placed
from udfs.topics.partition_codes import TopicCodes


def place_partitions(now: Modern, member: Member, topics: TopicCodes) -> Placed:
    """What the member owns according to its newest record, by phase and role."""
    placed: Placed = {}
    phases: tuple[tuple[str, ByRole], ...]
    if member.epoch == AWAY:
        phases = ((OwnershipPhase.HELD, member.assigned),)
    else:
        phases = ((OwnershipPhase.ASSIGNED, member.assigned), (OwnershipPhase.REVOKING, member.pending))
    for phase, by_role in phases:
        for role, tps in expand_roles(now, by_role, topics).items():
            own = (
                tps - placed.get((OwnershipPhase.ASSIGNED, role), NOTHING) if phase == OwnershipPhase.REVOKING else tps
            )
            if own:
                placed[(phase, role)] = own
    return placed


def expand_roles(now: Modern, by_role: ByRole, topics: TopicCodes) -> dict[str | None, frozenset[int]]:
    return {role: partitions_of(share, now.topology, topics) for role, share in by_role.items()}


def places(of: Placed) -> Iterator[tuple[Place, str]]:
    for (phase, role), tps in of.items():
        for tp in tps:
            yield (tp, role), phase


def owned_places(of: Placed, other_than: Placed) -> Iterator[tuple[Place, str]]:
    """Places in one that are not in the other. Equal sets cost nothing."""
    for key, tps in of.items():
        phase, role = key
        for tp in tps - other_than.get(key, NOTHING):
            yield (tp, role), phase


def settle_owners(
    group: Group, now: Modern, members: Iterable[tuple[str, bool]], inherited: frozenset[Place], at: Moment
) -> None:
    """Updates the owners for members with records. Ended ownership comes before new ownership. `inherited`: places that
    static members keep under other member ids, which are not moves."""
    changed = []
    for member_id, is_exact in members:
        member = now.members[member_id]
        new = place_partitions(now, member, group.context.topics)
        if new != member.shown:
            changed.append((member_id, member, is_exact, dict(owned_places(member.shown, new)), new))
    begun = []
    for member_id, member, is_exact, ended, new in changed:
        begins = dict(owned_places(new, member.shown))
        for place, _ in ended.items():
            end(group, now, member_id, place, place in begins, is_exact, at)
        member.shown = new
        begun.append((member_id, member, is_exact, ended, begins))
    for member_id, member, is_exact, ended, begins in begun:
        for place, phase in begins.items():
            is_move = place not in ended and place not in inherited
            begin(group, now, member_id, member, place, phase, is_move, is_exact, at)


def end(
    group: Group, now: Modern, member_id: str, place: Place, is_phase: bool, is_exact: bool, at: Moment
) -> None:  # fmt: skip
    tp, role = place
    why = OwnershipEnd.PHASE_CHANGED if is_phase else OwnershipEnd.REVOKED
    since = owned_since(group, place, member_id)
    group.ledger.release(at, tp, member_id, why, role=role, is_exact=is_exact)
    if not is_phase:
        until = given_up(at.time, timeouts_of(group, now, member_id), since)
        stop_reading(group, now, place, member_id, at, now.rebalance, until)


def begin(
    group: Group, now: Modern, member_id: str, member: Member, place: Place, phase: str, is_move: bool, is_exact: bool,
    at: Moment,
) -> None:  # fmt: skip
    tp, role = place
    if is_move and is_exclusive(now, role):
        part_from_others(group, now, member_id, place, at)
    group.ledger.own(
        OwnerStretch(
            from_time=at.time,
            from_offset=at.offset,
            is_from_exact=is_exact,
            last_offset=at.offset,
            group_type=now.group_type,
            tp=tp,
            member_id=member_id,
            generation_or_epoch=member.epoch,
            phase=phase,
            role=role,
            subtopology_id=subtopology_of(tp, now.topology, group.context.topics),
        )
    )
    if is_move:
        gain(group, now, place, member_id, at)


def is_exclusive(now: Modern, role: str | None) -> bool:
    """Partitions of share groups and standby tasks may have several owners."""
    return now.group_type != GroupType.SHARE and role in (None, TaskRole.ACTIVE)


def part_from_others(group: Group, now: Modern, member_id: str, place: Place, at: Moment) -> None:
    """Ends the ownership of others. If the record that took the partition from its owner may be missing, the new
    owner's record proves that it existed. Otherwise both own it, which no coordinator allows."""
    tp, role = place
    for other_id in [each for each in group.ledger.owners.get(place, ()) if each != member_id]:
        line = f"{group.context.topics.partition_text(tp)} is assigned to {member_id} while {other_id} still has it"
        record = Record(
            offset=at.offset, time=at.time, batch=at.offset, leader_epoch=0, type=0, member=None, value=None
        )
        other = now.members.get(other_id)
        last = group.seen.get(f"{KEY_OF_OWNED} {other_id}", -1)
        if group.context.gaps.is_complete(last, at.offset):
            group.anomaly(record, AnomalyKind.TWO_OWNERS, Severity.CRITICAL, line, first_offset=max(last, 0))
            continue
        group.anomaly(record, AnomalyKind.OLDER_RULE, Severity.INFO, f"{line}: coordinators before 4.2 refuse to load")
        since = owned_since(group, place, other_id)
        group.ledger.release(at, tp, other_id, OwnershipEnd.REASSIGNED, role=role, is_exact=False)
        until = given_up(at.time, timeouts_of(group, now, other_id), since)
        stop_reading(group, now, place, other_id, at, now.rebalance, until)
        if other is not None:
            other.shown = {key: tps - {tp} if key[1] == role else tps for key, tps in other.shown.items()}


def release_all(
    group: Group, now: Modern, member_id: str, member: Member, kind: LeaveKind, is_exact: bool, at: Moment
) -> None:
    """Releases everything of a member that left. What it had waits for the next assignment."""
    is_replaced, is_expired = kind == LeaveKind.STATIC_REPLACED, kind == LeaveKind.STATIC_EXPIRED_LIKELY
    stay = group.ledger.members.get(member_id)
    joined = None if stay is None else stay.from_time
    why = OwnershipEnd.STATIC_REPLACED if is_replaced else OwnershipEnd.MEMBER_LEFT
    for place, _ in places(member.shown):
        tp, role = place
        since = owned_since(group, place, member_id)
        group.ledger.release(at, tp, member_id, why, role=role, is_exact=is_exact)
        if not is_replaced:
            until = end_of_gone(group, now, member, kind, joined if is_expired else since, at)
            stop_reading(group, now, place, member_id, at, None, until)


def end_of_gone(
    group: Group, now: Modern, member: Member, kind: LeaveKind, since: int | None, at: Moment
) -> ReadingEnd | None:
    """`since`: when it got the partition; of a static member that expired, when it joined."""
    of = member_timeouts(group, now, member)
    match kind:
        case LeaveKind.STATIC_EXPIRED_LIKELY:
            away = member.since if member.before_gone is None else member.before_gone.since
            return went_away(at.time, of, away, now.deserted_since, since)
        case LeaveKind.REBALANCE_TIMEOUT_LIKELY:
            return overdue(at.time, of, since)
        case LeaveKind.LEFT_OR_TIMED_OUT:
            return left_or_timed_out(at.time, of, since, at.offset)
        case _:
            return given_up(at.time, of, since)


def owned_since(group: Group, place: Place, member_id: str) -> int | None:
    """Since when the member owns it, or was asked to give it up. Reading cannot have ended before. None: the member was
    away."""
    of = group.ledger.owners.get(place, {}).get(member_id)
    return None if of is None or of.phase == OwnershipPhase.HELD else of.from_time


def timeouts_of(group: Group, now: Modern, member_id: str) -> Timeouts:
    return member_timeouts(group, now, now.members.get(member_id) or Member())


def member_timeouts(group: Group, now: Modern, member: Member) -> Timeouts:
    about = member.about
    rebalance_ms = None if about is None else about.rebalance_timeout_ms
    if about is not None and about.session_timeout_ms is not None:
        return timeouts_of_record(about.session_timeout_ms, rebalance_ms)
    return timeouts_of_setting(group.context.timeouts_of(group.group_id, now.group_type), rebalance_ms)
