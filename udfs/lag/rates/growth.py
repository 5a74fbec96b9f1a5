"""How much topics grew in each bucket, and the lag at its begin, at snapshots in it, and at its end: from the snapshots
around each of these times, on a straight line between two of them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import newest_at
from udfs.lag.confidence import are_possible
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.keys import RateKeys
from udfs.lag.watermarks import LOOKBACK, NOWHERE, Watermarks

# How many times of a bucket are looked at, its begin and its end among them; fewer if it has fewer snapshots.
MOST_LOOKS = 24
# Lags that are made side by side.
MOST_AT_ONCE = 1 << 18


@dataclass
class Growth:
    """Of each cell, over those partitions of its subject that the group had committed for by the end of its time:
    whether there are any, whether any of these commits is only possible, their first and last record, by how many
    messages they grew, and their lag at each of the times (NaN: not known)."""

    times: Numbers
    has_any: Flags
    is_possible: Flags
    first: Numbers
    last: Numbers
    grown: np.ndarray
    lags: np.ndarray

    @classmethod
    def nothing(cls, times: Numbers) -> "Growth":
        size = len(times)
        return cls(
            times,
            has_any=np.zeros(size, np.bool_),
            is_possible=np.zeros(size, np.bool_),
            first=np.full(size, np.iinfo(np.int64).max),
            last=np.full(size, NONE),
            grown=np.zeros(size),
            lags=np.where(times == NONE, np.nan, 0.0),
        )

    def messages(self) -> np.ndarray:
        return np.where(self.has_any, self.grown, np.nan)

    def add(self, history: PartitionHistory, keys: RateKeys, bounds: tuple[Numbers, Numbers]) -> None:
        """Adds the keys of a range one after the other, as if all were added at once. `bounds`: of the keys of each
        cell."""
        first, end = bounds
        begun, ended = self.times[:, 0], self.times[:, -1]
        row, key = np.repeat(np.arange(len(first)), end - first), ranges(first, end - first)
        offsets = history.table("offset_history")
        from_times = numbers(offsets.column("from_time"))
        # What is committed at the very end is of the next bucket.
        held = newest_at(keys.of_rows, from_times, key, ended[row] - 1)
        is_there = (held >= 0) & ended_after(offsets, held, ended[row] - 1)
        row, key, held = row[is_there], key[is_there], held[is_there]
        places = history.watermarks.first_places(history.offset_keys.take(pa.array(keys.row)))[key]
        before, run_before = ends_at(history.watermarks, places, begun[row])
        after, run_after = ends_at(history.watermarks, places, ended[row])
        # Ends of two logs do not tell how much either grew.
        before[run_before != run_after] = np.nan
        # What a commit for an earlier topic of this name has to do with the ends of this one is not known.
        after[is_of_other_topic(history, places, ended[row], held)] = np.nan
        self.has_any[row] = True
        self.is_possible[row[are_possible(offsets)[held]]] = True
        record = take_or_none(offsets, "from_record_offset", held)
        np.minimum.at(self.first, row, record)
        np.maximum.at(self.last, row, record)
        np.add.at(self.grown, row, after - before)
        np.add.at(self.lags[:, -1], row, lags_of(offsets, held, after))
        most = max(1, MOST_AT_ONCE // max(len(row), 1))
        for begin in range(0, self.times.shape[1] - 1, most):
            # Rows come one after the other, in each look of these.
            at = self.times[row, begin : min(begin + most, self.times.shape[1] - 1)].T
            look, own = np.nonzero(at != NONE)
            at = at[look, own]
            ends, run = ends_at(history.watermarks, places[own], at)
            then = newest_at(keys.of_rows, from_times, key[own], at - 1)
            # A lag of fewer partitions is no lag of the same.
            is_other = (run != run_after[own]) | np.isnan(after[own])
            ends[is_other | (then < 0) | ~ended_after(offsets, then, at - 1)] = np.nan
            np.add.at(self.lags, (row[own], begin + look), lags_of(offsets, then, ends))


def looks(watermarks: Watermarks, begun: Numbers, ended: Numbers) -> Numbers:
    """Of each bucket up to `MOST_LOOKS` times, in order: its begin, snapshots in it, and its end; NONE: there are
    fewer."""
    low, high = np.searchsorted(watermarks.times, begun, "right"), np.searchsorted(watermarks.times, ended, "left")
    number = np.maximum(high - low, 0)[:, None]
    most = min(MOST_LOOKS - 2, int(number.max(initial=0)))
    place = np.arange(most)[None, :]
    taken = np.minimum(number, most)
    snapshot = low[:, None] + place * number // np.maximum(taken, 1)
    inside = np.append(watermarks.times, NONE)[np.where(place < taken, snapshot, len(watermarks.times))]
    return np.column_stack([begun, inside, ended])


def lags_of(offsets: pa.Table, held: Numbers, ends: np.ndarray) -> np.ndarray:
    return np.maximum(ends - take_or_none(offsets, "committed_offset", held), 0)


def is_of_other_topic(history: PartitionHistory, places: Numbers, at: Numbers, held: Numbers) -> Flags:
    offsets, snapshots = history.table("offset_history"), history.watermarks.at(places, at)
    return history.watermarks.are_of_other_topic(
        snapshots, offsets.column("topic_id").take(pa.array(held)), take_or_none(offsets, "from_time", held)
    )


def ended_after(offsets: pa.Table, rows: Numbers, at: Numbers) -> np.ndarray:
    ended = take_or_none(offsets, "to_time", rows)
    return np.asarray((ended == NONE) | (ended > at))


def ends_at(watermarks: Watermarks, places: Numbers, at: Numbers) -> tuple[np.ndarray, Numbers]:
    """Ends of partitions at any time between two snapshots of one log; NaN: not known. And the run of that log."""
    before, after = watermarks.at(places, at), watermarks.after(places, at)
    if not len(watermarks.place):
        return np.full(len(at), np.nan), np.full(len(at), NOWHERE)
    is_known = (before >= 0) & (after >= 0)
    is_known &= watermarks.run_starts[before] == watermarks.run_starts[after]
    low, high = watermarks.row_times[before], watermarks.row_times[after]
    is_known &= high - low <= LOOKBACK
    share = (at - low) / np.maximum(high - low, 1)
    ends = watermarks.end_offsets[before] + share * (watermarks.end_offsets[after] - watermarks.end_offsets[before])
    return np.where(is_known, ends, np.nan), watermarks.run_starts[before]


def take_or_none(table: pa.Table, name: str, rows: Numbers) -> Numbers:
    """NONE where there is no row."""
    values = numbers(table.column(name))
    return np.where(rows >= 0, values[rows], NONE) if len(values) else np.full(len(rows), NONE)
