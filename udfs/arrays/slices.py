"""A column of byte slices over one padded buffer: the form of keys and values before they are decoded."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Block gathers read up to this far beyond a slice's start, so every buffer ends with as many zero bytes.
PADDING = 64


@dataclass(frozen=True)
class Slices:
    """`length` is -1 where the slice is null."""

    data: NDArray[np.uint8]
    start: NDArray[np.int64]
    length: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: NDArray[np.int64]) -> "Slices":
        return Slices(self.data, self.start[rows], self.length[rows])

    def bytes_at(self, row: int) -> bytes | None:
        start, length = int(self.start[row]), int(self.length[row])
        return None if length < 0 else self.data[start : start + length].tobytes()


def padded(raw: bytes | memoryview | pa.Buffer) -> NDArray[np.uint8]:
    """A copy of the bytes followed by the padding that block gathers need."""
    source = np.frombuffer(raw, np.uint8)
    data = np.zeros(len(source) + PADDING, np.uint8)
    data[: len(source)] = source
    return data


def slices_of(column: pa.Array) -> Slices:
    """The slices of an Arrow binary column (copied once, for the padding)."""
    column = column.cast(pa.large_binary())
    bounds = np.frombuffer(column.buffers()[1], np.int64, len(column) + 1, column.offset * 8)
    start, length = bounds[:-1] - bounds[0], np.diff(bounds)
    if column.null_count:
        length = np.where(column.is_valid().to_numpy(zero_copy_only=False), length, -1)
    values = column.buffers()[2]
    raw = values.slice(int(bounds[0]), int(bounds[-1] - bounds[0])) if values is not None else b""
    return Slices(padded(raw), start, length)
