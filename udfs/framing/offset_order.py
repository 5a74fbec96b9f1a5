"""Batches whose offsets cannot be right: no checksum covers the first offset of a batch.

Offsets of a log rise. Where they do not, as few batches as possible are left out; of several such choices the one is
taken in which most batches follow each other without a gap.
"""

from bisect import bisect_left
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schemas.vocabulary import RejectReason
from udfs.framing.framed import Batches, Framed, Rejected

Numbers = NDArray[np.int64]
# A gap costs less than a batch that is left out.
BATCH, NO_GAP = 2, 1


def with_rising_offsets(framed: Framed, before: int, highest: int | None) -> Framed:
    """`before`: the last offset before what was framed; no offset is above `highest`. What is left out is rejected.
    Where batches that are left out follow each other, it is another log that begins here: then nothing is left out."""
    batches = framed.batches
    base, last = batches.base_offset, batches.last_offset
    top = np.iinfo(np.int64).max - 1 if highest is None else highest
    if not len(base) or (
        base[0] > before and last[-1] <= top and (last >= base).all() and (base[1:] > last[:-1]).all()
    ):
        return framed
    kept = np.array(longest_rise(base, last, before, top), np.int64)
    out = np.setdiff1d(np.arange(len(base)), kept)
    follows = out[1:][base[out[1:]] == last[out[:-1]] + 1]
    if len(follows) or len(out) > max(len(kept), 1):
        return framed
    is_kept = np.ones(len(base), bool)
    is_kept[out] = False
    return replace(
        framed,
        batches=batches.take(kept),
        records=framed.records.take(np.flatnonzero(np.repeat(is_kept, batches.num_records))),
        rejected=sorted([*framed.rejected, *left_out(batches, out)], key=lambda each: each.byte_position),
    )


def longest_rise(base: Numbers, last: Numbers, before: int, top: int) -> list[int]:
    """Places of the batches to keep."""
    # Ends of rises, ascending, each with a better score than the ones before it; the best rise by its end.
    ends, scores, places = [before], [0], [-1]
    at_end = {before: (0, -1)}
    came_from: dict[int, int] = {}
    for place, (first, end) in enumerate(zip(base.tolist(), last.tolist(), strict=True)):
        if not before < first <= end <= top:
            continue
        rank = bisect_left(ends, first) - 1
        score, came_from[place] = scores[rank] + BATCH, places[rank]
        is_linked = first - 1 in at_end and at_end[first - 1][0] + BATCH + NO_GAP > score
        if is_linked:
            score, came_from[place] = at_end[first - 1][0] + BATCH + NO_GAP, at_end[first - 1][1]
        # Two end alike. Without a link to the one before, the earlier one has moved up; with it, the later one down.
        if end not in at_end or at_end[end][0] < score or (at_end[end][0] == score and not is_linked):
            at_end[end] = (score, place)
        note_end(ends, scores, places, (end, score, place))
    # Where scores are equal the batch that comes earlier has moved up: one that moved down leaves the others' links.
    best = max(at_end, key=lambda end: (at_end[end][0] + NO_GAP * (end == top), at_end[end][1]))
    return list(reversed(walk_back(at_end[best][1], came_from)))


def note_end(ends: list[int], scores: list[int], places: list[int], new: tuple[int, int, int]) -> None:
    end, score, place = new
    rank = bisect_left(ends, end)
    if scores[min(rank, len(ends) - 1) if rank < len(ends) and ends[rank] == end else rank - 1] >= score:
        return
    behind = rank
    while behind < len(ends) and scores[behind] <= score:
        behind += 1
    ends[rank:behind], scores[rank:behind], places[rank:behind] = [end], [score], [place]


def walk_back(place: int, came_from: dict[int, int]) -> list[int]:
    found = []
    while place >= 0:
        found.append(place)
        place = came_from[place]
    return found


def left_out(batches: Batches, places: Numbers) -> list[Rejected]:
    return [
        Rejected(
            int(batches.position[place]),
            int(batches.size_bytes[place]),
            RejectReason.BAD_OFFSET,
            "base_offset",
            f"offsets {batches.base_offset[place]} to {batches.last_offset[place]} between others that rise",
        )
        for place in places.tolist()
    ]
