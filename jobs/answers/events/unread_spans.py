"""When the partitions of a rebalance were unread: the rows of its moves say only for how long.

The time in which all members of a group are static and away does not count. So the unread time of a partition of the
last member ends when that member goes away. The record that removes the member may come long after that.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.answers.durations import time_between
from jobs.output.moved_time import moved

# Columns of membership_intervals and of partition_moves.
OF_MEMBERS = ("member_id", "from_time", "to_time", "away_since_time")
OF_MOVES = ("from_member_id", "to_member_id", "move_time", "idle_ms", "unread_high_ms")

AnyRow = Mapping[str, Any]
Span = tuple[datetime, datetime]


def unread_span(move: AnyRow, memberships: Sequence[AnyRow]) -> Span:
    """From the earliest instant since when the partition may have been unread. The move has a time. `memberships`: all
    of its group."""
    until = counted_until(move, memberships)
    return moved(until, -timedelta(milliseconds=move["unread_high_ms"] or move["idle_ms"] or 0)), until


def counted_until(move: AnyRow, memberships: Sequence[AnyRow]) -> datetime:
    at: datetime = move["move_time"]
    # Another owner ends the unread time, also after all were away.
    if move["to_member_id"] is not None:
        return at
    was_away = any(row["member_id"] == move["from_member_id"] and is_away(row, at) for row in memberships)
    return last_there(memberships, at) if was_away else at


def is_away(membership: AnyRow, at: datetime) -> bool:
    """Whether the member was away just before."""
    away, end = membership["away_since_time"], membership["to_time"]
    return away is not None and away < at and (end is None or at <= end)


def last_there(memberships: Sequence[AnyRow], at: datetime) -> datetime:
    """Since when no member was there other than those that were away; the instant itself if one was."""
    ends = (
        row["away_since_time"] or row["to_time"] or at
        for row in memberships
        if row["from_time"] is None or row["from_time"] < at
    )
    return min(max(ends, default=at), at)


def away_words(moves: Sequence[AnyRow], memberships: Sequence[AnyRow]) -> str | None:
    """Says which time was not counted; None: all of it was."""
    spans = [(counted_until(move, memberships), move["move_time"]) for move in moves if move["move_time"] is not None]
    times = [each for until, at in spans if until < at for each in (until, at)]
    if not times:
        return None
    start, end = min(times), max(times)
    number = len({row["member_id"] for row in memberships if is_away_since(row, start)})
    who = {1: "the only member was", 2: "both members were"}.get(number, f"all {number:,} members were")
    return f"{who} away for {time_between(start, end)}; that time is not counted"


def is_away_since(membership: AnyRow, at: datetime) -> bool:
    away, end = membership["away_since_time"], membership["to_time"]
    return away is not None and away <= at and (end is None or at < end)
