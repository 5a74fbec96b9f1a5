"""Converts Arrow columns of numbers and times to NumPy arrays and back. NONE stands for NULL."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]
Positions = NDArray[np.intp]

# Below every real time and offset, so that it never wins a maximum.
NONE = -(2**63)
NO_NUMBER = pa.scalar(NONE)
TIME = pa.timestamp("us", "UTC")


def filled(column: pa.Array, value: Any) -> pa.Array:
    """A column, or a chunked one, with this value for NULL. Mostly none is NULL, and the call would only cost time."""
    return column.fill_null(value) if column.null_count else column


def numbers(column: pa.ChunkedArray) -> Numbers:
    """Whole numbers; times in microseconds. Most columns are so short that a cast would take longer than all else."""
    values = one_array(column)
    values = values.view(pa.int64()) if values.type.bit_width == 64 else values
    if values.null_count:
        values = values.cast(pa.int64()).fill_null(NO_NUMBER)
    return np.asarray(values.to_numpy(), np.int64)


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Without a copy if there is one chunk."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def flags(column: pa.ChunkedArray) -> Flags:
    """False for NULL."""
    return np.asarray(filled(column, False).to_numpy(), np.bool_)


def integers(values: NDArray[Any], kind: pa.DataType | None = None) -> pa.Array:
    is_null = values == NONE
    if is_null.all():
        return pa.nulls(len(values), kind or pa.int64())
    array = pa.array(np.where(is_null, 0, values), mask=is_null) if is_null.any() else pa.array(values)
    return array if kind is None else array.cast(kind)


def known_integers(values: Numbers | Codes, is_known: Flags) -> pa.Array:
    """NULL where it is not known, at any value. The values are not read."""
    if is_known.all():
        return pa.array(values)
    bits = pa.py_buffer(np.packbits(is_known, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values))])


def known_only(values: Numbers, is_known: Flags) -> list[int | None]:
    """None where it is not known, or NONE."""
    numbers_or_none = values.astype(object)
    numbers_or_none[~is_known | (values == NONE)] = None
    known: list[int | None] = numbers_or_none.tolist()
    return known


def times(values: Numbers) -> pa.Array:
    return integers(values, TIME)


def every(value: Any, kind: pa.DataType, size: int) -> pa.Array:
    """The same value in all rows."""
    return pa.repeat(pa.scalar(value, kind), size)


def first_of(names: Numbers | Codes) -> Flags:
    """Whether each value differs from the one before it."""
    is_first = np.ones(len(names), np.bool_)
    np.not_equal(names[1:], names[:-1], out=is_first[1:])
    return is_first
