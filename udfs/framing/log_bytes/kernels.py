"""Loops over the bytes of a log."""

import numpy as np

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.framing.log_bytes.checksums import (
    CRC32_POLYNOMIAL,
    Bytes,
    call_crc32c_from_loops,
    crc32c,
    remainders_of_bytes,
)
from udfs.framing.log_bytes.resync import CHECKED_FROM, CHECKSUM_AT, LARGEST_ENTRY, PREFIX_SIZE, SMALLEST_ENTRY

MAGIC_AT = 16
CRC32_OF_BYTE = remainders_of_bytes(CRC32_POLYNOMIAL).astype(np.int64)


@compiled()
def uint32_at(data: Bytes, at: int) -> int:
    """Big-endian, as all numbers of fixed size in Kafka's formats."""
    number = int(data[at]) << 24 | int(data[at + 1]) << 16 | int(data[at + 2]) << 8 | int(data[at + 3])
    # For numba the bytes have no sign, and neither has the number; with others it would make fractions.
    return int(np.int64(number))


@compiled()
def crc32_of(data: Bytes, start: int, end: int) -> int:
    """Of messages before magic 2."""
    remainder = 0xFFFFFFFF
    for at in range(start, end):
        remainder = CRC32_OF_BYTE[(remainder ^ int(data[at])) & 0xFF] ^ remainder >> 8
    return remainder ^ 0xFFFFFFFF


@compiled(
    "UniTuple(i8, 2)(Array(u1, 1, 'C', True), i8, i8, i8[::1])",
    before=call_crc32c_from_loops,
)
def good_entries(data: Bytes, position: int, size: int, starts: Positions) -> tuple[int, int]:
    """Writes where entries begin, from a position on as long as they are of a known magic, complete, and have the
    checksum that is in their header. Returns their number, and where the last one ends.

    This is what DefaultRecordBatch.ensureValid checks, and LegacyRecord.ensureValid.
    """
    count = 0
    while size - position > MAGIC_AT and data[position + MAGIC_AT] <= 2:
        magic, entry_size = int(data[position + MAGIC_AT]), PREFIX_SIZE + uint32_at(data, position + 8)
        if not SMALLEST_ENTRY[magic] <= entry_size <= LARGEST_ENTRY or entry_size > size - position:
            break
        end = position + entry_size
        if magic == 2:
            checksum = int(crc32c(data[position + CHECKED_FROM[2] : end]))
        else:
            checksum = crc32_of(data, position + CHECKED_FROM[magic], end)
        if checksum != uint32_at(data, position + CHECKSUM_AT[magic]):
            break
        starts[count] = position
        count += 1
        position = end
    return count, position
