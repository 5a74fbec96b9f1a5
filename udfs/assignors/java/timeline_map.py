"""The order in which the coordinator iterates over its members: that of its own hash table (TimelineHashMap), which
grows and never shrinks. Members then go into a HashMap, where this order decides among members of one chain."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from udfs.assignors.java.iteration_order import Hashes, Positions, string_hashes

FIRST_CAPACITY: Final = 2
# 2^64 divided by the golden ratio.
FACTOR: Final = np.uint64(-7046029254386353131 % (1 << 64))


def walked(keys: Sequence[str], room: int) -> Positions:
    """Positions of keys that were put in this order. `room`: the largest capacity the map ever needed."""
    return walk(string_hashes(keys), capacity_of(room))


def walk(hashes: Hashes, capacity: int) -> Positions:
    """Of the keys in one slot, the last one put comes first."""
    bits = capacity.bit_length() - 1
    signed = hashes.astype(np.int32).astype(np.int64).astype(np.uint64)
    slots = signed * FACTOR >> np.uint64(64 - bits)
    return np.lexsort((-np.arange(len(hashes)), slots))


def room_of_put(size: int) -> int:
    """Before every put, even of a key that exists, the map makes room for one more."""
    return size + 1


def capacity_of(room: int) -> int:
    capacity = FIRST_CAPACITY
    while room * 0.75 > capacity:
        capacity *= 2
    return capacity
