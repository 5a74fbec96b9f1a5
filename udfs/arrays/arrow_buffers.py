"""Arrow arrays made of buffers."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.fields import INT32_MAX
from udfs.arrays.big_endian import Positions


def validity(is_valid: NDArray[np.bool_]) -> pa.Buffer | None:
    return None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))


def binaries(data: NDArray[np.uint8], start: Positions, length: Positions) -> pa.BinaryArray:
    """The slices as a column. The bounds of all slices, one after another, are those of a column over the whole buffer
    in which every second value is a slice. Taking these makes Arrow copy the bytes."""
    size = len(start)
    if not size:
        return pa.array([], pa.binary())
    nulls = validity(length >= 0) if length.min() < 0 else None
    is_wide = len(data) > INT32_MAX
    # With the bounds of the buffer at both ends: slices of decompressed batches are not in ascending order.
    bounds = np.empty(2 * size + 2, np.int64 if is_wide else np.int32)
    bounds[0], bounds[-1] = 0, len(data)
    bounds[1:-1:2] = start
    np.add(start, length if nulls is None else np.maximum(length, 0), out=bounds[2:-1:2], casting="same_kind")
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    whole = pa.Array.from_buffers(pa.large_binary() if is_wide else pa.binary(), 2 * size + 1, buffers, null_count=0)
    odd = pa.Array.from_buffers(pa.int64(), size, [None, pa.py_buffer(np.arange(1, 2 * size, 2))], null_count=0)
    taken = whole.take(odd)
    if is_wide:
        taken = taken.cast(pa.binary())
    return taken if nulls is None else pa.Array.from_buffers(pa.binary(), size, [nulls, *taken.buffers()[1:]])


def list_array(count: Positions, items: pa.Array) -> pa.ListArray:
    sizes = np.maximum(count, 0)
    ends = np.zeros(len(count) + 1, np.int32)
    np.cumsum(sizes, out=ends[1:])
    nulls = validity(count >= 0) if len(count) else None
    kind = pa.list_(items.type)
    return pa.Array.from_buffers(kind, len(count), [nulls, pa.py_buffer(ends)], children=[items])
