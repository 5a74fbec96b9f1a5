"""Arguments for the loops of codes."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    columns = rng.integers(-(2**63), 2**63 - 1, (5, 200), endpoint=True)
    places = rng.integers(0, 5, 20)
    return {
        "add_codes": list(triples(rng)),
        "counting_order": [(rng.integers(0, 9, size), 9) for size in (0, 1, 300)],
        "as_columns": [(columns, places), (columns, places[:0])],
        "columns_at": [(columns, rng.integers(0, 200, size)) for size in (0, 3, 500)],
    }


def triples(rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """With none known, and with some; the table of places is as small as it may be, so that many meet."""
    for size in (0, 1, 30):
        result = rng.choice([-(2**31), -1, 0, 1, 2, 2**31 - 1], (3, size))
        slots = np.full(64, -1)
        slots[:2] = 0, 1
        known = np.zeros((3, 32), np.int64)
        known[:, 1] = 7
        yield result, np.empty(size, np.int64), known, 2, slots
