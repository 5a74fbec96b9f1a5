"""End offsets of the partitions that groups read, from snapshots up to a given time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.verdict_keys import Keys
from udfs.rules.verdicts.burrow_windows import SnapshotRows


@dataclass(frozen=True)
class Beyond:
    """The first snapshot whose end is beyond an offset, and about when the message at the offset was written: on a
    straight line from the snapshot before, which is not known when there is none."""

    is_there: Flags
    time: Numbers
    is_written_known: Flags
    written: Numbers


@dataclass(frozen=True)
class SnapshotEnds:
    """`rows`: of one log: those before it was cut or made anew say nothing of how it grew."""

    watermarks: Watermarks
    keys: Keys
    rows: SnapshotRows

    @classmethod
    def of(cls, watermarks: Watermarks, keys: Keys, rows: SnapshotRows) -> "SnapshotEnds":
        begins = np.append(watermarks.run_starts, 0)[rows.last]
        return cls(watermarks, keys, SnapshotRows(np.where(rows.are_known, begins, rows.first), rows.last))

    @property
    def are_known(self) -> Flags:
        return self.rows.are_known

    @cached_property
    def end_offsets(self) -> Numbers:
        return with_zero_row(self.watermarks.rows.column("log_end_offset"))

    @cached_property
    def times(self) -> Numbers:
        return with_zero_row(self.watermarks.rows.column("captured_time"))

    @cached_property
    def newest(self) -> Numbers:
        return self.end_offsets[self.rows.last]

    @cached_property
    def newest_time(self) -> Numbers:
        return self.times[self.rows.last]

    @cached_property
    def newest_start(self) -> Numbers:
        """0 where it was not captured."""
        return np.maximum(with_zero_row(self.watermarks.rows.column("log_start_offset"))[self.rows.last], 0)

    def first_beyond(self, offsets: Numbers) -> Beyond:
        """By binary search in all keys side by side: ends rise within one log."""
        low, high = self.rows.first.copy(), self.rows.last + 1
        high = np.maximum(low, high)
        while (is_open := low < high).any():
            middle = (low + high) // 2
            is_beyond = self.end_offsets[np.where(is_open, middle, 0)] > offsets
            high = np.where(is_open & is_beyond, middle, high)
            low = np.where(is_open & ~is_beyond, middle + 1, low)
        is_there = low <= self.rows.last
        has_before = is_there & (low > self.rows.first)
        place, before = np.where(is_there, low, 0), np.where(has_before, low - 1, 0)
        rise = np.where(has_before, self.end_offsets[place] - self.end_offsets[before], 1)
        span = self.times[place] - self.times[before]
        beyond = np.where(has_before, offsets - self.end_offsets[before], 0)
        written = self.times[before] + (beyond / rise * span).astype(np.int64)
        return Beyond(is_there, self.times[place], has_before, np.where(has_before, written, 0))

    def written_since(self, times: Numbers, is_wanted: Flags) -> Numbers:
        """Messages between the first snapshot from then on and the newest one: these were certainly written later.
        NONE: no snapshot from then on."""
        rows = self.watermarks.own_after(self.keys.places, times)
        is_known = is_wanted & (rows >= 0) & (rows <= self.rows.last)
        rows = np.maximum(rows, self.rows.first)
        written = np.maximum(self.newest - self.end_offsets[np.where(is_known, rows, 0)], 0)
        return np.where(is_known, written, NONE)

    def of_window(self, keys: Numbers, since: int) -> tuple[Numbers, Numbers]:
        """The rows of the snapshots of these keys from then on: the first of each, and how many there are. All keys
        have snapshots."""
        marks, first = self.watermarks, self.rows.first[keys]
        partition = marks.place[first] - marks.place[first] % max(len(marks.times), 1)
        first = np.maximum(first, np.searchsorted(marks.place, partition + np.searchsorted(marks.times, since)))
        return first, np.maximum(self.rows.last[keys] + 1 - first, 0)


def with_zero_row(column: pa.ChunkedArray) -> Numbers:
    """With one more row, so that a place may always be looked at."""
    return np.append(numbers(column), 0)
