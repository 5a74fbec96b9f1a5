"""The time that drawings of one group have in common, from left to right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import ceil, floor

from jobs.output.zones import ZONES, instants, local_time, moved
from jobs.reporting.drawings.svg import GUTTER, WIDTH, Svg, join, text, upright

# Seconds between two ticks.
STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 2 * 86_400,
    7 * 86_400, 14 * 86_400, 30 * 86_400, 90 * 86_400, 365 * 86_400,
)  # fmt: skip
MOST_TICKS = 8
DAY = 86_400
EPOCH = datetime(1970, 1, 1)  # as clocks show it
HEIGHT = 22
RIGHT = WIDTH - 10


@dataclass(frozen=True)
class TimeAxis:
    start: datetime
    end: datetime

    @cached_property
    def seconds(self) -> float:
        return max((self.end - self.start).total_seconds(), 0.001)

    def x(self, time: datetime | None) -> float:
        """An interval without an end continues to the edge; times outside are cut off there."""
        if time is None:
            return float(RIGHT)
        share = (time - self.start).total_seconds() / self.seconds
        return GUTTER + (RIGHT - GUTTER) * min(1.0, max(0.0, share))

    def shows(self, start: datetime | None, end: datetime | None) -> bool:
        return (start is None or start <= self.end) and (end is None or end >= self.start)

    @cached_property
    def places(self) -> Sequence[tuple[float, str]]:
        """Of the ticks, and what is written there: the same in all drawings."""
        return [(self.x(tick), label) for tick, label in self.ticks()]

    def ticks(self) -> Iterator[tuple[datetime, str]]:
        step = next((each for each in STEPS if self.seconds / each <= MOST_TICKS), STEPS[-1])
        # Full hours and days of the zone's clocks, without those that a change of the clocks skips.
        walls = (local_time(each).replace(tzinfo=None) for each in (self.start, self.end))
        first, last = ((wall - EPOCH) / timedelta(seconds=step) for wall in walls)
        for number in range(ceil(first), floor(last) + 1):
            tick = EPOCH + timedelta(seconds=number * step)
            for at in instants(tick, ZONES.printed)[:1]:
                yield at, f"{tick:%Y-%m-%d}" if step >= DAY else f"{tick:%H:%M:%S}" if step < 60 else f"{tick:%H:%M}"

    def draw(self, height: float) -> Svg:
        """Lines in the background of the rows, and their times below."""
        lines = [upright(x, 0, height, "grid") for x, _ in self.places]
        words = [text(label, x, height + 15, "tick", "middle") for x, label in self.places]
        return join([*lines, *words])


def axis_of(times: list[datetime], until: datetime | None) -> TimeAxis | None:
    """From the first time to the as-of of the report, with a little room at either end. None: no time is known."""
    known = [*times, *([until] if until is not None else [])]
    if not known:
        return None
    start, end = min(known), max(known)
    room = max((end - start) * 0.01, timedelta(milliseconds=50))
    return TimeAxis(moved(start, -room), moved(end, room))
