"""When owners stopped reading partitions of a classic group: members that gave them up in a rebalance, and members that
left."""

from collections.abc import Sequence
from typing import NamedTuple

from schemas.words.history import LeaveKind
from udfs.groups.classic import causes
from udfs.groups.classic.rounds import Round
from udfs.groups.history.reading_ends import (
    ANY_MS,
    Begin,
    ReadingEnd,
    Timeouts,
    given_up,
    left_or_timed_out,
    longest_of_gone,
    overdue,
    session_expired,
    timeouts_of_record,
    unbounded,
)
from udfs.groups.readers.classic_records import ClassicMember, Tps
from udfs.groups.readers.records import Moment

# Partitions, and when their owner stopped reading them.
Ends = Sequence[tuple[Tps, ReadingEnd]]


class Stopped(NamedTuple):
    """`longest_ms`: how long before the end of the join phase the member may have stopped reading."""

    ends: Ends
    longest_ms: int


def stopped(round_: Round, old_id: str, member: ClassicMember | None, tps: Tps) -> Stopped:
    """For some of a member's partitions. `member`: the same member in the new value; None if it left."""
    old = round_.members_before.get(old_id)
    begun = round_.group.ledger.by_beginning(tps, old_id).items()
    if old is None or may_miss_rounds(round_):
        return Stopped([(some, unbounded(round_.stop, is_told=begin.is_told)) for begin, some in begun], ANY_MS)
    if member is not None:
        of = timeouts_of_record(old.session_timeout_ms, old.rebalance_timeout_ms)
        return Stopped([(some, given_up(round_.stop, of, begin)) for begin, some in begun], of.rebalance_ms)
    kind, _ = causes.leave_kind(round_, old)
    of = timeouts_of_gone(round_, old)
    ends = [(some, end_of_gone(round_, old_id, kind, of, begin)) for begin, some in begun]
    return Stopped(ends, longest_of_gone(of))


def may_miss_rounds(round_: Round) -> bool:
    """Others may have had the partitions in between."""
    assert round_.before is not None
    return not round_.is_exact and round_.now.value.generation != round_.before.value.generation + 1


def end_of_gone(round_: Round, old_id: str, kind: LeaveKind, of: Timeouts, begin: Begin) -> ReadingEnd:
    match kind:
        case LeaveKind.STATIC_EXPIRED_LIKELY:
            return session_expired(round_.stop, of, begin)
        case LeaveKind.REBALANCE_TIMEOUT_LIKELY:
            return overdue(round_.stop, of, begin)
        case LeaveKind.LEFT_OR_TIMED_OUT:
            return left_or_timed_out(round_.stop, of, begin, old_id, round_.at.offset)
        case _:
            return given_up(round_.stop, of, begin)


def restarted(round_: Round, old_id: str, tps: Tps) -> Ends:
    """A static member came back under another id: until then its session had not ended."""
    old = round_.members_before.get(old_id)
    begun = round_.group.ledger.by_beginning(tps, old_id)
    if old is None or not round_.is_exact:
        return [(some, unbounded(round_.at.time, is_told=begin.is_told)) for begin, some in begun.items()]
    timeouts = timeouts_of_record(old.session_timeout_ms, old.session_timeout_ms)
    return [(some, given_up(round_.at.time, timeouts, begin)) for begin, some in begun.items()]


def timeouts_of_gone(round_: Round, old: ClassicMember) -> Timeouts:
    """The record shows the removal at the end of the join phase. That waits until the other members have joined again.
    Without other members, the removal itself ends the phase."""
    others = [each for each in round_.members_before.values()
              if each.member_id in round_.members_now or each.member_id in round_.replaced]  # fmt: skip
    join_ms = max((timeouts_of_record(each.session_timeout_ms, each.rebalance_timeout_ms).rebalance_ms
                   for each in others), default=0)  # fmt: skip
    of = timeouts_of_record(old.session_timeout_ms, old.rebalance_timeout_ms)._replace(join_ms=join_ms)
    return round_.group.context.with_restarts(of, Moment(round_.at.offset, round_.stop))
