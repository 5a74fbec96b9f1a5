"""Reads zig-zag varints, the numbers in magic 2 records, at many positions at once."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions

# Length in bytes of the longest encoding of an int32 and of an int64.
LONGEST_INT32 = 5
LONGEST_INT64 = 10


def read_unsigned(data: NDArray[np.uint8], position: Positions, longest: int) -> tuple[Positions, Positions]:
    """Values and sizes in bytes; size 0 if the number takes more than `longest` bytes.

    Bits beyond the width of the number are dropped, as in Kafka's reader.
    """
    last = len(data) - 1
    byte = data[np.minimum(position, last)].astype(np.int64)
    value = byte & 0x7F
    size = np.ones(len(position), np.int64)
    live = np.flatnonzero(byte >= 0x80)
    for place in range(1, longest):
        if not len(live):
            break
        byte = data[np.minimum(position[live] + place, last)].astype(np.int64)
        value[live] |= (byte & 0x7F) << 7 * place
        size[live] += 1
        live = live[byte >= 0x80]
    size[live] = 0
    if longest == LONGEST_INT32:
        value &= 0xFFFFFFFF
    return value, size


def read_signed(data: NDArray[np.uint8], position: Positions, longest: int) -> tuple[Positions, Positions]:
    value, size = read_unsigned(data, position, longest)
    sign = -(value & 1)
    half = value.view(np.uint64) >> np.uint64(1)
    return half.view(np.int64) ^ sign, size


def read_one_unsigned(data: memoryview, position: int, longest: int) -> tuple[int, int]:
    """The same for one number, in plain Python."""
    value = 0
    for place in range(min(longest, len(data) - position)):
        byte = data[position + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (0xFFFFFFFF if longest == LONGEST_INT32 else 0xFFFFFFFFFFFFFFFF), place + 1
    return value, 0
