"""Arguments for the loop that puts lines together."""

from typing import Any

import numpy as np

from udfs.lines.kernels import AT_ONCE, NO_BOUNDS


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    bounds = np.concatenate([np.append(0, np.cumsum(rng.choice([0, 1, 8, 33, 70], 9))) for _ in range(2)])
    contents = rng.integers(0, 256, int(bounds.max()) + 5 + AT_ONCE, np.uint8)
    pieces = np.array([[0, 0, 0], [5, NO_BOUNDS, 3], [2, 10, 0]])
    part = rng.integers(0, 2, 18).astype(np.int32)
    row = rng.integers(0, 9, 18).astype(np.int32)
    drawn = (contents, bounds.astype(np.int32), pieces, np.array([0, 2, 3]))
    return {
        "write_lines": [(*drawn, part[:size], row[:size], np.zeros(18 * 80 + AT_ONCE, np.uint8)) for size in (18, 1, 0)]
    }
