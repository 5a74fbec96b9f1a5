"""Writes segment files of `__consumer_offsets` as brokers would, the same bytes for the same arguments.

`python -m benchmarks.segments DIR --records N --seed S [--partitions P] [--segment-bytes B] [--compressed-share X]`
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.batches import (
    CONTROL,
    MARKER_DELAY,
    TRANSACTIONAL,
    Headers,
    compressed,
    framed,
    marker_body,
    offsets_and_data,
    record_bodies,
)
from benchmarks.byte_columns import joined_groups
from benchmarks.cast import make_cast, offsets_partition
from benchmarks.lives import Lives, small_cast
from benchmarks.traffic import COMMIT, Numbers, Traffic

GROUPS = 200
LARGEST_BATCH = 20
BATCHES_AT_ONCE = 20_000
FIRST_TIME = 1_700_000_000_000
MS_PER_BATCH = 25
BATCHES_PER_EPOCH = 30_000
# Of the batches that hold nothing but commits; they are four in ten.
TRANSACTIONAL_SHARE = 0.08
FIRST_PRODUCER_ID = 4000


@dataclass(frozen=True)
class Plan:
    records: int
    seed: int = 1
    partitions: int = 4
    segment_bytes: int = 100 << 20
    compressed_share: float = 0.05
    # Groups whose records follow from each other, as a replay needs them; 0: the mix that decoders are measured with.
    lives: int = 0


def write_segments(folder: Path, plan: Plan) -> list[Path]:
    """The files written, by partition and base offset. `plan.records` counts no transaction markers."""
    cast = small_cast(plan.seed, plan.lives) if plan.lives else make_cast(plan.seed, GROUPS)
    homes = np.array([offsets_partition(group.name, plan.partitions) for group in cast.groups])
    shares = np.bincount(homes, minlength=plan.partitions) / len(homes)
    wanted = np.diff(np.round(np.concatenate([[0], np.cumsum(shares)]) * plan.records).astype(int))
    files = []
    for partition in np.flatnonzero(wanted):
        rng = np.random.default_rng([plan.seed, int(partition)])
        at_home = np.flatnonzero(homes == partition)
        traffic = Lives(cast, at_home, rng) if plan.lives else Traffic(cast, at_home, rng)
        log = Log(traffic, plan.compressed_share)
        home = folder / f"__consumer_offsets-{partition}"
        home.mkdir(parents=True, exist_ok=True)
        files += write_log(home, log.runs(int(wanted[partition])), plan.segment_bytes)
    return files


class Log:
    """One partition's log, written a few thousand batches at a time."""

    def __init__(self, traffic: Traffic, compressed_share: float) -> None:
        self.traffic, self.rng, self.compressed_share = traffic, traffic.rng, compressed_share
        self.offset = self.batch = 0

    def runs(self, records: int) -> Iterator[pa.BinaryArray]:
        """That many records as batches, some thousands of them at a time."""
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
        codec = np.where(self.rng.random(len(sizes)) < self.compressed_share, self.rng.integers(1, 5, len(sizes)), 0)
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

    def with_markers(
        self, bodies: pa.BinaryArray, sizes: Numbers, time: Numbers, codec: Numbers, transaction: Numbers
    ) -> pa.BinaryArray:
        """The batches with a COMMIT marker some batches behind each transactional one; `transaction` is its group."""
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


def write_log(home: Path, runs: Iterator[pa.BinaryArray], segment_bytes: int) -> list[Path]:
    """Batches into files named by their first offset; when the next batch does not fit, the next file begins."""
    files: list[Path] = []
    room = 0
    for batches in runs:
        bounds, data = offsets_and_data(batches)
        start = 0
        while start < len(batches):
            end = int(np.searchsorted(bounds, bounds[start] + room, side="right")) - 1
            if end == start:
                base_offset = int.from_bytes(data[bounds[start] : bounds[start] + 8], "big")
                files.append(home / f"{base_offset:020}.log")
                files[-1].write_bytes(b"")
                room = max(segment_bytes, int(bounds[start + 1] - bounds[start]))
                continue
            with files[-1].open("ab") as file:
                file.write(data[bounds[start] : bounds[end]])
            room -= int(bounds[end] - bounds[start])
            start = end
    return files


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.segments")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, required=True)
    for name in ("seed", "partitions", "segment_bytes"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(Plan, name))
    parser.add_argument("--compressed-share", type=float, default=Plan.compressed_share)
    given = parser.parse_args(arguments)
    plan = Plan(given.records, given.seed, given.partitions, given.segment_bytes, given.compressed_share)
    for file in write_segments(given.folder, plan):
        sys.stdout.write(f"{file} {file.stat().st_size}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
