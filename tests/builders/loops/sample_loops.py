"""Loops for tests of the machinery of loops."""

import numpy as np

from udfs.arrays.compiled import compiled

WEIGHT = 3
TABLE = np.arange(256) * 7


@compiled()
def weighted(byte: int) -> int:
    """The weight of one byte."""
    return int(TABLE[byte]) + WEIGHT * byte


@compiled("i8(Array(u1, 1, 'C', True))")
def weight(data: np.ndarray) -> int:
    """The weight of all bytes."""
    total = 0
    for at in range(len(data)):
        total += weighted(int(data[at]))
    return total


@compiled("void(i8[::1], i8)")
def write_at(data: np.ndarray, position: int) -> None:
    """Writes at any position, even beyond the array."""
    data[position] = 1


@compiled("UniTuple(i8[::1], 2)(i8)")
def parts(size: int) -> tuple[np.ndarray, np.ndarray]:
    """New arrays, of which one is a part of the other; a negative size is an error."""
    if size < 0:
        raise ValueError("a size was expected")
    whole = np.arange(size)
    return whole, whole[1:]
