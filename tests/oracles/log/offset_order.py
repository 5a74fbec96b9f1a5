"""Which batches of a log can be kept where offsets do not rise: every choice is looked at, sharing nothing with `udfs`.

A batch is its first and last offset. `best_score` is how many batches the best choice keeps, how often nothing is
missing between two of them, and how many offsets they hold.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

Offsets = tuple[int, int]
Score = tuple[int, int, int]


def best_score(log: Sequence[Offsets], before: int, highest: int | None) -> Score:
    rising = list(choices(log, before, highest))
    with_room = [kept for kept in rising if all(room >= needed for room, needed in gaps(log, kept, before, highest))]
    longest = max(map(len, rising))
    if max(map(len, with_room), default=-1) == longest:
        return max(score_with_room(log, kept, before, highest) for kept in with_room)
    return max(score_without_room(log, kept, before, highest) for kept in rising)


def choices(log: Sequence[Offsets], before: int, highest: int | None) -> Iterator[tuple[int, ...]]:
    for number in range(len(log) + 1):
        for kept in combinations(range(len(log)), number):
            ends = [before]
            for place in kept:
                first, last = log[place]
                if not ends[-1] < first <= last:
                    break
                ends.append(last)
            else:
                if highest is None or ends[-1] <= highest:
                    yield kept


def gaps(log: Sequence[Offsets], kept: Sequence[int], before: int, highest: int | None) -> Iterator[tuple[int, int]]:
    """Before each batch that is kept, and behind the last one: the offsets that are free, and those that what is left
    out there takes."""
    free_from, next_place = before + 1, 0
    for place in kept:
        yield log[place][0] - free_from, taken(log[next_place:place])
        free_from, next_place = log[place][1] + 1, place + 1
    if highest is not None:
        yield highest + 1 - free_from, taken(log[next_place:])


def taken(left_out: Sequence[Offsets]) -> int:
    return sum(max(last - first + 1, 0) for first, last in left_out)


def score_with_room(log: Sequence[Offsets], kept: Sequence[int], before: int, highest: int | None) -> Score:
    exact = sum(room == needed for room, needed in gaps(log, kept, before, highest))
    return len(kept), exact, taken([log[place] for place in kept])


def score_without_room(log: Sequence[Offsets], kept: Sequence[int], before: int, highest: int | None) -> Score:
    exact = sum(room == 0 for room, _ in gaps(log, kept, before, highest))
    return len(kept), exact, taken([log[place] for place in kept])


def score_of(log: Sequence[Offsets], kept: Sequence[int], before: int, highest: int | None) -> Score:
    """Of a choice that was made, by the rule that it falls under."""
    has_room = all(room >= needed for room, needed in gaps(log, kept, before, highest))
    return (score_with_room if has_room else score_without_room)(log, kept, before, highest)
