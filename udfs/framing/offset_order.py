"""Batches whose offsets cannot be right: no checksum covers the first offset of a batch.

The checksum does cover how many offsets a batch takes, so one with a wrong first offset still has its place among the
others, and they must leave room for it. The rule:

- As few batches as possible are left out, so that the offsets of the others rise and what is left out has room between.
- Of several such choices the one is taken in which most batches follow each other without a gap; then the one that
  keeps most offsets.
- Where more batches can be kept when nothing needs room, bytes are there twice: then that choice is taken.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.words.records import RejectReason
from udfs.framing.log_bytes.framed_records import Batches, Claim, Framed, Rejected

Numbers = NDArray[np.int64]
NO_END = int(np.iinfo(np.int64).max) - 1


class Score(NamedTuple):
    """Of a chain of batches: the higher tuple is the better chain."""

    batches: int
    without_gap: int
    offsets: int


class Link(NamedTuple):
    """A batch as a link of a chain: it follows all that end below `first`, without a gap what ends right below."""

    place: int
    first: int
    end: int
    offsets: int


def with_rising_offsets(framed: Framed, before: int, highest: int | None) -> Framed:
    """`before`: the last offset before what was framed; no offset is above `highest`. What is left out is rejected.
    Where batches that are left out follow each other, it is another log that begins here: then nothing is left out."""
    batches = framed.batches
    base, last = batches.base_offset, batches.last_offset
    top = NO_END if highest is None else highest
    if not len(base) or (
        base[0] > before
        and last[-1] <= top
        and (last >= base).all()
        and (base[1:] > last[:-1]).all()
        and (framed.next_offset is None or framed.next_offset > last[-1])
    ):
        return framed
    kept = np.array(places_before(framed.next_offset, base, last, before, top), np.int64)
    out = np.setdiff1d(np.arange(len(base)), kept)
    follows = out[1:][base[out[1:]] == last[out[:-1]] + 1]
    if len(follows) or len(out) > max(len(kept), 1):
        return framed
    is_kept = np.ones(len(base), bool)
    is_kept[out] = False
    rejected = left_out(batches, is_kept, before, highest)
    return replace(
        framed,
        batches=batches.take(kept),
        records=framed.records.take(np.flatnonzero(np.repeat(is_kept, batches.num_records))),
        rejected=sorted([*framed.rejected, *rejected], key=lambda each: each.byte_position),
    )


def places_before(following: int | None, base: Numbers, last: Numbers, before: int, top: int) -> list[int]:
    """Of the batches to keep. The last of them are compared with the one that comes next as well."""
    if following is None:
        return places_to_keep(base, last, before, top)
    places = places_to_keep(np.append(base, following), np.append(last, following), before, top)
    return [place for place in places if place < len(base)]


def places_to_keep(base: Numbers, last: Numbers, before: int, top: int) -> list[int]:
    links = [
        Link(place, first, end, max(end - first + 1, 0))
        for place, (first, end) in enumerate(zip(base.tolist(), last.tolist(), strict=True))
    ]
    possible = [each for each in links if before < each.first <= each.end <= top]
    # Less the offsets that the batches before it take, a batch's first offset never falls: it rises where offsets are
    # missing. So batches that leave room for all between them are links that take no room themselves.
    taken = [0, *accumulate(each.offsets for each in links)]
    lowered = [(each, each.first - taken[each.place]) for each in possible]
    with_room = [each._replace(first=first, end=first - 1) for each, first in lowered]
    fitting = longest_chain(with_room, before, top - taken[-1])
    rising = longest_chain(possible, before, top)
    return rising if len(rising) > len(fitting) else fitting


def longest_chain(links: Sequence[Link], before: int, top: int) -> list[int]:
    """Places of the batches in the best chain of links above `before`, the last of which ends at `top` or below."""
    # Ends of chains, ascending, each with a better score than the ones before it; the best chain by its end.
    ends, best = [before], [(Score(0, 0, 0), -1)]
    at_end = {before: best[0]}
    came_from: dict[int, int] = {}
    for place, first, end, offsets in links:
        if first <= before or end > top:
            continue
        score, origin = best[bisect_left(ends, first) - 1]
        gapless, linked_origin = at_end.get(first - 1, (None, -1))
        is_linked = gapless is not None and with_gapless(gapless) > score
        if gapless is not None and is_linked:
            score, origin = with_gapless(gapless), linked_origin
        score = Score(score.batches + 1, score.without_gap, score.offsets + offsets)
        came_from[place] = origin
        # Two end alike. Without a link to the one before, the earlier one has moved up; with it, the later one down.
        if end not in at_end or at_end[end][0] < score or (at_end[end][0] == score and not is_linked):
            at_end[end] = (score, place)
        note_end(ends, best, end, (score, place))
    # Where scores are equal the batch that comes earlier has moved up: one that moved down leaves the others' links.
    _, _, last = max(
        (with_gapless(score) if end == top else score, place, place) for end, (score, place) in at_end.items()
    )
    return list(reversed(list(walk_back(last, came_from))))


def with_gapless(score: Score) -> Score:
    return score._replace(without_gap=score.without_gap + 1)


def note_end(ends: list[int], best: list[tuple[Score, int]], end: int, new: tuple[Score, int]) -> None:
    rank = bisect_left(ends, end)
    is_there = rank < len(ends) and ends[rank] == end
    if best[rank if is_there else rank - 1][0] >= new[0]:
        return
    first_better = rank
    while first_better < len(ends) and best[first_better][0] <= new[0]:
        first_better += 1
    ends[rank:first_better], best[rank:first_better] = [end], [new]


def walk_back(place: int, came_from: dict[int, int]) -> Iterator[int]:
    while place >= 0:
        yield place
        place = came_from[place]


def left_out(batches: Batches, is_kept: NDArray[np.bool_], before: int, highest: int | None) -> Iterator[Rejected]:
    kept = np.flatnonzero(is_kept)
    lowest, last_kept = before + 1, -1
    for place in np.flatnonzero(~is_kept).tolist():
        next_kept = int(np.searchsorted(kept, place))
        if next_kept - 1 > last_kept:
            last_kept = next_kept - 1
            lowest = int(batches.last_offset[kept[last_kept]]) + 1
        limit = NO_END if highest is None else highest
        if next_kept < len(kept):
            limit = int(batches.base_offset[kept[next_kept]]) - 1
        first, last = int(batches.base_offset[place]), int(batches.last_offset[place])
        room = f"from {lowest} on" if limit == NO_END else f"from {lowest} to {limit}"
        # The lowest offsets that it may have had. Its number of records is right: the checksum covers it.
        claim = Claim(lowest, lowest + last - first, int(batches.num_records[place]))
        lowest = max(claim.last_offset + 1, lowest)
        yield Rejected(
            byte_position=int(batches.position[place]),
            size_bytes=int(batches.size_bytes[place]),
            reason=RejectReason.BAD_OFFSET,
            field="base_offset",
            detail=f"offsets {first} to {last} contradict the batches around; offsets {room} were expected",
            claims=(claim,),
        )
