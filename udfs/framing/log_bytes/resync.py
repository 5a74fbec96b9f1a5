"""Finds the next good entry in damaged bytes.

Every position is tried, window by window, each window once. So the time is proportional to the size of the buffer, even
if many of its bytes are made to look like entries.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions, Views
from udfs.framing.log_bytes.checksums import CRC32, CRC32C, Bytes, RangeChecksums

WINDOW = 1 << 16

# Offset and size come before the bytes that the size counts. Byte 16, the magic, says how to read the rest.
PREFIX_SIZE = 12
SHORTEST_LOOK = 17

# Smallest sizes by magic, prefix included: a message with two lengths, one that also has a timestamp, the header of a
# batch.
SMALLEST_ENTRY = (26, 34, 61)
# An entry that claims more is damage. Kafka's own limit is the segment, 100 MiB for this topic; brokers refuse batches
# above message.max.bytes, 1 MiB by default.
LARGEST_ENTRY = 64 << 20

# Positions of the checksum of magic 0, 1 and 2, and of the first byte that it covers.
CHECKSUM_AT = (12, 12, 17)
CHECKED_FROM = (16, 16, 21)


@dataclass(frozen=True)
class Window:
    good: list[int]
    incomplete: list[int]  # might be good, but ends after the bytes in the buffer


@dataclass(frozen=True)
class Hit:
    position: int
    is_complete: bool


class Resync:
    def __init__(self, data: Bytes, size: int) -> None:
        self.views = Views(data)
        self.size = size
        self.windows: dict[int, Window] = {}
        self.checksums = {magic: RangeChecksums(CRC32C if magic == 2 else CRC32, data) for magic in (0, 2)}

    def next_entry(self, position: int, with_incomplete: bool) -> Hit | None:
        """The first entry at or after a position."""
        for number in range(position // WINDOW, max(self.size - SHORTEST_LOOK, 0) // WINDOW + 1):
            window = self.window(number)
            good = first_from(window.good, position)
            incomplete = first_from(window.incomplete, position) if with_incomplete else None
            if good is not None and (incomplete is None or good < incomplete):
                return Hit(good, True)
            if incomplete is not None:
                return Hit(incomplete, False)
        return None

    def is_good(self, position: int) -> bool:
        return first_from(self.window(position // WINDOW).good, position) == position

    def window(self, number: int) -> Window:
        if number not in self.windows:
            first = number * WINDOW
            self.windows[number] = self.checked_window(first, min(first + WINDOW, self.size - SHORTEST_LOOK + 1))
        return self.windows[number]

    def checked_window(self, first: int, end: int) -> Window:
        magic = self.views.data[first + 16 : max(end, first) + 16]
        positions = np.flatnonzero(magic <= 2)
        magic = magic[positions]
        positions += first
        sizes = self.views.i4[positions + 8].astype(np.int64) + PREFIX_SIZE
        is_plausible = (sizes >= np.array(SMALLEST_ENTRY)[magic]) & (sizes <= LARGEST_ENTRY)
        is_complete = positions + sizes <= self.size
        candidates = np.flatnonzero(is_plausible & is_complete)
        good = candidates[self.has_right_checksum(positions[candidates], sizes[candidates], magic[candidates])]
        return Window(positions[good].tolist(), positions[is_plausible & ~is_complete].tolist())

    def has_right_checksum(self, positions: Positions, sizes: Positions, magic: Bytes) -> NDArray[np.bool_]:
        is_right = np.zeros(len(positions), bool)
        for kind, checksums in self.checksums.items():
            rows = np.flatnonzero((magic == 2) == (kind == 2))
            start = positions[rows]
            stored = self.views.i4[start + CHECKSUM_AT[kind]].astype(np.uint32)
            is_right[rows] = checksums.of(start + CHECKED_FROM[kind], start + sizes[rows]) == stored
        return is_right


def first_from(positions: list[int], position: int) -> int | None:
    at = bisect_left(positions, position)
    return positions[at] if at < len(positions) else None
