"""How fast groups read and topics grow, in buckets of time, and when a group will have caught up. A bucket has a row
where the group committed in it, or where messages waited at its end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import GroupType
from udfs.arrays.capped import capped_integers
from udfs.arrays.nullable import NONE, Flags, Numbers, every, integers, numbers, times
from udfs.arrays.texts import or_else, texts
from udfs.lag.as_of import key_codes, newest_at
from udfs.lag.confidence import CERTAIN, POSSIBLE, named
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.consumed import CELL, bucket_cells, consumed_messages, together
from udfs.lag.rates.etas import BEFORE, SECOND, Course, steps_so_far
from udfs.lag.rates.growth import Growth, looks
from udfs.lag.rates.keys import SUBJECT, RateKeys
from udfs.lag.watermarks import Watermarks

BUCKETS = (300_000_000, 3_600_000_000)


class Rates:
    """Rows of consumption_rates without `cluster` and `is_provisional`. `reset_rows`: which rows of an offset_history
    are resets."""

    def __init__(self, settled_from: int | None, reset_rows: Callable[[PartitionHistory], Numbers]) -> None:
        self.lengths = [BucketRates(length, settled_from) for length in BUCKETS]
        self.reset_rows = reset_rows

    def look(self, history: PartitionHistory) -> None:
        for each in self.lengths:
            each.seen.append(bucket_cells(history, rate_keys(history), each.since, each.length))

    def take(self, history: PartitionHistory) -> None:
        for each in self.lengths:
            each.add(history, rate_keys(history), self.reset_rows(history))

    def rows(self, history: PartitionHistory) -> pa.Table:
        return pa.concat_tables([each.rows(history) for each in self.lengths])


def rate_keys(history: PartitionHistory) -> RateKeys:
    return history.once("rate_keys", RateKeys.of)


@dataclass
class BucketRates:
    """Rates in buckets of one length. `seen`, `consumed`: of each range of keys, by `bucket_cells` and
    `consumed_messages`."""

    length: int
    settled_from: int | None
    seen: list[pa.Table] = field(default_factory=list)
    consumed: list[pa.Table] = field(default_factory=list)
    growth: Growth = field(init=False)

    @property
    def since(self) -> int | None:
        """Buckets that ended before are settled, and show nothing of what is usual in later ones."""
        return None if self.settled_from is None else self.settled_from - BEFORE

    @cached_property
    def cells(self) -> pa.Table:
        """Of all keys: a row for each bucket and subject, in their order."""
        return together(self.seen)

    def add(self, history: PartitionHistory, keys: RateKeys, resets: Numbers) -> None:
        """A subject has keys in several ranges."""
        if not self.consumed:
            captured = within(numbers(self.cells.column("bucket")), self.length, snapshot_span(history.watermarks))
            self.growth = Growth.nothing(looks(history.watermarks, *captured))
        self.consumed.append(consumed_messages(history, keys, resets, self.since, self.length))
        own = keys.named.select(list(SUBJECT)).take(pa.array(keys.row))
        wanted, known = key_codes(SUBJECT, self.cells, own)
        self.growth.add(
            history, keys, (np.searchsorted(known, wanted, "left"), np.searchsorted(known, wanted, "right"))
        )

    def rows(self, history: PartitionHistory) -> pa.Table:
        cells, growth, length = self.cells, self.growth, self.length
        bucket, num_steps = (numbers(cells.column(name)) for name in ("bucket", "num_steps"))
        consumed, doubt = self.consumed_of_cells()
        begun, ended = growth.times[:, 0], growth.times[:, -1]
        is_doubtful = history.doubtful.within(bucket, bucket + length)
        # On a line between two snapshots a whole number may come out a billionth too small.
        growth.lags = np.round(growth.lags, 6)
        # Of a bucket that no two snapshots are about nothing is known at its end.
        growth.lags[(ended <= begun) | is_doubtful | ~growth.has_any] = np.nan
        consumed_per_s = consumed / seconds(*within(bucket, length, log_span(history)))
        consumed_per_s[is_doubtful] = np.nan
        produced = np.where(is_doubtful, np.nan, growth.messages() / seconds(begun, ended))
        # The course of each subject by itself.
        (subject,) = key_codes(SUBJECT, cells)
        order = np.lexsort((bucket, subject))
        course = self.course(order, subject, bucket, consumed_per_s, produced, is_doubtful)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        lag_end = growth.lags[:, -1]
        lag = np.where(np.isnan(lag_end), NONE, capped_integers(np.nan_to_num(lag_end)))
        wanted = (num_steps > 0) | (lag > 0)
        if self.settled_from is not None:
            wanted &= bucket + length > self.settled_from
        shown = np.flatnonzero(wanted)
        cells, bucket, is_step = cells.take(pa.array(shown)), bucket[shown], num_steps[shown] > 0
        return pa.table(
            {
                "bucket_time": times(bucket),
                "bucket_ms": every(length // 1000, pa.int64(), len(bucket)),
                "group_id": cells.column("group_id"),
                "group_type": group_types(history, cells, bucket + length),
                "topic": cells.column("topic"),
                "topic_id": cells.column("topic_id"),
                "num_partitions": cells.column("num_partitions").cast(pa.int32()),
                "messages_consumed": integers(consumed[shown]),
                "messages_consumed_per_s": or_null(consumed_per_s[shown]),
                "messages_produced_per_s": or_null(produced[shown]),
                "lag": integers(lag[shown]),
                **course.columns(lag[order], back[shown]),
                "evidence_partition": every(history.offsets_partition, pa.int32(), len(bucket)),
                "evidence_first_offset": np.where(is_step, numbers(cells.column("first")), growth.first[shown]),
                "evidence_last_offset": np.where(is_step, numbers(cells.column("last")), growth.last[shown]),
                "confidence": named(np.maximum(doubt[shown], np.where(growth.is_possible[shown], POSSIBLE, CERTAIN))),
            }
        )

    def consumed_of_cells(self) -> tuple[Numbers, Numbers]:
        """How many messages each cell read, and how sure that is."""
        read = together(self.consumed)
        cell, own = key_codes(CELL, self.cells, read)
        place = np.searchsorted(cell, own)
        consumed, doubt = np.zeros(len(cell), np.int64), numbers(self.cells.column("doubt")).copy()
        consumed[place] = numbers(read.column("messages"))
        doubt[place] = np.maximum(doubt[place], numbers(read.column("doubt")))
        return consumed, doubt

    def course(
        self, order: Numbers, subject: Numbers, bucket: Numbers, consumed: np.ndarray, produced: np.ndarray,
        is_doubtful: Flags,
    ) -> Course:  # fmt: skip
        first, last, steps, partitions = (
            numbers(self.cells.column(name))[order]
            for name in ("first_time", "last_time", "num_steps", "num_partitions")
        )
        more = steps - partitions
        span = np.where(more > 0, last - np.minimum(first, last), 0)
        gap = np.where(more > 0, np.maximum(span * partitions // np.maximum(more, 1), SECOND), NONE)
        gap, last = steps_so_far(subject[order], bucket[order], gap, last)
        return Course(
            subject[order], bucket[order], self.growth.times[order], self.growth.lags[order], consumed[order],
            produced[order], steps > 0, gap, last, is_doubtful[order],
        )  # fmt: skip


def or_null(values: np.ndarray) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))


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
