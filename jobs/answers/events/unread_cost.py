"""Describes how long the partitions of a rebalance were unread."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from jobs.answers.durations import duration_text, longest_text
from jobs.answers.table_reader import Row
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


def worst(moves: Sequence[Row]) -> int:
    return max(int(move["unread_high_ms"]) for move in moves)


def sentence(moves: Sequence[Row], basis: str | None, *, is_more: bool) -> str:
    count = len(moves)
    subject = counted(count, "more partition" if is_more else "partition")
    was, each = ("was", "") if count == 1 else ("were", " each")
    span = span_text(min(int(move["unread_low_ms"]) for move in moves), worst(moves))
    return f"{subject} {was} unread for {span}{each}{f' ({basis})' if basis else ''}"


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
