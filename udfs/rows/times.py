"""Millisecond times as timestamp columns. Times that no timestamp can hold are listed separately."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.rows.typed_arrays import Valid, number_column, without

# The first and the last millisecond of the years 0001 to 9999.
LOWEST_MS, HIGHEST_MS = -62_135_596_800_000, 253_402_300_799_999
MICROSECONDS = 1000

TIMESTAMP = pa.timestamp("us", "UTC")


class OutOfRange:
    """The times of one table that no timestamp can hold: which column, which rows, what was written."""

    def __init__(self) -> None:
        self.times: list[tuple[str, Positions, NDArray[np.int64]]] = []

    def timestamps(
        self, name: str, ms: NDArray[np.int64], is_valid: Valid = None, unknown: tuple[int, ...] = (-1,)
    ) -> pa.Array:
        """The column of that name. Its values may be anything where they are not valid."""
        if is_valid is None and ms.min() > max(unknown) and ms.max() <= HIGHEST_MS:
            return number_column(ms * MICROSECONDS, TIMESTAMP)
        is_known = without(ms, is_valid, unknown)
        is_inside = (ms >= LOWEST_MS) & (ms <= HIGHEST_MS)
        rows = np.flatnonzero(is_known & ~is_inside)
        if len(rows):
            self.times.append((name, rows, ms[rows]))
        is_shown = is_known & is_inside
        return number_column(np.where(is_shown, ms, 0) * MICROSECONDS, TIMESTAMP, is_shown)

    def column(self, size: int, kind: pa.ListType) -> pa.ListArray:
        """Column `out_of_range`: per row its times in the order of the columns, null where there are none."""
        rows = np.concatenate([rows for _, rows, _ in self.times])
        names = pa.array([name for name, _, _ in self.times], pa.string())
        which = np.repeat(np.arange(len(self.times)), [len(rows) for _, rows, _ in self.times])
        order = np.argsort(rows, kind="stable")
        fields = names.take(pa.array(which[order]))
        values = pa.array(np.concatenate([values for _, _, values in self.times])[order])
        items = pa.StructArray.from_arrays([fields, values], fields=list(kind.value_type))
        counts = np.bincount(rows, minlength=size)
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        nulls = pa.py_buffer(np.packbits(counts > 0, bitorder="little"))
        return pa.Array.from_buffers(kind, size, [nulls, pa.py_buffer(bounds)], children=[items])
