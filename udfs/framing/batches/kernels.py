"""Loops over the records inside batches of magic 2."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.framing.log_bytes.checksums import Bytes

# Length in bytes of the longest encoding of an int32 and of an int64.
LONGEST_INT32 = 5
LONGEST_INT64 = 10

# A record of seven bytes has no key, value or headers.
SMALLEST_RECORD = 7
# The coordinator writes none. Each costs time.
MOST_HEADERS = 1 << 16

# Instead of a position: the bytes end too early, or say something impossible.
BAD = -1
# Instead of the index of a batch's first bad record.
NONE_BAD = -1
BROKEN_CHAIN = -2


@compiled()
def read_varint(data: Bytes, position: int, end: int, longest: int) -> tuple[int, int]:
    """A zig-zag varint and where it ends, or BAD."""
    # Nearly all have one byte or two.
    if end - position >= 2:
        first, second = int(data[position]), int(data[position + 1])
        if first < 0x80:
            return first >> 1 ^ -(first & 1), position + 1
        if second < 0x80:
            return (first & 0x7F | second << 7) >> 1 ^ -(first & 1), position + 2
    return read_any_varint(data, position, end, longest)


@compiled()
def read_any_varint(data: Bytes, position: int, end: int, longest: int) -> tuple[int, int]:
    """The same for any length. Bits beyond the width of the number are dropped, as by ByteUtils.readVarint and
    readVarlong."""
    raw = np.uint64(0)
    for place in range(longest):
        if position >= end:
            return 0, BAD
        byte = int(data[position])
        position += 1
        raw |= np.uint64(byte & 0x7F) << np.uint64(7 * place)
        if byte < 0x80:
            if longest == LONGEST_INT32:
                raw &= np.uint64(0xFFFFFFFF)
            return int(np.int64(raw >> np.uint64(1))) ^ -int(np.int64(raw & np.uint64(1))), position
    return 0, BAD


@compiled()
def read_slice(data: Bytes, position: int, end: int, shortest: int) -> tuple[int, int]:
    """The length of some bytes, -1 where they are null, and where they begin, or BAD."""
    length, start = read_varint(data, position, end, LONGEST_INT32)
    if start == BAD or length < shortest or length > end - start:
        return 0, BAD
    return length, start


@compiled()
def skip_headers(data: Bytes, position: int, end: int) -> int:
    """Where the headers of a record end, or BAD. Keys are never null, values may be."""
    count, position = read_varint(data, position, end, LONGEST_INT32)
    if position == BAD or count < 0 or count > min((end - position) // 2, MOST_HEADERS):
        return BAD
    for _ in range(count):
        for shortest in (0, -1):
            length, start = read_slice(data, position, end, shortest)
            if start == BAD:
                return BAD
            position = start + max(length, 0)
    return position


@compiled(
    "void(Array(u1, 1, 'C', True), i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], b1[::1],"
    " i8[::1], i8[::1], i4[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1])"
)
def read_records(
    data: Bytes,
    batch_start: Positions,
    batch_end: Positions,
    num_records: Positions,
    base_offset: Positions,
    base_time: Positions,
    has_own_times: NDArray[np.bool_],
    offset: Positions,
    timestamp: Positions,
    size: NDArray[np.int32],
    key_start: Positions,
    key_length: Positions,
    value_start: Positions,
    value_length: Positions,
    first_bad: Positions,
) -> None:
    """Reads the records of batches, which lie between `batch_start` and `batch_end`, as DefaultRecord.readFrom does.
    Length, attributes, time, offset, key, value, headers: a record ends exactly after them, a batch exactly after its
    records. The last eight arrays take what is found. A batch with a bad record has its index in `first_bad`; its
    records are meaningless.
    """
    row = 0
    for batch in range(len(num_records)):
        first_bad[batch] = NONE_BAD
        position, records_end = batch_start[batch], batch_end[batch]
        for index in range(num_records[batch]):
            length, body = read_varint(data, position, records_end, LONGEST_INT32)
            if body == BAD or length < SMALLEST_RECORD - 1 or length > records_end - body:
                position = BAD
                break
            at, end = row + index, body + length
            # One byte of attributes has no meaning.
            time_delta, after = read_varint(data, body + 1, end, LONGEST_INT64)
            if after != BAD:
                offset_delta, after = read_varint(data, after, end, LONGEST_INT32)
                offset[at] = base_offset[batch] + offset_delta
                timestamp[at] = base_time[batch] + time_delta if has_own_times[batch] else base_time[batch]
                size[at] = end - position
            if after != BAD:
                key_size, after = read_slice(data, after, end, -1)
                key_length[at], key_start[at] = key_size, after
            if after != BAD:
                value_size, after = read_slice(data, after + max(key_size, 0), end, -1)
                value_length[at], value_start[at] = value_size, after
            if after != BAD:
                after = skip_headers(data, after + max(value_size, 0), end)
            if after != end and first_bad[batch] == NONE_BAD:
                first_bad[batch] = index
            position = end
        if position != records_end:
            first_bad[batch] = BROKEN_CHAIN
        row += num_records[batch]


@compiled(
    "void(i8[::1], i8[::1], i8[::1])",
    "void(i4[::1], i8[::1], i4[::1])",
    "void(i2[::1], i8[::1], i2[::1])",
    "void(b1[::1], i8[::1], b1[::1])",
)
def repeat(values: NDArray[np.generic], count: Positions, out: NDArray[np.generic]) -> None:
    """Each value as often as its count says: what all records of a batch share."""
    row = 0
    for at in range(len(values)):
        for _ in range(count[at]):
            out[row] = values[at]
            row += 1
