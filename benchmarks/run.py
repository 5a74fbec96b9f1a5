"""What every measure is given, and the input that measures share."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.segments import Plan, write_segments
from benchmarks.shapes import MIX, SHAPES
from udfs.arrays.slices import PADDING
from udfs.framing.frame import frame
from udfs.framing.log_bytes.framed_records import Records

ONE_FILE = 1 << 40
# Of a mix whose records follow from each other.
RECORDS_PER_GROUP = 500


@dataclass(frozen=True)
class Run:
    """`records` is None when each measure takes the size that its figure speaks of."""

    folder: Path
    rounds: int
    records: int | None = None
    seed: int = 1
    written: dict[Plan, list[Path]] = field(default_factory=dict)
    # Every cell of a grid, not only enough of them for a first look.
    whole: bool = False
    # Of the log, instead of that which each figure speaks of.
    shape: str | None = None
    # Of the logs that are hard to split, only this one.
    skew: str | None = None

    def segments(
        self,
        records: int,
        *,
        partitions: int = 1,
        segment_bytes: int = ONE_FILE,
        compressed_share: float = 0.0,
        follow_up: bool = False,
        shape: str = MIX,
    ) -> list[Path]:
        """`follow_up`: the records of a group follow from each other, as a replay needs them, in the mix too."""
        records = self.records or records
        log_shape = SHAPES.get(self.shape or shape)
        if log_shape is not None:
            # A log of one partition keeps one partition.
            log_shape = replace(log_shape, offsets_partitions=1) if partitions == 1 else log_shape
            plan = Plan(records, self.seed, 0, segment_bytes, compressed_share, shape=log_shape)
        else:
            lives = records // RECORDS_PER_GROUP if follow_up else 0
            plan = Plan(records, self.seed, partitions, segment_bytes, compressed_share, lives)
        if plan not in self.written:
            self.written[plan] = write_segments(self.folder / f"plan-{len(self.written)}", plan)
        return self.written[plan]

    @cached_property
    def million(self) -> "InMemory":
        return in_memory(self.segments(1_000_000)[0])


@dataclass(frozen=True)
class InMemory:
    """A segment's records without markers, all over one buffer."""

    segment: Path
    records: Records

    @cached_property
    def commits(self) -> Records:
        keys, values = self.records.keys, self.records.values
        return self.records.take(np.flatnonzero((keys.data[keys.start + 1] == 1) & (values.length >= 0)))


def in_memory(segment: Path) -> InMemory:
    size = segment.stat().st_size
    data = np.zeros(size + PADDING, np.uint8)
    with segment.open("rb") as file:
        file.readinto(data.data[:size])
    framed = frame(data, size)
    if framed.consumed != size or framed.rejected:
        raise RuntimeError(f"{segment}: {framed.consumed} of {size} bytes read, {framed.rejected[:1]}")
    return InMemory(segment, framed.records.take(np.flatnonzero(~framed.records.is_control)))
