"""Sums and differences at the ends of 64 bits, against Python's numbers, which have no end."""

import numpy as np

from udfs.arrays.capped import LARGEST, capped, capped_differences, capped_integers, capped_sums

EDGES = [0, 1, 2, 5, 1 << 53, (1 << 62) - 1, 1 << 62, LARGEST - 1, LARGEST]
SIGNED = [*EDGES, *(-each for each in EDGES), -LARGEST - 1]


def test_differences_stop_at_either_end() -> None:
    one, other = (each.reshape(-1) for each in np.meshgrid(np.array(SIGNED), np.array(SIGNED)))
    for result, left, right in zip(capped_differences(one, other).tolist(), one.tolist(), other.tolist(), strict=True):
        exact = left - right
        assert result == (exact if -LARGEST - 1 <= exact <= LARGEST else LARGEST if exact > 0 else -LARGEST)


def test_sums_stop_at_the_largest_number(rng: np.random.Generator) -> None:
    for _ in range(300):
        sizes = rng.integers(1, 6, rng.integers(1, 5))
        # Some of few messages alone, which nothing can make too large.
        values = rng.choice(EDGES[: rng.choice([4, len(EDGES)])], sizes.sum())
        starts = np.cumsum(sizes) - sizes
        expected = [capped(sum(part)) for part in (each.tolist() for each in np.split(values, starts[1:]))]
        assert capped_sums(values, starts).tolist() == expected


def test_a_number_with_a_point_becomes_the_largest_whole_one_at_most() -> None:
    values = np.array([0.0, 1.5, 2.0**62, 2.0**63, 1e30, np.inf])
    assert capped_integers(values).tolist() == [0, 1, 1 << 62, LARGEST, LARGEST, LARGEST]
