"""Who joined consumer, share and streams groups, and how members left."""

from collections.abc import Mapping

from schemas.words.history import Confidence, LeaveKind, OwnershipEnd
from schemas.words.records import GroupType
from udfs.groups.history.departures import modern_departure
from udfs.groups.history.intervals import MemberStretch
from udfs.groups.history.reading_ends import (
    ANY_MS,
    Begin,
    ReadingEnd,
    given_up,
    left_or_timed_out,
    longest_of_gone,
    overdue,
    unbounded,
    went_away,
)
from udfs.groups.modern.owners import Inherited, by_role, milliseconds, release, stop_reading
from udfs.groups.readers.modern_values import UNREVOKED
from udfs.groups.readers.records import Moment
from udfs.groups.states.group import Group
from udfs.groups.states.modern import AWAY, GONE, Member, Modern, Standing

# A coordinator's timers may fire a little late, but never early, apart from steps of its clock.
EARLY_MS = 100
LATE_MS = 1_000


def replaced_members(group: Group, now: Modern) -> dict[str, str]:
    """Old member id to new member id of static members. The tombstones of the old id come before the copy under the new
    id, so the member did not leave."""
    departed = {
        member.group_instance_id: member_id
        for member_id, member in now.operation.departed.items()
        if member.group_instance_id is not None and member_id in group.ledger.members
    }
    return {
        departed[instance]: member_id
        for member_id in now.operation.touched
        if member_id in now.members
        and member_id not in group.ledger.members
        and (instance := now.members[member_id].group_instance_id) in departed
    }


def settle_departed(group: Group, now: Modern, replaced: Mapping[str, str], at: Moment) -> list[Inherited]:
    """Handles members that left. Returns what static members had that came back under other member ids."""
    inherited: list[Inherited] = []
    for member_id, member in now.operation.departed.items():
        if member_id in now.members or member_id not in group.ledger.members:
            continue
        is_exact = now.operation.touched.get(member_id, False)
        kind = LeaveKind.STATIC_REPLACED if member_id in replaced else leave_kind(member, is_exact, at)
        if member_id in replaced:
            end = end_of_replaced(group, now, member_id, member, is_exact, at)
            for role, tps in by_role(member.shown).items():
                inherited.append(Inherited(member_id, replaced[member_id], role, tps, end))
        release_all(group, now, member_id, member, kind, is_exact, at)
        if kind == LeaveKind.LEFT_OR_TIMED_OUT:
            note_departure(group, now, member_id, member, at)
        is_likely = kind in (LeaveKind.STATIC_EXPIRED_LIKELY, LeaveKind.REBALANCE_TIMEOUT_LIKELY)
        confidence = Confidence.LIKELY if is_likely else Confidence.CERTAIN
        group.ledger.leave(at, member_id, kind, now.epoch, is_exact=is_exact, confidence=confidence)
    return inherited


def release_all(
    group: Group, now: Modern, member_id: str, member: Member, kind: LeaveKind, is_exact: bool, at: Moment
) -> None:
    """Releases everything of a member that left. What it had waits for the next assignment."""
    is_replaced = kind == LeaveKind.STATIC_REPLACED
    why = OwnershipEnd.STATIC_REPLACED if is_replaced else OwnershipEnd.MEMBER_LEFT
    of = group.timeouts_of(now.group_type, member)
    for (_, role), tps in member.shown.items():
        begun_at = group.ledger.by_beginning(tps, member_id, role)
        release(group, now, member_id, role, tps, why, is_exact, at, longest_of_gone(of) if is_exact else ANY_MS)
        for begin, some in () if is_replaced else begun_at.items():
            until = end_of_gone(group, now, member_id, member, kind, begin, at)
            stop_reading(now, role, some, member_id, at, None, until)


def end_of_gone(
    group: Group, now: Modern, member_id: str, member: Member, kind: LeaveKind, begin: Begin, at: Moment
) -> ReadingEnd:
    of = group.context.with_restarts(group.timeouts_of(now.group_type, member), at)
    match kind:
        case LeaveKind.STATIC_EXPIRED_LIKELY:
            joined = Begin(joined_time(group, member_id), begin.is_told)
            return went_away(at.time, of, standing(member).since, joined)
        case LeaveKind.REBALANCE_TIMEOUT_LIKELY:
            return overdue(at.time, of, begin)
        case LeaveKind.LEFT_OR_TIMED_OUT:
            return left_or_timed_out(at.time, of, begin, member_id, at.offset)
        case _:
            return unbounded(at.time, is_told=begin.is_told)


def end_of_replaced(
    group: Group, now: Modern, member_id: str, member: Member, is_exact: bool, at: Moment
) -> ReadingEnd:
    """Of a static member that comes back. One that did not say that it goes away had not lost its session."""
    if not is_exact:
        return unbounded(at.time)
    of, was, joined = group.timeouts_of(now.group_type, member), standing(member), joined_time(group, member_id)
    if was.epoch == AWAY:
        return went_away(at.time, of, was.since, Begin(joined))
    return given_up(at.time, of._replace(rebalance_ms=of.session_ms), Begin(joined))


def standing(member: Member) -> Standing:
    """As its records said before the tombstones."""
    return member.before_gone or Standing(member.epoch, member.state, member.since)


def joined_time(group: Group, member_id: str) -> int | None:
    stay = group.ledger.members.get(member_id)
    return None if stay is None else stay.from_time


def note_departure(group: Group, now: Modern, member_id: str, member: Member, at: Moment) -> None:
    since, timeouts = joined_time(group, member_id), group.timeouts_of(now.group_type, member)
    is_streams = now.group_type == GroupType.STREAMS
    group.context.departures.append(
        modern_departure(group.group_id, member_id, since, at.offset, at.time, timeouts, is_streams=is_streams)
    )


def leave_kind(member: Member, is_exact: bool, at: Moment) -> LeaveKind:
    if not is_exact:
        return LeaveKind.UNKNOWN
    was = standing(member)
    if was.epoch == AWAY:
        return LeaveKind.STATIC_EXPIRED_LIKELY
    timeout = None if member.about is None else member.about.rebalance_timeout_ms
    passed = milliseconds(was.since, at.time)
    if was.state in UNREVOKED and timeout is not None and passed is not None:
        late = max(LATE_MS, timeout // 10)
        if timeout - EARLY_MS <= passed <= timeout + late:
            return LeaveKind.REBALANCE_TIMEOUT_LIKELY
    return LeaveKind.LEFT_OR_TIMED_OUT


def settle_present(group: Group, now: Modern, at: Moment) -> None:
    """Handles members with records: new ones join; others may have another client or be away."""
    for member_id, is_known in now.operation.touched.items():
        member = now.members.get(member_id)
        if member is None:
            continue
        interval = group.ledger.members.get(member_id)
        if interval is None:
            if member.epoch != GONE or member.about is not None:
                is_exact = is_known or member_id in now.operation.joining
                group.ledger.join(member_interval(now, member_id, member, is_exact, at))
            continue
        interval.last_offset = at.offset
        if member.about is not None:
            about = member.about
            interval.group_instance_id, interval.rack_id = about.group_instance_id, about.rack_id
            interval.client_id, interval.client_host = about.client_id, about.client_host
        if member.epoch == AWAY:
            interval.away_since_time = interval.away_since_time or at.time
        elif member.epoch != GONE:
            interval.away_since_time = None


def member_interval(now: Modern, member_id: str, member: Member, is_exact: bool, at: Moment) -> MemberStretch:
    about = member.about
    return MemberStretch(
        from_time=at.time,
        from_record_offset=at.offset,
        is_from_exact=is_exact,
        last_offset=at.offset,
        group_type=now.group_type,
        member_id=member_id,
        group_instance_id=None if about is None else about.group_instance_id,
        client_id=None if about is None else about.client_id,
        client_host=None if about is None else about.client_host,
        rack_id=None if about is None else about.rack_id,
        joined_generation=now.epoch,
        away_since_time=at.time if member.epoch == AWAY else None,
    )
