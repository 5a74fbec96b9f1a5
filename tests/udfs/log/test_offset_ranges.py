"""Ranges of offsets, beside the sets of all their offsets."""

from itertools import pairwise

import numpy as np

from udfs.log.offset_ranges import join_ranges


def test_ranges_that_overlap_or_touch_are_one() -> None:
    assert join_ranges([(7, 9), (0, 2), (3, 4), (8, 12), (14, 14)]) == [(0, 4), (7, 12), (14, 14)]
    assert join_ranges([(0, 9), (2, 3)]) == [(0, 9)]
    assert join_ranges([]) == []


def test_joined_ranges_hold_the_same_offsets_and_none_touches_another(rng: np.random.Generator) -> None:
    for _ in range(200):
        firsts = rng.integers(0, 40, rng.integers(0, 12)).tolist()
        ranges = [(first, first + int(rng.integers(0, 6))) for first in firsts]
        joined = join_ranges(ranges)
        assert offsets_of(joined) == offsets_of(ranges)
        assert all(last + 1 < first for (_, last), (first, _) in pairwise(joined))


def offsets_of(ranges: list[tuple[int, int]]) -> set[int]:
    return {offset for first, last in ranges for offset in range(first, last + 1)}
