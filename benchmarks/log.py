"""One offsets partition's log, made a few thousand batches at a time: what all shapes have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.batches import CONTROL, MARKER_DELAY, TRANSACTIONAL, Headers, framed, marker_body
from benchmarks.group_records import Numbers

BATCHES_AT_ONCE = 20_000
FIRST_TIME = 1_700_000_000_000
MS_PER_BATCH = 25
BATCHES_PER_EPOCH = 30_000
FIRST_PRODUCER_ID = 4000
NUM_CODECS = 4


class Log(ABC):
    def __init__(self, rng: np.random.Generator, compressed_share: float) -> None:
        self.rng, self.compressed_share = rng, compressed_share
        self.offset = self.batch = 0

    @abstractmethod
    def runs(self, records: int) -> Iterator[pa.BinaryArray]:
        """That many records as batches, some thousands of them at a time."""

    def codecs(self, batches: int) -> Numbers:
        is_compressed = self.rng.random(batches) < self.compressed_share
        return np.where(is_compressed, self.rng.integers(1, NUM_CODECS + 1, batches), 0)

    def with_markers(
        self, bodies: pa.BinaryArray, sizes: Numbers, time: Numbers, codec: Numbers, transaction: Numbers
    ) -> pa.BinaryArray:
        """The batches with a COMMIT marker some batches after each transactional one; `transaction` is its group."""
        open_at = np.flatnonzero(transaction >= 0)
        order = np.argsort(np.concatenate([np.arange(len(sizes)), open_at + MARKER_DELAY + 0.5]), kind="stable")
        is_marker = order >= len(sizes)
        source = np.concatenate([np.arange(len(sizes)), open_at])[order]
        count = np.where(is_marker, 1, sizes[source])
        group = transaction[source]
        in_transaction = group >= 0
        headers = Headers(
            base_offset=self.offset + np.cumsum(count) - count,
            num_records=count,
            leader_epoch=(self.batch + np.arange(len(order))) // BATCHES_PER_EPOCH,
            attributes=np.where(is_marker, CONTROL, codec[source]) | np.where(in_transaction, TRANSACTIONAL, 0),
            time=time[source],
            max_time=time[source] + np.where(is_marker, 0, (count - 1) // 4),
            producer_id=np.where(in_transaction, FIRST_PRODUCER_ID + group, -1),
            # From 4.0 on a marker carries the next epoch of its producer.
            producer_epoch=np.where(in_transaction, np.where(is_marker, 1, 0), -1),
            base_sequence=np.where(is_marker, -1, 0),
        )
        self.offset += int(count.sum())
        self.batch += len(order)
        markers = pa.array([marker_body(0)], pa.binary())
        index = np.where(is_marker, len(sizes), source)
        return framed(headers, pa.concat_arrays([bodies, markers]).take(pa.array(index)))
