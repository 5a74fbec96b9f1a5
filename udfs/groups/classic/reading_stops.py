"""When owners stopped reading partitions of a classic group: members that gave them up in a rebalance, and members that
left."""

from collections.abc import Sequence

from schemas.words.history import LeaveKind
from udfs.groups.classic import causes
from udfs.groups.classic.rounds import Round
from udfs.groups.history.reading_ends import (
    ReadingEnd,
    Timeouts,
    given_up,
    known_end,
    left_or_timed_out,
    overdue,
    session_expired,
    timeouts_of_record,
)
from udfs.groups.readers.classic_records import ClassicMember, Tps

# Partitions, and when their owner stopped reading them.
Ends = Sequence[tuple[Tps, ReadingEnd | None]]


def reading_ends(round_: Round, old_id: str, member: ClassicMember | None, tps: Tps) -> Ends:
    """For some of a member's partitions. `member`: the same member in the new value; None if it left."""
    old = round_.members_before.get(old_id)
    if old is None:
        return [(tps, known_end(round_.stop))]
    begun = round_.group.ledger.by_beginning(tps, old_id)
    if member is not None:
        timeouts = timeouts_of_record(old.session_timeout_ms, old.rebalance_timeout_ms)
        return [(some, given_up(round_.stop, timeouts, since)) for since, some in begun.items()]
    kind, _ = causes.leave_kind(round_, old)
    timeouts = timeouts_of_gone(round_, old)
    return [(some, end_of_gone(round_, kind, timeouts, since)) for since, some in begun.items()]


def end_of_gone(round_: Round, kind: LeaveKind, of: Timeouts, since: int | None) -> ReadingEnd | None:
    match kind:
        case LeaveKind.STATIC_EXPIRED_LIKELY:
            return session_expired(round_.stop, of, since)
        case LeaveKind.REBALANCE_TIMEOUT_LIKELY:
            return overdue(round_.stop, of, since)
        case LeaveKind.LEFT_OR_TIMED_OUT:
            return left_or_timed_out(round_.stop, of, since, round_.at.offset)
        case _:
            return given_up(round_.stop, of, since)


def timeouts_of_gone(round_: Round, old: ClassicMember) -> Timeouts:
    """The record shows the removal at the end of the join phase. Before that end, the other members must learn of it by
    their next heartbeats. Without other members, the removal itself ends the phase."""
    has_others = any(each.member_id in round_.members_now or each.member_id in round_.replaced
                     for each in round_.members_before.values())  # fmt: skip
    timeouts = timeouts_of_record(old.session_timeout_ms, old.rebalance_timeout_ms)
    return timeouts._replace(join_ms=timeouts.heartbeat_ms) if has_others else timeouts
