"""Cuts the offsets of a live log that an ingest reads into ranges that take about the same time.

Only the log shows how many bytes are between two offsets: after compaction it may be few or none. So the plan reads a
little of the log at each cut.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from udfs.log.offset_ranges import Range

# A range with fewer offsets is not cut.
LEAST_OFFSETS = 1 << 16
RANGE_BYTES = 32 << 20
# A range may become this many times larger than planned, if the log after its beginning is denser than before.
MOST_TIMES = 4


@dataclass(frozen=True)
class Sample:
    """Batches at an offset: where the first begins, where the last ends, and their total size in bytes."""

    first: int
    end: int
    size: int

    def density(self, offset: int) -> float:
        """Bytes per offset, including missing offsets before the first batch."""
        return self.size / max(self.end - offset, 1)


@dataclass(frozen=True)
class Cut:
    """Offsets from `start` to below `end`, about `size` bytes."""

    start: int
    end: int
    size: int


Look = Callable[[int], Sample]


def lacking(known: Iterable[Range], start: int, end: int) -> Iterator[Range]:
    """The offsets from `start` to below `end` that are in none of the ranges. Ranges, also those returned, are first
    and last offsets."""
    position = start
    for first, last in sorted(known):
        if first > position and position < end:
            yield position, min(first, end) - 1
        position = max(position, last + 1)
    if position < end:
        yield position, end - 1


def without(ranges: Iterable[Range], taken: Sequence[Range]) -> Iterator[Range]:
    """The parts of the ranges that are in none of those taken."""
    for first, last in ranges:
        yield from lacking([each for each in taken if each[0] <= last and first <= each[1]], first, last + 1)


def cuts(start: int, end: int, bytes_per_offset: int, look: Look) -> Iterator[Cut]:
    """A log is denser after the part that was compacted, so the plan looks at both ends of a range."""
    if end - start <= LEAST_OFFSETS:
        yield Cut(start, end, (end - start) * bytes_per_offset)
        return
    here = look(start)
    while start < end:
        width = max(int(RANGE_BYTES / max(here.density(start), RANGE_BYTES / (end - start))), LEAST_OFFSETS)
        while True:
            place = min(start + width, max(end - LEAST_OFFSETS, start))
            there = look(place)
            density = max(here.density(start), there.density(place))
            if width <= LEAST_OFFSETS or density * min(width, end - start) <= MOST_TIMES * RANGE_BYTES:
                break
            width = max(width // 2, LEAST_OFFSETS)
        if start + width + LEAST_OFFSETS >= end:
            yield Cut(start, end, int(density * (end - start)))
            return
        # Between two batches, so that none is read twice.
        stop = there.first if start < there.first < place else place
        yield Cut(start, stop, int((here.density(start) + there.density(place)) / 2 * (stop - start)))
        start, here = stop, there
