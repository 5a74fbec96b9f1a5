"""Arguments for the loops of topics."""

from typing import Any

import numpy as np

from udfs.arrays.nullable import NONE


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    result = []
    for size in (0, 1, 100):
        codes, times = rng.integers(0, 4, size), rng.choice([NONE, -5, 0, 3, 2**62], size)
        of_codes = np.full((3, 4), NONE)
        of_codes[0] = 0
        result.append((codes, times, rng.random(size) < 0.5, NONE, of_codes))
    return {"note_times": result}
