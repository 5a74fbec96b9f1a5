"""How fast groups read and topics grow, in buckets of time, and when a group will have caught up.

A bucket has a row where the group committed in it. What the topic grew by is read from the snapshots around the
bucket's beginning and end, on a straight line between two of them.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.lag_words import EtaUnknown
from schemas.vocabulary import GroupType
from udfs.lag.as_of import key_codes, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.texts import as_texts, or_else, texts
from udfs.lag.watermarks import LOOKBACK, Watermarks
from udfs.replay.nullable import NONE, Flags, Numbers, every, integers, numbers, times

BUCKETS = (300_000_000, 3_600_000_000)
KEY = ("group_id", "topic", "topic_id", "partition")
SUBJECT = ("group_id", "topic", "topic_id")


def rate_rows(history: PartitionHistory, settled_from: int | None) -> pa.Table:
    """Columns of consumption_rates but `cluster` and `is_open`."""
    (keys,) = key_codes(KEY, history.offset_keys)
    return pa.concat_tables([of_buckets(history, keys, settled_from, length) for length in BUCKETS])


def of_buckets(history: PartitionHistory, keys: Numbers, settled_from: int | None, length: int) -> pa.Table:
    """`keys`: of the rows of offset_history."""
    moved = read_messages(history, settled_from, length)
    rows = moved.group_by([*SUBJECT, "bucket"], use_threads=False).aggregate(
        [("messages", "sum"), ("partition", "count_distinct"), ("first", "min"), ("last", "max")]
    )
    rows = as_texts(rows).sort_by([(name, "ascending") for name in ("bucket", *SUBJECT)])
    bucket = numbers(rows.column("bucket"))
    consumed = numbers(rows.column("messages_sum"))
    read_s = seconds(*within(bucket, length, log_span(history)))
    captured = within(bucket, length, snapshot_span(history.watermarks))
    grown, lag = growth(history, keys, rows, *captured)
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
            "num_partitions": rows.column("partition_count_distinct").cast(pa.int32()),
            "messages_consumed": integers(consumed),
            "messages_consumed_per_s": pa.array(consumed_per_s, mask=np.isnan(consumed_per_s)),
            "messages_produced_per_s": pa.array(produced, mask=np.isnan(produced)),
            "lag_floor": integers(lag),
            **etas(consumed_per_s, produced, lag, is_doubtful),
            "evidence_partition": every(history.offsets_partition, pa.int32(), len(bucket)),
            "evidence_first_offset": rows.column("first_min"),
            "evidence_last_offset": rows.column("last_max"),
            "confidence": every("certain", pa.string(), len(bucket)),
        }
    )


def read_messages(history: PartitionHistory, settled_from: int | None, length: int) -> pa.Table:
    """Each committed value with the bucket in which it began, of buckets that are not settled."""
    offsets = history.table("offset_history")
    begun = numbers(offsets.column("from_time"))
    bucket = np.where(begun == NONE, NONE, begun // length * length)
    is_asked = (begun != NONE) & (begun <= history.as_of_time)
    if settled_from is not None:
        is_asked &= bucket + length > settled_from
    rows = history.offset_keys.filter(pa.array(is_asked))
    delta = np.maximum(numbers(offsets.column("delta"))[is_asked], 0)
    offset = pa.array(numbers(offsets.column("from_offset"))[is_asked])
    made = {"bucket": pa.array(bucket[is_asked]), "messages": pa.array(delta), "first": offset, "last": offset}
    return pa.table({**{name: rows.column(name) for name in KEY}, **made})


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
    history: PartitionHistory, keys: Numbers, rows: pa.Table, begun: Numbers, ended: Numbers
) -> tuple[np.ndarray, Numbers]:
    """By how many messages the partitions grew from one time to the other that the group had committed for by then
    (NaN: not known), and its lag at the end (NONE: not known)."""
    offsets = history.table("offset_history")
    row, key = partitions_of(history, keys, rows)
    # What is committed at the very end is of the next bucket.
    held = newest_at(keys, numbers(offsets.column("from_time")), keys[key], ended[row] - 1)
    is_there = (held >= 0) & ended_after(offsets, held, ended[row] - 1)
    row, key, held = row[is_there], key[is_there], held[is_there]
    places = history.watermarks.first_places(history.offset_keys.take(key))
    before = ends_at(history.watermarks, places, begun[row])
    after = ends_at(history.watermarks, places, ended[row])
    # What a commit for an earlier topic of this name has to do with the ends of this one is not known.
    after[is_of_other_topic(history, places, ended[row], held)] = np.nan
    size = rows.num_rows
    has_any = np.bincount(row, minlength=size) > 0
    grown = np.bincount(row, after - before, size)
    lag = np.bincount(row, np.maximum(after - taken(offsets, "committed_offset", held), 0), size)
    is_known = has_any & ~np.isnan(lag)
    return np.where(has_any, grown, np.nan), np.where(is_known, np.nan_to_num(lag), NONE).astype(np.int64)


def is_of_other_topic(history: PartitionHistory, places: Numbers, at: Numbers, held: Numbers) -> Flags:
    offsets, snapshots = history.table("offset_history"), history.watermarks.at(places, at)
    return history.watermarks.are_of_other_topic(
        snapshots, offsets.column("topic_id").take(pa.array(held)), taken(offsets, "from_time", held)
    )


def partitions_of(history: PartitionHistory, keys: Numbers, rows: pa.Table) -> tuple[Numbers, Numbers]:
    """Each row with each partition that was ever committed for its group and topic: places of the rows, and of one row
    of offset_history of the partition."""
    partitions = np.zeros(int(keys.max(initial=-1)) + 1, np.int64)
    partitions[keys] = np.arange(len(keys))
    subjects, wanted = key_codes(SUBJECT, history.offset_keys, rows)
    partitions = partitions[np.argsort(subjects[partitions], kind="stable")]
    ordered = subjects[partitions]
    first = np.searchsorted(ordered, wanted, side="left")
    number = np.searchsorted(ordered, wanted, side="right") - first
    row = np.repeat(np.arange(len(wanted)), number)
    place = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    return row, partitions[first[row] + place]


def ended_after(offsets: pa.Table, rows: Numbers, at: Numbers) -> np.ndarray:
    ended = taken(offsets, "to_time", rows)
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
    found = watermarks.ends[before] + share * (watermarks.ends[after] - watermarks.ends[before])
    return np.where(is_known, found, np.nan)


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
    found = np.where(is_known, lag / np.where(is_known, per_s, 1) * 1000, np.inf)
    return np.where(found < 1 << 62, found, NONE).astype(np.int64)


def group_types(history: PartitionHistory, rows: pa.Table, at: Numbers) -> pa.DictionaryArray:
    """As the group was at the bucket's end; a simple group counts as classic, as Kafka has it."""
    states = history.table("group_state_intervals")
    have, want = key_codes(("group_id",), states, rows)
    found = newest_at(have, numbers(states.column("from_time")), want, at)
    return or_else(texts(states, "group_type", found), GroupType.CLASSIC.value)


def taken(table: pa.Table, name: str, rows: Numbers) -> Numbers:
    """NONE where there is no row."""
    values = numbers(table.column(name))
    return np.where(rows >= 0, values[rows], NONE) if len(values) else np.full(len(rows), NONE)
