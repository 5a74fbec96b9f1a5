"""Many ranges of numbers, one after the other."""

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


def ranges(starts: Positions, counts: Positions) -> Positions:
    """The numbers starts[0] … starts[0]+counts[0]-1, then those of the next row, and so on."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts)  # type: ignore[no-any-return]
