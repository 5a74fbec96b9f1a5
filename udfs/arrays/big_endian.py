"""Reads big-endian numbers at any byte positions of a buffer, many at a time."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.slices import PADDING

Positions = NDArray[np.int64]


class Views:
    """Overlapping views of one padded buffer: `views.i4[positions]` reads an int32 at each position."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.size = len(data) - PADDING

    def of(self, dtype: str) -> NDArray:  # type: ignore[type-arg]
        width = np.dtype(dtype).itemsize
        return np.ndarray((max(len(self.data) - width + 1, 0),), dtype, self.data, strides=(1,))

    @cached_property
    def i2(self) -> NDArray[np.int16]:
        return self.of(">i2")

    @cached_property
    def i4(self) -> NDArray[np.int32]:
        return self.of(">i4")

    def blocks(self, positions: Positions, width: int) -> NDArray[np.void]:
        """`width` bytes from each position. One gather costs the same for 2 bytes as for 48, so fields that stand
        at fixed distances are fetched together."""
        return self.of(f"V{width}")[positions]


def column(blocks: NDArray[np.void], skip: int, dtype: str) -> NDArray:  # type: ignore[type-arg]
    """The values that begin `skip` bytes into each gathered block."""
    if not len(blocks):
        return np.zeros(0, dtype)  # NumPy takes no strides over nothing
    return np.ndarray((len(blocks),), dtype, blocks, offset=skip, strides=(blocks.dtype.itemsize,))
