"""One offsets partition's log of the mix: batches of any size, transactions and compression among them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.batches import compressed, record_bodies
from benchmarks.byte_columns import joined_groups
from benchmarks.log import BATCHES_AT_ONCE, FIRST_TIME, MS_PER_BATCH, Log
from benchmarks.traffic import COMMIT, Numbers, Traffic

LARGEST_BATCH = 20
# Of the batches that hold nothing but commits; they are four in ten.
TRANSACTIONAL_SHARE = 0.08


class MixedLog(Log):
    def __init__(self, traffic: Traffic, compressed_share: float) -> None:
        super().__init__(traffic.rng, compressed_share)
        self.traffic = traffic

    def runs(self, records: int) -> Iterator[pa.BinaryArray]:
        while records:
            sizes = self.rng.integers(1, LARGEST_BATCH + 1, BATCHES_AT_ONCE)
            ends = np.minimum(np.cumsum(sizes), records)
            sizes = np.diff(ends, prepend=0)
            sizes = sizes[sizes > 0]
            records -= int(sizes.sum())
            yield self.run(sizes)

    def run(self, sizes: Numbers) -> pa.BinaryArray:
        owner = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kind = self.traffic.kinds(len(owner))
        is_transactional = self.transactional(kind, sizes)
        group = self.groups(owner, sizes, is_transactional)
        batch_time = FIRST_TIME + (self.batch + np.arange(len(sizes))) * MS_PER_BATCH
        # A coordinator lingers for a few milliseconds to fill a batch.
        delta = place // 4
        records = self.traffic.records(batch_time[owner] + delta, kind, group)
        codec = self.codecs(len(sizes))
        bodies = compressed(joined_groups(record_bodies(records, place, delta), sizes), codec)
        first_group = group[np.cumsum(sizes) - sizes]
        return self.with_markers(bodies, sizes, batch_time, codec, np.where(is_transactional, first_group, -1))

    def transactional(self, kind: Numbers, sizes: Numbers) -> NDArray[np.bool_]:
        only_commits = np.logical_and.reduceat(kind == COMMIT, np.cumsum(sizes) - sizes)
        return only_commits & (self.rng.random(len(sizes)) < TRANSACTIONAL_SHARE)

    def groups(self, owner: Numbers, sizes: Numbers, is_transactional: NDArray[np.bool_]) -> Numbers:
        """Lingering mixes groups in a batch, but a transactional batch is one request of one group."""
        group = self.traffic.groups[self.rng.integers(0, len(self.traffic.groups), len(owner))]
        return np.where(is_transactional[owner], group[(np.cumsum(sizes) - sizes)[owner]], group)
