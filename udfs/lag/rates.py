"""How fast groups read and topics grow, in buckets of time, and when a group will have caught up.

A bucket has a row where the group committed in it. What the topic grew by is read from the snapshots around the
bucket's beginning and end, on a straight line between two of them.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.lag import EtaUnknown
from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Flags, Numbers, every, first_of, integers, numbers, times
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import dense, key_codes, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.texts import as_texts, or_else, texts
from udfs.lag.watermarks import LOOKBACK, Watermarks

BUCKETS = (300_000_000, 3_600_000_000)
KEY = ("group_id", "topic", "topic_id", "partition")
SUBJECT = ("group_id", "topic", "topic_id")


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

    def of_subjects(self, subjects: Numbers) -> tuple[Numbers, Numbers]:
        """All keys of each of these: places in `subjects`, and keys."""
        first, end = (np.searchsorted(self.subject, subjects, side=side) for side in ("left", "right"))
        number = end - first
        return np.repeat(np.arange(len(subjects)), number), ranges(first, number)


@dataclass(frozen=True)
class ConsumedMessages:
    """What was read of each subject in each bucket, by bucket and subject. `row`: one of offset_history that it is
    about; `first`, `last`: offsets of the records."""

    bucket: Numbers
    subject: Numbers
    row: Numbers
    messages: Numbers
    num_partitions: Numbers
    first: Numbers
    last: Numbers


def rate_rows(history: PartitionHistory, settled_from: int | None) -> pa.Table:
    """Columns of consumption_rates but `cluster` and `is_open`."""
    keys = RateKeys.of(history)
    return pa.concat_tables([of_buckets(history, keys, settled_from, length) for length in BUCKETS])


def of_buckets(history: PartitionHistory, keys: RateKeys, settled_from: int | None, length: int) -> pa.Table:
    read = read_messages(history, keys, settled_from, length)
    rows = as_texts(history.offset_keys.select(list(SUBJECT)).take(pa.array(read.row)))
    bucket, consumed = read.bucket, read.messages
    read_s = seconds(*within(bucket, length, log_span(history)))
    captured = within(bucket, length, snapshot_span(history.watermarks))
    grown, lag = growth(history, keys, read.subject, *captured)
    # Of a bucket that no two snapshots are about nothing is known at its end.
    lag = np.where(captured[1] > captured[0], lag, NONE)
    is_doubtful = history.doubtful.within(bucket, bucket + length)
    lag = np.where(is_doubtful, NONE, lag)
    produced, consumed_per_s = (
        np.where(is_doubtful, np.nan, each) for each in (grown / seconds(*captured), consumed / read_s)
    )
    return pa.table(
        {
            "bucket_time": times(bucket),
            "bucket_ms": every(length // 1000, pa.int64(), len(bucket)),
            "group_id": rows.column("group_id"),
            "group_type": group_types(history, rows, bucket + length),
            "topic": rows.column("topic"),
            "topic_id": rows.column("topic_id"),
            "num_partitions": pa.array(read.num_partitions, pa.int32()),
            "messages_consumed": integers(consumed),
            "messages_consumed_per_s": pa.array(consumed_per_s, mask=np.isnan(consumed_per_s)),
            "messages_produced_per_s": pa.array(produced, mask=np.isnan(produced)),
            "lag_floor": integers(lag),
            **etas(consumed_per_s, produced, lag, is_doubtful),
            "evidence_partition": every(history.offsets_partition, pa.int32(), len(bucket)),
            "evidence_first_offset": pa.array(read.first),
            "evidence_last_offset": pa.array(read.last),
            "confidence": every("certain", pa.string(), len(bucket)),
        }
    )


def read_messages(history: PartitionHistory, keys: RateKeys, settled_from: int | None, length: int) -> ConsumedMessages:
    """Each committed value counts in the bucket in which it began; of buckets that are not settled."""
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
    return ConsumedMessages(
        bucket[first] * length, keys.subject[key[first]], asked[first],
        *(sums.reduceat(values, starts) if len(starts) else values for sums, values in (
            (np.add, delta), (np.add, is_new_key.astype(np.int64)), (np.minimum, offset), (np.maximum, offset),
        )),
    )  # fmt: skip


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


def growth(
    history: PartitionHistory, keys: RateKeys, subjects: Numbers, begun: Numbers, ended: Numbers
) -> tuple[np.ndarray, Numbers]:
    """By how many messages those partitions of each subject grew from one time to the other that the group had
    committed for by then (NaN: not known), and its lag at the end (NONE: not known)."""
    offsets = history.table("offset_history")
    row, key = keys.of_subjects(subjects)
    # What is committed at the very end is of the next bucket.
    held = newest_at(keys.of_rows, numbers(offsets.column("from_time")), key, ended[row] - 1)
    is_there = (held >= 0) & ended_after(offsets, held, ended[row] - 1)
    row, key, held = row[is_there], key[is_there], held[is_there]
    places = history.watermarks.first_places(history.offset_keys.take(pa.array(keys.row)))[key]
    before = ends_at(history.watermarks, places, begun[row])
    after = ends_at(history.watermarks, places, ended[row])
    # What a commit for an earlier topic of this name has to do with the ends of this one is not known.
    after[is_of_other_topic(history, places, ended[row], held)] = np.nan
    size = len(subjects)
    has_any = np.bincount(row, minlength=size) > 0
    grown = np.bincount(row, after - before, size)
    lag = np.bincount(row, np.maximum(after - take_or_none(offsets, "committed_offset", held), 0), size)
    is_known = has_any & ~np.isnan(lag)
    return np.where(has_any, grown, np.nan), np.where(is_known, np.nan_to_num(lag), NONE).astype(np.int64)


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
