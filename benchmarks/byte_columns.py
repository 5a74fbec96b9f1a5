"""Columns of byte strings, put together column by column: how millions of records are written in seconds."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

# An array, or one value for every row.
Bytes = pa.BinaryArray | bytes


def packed(*fields: tuple[str, ArrayLike]) -> pa.BinaryArray:
    """Numbers one after the other, such as `packed((">i8", offset), (">i4", epoch))`."""
    columns = [np.asarray(values) for _, values in fields]
    size = max(column.size for column in columns)
    rows = np.empty(size, np.dtype([(f"f{place}", dtype) for place, (dtype, _) in enumerate(fields)]))
    for place, column in enumerate(columns):
        rows[f"f{place}"] = column
    return fixed_width(rows)


def fixed_width(rows: NDArray[np.void]) -> pa.BinaryArray:
    return pa.Array.from_buffers(pa.binary(rows.dtype.itemsize), len(rows), [None, pa.py_buffer(rows)]).cast(
        pa.binary()
    )


def joined(*columns: Bytes) -> pa.BinaryArray:
    """Row by row, the columns' bytes one after the other."""
    return pc.binary_join_element_wise(*[as_value(column) for column in columns], pa.scalar(b""))


def joined_groups(column: pa.BinaryArray, sizes: NDArray[np.int64]) -> pa.BinaryArray:
    """The bytes of the first sizes[0] rows, then of the next sizes[1] rows, and so on."""
    ends = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(ends, column), b"")


def chosen(condition: NDArray[np.bool_], column: Bytes, other: Bytes) -> pa.BinaryArray:
    return pc.if_else(pa.array(condition), as_value(column), as_value(other))


def interleaved(parts: Sequence[tuple[NDArray[np.int64], pa.BinaryArray]]) -> pa.BinaryArray:
    """One column of parts that each know the rows they belong to; every row has one part."""
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    return pa.concat_arrays([column for _, column in parts]).take(pa.array(order))


def as_value(column: Bytes) -> pa.BinaryArray | pa.BinaryScalar:
    return pa.scalar(column, pa.binary()) if isinstance(column, bytes) else column


def lengths(column: pa.BinaryArray) -> NDArray[np.int64]:
    return pc.binary_length(column).to_numpy().astype(np.int64)


def uvarint(number: int) -> bytes:
    more = bytearray()
    while number >= 0x80:
        more.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*more, number])


# Of the numbers 0 … 65,535: few records are longer.
UVARINTS = pa.array([uvarint(number) for number in range(1 << 16)], pa.binary())
ZIGZAG_OF_NULL = uvarint(1)


def zigzags(numbers: NDArray[np.int64]) -> pa.BinaryArray:
    if len(numbers) and 2 * int(numbers.max()) >= len(UVARINTS):
        return pa.array([uvarint(2 * number) for number in numbers.tolist()], pa.binary())
    return UVARINTS.take(pa.array(numbers * 2))


def text(string: str) -> bytes:
    """A classic string: int16 length, then UTF-8."""
    raw = string.encode()
    return len(raw).to_bytes(2, "big") + raw


def compact(raw: bytes) -> bytes:
    """A string or bytes of the flexible versions: length plus one as a varint."""
    return uvarint(len(raw) + 1) + raw
