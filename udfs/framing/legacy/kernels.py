"""Loops over messages of magic 0 and 1."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.kernels import MAGIC_AT, crc32_of, uint32_at
from udfs.framing.log_bytes.resync import CHECKED_FROM, CHECKSUM_AT, PREFIX_SIZE, SMALLEST_ENTRY

Table = NDArray[np.int64]

CODEC_BITS: Final = 0x07
NONE: Final = -1
ATTRIBUTES_AT: Final = 17
TIMESTAMP_AT: Final = 18
KEY_LENGTH_AT: Final = (18, 26)

# The columns of messages. A length of -1 is null.
OFFSET, TIMESTAMP, ATTRIBUTES, SIZE, KEY_START, KEY_LENGTH, VALUE_START, VALUE_LENGTH = range(8)
NUM_COLUMNS: Final = 8
# What is wrong with a message: its fault, and two numbers that the fault's text shows.
FAULT, NUMBER, OTHER_NUMBER = range(3)
NUM_OF_FAULT: Final = 3
GOOD, TOO_SMALL, BEYOND, OTHER_MAGIC, BAD_CHECKSUM, COMPRESSED_INSIDE, NO_KEY_LENGTH, BAD_KEY_LENGTH, KEY_BEYOND = (
    range(9)
)
NO_VALUE_LENGTH, BAD_VALUE_LENGTH, VALUE_BEYOND, BYTES_LEFT = range(9, 13)


@compiled()
def int32_at(data: Bytes, at: int) -> int:
    """With a sign."""
    number = uint32_at(data, at)
    return number - (number >> 31 << 32)


@compiled()
def int64_at(data: Bytes, at: int) -> int:
    """Of two halves: the first has the sign."""
    return (int32_at(data, at) << 32) + uint32_at(data, at + 4)


@compiled()
def put_fault(faults: Table, at: int, fault: int, number: int, other: int) -> bool:
    """Notes what is wrong: the message is not good."""
    faults[at, FAULT], faults[at, NUMBER], faults[at, OTHER_NUMBER] = fault, number, other
    return False


@compiled()
def read_slice(data: Bytes, position: int, end: int, first_fault: int, faults: Table, at: int) -> tuple[int, int]:
    """The length of a key or value and where it begins; or NONE, with one of the three faults from `first_fault` on."""
    if end - position < 4:
        put_fault(faults, at, first_fault, end - position, 0)
        return 0, NONE
    length, start = int32_at(data, position), position + 4
    if length < -1:
        put_fault(faults, at, first_fault + 1, length, 0)
        return 0, NONE
    if length > end - start:
        put_fault(faults, at, first_fault + 2, length, end - start)
        return 0, NONE
    return length, start


@compiled()
def read_message(
    data: Bytes, start: int, end: int, magic: int, messages: Table, row: int, faults: Table, at: int
) -> bool:
    """The fields of a message, which must end where its size says. False: it has a fault."""
    faults[at, FAULT] = GOOD
    messages[OFFSET, row], messages[SIZE, row] = int64_at(data, start), end - start
    messages[ATTRIBUTES, row] = int(data[start + ATTRIBUTES_AT])
    messages[TIMESTAMP, row] = int64_at(data, start + TIMESTAMP_AT) if magic == 1 else NONE
    key_length, key_start = read_slice(data, start + KEY_LENGTH_AT[magic], end, NO_KEY_LENGTH, faults, at)
    if key_start == NONE:
        return False
    value_length, value_start = read_slice(data, key_start + max(key_length, 0), end, NO_VALUE_LENGTH, faults, at)
    if value_start == NONE:
        return False
    messages[KEY_START, row], messages[KEY_LENGTH, row] = key_start, key_length
    messages[VALUE_START, row], messages[VALUE_LENGTH, row] = value_start, value_length
    left = end - value_start - max(value_length, 0)
    return left == 0 or put_fault(faults, at, BYTES_LEFT, left, 0)


@compiled("void(Array(u1, 1, 'C', True), i8[::1], i8[::1], i8[:, ::1], i8[:, ::1])")
def read_messages(data: Bytes, start: Positions, end: Positions, messages: Table, faults: Table) -> None:
    """Messages of the log itself. That their checksums are right was seen when they were found."""
    for row in range(start.size):
        read_message(data, start[row], end[row], int(data[start[row] + MAGIC_AT]), messages, row, faults, row)


@compiled("i8(Array(u1, 1, 'C', True), i8, i8, i8, i8[:, ::1], i8[:, ::1])")
def read_inner_messages(data: Bytes, position: int, end: int, magic: int, messages: Table, faults: Table) -> int:
    """The messages that were compressed into one of this magic, one after another, and their number. It ends at the
    first fault, and where `messages` has no room for more. What is checked is in
    AbstractLegacyRecordBatch.DeepRecordsIterator."""
    count = 0
    while position < end and count < messages.shape[1]:
        left, size = end - position, SMALLEST_ENTRY[magic]
        if left >= PREFIX_SIZE:
            size = PREFIX_SIZE + int32_at(data, position + 8)
        if size < SMALLEST_ENTRY[magic]:
            put_fault(faults, 0, TOO_SMALL, size, magic)
            break
        if size > left:
            put_fault(faults, 0, BEYOND, size, left)
            break
        inner_magic = int(data[position + MAGIC_AT])
        if inner_magic != magic:
            put_fault(faults, 0, OTHER_MAGIC, inner_magic - (inner_magic >> 7 << 8), magic)
            break
        checksum = crc32_of(data, position + CHECKED_FROM[magic], position + size)
        if checksum != uint32_at(data, position + CHECKSUM_AT[magic]):
            put_fault(faults, 0, BAD_CHECKSUM, size, 0)
            break
        if data[position + ATTRIBUTES_AT] & CODEC_BITS:
            put_fault(faults, 0, COMPRESSED_INSIDE, 0, 0)
            break
        if not read_message(data, position, position + size, magic, messages, count, faults, 0):
            break
        position += size
        count += 1
    return count
