"""Finds equal keys, so that each is decoded once: groups commit with the same few keys again and again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import Slices
from udfs.decoding.kernels import number_slices

# With fewer rows, or more keys, it costs more than it saves.
FEWEST_ROWS = 1024
ROWS_PER_KEY = 8


@dataclass(frozen=True)
class EqualKeys:
    """`rows`: the first row of each distinct key. `key_of_row`: which of these keys each row has."""

    rows: Positions
    key_of_row: NDArray[np.int32]


def equal_keys(slices: Slices, rows: Positions) -> EqualKeys | None:
    """None if most keys differ."""
    if len(rows) < FEWEST_ROWS:
        return None
    most = len(rows) // ROWS_PER_KEY
    slots = np.full(1 << (2 * most).bit_length(), -1)
    firsts, key_of_row = np.empty(most, np.int64), np.empty(len(rows), np.int32)
    count = number_slices(slices.data, slices.start, slices.length, rows, most, slots, firsts, key_of_row)
    return None if count < 0 else EqualKeys(firsts[:count], key_of_row)
