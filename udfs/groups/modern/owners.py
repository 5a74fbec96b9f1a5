"""Who owns what in consumer, share and streams groups: only records of types 8, 14 and 22 say it."""

from collections.abc import Iterable
from dataclasses import dataclass

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
from udfs.groups.modern.streams_tasks import by_subtopology, partitions_of
from udfs.groups.readers.recorded_lists import ByRole
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.group import Group
from udfs.groups.states.modern import AWAY, KEY_OF_OWNED, NOTHING, Member, Modern, Placed, Tps, TpsByRole
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


def without(of: Placed, other: Placed) -> Placed:
    """What is in one and not in the other."""
    return {key: some for key, tps in of.items() if (some := tps - other.get(key, NOTHING))}


def by_role(placed: Placed) -> TpsByRole:
    """In any phase."""
    tps_of: TpsByRole = {}
    for (_, role), tps in placed.items():
        tps_of[role] = tps_of.get(role, NOTHING) | tps
    return tps_of


@dataclass(slots=True)
class Change:
    """What one member no longer owns, and what it owns from now on. A partition in both is in another phase."""

    member_id: str
    member: Member
    is_exact: bool
    ended: Placed
    begun: Placed


def settle_owners(
    group: Group, now: Modern, members: Iterable[tuple[str, bool]], inherited: TpsByRole, at: Moment
) -> None:
    """Updates the owners for members with records. Ended ownership comes before new ownership. `inherited`: what static
    members keep under other member ids, which is no move."""
    changes = []
    for member_id, is_exact in members:
        member = now.members[member_id]
        new = place_partitions(now, member, group.context.topics)
        if new != member.shown:
            ended, begun = without(member.shown, new), without(new, member.shown)
            changes.append(Change(member_id, member, is_exact, ended, begun))
            member.shown = new
    for change in changes:
        end(group, now, change, at)
    for change in changes:
        begin(group, now, change, inherited, at)


def end(group: Group, now: Modern, of: Change, at: Moment) -> None:
    begun = by_role(of.begun)
    for (_, role), tps in of.ended.items():
        kept = tps & begun.get(role, NOTHING)
        release(group, now, of.member_id, role, kept, OwnershipEnd.PHASE_CHANGED, of.is_exact, at)
        lost = tps - kept
        begun_at = group.ledger.by_beginning(lost, of.member_id, role)
        release(group, now, of.member_id, role, lost, OwnershipEnd.REVOKED, of.is_exact, at)
        for since, some in begun_at.items():
            until = given_up(at.time, timeouts_of(group, now, of.member_id), since)
            stop_reading(now, role, some, of.member_id, at, now.rebalance, until)


def begin(group: Group, now: Modern, of: Change, inherited: TpsByRole, at: Moment) -> None:
    ended = by_role(of.ended)
    for (phase, role), tps in of.begun.items():
        moved = tps - ended.get(role, NOTHING) - inherited.get(role, NOTHING)
        if is_exclusive(now, role):
            part_from_others(group, now, of.member_id, role, moved, at)
        for subtopology, some in by_subtopology(tps, now.topology, group.context.topics).items():
            group.ledger.own(
                OwnerStretch(
                    from_time=at.time,
                    from_offset=at.offset,
                    is_from_exact=of.is_exact,
                    last_offset=at.offset,
                    group_type=now.group_type,
                    tp=some,
                    member_id=of.member_id,
                    generation_or_epoch=of.member.epoch,
                    phase=phase,
                    role=role,
                    subtopology_id=subtopology,
                )
            )
        now.holders.add(role, tps, of.member_id)
        gain(group, now, role, moved, of.member_id, at)


def release(
    group: Group, now: Modern, member_id: str, role: str | None, tps: Tps, why: OwnershipEnd, is_exact: bool, at: Moment
) -> None:
    group.ledger.release(at, tps, member_id, why, role=role, is_exact=is_exact)
    now.holders.remove(role, tps, member_id)


def is_exclusive(now: Modern, role: str | None) -> bool:
    """Partitions of share groups and standby tasks may have several owners."""
    return now.group_type != GroupType.SHARE and role in (None, TaskRole.ACTIVE)


def part_from_others(group: Group, now: Modern, member_id: str, role: str | None, tps: Tps, at: Moment) -> None:
    """Ends the ownership of others. If the record that took the partition from its owner may be missing, the new
    owner's record proves that it existed. Otherwise both own it, which no coordinator allows."""
    for tp in tps - now.holders.unheld(role, tps):
        for other_id in now.holders.others(role, tp, member_id):
            part_from(group, now, other_id, member_id, role, tp, at)


def part_from(group: Group, now: Modern, other_id: str, member_id: str, role: str | None, tp: int, at: Moment) -> None:
    line = f"{group.context.topics.partition_text(tp)} is assigned to {member_id} while {other_id} still has it"
    record = Record(offset=at.offset, time=at.time, batch=at.offset, leader_epoch=0, type=0, member=None, value=None)
    other, tps = now.members.get(other_id), frozenset({tp})
    last = group.seen.get(f"{KEY_OF_OWNED} {other_id}", -1)
    if group.context.gaps.is_complete(last, at.offset):
        group.anomaly(record, AnomalyKind.TWO_OWNERS, Severity.CRITICAL, line, first_offset=max(last, 0))
        return
    group.anomaly(record, AnomalyKind.OLDER_RULE, Severity.INFO, f"{line}: coordinators before 4.2 refuse to load")
    (since,) = group.ledger.by_beginning(tps, other_id, role)
    release(group, now, other_id, role, tps, OwnershipEnd.REASSIGNED, False, at)
    until = given_up(at.time, timeouts_of(group, now, other_id), since)
    stop_reading(now, role, tps, other_id, at, now.rebalance, until)
    if other is not None:
        other.shown = {key: some - tps if key[1] == role else some for key, some in other.shown.items()}


def release_all(
    group: Group, now: Modern, member_id: str, member: Member, kind: LeaveKind, is_exact: bool, at: Moment
) -> None:
    """Releases everything of a member that left. What it had waits for the next assignment."""
    is_replaced, is_expired = kind == LeaveKind.STATIC_REPLACED, kind == LeaveKind.STATIC_EXPIRED_LIKELY
    stay = group.ledger.members.get(member_id)
    joined = None if stay is None else stay.from_time
    why = OwnershipEnd.STATIC_REPLACED if is_replaced else OwnershipEnd.MEMBER_LEFT
    for (_, role), tps in member.shown.items():
        begun_at = group.ledger.by_beginning(tps, member_id, role)
        release(group, now, member_id, role, tps, why, is_exact, at)
        for since, some in () if is_replaced else begun_at.items():
            until = end_of_gone(group, now, member, kind, joined if is_expired else since, at)
            stop_reading(now, role, some, member_id, at, None, until)


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


def timeouts_of(group: Group, now: Modern, member_id: str) -> Timeouts:
    return member_timeouts(group, now, now.members.get(member_id) or Member())


def member_timeouts(group: Group, now: Modern, member: Member) -> Timeouts:
    about = member.about
    rebalance_ms = None if about is None else about.rebalance_timeout_ms
    if about is not None and about.session_timeout_ms is not None:
        return timeouts_of_record(about.session_timeout_ms, rebalance_ms)
    return timeouts_of_setting(group.context.timeouts_of(group.group_id, now.group_type), rebalance_ms)
