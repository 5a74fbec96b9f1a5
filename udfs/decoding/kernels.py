"""Loops over keys and values before they are decoded."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.decoding.steps.kernels import PREFIX, WORD, Bytes, Table, word_at

# A record's kind: its type and the version of its value, or that it is a tombstone.
NO_KIND, FIRST_KIND = 0, 1
TOMBSTONE = 7
KINDS_OF_TYPE = 8


@compiled(
    "void(Array(u1, 1, 'C', True), i8[::1], i8[::1], Array(u1, 1, 'C', True), i8[::1], i8[::1], i8[::1], i8[:, ::1],"
    " i8[::1])",
    allocates=False,
)
def read_kinds(
    keys: Bytes,
    key_start: Positions,
    key_length: Positions,
    values: Bytes,
    value_start: Positions,
    value_length: Positions,
    rows: Positions,
    versions: Table,
    kinds: Positions,
) -> None:
    """The kind of each record in these rows, by the two bytes at the start of key and value. NO_KIND: they are missing,
    or not known. `versions`: the lowest and the highest of each record type."""
    for number in range(rows.size):
        row, kinds[number] = rows[number], NO_KIND
        if key_length[row] < PREFIX:
            continue
        record_type = int(keys[key_start[row]]) << 8 | int(keys[key_start[row] + 1])
        if record_type >= len(versions):
            continue
        version = TOMBSTONE
        if value_length[row] >= PREFIX:
            version = int(values[value_start[row]]) << 8 | int(values[value_start[row] + 1])
            if version < versions[record_type, 0] or version > versions[record_type, 1]:
                continue
        elif value_length[row] >= 0:
            continue
        kinds[number] = FIRST_KIND + record_type * KINDS_OF_TYPE + version


@compiled()
def hash_of(data: Bytes, start: int, length: int) -> np.uint64:
    """Of the bytes of a slice, its length included."""
    value = np.uint64(length)
    for at in range(start, start + length, WORD):
        others = np.uint64(8 * max(at + WORD - start - length, 0))
        value = (value ^ word_at(data, at) << others >> others) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(32)
    return value


@compiled()
def is_same(data: Bytes, one: int, other: int, length: int) -> bool:
    """If the bytes from two positions on are equal."""
    for at in range(0, length, WORD):
        difference = word_at(data, one + at) ^ word_at(data, other + at)
        if difference << np.uint64(8 * max(at + WORD - length, 0)) != np.uint64(0):
            return False
    return True


@compiled("i8(Array(u1, 1, 'C', True), i8[::1], i8[::1], i8[::1], i8, i8[::1], i8[::1], i4[::1])", allocates=False)
def number_slices(
    data: Bytes,
    start: Positions,
    length: Positions,
    rows: Positions,
    most: int,
    slots: Positions,
    first_rows: Positions,
    numbers: NDArray[np.int32],
) -> int:
    """Numbers the distinct slices in these rows, and returns how many there are; -1 if there are more than `most`.
    `first_rows`: the first row of each. `slots`: a hash table with linear probing; its size is a power of two, and -1
    is a free place."""
    count, mask = 0, slots.size - 1
    # Bytes can be made to collide. Then it stops.
    patience = 4 * rows.size
    for at in range(rows.size):
        row = rows[at]
        place = np.int64(hash_of(data, start[row], length[row]) & np.uint64(mask))
        while slots[place] >= 0:
            other = first_rows[slots[place]]
            if length[other] == length[row] and is_same(data, start[other], start[row], length[row]):
                break
            place = (place + 1) & mask
            patience -= 1
            if patience < 0:
                return -1
        if slots[place] < 0:
            if count == most:
                return -1
            slots[place] = count
            first_rows[count] = row
            count += 1
        numbers[at] = slots[place]
    return count
