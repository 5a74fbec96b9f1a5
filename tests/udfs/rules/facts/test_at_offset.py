"""How far intervals of a key reach, against a look at one after the other."""

import numpy as np

from udfs.arrays.nullable import NONE
from udfs.lag.as_of import NOWHERE
from udfs.rules.facts.at_offset import latest_end

Rows = list[tuple[int, int, int]]
FAR = np.iinfo(np.int64).max


def columns(rows: Rows) -> list[np.ndarray]:
    return list(np.array(rows, np.int64).reshape(len(rows), 3).T)


def test_the_latest_end_is_of_any_interval_that_began(rng: np.random.Generator) -> None:
    """They may overlap: a long one that began early outlasts a short one that began late."""
    for _ in range(50):
        rows = [tuple(row) for row in rng.integers(0, 8, (int(rng.integers(0, 10)), 3)).tolist()]
        rows = [(key, begun, NONE if ended == 7 else ended) for key, begun, ended in rows]
        asked = [(key, offset) for key in (NOWHERE, *range(9)) for offset in range(9)]
        keys, offsets = np.array(asked, np.int64).T
        wanted = []
        for key, offset in asked:
            ends = [FAR if ended == NONE else ended for its, begun, ended in rows if its == key and begun <= offset]
            wanted.append(max(ends, default=NONE))
        assert latest_end(*columns(rows), keys, offsets).tolist() == wanted
