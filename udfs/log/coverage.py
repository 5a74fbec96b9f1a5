"""Which offsets of an offsets partition are known: ranges that were read, and offsets in them without a record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.log.gaps import Gaps

Numbers = NDArray[np.int64]
# For records without a time: below every real time.
NO_TIME = np.iinfo(np.int64).min
# So many records show how often one comes.
NEWEST_TIMES = 200


@dataclass
class KnownSpan:
    """A part of the log that was read without holes; both ends included. Times are microseconds."""

    first_offset: int
    last_offset: int
    from_time: int | None = None
    to_time: int | None = None
    # The first record after the last gap.
    complete_from_offset: int | None = None
    complete_from_time: int | None = None
    num_records: int = 0
    has_transactions: bool = True
    # Records in batches and byte ranges that could not be read.
    damaged_records: int = 0


@dataclass
class Coverage:
    """The coverage so far. It grows with records in log order."""

    stretches: list[KnownSpan]
    gap_firsts: list[Numbers] = field(default_factory=list)
    gap_lasts: list[Numbers] = field(default_factory=list)
    # The last record read, and the largest time.
    last_offset: int | None = None
    last_time: int | None = None
    newest_times: Numbers = field(default_factory=lambda: np.empty(0, np.int64))

    def add(self, offsets: Numbers, times: Numbers, is_replayable: NDArray[np.bool_], is_plain: bool) -> None:
        """`offsets` are ascending and distinct. Records that cannot be decoded are covered, but what they say is
        unknown. `is_plain`: the source does not record producers."""
        if is_replayable.all():
            self.add_gaps(offsets, times)
        else:
            self.add_gaps(offsets[is_replayable], times[is_replayable])
        starts = np.searchsorted(offsets, [each.first_offset for each in self.stretches])
        stops = np.searchsorted(offsets, [each.last_offset for each in self.stretches], "right")
        for stretch, start, stop in zip(self.stretches, starts.tolist(), stops.tolist(), strict=True):
            if start < stop:
                self.add_to(stretch, times[start:stop], is_plain)

    def add_gaps(self, offsets: Numbers, times: Numbers) -> None:
        if not len(offsets):
            return
        before = -1 if self.last_offset is None else self.last_offset
        steps = np.diff(offsets, prepend=before)
        places = np.flatnonzero(steps > 1)
        self.gap_firsts.append(offsets[places] - steps[places] + 1)
        self.gap_lasts.append(offsets[places] - 1)
        known = times[times != NO_TIME]
        if len(known):
            self.last_time = max(int(known.max()), self.last_time or int(known.max()))
            self.newest_times = np.concatenate([self.newest_times, known[-NEWEST_TIMES:]])[-NEWEST_TIMES:]
        for stretch in self.stretches:
            after_gap = places[(offsets[places] >= stretch.first_offset) & (offsets[places] <= stretch.last_offset)]
            if len(after_gap):
                self.complete_from(stretch, offsets, times, int(after_gap[-1]))
            elif stretch.complete_from_offset is None:
                place = int(np.searchsorted(offsets, stretch.first_offset))
                if place < len(offsets) and offsets[place] <= stretch.last_offset:
                    self.complete_from(stretch, offsets, times, place)
        self.last_offset = int(offsets[-1])

    def complete_from(self, stretch: KnownSpan, offsets: Numbers, times: Numbers, place: int) -> None:
        time = int(times[place])
        stretch.complete_from_offset = int(offsets[place])
        stretch.complete_from_time = None if time == NO_TIME else time

    def add_to(self, stretch: KnownSpan, times: Numbers, is_plain: bool) -> None:
        stretch.num_records += len(times)
        stretch.has_transactions &= not is_plain
        known = times[times != NO_TIME]
        if len(known):
            low, high = int(known.min()), int(known.max())
            stretch.from_time = low if stretch.from_time is None else min(low, stretch.from_time)
            stretch.to_time = high if stretch.to_time is None else max(high, stretch.to_time)

    @property
    def usual_gap(self) -> int | None:
        """The median time between its newest records."""
        gaps = np.diff(self.newest_times)
        return int(np.median(np.maximum(gaps, 0))) if len(gaps) else None

    def gaps(self) -> Gaps:
        empty = np.empty(0, np.int64)
        firsts, lasts = (np.concatenate([empty, *parts]) for parts in (self.gap_firsts, self.gap_lasts))
        return Gaps(firsts.tolist(), lasts.tolist())

    def holes(self) -> list[tuple[int, int | None]]:
        """Where records are missing: the last offset before each hole, and the largest time up to there."""
        holes: list[tuple[int, int | None]] = []
        time: int | None = None
        for stretch in self.stretches[:-1]:
            if stretch.to_time is not None:
                time = stretch.to_time if time is None else max(time, stretch.to_time)
            holes.append((stretch.last_offset, time))
        return holes


def coverage_rows(cluster: str, partition: int, stretches: Sequence[KnownSpan]) -> list[dict[str, Any]]:
    """Rows of history_coverage. The last part may still grow."""
    return [
        {
            "cluster": cluster,
            "offsets_partition": partition,
            "first_offset": each.first_offset,
            "last_offset": each.last_offset,
            "complete_from_offset": each.complete_from_offset,
            "complete_from_time": each.complete_from_time,
            "from_time": each.from_time,
            "to_time": each.to_time,
            "num_records": each.num_records,
            "has_transactions": each.has_transactions,
            "compacted_records_estimate": num_compacted(each),
            "damaged_records": each.damaged_records,
            "is_provisional": place == len(stretches) - 1,
        }
        for place, each in enumerate(stretches)
    ]


def num_compacted(stretch: KnownSpan) -> int:
    """An upper bound: nothing else is known of these offsets."""
    return stretch.last_offset - stretch.first_offset + 1 - stretch.num_records - stretch.damaged_records
