"""Rows that held at a time, against a look at one row after the other."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from udfs.lag.as_of import NOWHERE, holding_at, newest_at

Rows = list[tuple[int, int, int]]


def slow_newest(rows: Rows, key: int, time: int) -> int:
    found = NOWHERE
    for place, (its_key, begun, _) in enumerate(rows):
        if its_key == key and begun <= time and (found == NOWHERE or begun >= rows[found][1]):
            found = place
    return found


def slow_holding(rows: Rows, key: int, time: int) -> int:
    found = [place for place, (its_key, begun, ended) in enumerate(rows) if its_key == key and begun <= time < ended]
    return found[-1] if found else NOWHERE


def columns(rows: Sequence[Sequence[int]]) -> list[np.ndarray]:
    return list(np.array(rows, np.int64).reshape(len(rows), 3).T)


def test_the_newest_row_not_after_a_time(rng: np.random.Generator) -> None:
    """Times are so few that many are equal."""
    for _ in range(50):
        rows = [tuple(row) for row in rng.integers(0, 6, (int(rng.integers(0, 12)), 3)).tolist()]
        keys, times, _ = columns(rows)
        wanted = rng.integers(0, 8, (20, 2))
        found = newest_at(keys, times, wanted[:, 0], wanted[:, 1])
        assert found.tolist() == [slow_newest(rows, *each) for each in wanted.tolist()]


def test_an_interval_holds_from_its_begin_up_to_its_end(rng: np.random.Generator) -> None:
    for _ in range(50):
        rows: Rows = []
        for key in range(3):
            bounds = np.unique(rng.integers(0, 12, int(rng.integers(0, 8)))).tolist()
            # Some end where the next begins, others before.
            rows += [(key, begun, ended - int(rng.integers(0, 2)))
                     for begun, ended in pairwise(bounds)]  # fmt: skip
        rows = [row for row in rows if row[1] < row[2]]
        keys, begun, ended = columns(rows)
        wanted = [(key, time) for key in range(4) for time in range(13)]
        asked = np.array(wanted, np.int64)
        found = holding_at(keys, begun, ended, asked[:, 0], asked[:, 1])
        assert found.tolist() == [slow_holding(rows, *each) for each in wanted]
