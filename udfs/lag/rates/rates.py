"""How fast groups read and topics grow, in buckets of time, and when a group will have caught up. A bucket has a row
where the group committed in it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Numbers, every, integers, numbers, times
from udfs.arrays.texts import or_else, texts
from udfs.lag.as_of import key_codes, newest_at
from udfs.lag.confidence import CERTAIN, POSSIBLE, named
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.consumed import consumed_messages, together
from udfs.lag.rates.etas import etas
from udfs.lag.rates.growth import Growth
from udfs.lag.rates.keys import SUBJECT, RateKeys
from udfs.lag.watermarks import Watermarks

BUCKETS = (300_000_000, 3_600_000_000)


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
    def growth(self) -> Growth:
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
                "confidence": named(
                    np.maximum(numbers(cells.column("doubt")), np.where(self.growth.is_possible, POSSIBLE, CERTAIN))
                ),
            }
        )


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


def group_types(history: PartitionHistory, rows: pa.Table, at: Numbers) -> pa.DictionaryArray:
    """As the group was at the bucket's end; a simple group counts as classic, as Kafka has it."""
    states = history.table("group_state_intervals")
    have, want = key_codes(("group_id",), states, rows)
    places = newest_at(have, numbers(states.column("from_time")), want, at)
    return or_else(texts(states, "group_type", places), GroupType.CLASSIC.value)
