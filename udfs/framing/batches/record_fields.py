"""Reads the records inside batches of magic 2: length, attributes, time, offset, key, value, headers.

Nearly all records are plain: numbers of one or two bytes, no headers. They are read from their first eight bytes. The
others are read again in full, still many at a time.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions, Views
from udfs.framing.batches.chains import lengths_of_elements, prefix_table, walk
from udfs.framing.batches.varints import LONGEST_INT32, LONGEST_INT64, read_signed

# A record of seven bytes has no key, value or headers.
SMALLEST_RECORD = 7

# In the first bytes of a record: both bits are set if its length takes three bytes or more.
LONG_LENGTH = 0x8080
# In the bytes after the length of a record (attributes, time, offset, …): set if time or offset is negative or takes
# more than one byte.
NOT_PLAIN = 0x818100

# Each header costs memory while it is read. The coordinator writes none.
MOST_HEADERS = 1 << 16
# Limit for the headers in memory at once: hostile records may contain nothing else.
HEADERS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class RecordFields:
    """One row per record."""

    size: NDArray[np.int32]
    timestamp_delta: Positions
    offset_delta: Positions
    key_start: Positions
    key_length: Positions
    value_start: Positions
    value_length: Positions

    def put_into(self, other: "RecordFields", rows: Positions) -> None:
        for name, column in vars(self).items():
            getattr(other, name)[rows] = column


def joined_fields(pieces: list[RecordFields]) -> RecordFields:
    if len(pieces) == 1:
        return pieces[0]
    return RecordFields(*(np.concatenate(columns) for columns in zip(*(vars(p).values() for p in pieces), strict=True)))


# Fields, and for which rows they are valid. Other rows are meaningless.
FieldsAndGood: TypeAlias = tuple[RecordFields, NDArray[np.bool_]]


def read_plain(views: Views, start: Positions, word: Positions, end: Positions) -> FieldsAndGood:
    """Reads the fields of records that begin at `start` with the eight bytes `word` (little-endian) and claim to end at
    `end`."""
    lengths = prefix_table(-1).length
    has_two = word >> 7 & 1
    body = word >> (has_two << 3) + 8
    key_prefix = body >> 24 & 0xFFFF
    key_length = lengths.take(key_prefix, mode="clip")
    # The position after one byte each of length, attributes, time, offset and key length.
    key_start = start + has_two
    key_start += key_prefix >> 7 & 1
    key_start += 5
    # A length of more than two bytes gives a position far after the end, so the record is not good.
    value_at = np.maximum(key_length, 0)
    value_at += key_start
    np.minimum(value_at, end, out=value_at)
    value_prefix = views.of("<u2")[value_at].astype(np.int64)
    value_length = lengths.take(value_prefix, mode="clip")
    value_start = value_at
    value_start += value_prefix >> 7 & 1
    value_start += 1
    headers_at = np.maximum(value_length, 0)
    headers_at += value_start
    headers_at -= end
    is_good = headers_at == -1
    is_good &= (word & LONG_LENGTH) != LONG_LENGTH
    is_good &= (body & NOT_PLAIN) == 0
    is_good &= views.data[end - 1] == 0
    size = (end - start).astype(np.int32)
    fields = RecordFields(size, body >> 9 & 0x3F, body >> 17 & 0x3F, key_start, key_length, value_start, value_length)
    return fields, is_good


def read_in_full(views: Views, start: Positions, end: Positions) -> FieldsAndGood:
    cursor = RecordCursor(views, start, end)
    cursor.number(LONGEST_INT32)  # the length: known from `end`
    cursor.move(1)  # attributes: unused
    timestamp_delta = cursor.number(LONGEST_INT64)
    offset_delta = cursor.number(LONGEST_INT32)
    key_start, key_length = cursor.slice()
    value_start, value_length = cursor.slice()
    num_headers = cursor.number(LONGEST_INT32)
    cursor.headers(num_headers)
    size = (end - start).astype(np.int32)
    fields = RecordFields(size, timestamp_delta, offset_delta, key_start, key_length, value_start, value_length)
    return fields, cursor.is_good & (cursor.position == end)


class RecordCursor:
    """Reading positions in a set of records. A position never passes the end of its record; a read that would do so
    marks the record as bad."""

    def __init__(self, views: Views, start: Positions, end: Positions) -> None:
        self.views = views
        self.position = start
        self.end = end
        self.is_good = np.ones(len(start), bool)

    def move(self, distance: Positions | int) -> None:
        position = self.position + distance
        self.is_good &= position <= self.end
        self.position = np.minimum(position, self.end)

    def number(self, longest: int) -> Positions:
        value, size = read_signed(self.views.data, self.position, longest)
        self.is_good &= size > 0
        self.move(size)
        return value

    def slice(self) -> tuple[Positions, Positions]:
        length = self.number(LONGEST_INT32)
        self.is_good &= length >= -1
        start = self.position
        self.move(np.maximum(length, 0))
        return start, length

    def headers(self, count: Positions) -> None:
        """Skips headers without keeping them: the coordinator writes none."""
        self.is_good &= (count >= 0) & (count <= np.minimum((self.end - self.position) // 2, MOST_HEADERS))
        rows = np.flatnonzero(self.is_good & (count > 0))
        piece = np.cumsum(count[rows]) // HEADERS_AT_ONCE
        for number in np.unique(piece):
            self.some_headers(rows[piece == number], count)

    def some_headers(self, rows: Positions, count: Positions) -> None:
        """Each header has a key, which is never null, and a value, which may be null: two elements of a chain."""
        elements = 2 * count[rows]
        walked = walk(self.views, self.position[rows], elements, self.end[rows], lowest=-1)
        length = lengths_of_elements(self.views, walked, lowest=-1)
        null_keys = np.add.reduceat(length[::2] < 0, np.cumsum(count[rows]) - count[rows])
        self.is_good[rows] &= ~walked.is_bad & (null_keys == 0)
        self.position[rows] = walked.after


def read_records(views: Views, start: Positions, word: Positions, end: Positions) -> FieldsAndGood:
    fields, is_good = read_plain(views, start, word, end)
    rows = np.flatnonzero(~is_good)
    if len(rows):
        full, is_good[rows] = read_in_full(views, start[rows], end[rows])
        full.put_into(fields, rows)
    return fields, is_good
