"""When partitions were unread. A row of partition_moves that gives a partition to a member says for how long nobody had
read it by then: the time that it had no owner is in it. A row that takes it away without another owner has no bounds:
the time goes on.

When the old owner may have stopped is in its row of ownership_intervals (`reader_doubt_from_time`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from jobs.output.zones import moved
from schemas.words.history import TaskRole

# Columns of partition_moves and of ownership_intervals.
OF_MOVES = (
    "assignment_offset", "topic", "topic_id", "partition", "role", "from_member_id", "to_member_id", "move_offset",
    "move_time", "unread_low_ms", "unread_high_ms",
)  # fmt: skip
OF_STAYS = (
    "topic", "topic_id", "partition", "role", "member_id", "phase", "from_time", "to_time", "from_record_offset",
    "reader_doubt_from_time",
)  # fmt: skip

AnyRow = Mapping[str, Any]
# By topic, or topic id, partition and role.
Place = tuple[str, int, str | None]


class UnreadSpan(NamedTuple):
    """The old owner read until between `first` and `last`. The record of `until` gives the partition to the new owner,
    which reads it from `end` at the latest."""

    first: datetime
    last: datetime
    until: datetime
    end: datetime


def place_of(row: AnyRow) -> Place:
    return str(row["topic"] or row["topic_id"]), int(row["partition"]), row["role"]


def unread_span(move: AnyRow, stays: Iterable[AnyRow] = ()) -> UnreadSpan | None:
    """`stays`: of its partition. None: nobody has it by the move, there was nothing to read, or it is not known."""
    if move["to_member_id"] is None or move["move_time"] is None or not move["unread_high_ms"]:
        return None
    until, longest = move["move_time"], timedelta(milliseconds=move["unread_high_ms"])
    last = moved(until, -timedelta(milliseconds=move["unread_low_ms"] or 0))
    doubt = doubt_before(stays, until)
    # Without a doubt, the time until the new owner has got the partition is a part of the one before the record.
    first = moved(until, -longest) if doubt is None else doubt
    return UnreadSpan(min(first, last), last, until, max(until, moved(first, longest)))


def doubt_before(stays: Iterable[AnyRow], at: datetime) -> datetime | None:
    """Since when the last owner before the time may have stopped. Its phases follow each other."""
    ended = [row for row in stays if row["to_time"] is not None and row["to_time"] <= at]
    newest = sorted(ended, key=lambda row: (row["to_time"], int(row["from_record_offset"])), reverse=True)
    doubt: datetime | None = None
    for place, row in enumerate(newest):
        if place and not (
            row["member_id"] == newest[0]["member_id"] and row["to_time"] == newest[place - 1]["from_time"]
        ):
            break
        doubt = row["reader_doubt_from_time"] or doubt
    return doubt


def doubt_spans(stays: Iterable[AnyRow], now: datetime) -> list[tuple[datetime, datetime]]:
    """When owners may not have read any more, although they still had the partition."""
    return [
        (row["reader_doubt_from_time"], row["to_time"] or now)
        for row in stays
        if row["reader_doubt_from_time"] is not None and row["reader_doubt_from_time"] < (row["to_time"] or now)
    ]


class Unread(NamedTuple):
    """Of one event: bounds of the partition that was unread longest, and sums over partitions. `since`: when it took
    partitions that nobody has yet, `num_waiting` of them; None: there are none."""

    longest_low_ms: int | None = None
    longest_high_ms: int | None = None
    low_ms: int | None = None
    high_ms: int | None = None
    since: datetime | None = None
    num_waiting: int = 0

    def cost_ms(self, until: datetime | None) -> int:
        """The sum, with what partitions have waited for by then that nobody has yet."""
        waited = timedelta() if self.since is None or until is None else max(until - self.since, timedelta())
        return (self.high_ms or 0) + self.num_waiting * (waited // timedelta(milliseconds=1))


NO_UNREAD = Unread()


class Waits(NamedTuple):
    """Which partitions of a group wait that nobody has. If it has members, a topic may be gone, unless snapshots show
    that only the leader does not know it."""

    has_members: bool
    stale_topics: frozenset[str] = frozenset()

    def has(self, move: AnyRow) -> bool:
        return not self.has_members or move["topic"] in self.stale_topics


def unread_by_event(moves: Sequence[AnyRow], waits: Waits) -> dict[int, Unread]:
    """By assignment. `moves`: of one group."""
    by_event: dict[int, list[AnyRow]] = {}
    for move in moves:
        by_event.setdefault(move["assignment_offset"], []).append(move)
    waiting = {id(move): move for move, giving in taken(moves) if giving is None and waits.has(move)}
    return {offset: unread_of(some, waiting) for offset, some in by_event.items()}


def unread_of(moves: Sequence[AnyRow], waiting: Mapping[int, AnyRow]) -> Unread:
    known = [move for move in moves if move["unread_high_ms"] is not None]
    since = [move["move_time"] for move in moves if id(move) in waiting and move["move_time"] is not None]
    goes_on = min(since, default=None)
    if not known:
        return Unread(since=goes_on, num_waiting=len(since))
    longest = max(known, key=lambda move: (move["unread_high_ms"], move["unread_low_ms"]))
    low, high = (sum(move[f"unread_{side}_ms"] for move in known) for side in ("low", "high"))
    return Unread(longest["unread_low_ms"], longest["unread_high_ms"], low, high, goes_on, len(since))


def taken(moves: Iterable[AnyRow]) -> Iterator[tuple[AnyRow, AnyRow | None]]:
    """Moves that take a partition away and give it to nobody, each with the later one that gives it to somebody; None:
    nobody has it yet."""
    waiting: dict[Place, list[AnyRow]] = {}
    reading = (move for move in moves if move["role"] in (None, TaskRole.ACTIVE))
    for move in sorted(reading, key=lambda move: int(move["move_offset"])):
        place = place_of(move)
        if move["to_member_id"] is None:
            waiting.setdefault(place, []).append(move)
        else:
            yield from ((each, move) for each in waiting.pop(place, ()))
    yield from ((each, None) for some in waiting.values() for each in some)
