"""Describes how long partitions were unread that an event gave to members, and those that it left without an owner."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from jobs.answers.durations import duration_text, longest_text
from jobs.answers.events.unread_spans import AnyRow
from jobs.answers.table_reader import Row
from jobs.output.rows import time_text
from udfs.sentences.counts import counted


def unread_cost(moves: Iterable[Row]) -> str | None:
    """From the rows of partition_moves of one rebalance. Partitions bounded by a timeout come first, with that timeout
    and the assumptions. None: nothing is known, or there was nothing to read."""
    by_basis: dict[str | None, list[Row]] = defaultdict(list)
    for move in moves:
        if move["unread_high_ms"]:
            by_basis[move["unread_basis"]].append(move)
    if not by_basis:
        return None
    ordered = sorted(by_basis.items(), key=lambda each: (each[0] is None, -worst(each[1]), each[0] or ""))
    return "; ".join(sentence(some, basis, is_more=place > 0) for place, (basis, some) in enumerate(ordered))


def worst(moves: Sequence[AnyRow]) -> int:
    return max(int(move["unread_high_ms"]) for move in moves)


def sentence(moves: Sequence[Row], basis: str | None, *, is_more: bool) -> str:
    count = len(moves)
    subject = counted(count, "more partition" if is_more else "partition")
    was, each = ("was", "") if count == 1 else ("were", " each")
    return f"{subject} {was} unread for {spans_text(moves)}{each}{f' ({basis})' if basis else ''}"


def taken_cost(taken: Sequence[tuple[AnyRow, AnyRow | None]]) -> str | None:
    """Of the moves that gave a partition to nobody, each with the later one that gave it to somebody, or that waits for
    one. None: there are none."""
    parts = []
    if later := [giving for _, giving in taken if giving is not None]:
        number = counted(len(later), "partition")
        until = max((giving["move_time"] for giving in later if giving["move_time"] is not None), default=None)
        ended = "for a time" if until is None else f"until {time_text(until)}"
        known = [giving for giving in later if giving["unread_high_ms"]]
        each = "" if len(later) == 1 else " each"
        spans = f": unread for {spans_text(known)}{each} by then" if known else ""
        parts.append(f"{number} had no owner {ended}{spans}")
    if waiting := [move for move, giving in taken if giving is None]:
        number, have = counted(len(waiting), "partition"), "has" if len(waiting) == 1 else "have"
        since = min((move["move_time"] for move in waiting if move["move_time"] is not None), default=None)
        parts.append(f"{number} {have} had no owner {'since then' if since is None else f'since {time_text(since)}'}")
    return "; ".join(parts) or None


def spans_text(moves: Sequence[AnyRow]) -> str:
    """From the shortest to the longest that each of these may have been unread."""
    return span_text(min(int(move["unread_low_ms"]) for move in moves), worst(moves))


def unowned_cost(moves: Iterable[Row]) -> str | None:
    """How long partitions had no owner of which nobody knows how long they were unread. None: there is none."""
    times = [int(move["idle_ms"]) for move in moves if move["unread_high_ms"] is None and move["idle_ms"]]
    if not times:
        return None
    each = "" if len(times) == 1 else " each"
    return f"{counted(len(times), 'partition')} had no owner for {span_text(min(times), max(times))}{each}"


def span_text(low_ms: int, high_ms: int) -> str:
    low, high = duration_text(low_ms), longest_text(high_ms)
    return high if low == high else f"{low.removesuffix(unit_of(high))} to {high}"


def unit_of(text: str) -> str:
    return text[text.index(" ") :]
