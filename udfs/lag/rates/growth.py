"""How much topics grew in each bucket, and the lag at its end: from the snapshots around its beginning and its end, on
a straight line between two of them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.arrays.capped import capped_integers
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import newest_at
from udfs.lag.confidence import are_possible
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.keys import RateKeys
from udfs.lag.watermarks import LOOKBACK, NOWHERE, Watermarks


@dataclass
class Growth:
    """Of each cell, over those partitions of its subject that the group had committed for by the end of its time:
    whether there are any, whether any of these commits is only possible, by how many messages they grew (NaN: not
    known), and their lag at the end."""

    has_any: Flags
    is_possible: Flags
    grown: np.ndarray
    lag: np.ndarray

    @classmethod
    def nothing(cls, size: int) -> "Growth":
        return cls(np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.zeros(size), np.zeros(size))

    def messages(self) -> np.ndarray:
        return np.where(self.has_any, self.grown, np.nan)

    def lags(self) -> Numbers:
        is_known = self.has_any & ~np.isnan(self.lag)
        return np.where(is_known, capped_integers(np.nan_to_num(self.lag)), NONE)

    def add(
        self, history: PartitionHistory, keys: RateKeys, bounds: tuple[Numbers, Numbers], begun: Numbers, ended: Numbers
    ) -> None:
        """Adds the keys of a range one after the other, as if all were added at once. `bounds`: of the keys of each
        cell; `begun`, `ended`: the time that it is about."""
        first, end = bounds
        row, key = np.repeat(np.arange(len(first)), end - first), ranges(first, end - first)
        offsets = history.table("offset_history")
        # What is committed at the very end is of the next bucket.
        held = newest_at(keys.of_rows, numbers(offsets.column("from_time")), key, ended[row] - 1)
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
        np.add.at(self.grown, row, after - before)
        np.add.at(self.lag, row, np.maximum(after - take_or_none(offsets, "committed_offset", held), 0))


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
