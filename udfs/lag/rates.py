"""How fast groups read and topics grow, in buckets of time, and when a group will have caught up.

A bucket has a row where the group committed in it. What the topic grew by is read from the snapshots around the
bucket's beginning and end, on a straight line between two of them.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.lag import EtaUnknown
from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, every, first_of, integers, numbers, times
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import dense, key_codes, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.texts import as_texts, or_else, texts
from udfs.lag.watermarks import LOOKBACK, Watermarks

BUCKETS = (300_000_000, 3_600_000_000)
KEY = ("group_id", "topic", "topic_id", "partition")
SUBJECT = ("group_id", "topic", "topic_id")
# How what was read of a subject in a bucket is put together.
HOW = {"messages": np.add, "num_partitions": np.add, "first": np.minimum, "last": np.maximum}


@dataclass(frozen=True)
class RateKeys:
    """Group, topic, topic id and partition as one number a key, in their order. `of_rows`: of the rows of
    offset_history; `row`: of each key one of them; `subject`: of each key a number for all but the partition, in order
    too."""

    of_rows: Numbers
    row: Numbers
    subject: Numbers

    @classmethod
    def of(cls, history: PartitionHistory) -> "RateKeys":
        (keys,) = key_codes(KEY, history.offset_keys)
        row = np.zeros(int(keys.max(initial=-1)) + 1, np.int64)
        row[keys] = np.arange(len(keys))
        (subject,) = key_codes(SUBJECT, history.offset_keys.take(pa.array(row)))
        return cls(keys, row, subject)


class Rates:
    """Rows of consumption_rates without `cluster` and `is_open`."""

    def __init__(self, settled_from: int | None) -> None:
        self.lengths = [BucketRates(length, settled_from) for length in BUCKETS]

    def look(self, history: PartitionHistory) -> None:
        for each in self.lengths:
            keys = history.once("rate_keys", RateKeys.of)
            each.consumed.append(consumed_messages(history, keys, each.settled_from, each.length))

    def take(self, history: PartitionHistory) -> None:
        for each in self.lengths:
            each.add_growth(history, history.once("rate_keys", RateKeys.of))

    def rows(self, history: PartitionHistory) -> pa.Table:
        return pa.concat_tables([each.rows(history) for each in self.lengths])


@dataclass
class BucketRates:
    """Rates in buckets of one length. `consumed`: of each range of keys, by `consumed_messages`."""

    length: int
    settled_from: int | None
    consumed: list[pa.Table] = field(default_factory=list)

    @cached_property
    def cells(self) -> pa.Table:
        """Of all keys: a row for each bucket and subject, in their order."""
        return together(self.consumed)

    @cached_property
    def growth(self) -> "Growth":
        return Growth.nothing(self.cells.num_rows)

    def add_growth(self, history: PartitionHistory, keys: RateKeys) -> None:
        """A subject has keys in several ranges."""
        own = history.offset_keys.select(list(SUBJECT)).take(pa.array(keys.row))
        wanted, known = key_codes(SUBJECT, self.cells, own)
        bounds = np.searchsorted(known, wanted, "left"), np.searchsorted(known, wanted, "right")
        self.growth.add(history, keys, bounds, *self.captured(history))

    def captured(self, history: PartitionHistory) -> tuple[Numbers, Numbers]:
        return within(numbers(self.cells.column("bucket")), self.length, snapshot_span(history.watermarks))

    def rows(self, history: PartitionHistory) -> pa.Table:
        cells, length = self.cells, self.length
        bucket, consumed = numbers(cells.column("bucket")), numbers(cells.column("messages"))
        read_s = seconds(*within(bucket, length, log_span(history)))
        captured = self.captured(history)
        # Of a bucket that no two snapshots are about nothing is known at its end.
        lag = np.where(captured[1] > captured[0], self.growth.lags(), NONE)
        is_doubtful = history.doubtful.within(bucket, bucket + length)
        lag = np.where(is_doubtful, NONE, lag)
        produced, consumed_per_s = (
            np.where(is_doubtful, np.nan, each)
            for each in (self.growth.messages() / seconds(*captured), consumed / read_s)
        )
        return pa.table(
            {
                "bucket_time": times(bucket),
                "bucket_ms": every(length // 1000, pa.int64(), len(bucket)),
                "group_id": cells.column("group_id"),
                "group_type": group_types(history, cells, bucket + length),
                "topic": cells.column("topic"),
                "topic_id": cells.column("topic_id"),
                "num_partitions": cells.column("num_partitions").cast(pa.int32()),
                "messages_consumed": integers(consumed),
                "messages_consumed_per_s": pa.array(consumed_per_s, mask=np.isnan(consumed_per_s)),
                "messages_produced_per_s": pa.array(produced, mask=np.isnan(produced)),
                "lag_floor": integers(lag),
                **etas(consumed_per_s, produced, lag, is_doubtful),
                "evidence_partition": every(history.offsets_partition, pa.int32(), len(bucket)),
                "evidence_first_offset": cells.column("first"),
                "evidence_last_offset": cells.column("last"),
                "confidence": every("certain", pa.string(), len(bucket)),
            }
        )


def consumed_messages(history: PartitionHistory, keys: RateKeys, settled_from: int | None, length: int) -> pa.Table:
    """What was read of each subject in each bucket, by bucket and subject. Each committed value counts in the bucket in
    which it began; of buckets that are not settled. `first`, `last`: offsets of the records."""
    offsets = history.table("offset_history")
    begun = numbers(offsets.column("from_time"))
    is_asked = (begun != NONE) & (begun <= history.as_of_time)
    if settled_from is not None:
        is_asked &= begun // length * length + length > settled_from
    asked = np.flatnonzero(is_asked)
    bucket, key = begun[asked] // length, keys.of_rows[asked]
    cell = cells_of(bucket, keys.subject[key])
    order = np.argsort(cell * len(keys.row) + key)
    starts = np.flatnonzero(first_of(cell[order]))
    first = order[starts]
    delta = np.maximum(numbers(offsets.column("delta"))[asked], 0)[order]
    offset = numbers(offsets.column("from_offset"))[asked][order]
    is_new_key = first_of(cell[order]) | first_of(key[order])
    subjects = as_texts(history.offset_keys.select(list(SUBJECT)).take(pa.array(asked[first])))
    sums = summed(starts, messages=delta, num_partitions=is_new_key.astype(np.int64), first=offset, last=offset)
    named = dict(zip(SUBJECT, subjects.columns, strict=True))
    return pa.table({"bucket": pa.array(bucket[first] * length), **named, **sums})


def summed(starts: Positions, **columns: Numbers) -> dict[str, pa.Array]:
    """Of the rows from each start up to the next one."""
    return {
        name: pa.array(HOW[name].reduceat(values, starts) if len(starts) else values)
        for name, values in columns.items()
    }


def together(parts: list[pa.Table]) -> pa.Table:
    """Of all ranges of keys."""
    cells = pa.concat_tables(parts)
    if len(parts) == 1:
        return cells
    (codes,) = key_codes(("bucket", *SUBJECT), cells)
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(first_of(codes[order]))
    named = cells.select(["bucket", *SUBJECT]).take(pa.array(order[starts]))
    sums = summed(starts, **{name: numbers(cells.column(name))[order] for name in HOW})
    return pa.table({**dict(zip(named.column_names, named.columns, strict=True)), **sums})


def cells_of(bucket: Numbers, subject: Numbers) -> Numbers:
    """A number for each bucket and subject, in their order and without gaps."""
    if not len(bucket):
        return bucket
    width = int(subject.max()) + 1
    nearest = bucket - bucket.min()
    return dense(nearest * width + subject, (int(nearest.max()) + 1) * width)


def within(bucket: Numbers, length: int, span: tuple[int, int]) -> tuple[Numbers, Numbers]:
    """The part of each bucket that was seen."""
    return np.maximum(bucket, span[0]), np.minimum(bucket + length, span[1])


def seconds(begun: Numbers, ended: Numbers) -> np.ndarray:
    """NaN: nothing of it was seen."""
    return np.where(ended > begun, (ended - begun) / 1_000_000, np.nan)


def log_span(history: PartitionHistory) -> tuple[int, int]:
    """From when on the log is known, until when."""
    covered = pc.min_max(history.table("history_coverage").column("from_time").cast(pa.int64())).as_py()
    return covered["min"] or 0, history.as_of_time


def snapshot_span(watermarks: Watermarks) -> tuple[int, int]:
    times = watermarks.times
    return (int(times[0]), int(times[-1])) if len(times) else (0, 0)


@dataclass
class Growth:
    """Of each cell, over those partitions of its subject that the group had committed for by the end of its time:
    whether there are any, by how many messages they grew (NaN: not known), and their lag at the end."""

    has_any: Flags
    grown: np.ndarray
    lag: np.ndarray

    @classmethod
    def nothing(cls, size: int) -> "Growth":
        return cls(np.zeros(size, np.bool_), np.zeros(size), np.zeros(size))

    def messages(self) -> np.ndarray:
        return np.where(self.has_any, self.grown, np.nan)

    def lags(self) -> Numbers:
        is_known = self.has_any & ~np.isnan(self.lag)
        return np.where(is_known, np.nan_to_num(self.lag), NONE).astype(np.int64)

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
        before = ends_at(history.watermarks, places, begun[row])
        after = ends_at(history.watermarks, places, ended[row])
        # What a commit for an earlier topic of this name has to do with the ends of this one is not known.
        after[is_of_other_topic(history, places, ended[row], held)] = np.nan
        self.has_any[row] = True
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


def ends_at(watermarks: Watermarks, places: Numbers, at: Numbers) -> np.ndarray:
    """Ends of partitions at any time between two snapshots of one log; NaN: not known."""
    before, after = watermarks.at(places, at), watermarks.after(places, at)
    if not len(watermarks.place):
        return np.full(len(at), np.nan)
    is_known = (before >= 0) & (after >= 0)
    is_known &= watermarks.run_starts[before] == watermarks.run_starts[after]
    low, high = watermarks.row_times[before], watermarks.row_times[after]
    is_known &= high - low <= LOOKBACK
    share = (at - low) / np.maximum(high - low, 1)
    ends = watermarks.end_offsets[before] + share * (watermarks.end_offsets[after] - watermarks.end_offsets[before])
    return np.where(is_known, ends, np.nan)


def etas(consumed: np.ndarray, produced: np.ndarray, lag: Numbers, is_doubtful: Flags) -> dict[str, pa.Array]:
    """At these rates, by second."""
    net = consumed - produced
    is_done = lag == 0
    is_known = (lag != NONE) & ~np.isnan(net)
    low = time_to_read(lag, consumed, (lag != NONE) & (consumed > 0) & ~is_done)
    high = time_to_read(lag, net, is_known & (net > 0) & ~is_done)
    reason = np.select(
        [is_doubtful, is_done, ~is_known, ~(net > 0)],
        [
            EtaUnknown.CLOCK_WENT_BACK.value,
            EtaUnknown.NOTHING_TO_READ.value,
            EtaUnknown.NO_SNAPSHOTS.value,
            EtaUnknown.NOT_CATCHING_UP.value,
        ],
        "",
    )
    return {
        "eta_low_ms": integers(low),
        "eta_high_ms": integers(high),
        "eta_unknown_reason": pa.array(reason, pa.string(), mask=reason == ""),
    }


def time_to_read(lag: Numbers, per_s: np.ndarray, is_known: np.ndarray) -> Numbers:
    """Milliseconds. A rate of a message a century is none: what no number can hold is not known."""
    ms = np.where(is_known, lag / np.where(is_known, per_s, 1) * 1000, np.inf)
    return np.where(ms < 1 << 62, ms, NONE).astype(np.int64)


def group_types(history: PartitionHistory, rows: pa.Table, at: Numbers) -> pa.DictionaryArray:
    """As the group was at the bucket's end; a simple group counts as classic, as Kafka has it."""
    states = history.table("group_state_intervals")
    have, want = key_codes(("group_id",), states, rows)
    places = newest_at(have, numbers(states.column("from_time")), want, at)
    return or_else(texts(states, "group_type", places), GroupType.CLASSIC.value)


def take_or_none(table: pa.Table, name: str, rows: Numbers) -> Numbers:
    """NONE where there is no row."""
    values = numbers(table.column(name))
    return np.where(rows >= 0, values[rows], NONE) if len(values) else np.full(len(rows), NONE)
