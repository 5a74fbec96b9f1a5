"""Which buckets groups and topics have rows of, and how many messages a group consumed in each."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from udfs.arrays.capped import capped_sums
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, first_of, numbers
from udfs.arrays.number_ranges import ranges
from udfs.arrays.texts import as_texts
from udfs.lag.as_of import dense, key_codes
from udfs.lag.confidence import CERTAIN, LIKELY, POSSIBLE, possible_steps
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.keys import SUBJECT, RateKeys

NEVER = np.iinfo(np.int64).max
CELL = ("bucket", *SUBJECT)
# How what happened to a subject in a bucket is put together.
HOW: dict[str, Callable[[Numbers, Positions], Numbers]] = {
    "messages": capped_sums, "num_partitions": np.add.reduceat, "num_steps": np.add.reduceat,
    "first_time": np.minimum.reduceat, "last_time": np.maximum.reduceat, "first": np.minimum.reduceat,
    "last": np.maximum.reduceat, "doubt": np.maximum.reduceat,
}  # fmt: skip


def bucket_cells(history: PartitionHistory, keys: RateKeys, since: int | None, length: int) -> pa.Table:
    """A row for each subject and bucket in which it committed, or in which a snapshot was taken while it had a
    committed offset; by bucket and subject; of buckets that end after `since`. `num_steps`: how many committed values
    began, from `first_time` to `last_time`; `first`, `last`: offsets of their records; `doubt`: the largest."""
    offsets = history.table("offset_history")
    begun, ended, record = (numbers(offsets.column(name)) for name in ("from_time", "to_time", "from_record_offset"))
    asked = np.flatnonzero(is_asked(begun, history.as_of_time, since, length))
    bucket, key = begun[asked] // length, keys.of_rows[asked]
    # Without a step: all buckets with a snapshot between the subject's first commit and its end.
    subject = keys.subject[keys.of_rows]
    size = int(keys.subject.max(initial=-1)) + 1
    first, last = np.full(size, NEVER), np.full(size, NONE)
    is_past = (begun != NONE) & (begun <= history.as_of_time)
    until = np.where(ended == NONE, history.as_of_time, np.minimum(ended, history.as_of_time))
    np.minimum.at(first, subject[is_past], begun[is_past])
    np.maximum.at(last, subject[is_past], until[is_past])
    captured = np.unique(history.watermarks.times // length)
    captured = captured if since is None else captured[captured * length + length > since]
    low, high = np.searchsorted(captured, first // length), np.searchsorted(captured, last // length, "right")
    number = np.maximum(high - low, 0)
    quiet = np.repeat(np.arange(size), number)
    a_key = np.zeros(size, np.int64)
    a_key[keys.subject] = np.arange(len(keys.subject))
    nothing = np.zeros(len(quiet), np.int64)
    return put_together(
        keys,
        length,
        np.append(bucket, captured[ranges(low, number)]),
        np.append(key, a_key[quiet]),
        num_partitions=np.append(first_in_buckets(key, bucket), nothing),
        num_steps=np.append(np.ones(len(asked), np.int64), nothing),
        first_time=np.append(begun[asked], nothing + NEVER),
        last_time=np.append(begun[asked], nothing + NONE),
        first=np.append(record[asked], nothing + NEVER),
        last=np.append(record[asked], nothing + NONE),
        doubt=np.append(np.where(possible_steps(history)[asked], POSSIBLE, CERTAIN), nothing + CERTAIN),
    )


def consumed_messages(
    history: PartitionHistory, keys: RateKeys, resets: Numbers, since: int | None, length: int
) -> pa.Table:
    """What was read of each subject in each bucket in which it committed: steps forward that are no jumps. `resets`:
    the rows of offset_history that are."""
    offsets = history.table("offset_history")
    begun = numbers(offsets.column("from_time"))
    asked = np.flatnonzero(is_asked(begun, history.as_of_time, since, length))
    is_reset = np.zeros(len(begun), np.bool_)
    is_reset[resets] = True
    delta = np.maximum(numbers(offsets.column("delta")), 0)
    is_read = ~is_reset[asked] & ~are_beyond_end(history, asked)
    # That a step was a reset is mostly only likely.
    doubt = np.where(is_reset[asked] & (delta[asked] > 0), LIKELY, CERTAIN)
    messages = np.where(is_read, delta[asked], 0)
    bucket = begun[asked] // length
    return put_together(keys, length, bucket, keys.of_rows[asked], messages=messages, doubt=doubt)


def is_asked(begun: Numbers, as_of_time: int, since: int | None, length: int) -> Flags:
    is_past = (begun != NONE) & (begun <= as_of_time)
    is_later = True if since is None else begun // length * length + length > since
    return np.asarray(is_past & is_later, np.bool_)


def first_in_buckets(key: Numbers, bucket: Numbers) -> Numbers:
    """Whether each row is the first of its key in its bucket; the rows of a key are in the order of time."""
    order = np.argsort(key, kind="stable")
    is_first = np.zeros(len(key), np.int64)
    is_first[order] = first_of(key[order]) | first_of(bucket[order])
    return is_first


def are_beyond_end(history: PartitionHistory, rows: Numbers) -> Flags:
    """Whether each committed offset is larger than the end of the log at the first snapshot after it: nobody can have
    read so far."""
    offsets, watermarks = history.table("offset_history"), history.watermarks
    if not len(watermarks.place):
        return np.zeros(len(rows), np.bool_)
    own = history.offset_keys.take(pa.array(rows))
    after = watermarks.after(own, numbers(offsets.column("from_time"))[rows])
    committed = numbers(offsets.column("committed_offset"))[rows]
    return np.asarray((after >= 0) & (committed > watermarks.end_offsets[after]), np.bool_)


def put_together(keys: RateKeys, length: int, bucket: Numbers, key: Numbers, **columns: Numbers) -> pa.Table:
    """A row for each bucket and subject. `bucket`, `key`: of each row, by number."""
    cell = cells_of(bucket, keys.subject[key])
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(first_of(cell[order]))
    named = as_texts(keys.named.select(list(SUBJECT)).take(pa.array(keys.row[key[order[starts]]])))
    sums = summed(starts, {name: values[order] for name, values in columns.items()})
    begun = bucket[order[starts]] * length
    return pa.table({"bucket": begun, **dict(zip(SUBJECT, named.columns, strict=True)), **sums})


def summed(starts: Positions, columns: dict[str, Numbers]) -> dict[str, pa.Array]:
    """Of the rows from each start up to the next one."""
    return {name: pa.array(HOW[name](values, starts) if len(starts) else values) for name, values in columns.items()}


def together(parts: list[pa.Table]) -> pa.Table:
    """Of all ranges of keys."""
    cells = pa.concat_tables(parts)
    if len(parts) == 1:
        return cells
    (codes,) = key_codes(CELL, cells)
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(first_of(codes[order]))
    named = cells.select([*CELL]).take(pa.array(order[starts]))
    sums = summed(starts, {name: numbers(cells.column(name))[order] for name in cells.column_names if name in HOW})
    return pa.table({**dict(zip(named.column_names, named.columns, strict=True)), **sums})


def cells_of(bucket: Numbers, subject: Numbers) -> Numbers:
    """A number for each bucket and subject, in their order and without gaps."""
    if not len(bucket):
        return bucket
    width = int(subject.max()) + 1
    nearest = bucket - bucket.min()
    return dense(nearest * width + subject, (int(nearest.max()) + 1) * width)
