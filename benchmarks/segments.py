"""Writes segment files of `__consumer_offsets` as brokers would, the same bytes for the same arguments.

`python -m benchmarks.segments DIR --records N --seed S [--partitions P] [--segment-bytes B] [--compressed-share X]
  [--shape mix|few-keys|many-keys]`
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.batches import offsets_and_data
from benchmarks.cast import make_cast, offsets_partition
from benchmarks.generations import snapshot
from benchmarks.lives import Lives, small_cast
from benchmarks.log import Log
from benchmarks.mixed_log import MixedLog
from benchmarks.shaped_log import ShapedLog
from benchmarks.shapes import MIX, SHAPES, Shape, groups_by_home, topics_of
from benchmarks.traffic import Traffic

GROUPS = 200
SNAPSHOTS = "snapshots.jsonl"


@dataclass(frozen=True)
class Plan:
    records: int
    seed: int = 1
    partitions: int = 4
    segment_bytes: int = 100 << 20
    compressed_share: float = 0.05
    # Groups whose records follow from each other, as a replay needs them; 0: the mix that decoders are measured with.
    lives: int = 0
    # Of SHAPES, which says how many partitions there are; None: the mix.
    shape: Shape | None = None


def write_segments(folder: Path, plan: Plan) -> list[Path]:
    """The files written, by partition and base offset. `plan.records` counts no transaction markers."""
    if plan.shape is None:
        return write_logs(folder, plan, *mixed_logs(plan))
    files = write_logs(folder, plan, *shaped_logs(plan, plan.shape))
    (folder / SNAPSHOTS).write_text(json.dumps(snapshot(topics_of(plan.shape, plan.seed))) + "\n")
    return files


def mixed_logs(plan: Plan) -> tuple[list[int], Iterator[tuple[int, Log]]]:
    """How many groups each partition has, and the logs of those that have any."""
    cast = small_cast(plan.seed, plan.lives) if plan.lives else make_cast(plan.seed, GROUPS)
    homes = np.array([offsets_partition(group.name, plan.partitions) for group in cast.groups])

    def log(partition: int) -> Log:
        rng = np.random.default_rng([plan.seed, partition])
        at_home = np.flatnonzero(homes == partition)
        traffic = Lives(cast, at_home, rng) if plan.lives else Traffic(cast, at_home, rng)
        return MixedLog(traffic, plan.compressed_share)

    return np.bincount(homes, minlength=plan.partitions).tolist(), (
        (each, log(each)) for each in sorted(set(homes.tolist()))
    )


def shaped_logs(plan: Plan, shape: Shape) -> tuple[list[int], Iterator[tuple[int, Log]]]:
    homes = groups_by_home(shape)
    counts = [len(homes.get(each, ())) for each in range(shape.offsets_partitions)]
    return counts, (
        (each, ShapedLog(shape, plan.seed, homes[each], each, plan.compressed_share)) for each in sorted(homes)
    )


def write_logs(folder: Path, plan: Plan, groups: Sequence[int], logs: Iterator[tuple[int, Log]]) -> list[Path]:
    """Each partition has as many records as its share of the groups is."""
    wanted = np.diff(np.round(np.cumsum([0, *groups]) / sum(groups) * plan.records).astype(int))
    files = []
    for partition, log in logs:
        home = folder / f"__consumer_offsets-{partition}"
        home.mkdir(parents=True, exist_ok=True)
        files += write_log(home, log.runs(int(wanted[partition])), plan.segment_bytes)
    return files


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
    parser.add_argument("--shape", choices=(MIX, *SHAPES), default=MIX, help="which has its own number of partitions")
    options = parser.parse_args(arguments)
    shape = SHAPES.get(options.shape)
    plan = Plan(
        options.records, options.seed, options.partitions, options.segment_bytes, options.compressed_share, shape=shape
    )
    for file in write_segments(options.folder, plan):
        sys.stdout.write(f"{file} {file.stat().st_size}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
