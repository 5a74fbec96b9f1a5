"""How many messages groups consumed of each topic in each bucket."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from udfs.arrays.capped import capped_sums
from udfs.arrays.nullable import NONE, Numbers, Positions, first_of, numbers
from udfs.arrays.texts import as_texts
from udfs.lag.as_of import dense, key_codes
from udfs.lag.confidence import CERTAIN, POSSIBLE, possible_steps
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.keys import SUBJECT, RateKeys

# How what was read of a subject in a bucket is put together.
HOW: dict[str, Callable[[Numbers, Positions], Numbers]] = {
    "messages": capped_sums, "num_partitions": np.add.reduceat, "first": np.minimum.reduceat,
    "last": np.maximum.reduceat, "doubt": np.maximum.reduceat,
}  # fmt: skip


def consumed_messages(history: PartitionHistory, keys: RateKeys, settled_from: int | None, length: int) -> pa.Table:
    """What was read of each subject in each bucket, by bucket and subject. Each committed value counts in the bucket in
    which it began; of buckets that are not settled. `first`, `last`: offsets of the records; `doubt`: the largest."""
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
    doubt = np.where(possible_steps(history)[asked][order], POSSIBLE, CERTAIN)
    sums = summed(
        starts, messages=delta, num_partitions=is_new_key.astype(np.int64), first=offset, last=offset, doubt=doubt
    )
    named = dict(zip(SUBJECT, subjects.columns, strict=True))
    return pa.table({"bucket": pa.array(bucket[first] * length), **named, **sums})


def summed(starts: Positions, **columns: Numbers) -> dict[str, pa.Array]:
    """Of the rows from each start up to the next one."""
    return {name: pa.array(HOW[name](values, starts) if len(starts) else values) for name, values in columns.items()}


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
