"""Times at which records and snapshots cannot be compared, because the clock that wrote the log went back.

A record that is more than a second older than an earlier record shows that a clock was wrong, but not which one: that
of the earlier records, or its own. So every time is in doubt from the last earlier record that is older, to the first
later record that is newer than all before it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.groups.states.group import CLOCK_STEP_US

STILL = np.iinfo(np.int64).max
# Looks at this many records first, then at twice as many each time: the record is usually near.
FIRST_LOOK = 1024


@dataclass(frozen=True)
class Doubt:
    """The times between `begin` and `end`, without these two. NONE as the begin: since the log begins. STILL as the
    end: the clock has not caught up yet. `last_offset`: of the newest record that shows it."""

    begin: int
    end: int
    last_offset: int

    def holds_at(self, times: Numbers) -> Flags:
        return np.asarray((times > self.begin) & (times < self.end) & (times != NONE), np.bool_)

    def overlaps(self, begins: Numbers, ends: Numbers) -> Flags:
        return np.asarray((begins < self.end) & (ends > self.begin), np.bool_)


@dataclass(frozen=True)
class DoubtfulTimes:
    doubts: tuple[Doubt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.doubts)

    def at(self, times: Numbers) -> Flags:
        is_doubtful = np.zeros(len(times), np.bool_)
        for each in self.doubts:
            is_doubtful |= each.holds_at(times)
        return is_doubtful

    def within(self, begins: Numbers, ends: Numbers) -> Flags:
        """Whether any time between begin and end is in doubt."""
        is_doubtful = np.zeros(len(begins), np.bool_)
        for each in self.doubts:
            is_doubtful |= each.overlaps(begins, ends)
        return is_doubtful

    def without(self, times: Numbers) -> Numbers:
        """The times, with NONE for those in doubt."""
        return np.where(self.at(times), NONE, times) if self else times

    def touched_keys(self, keys: Numbers, *columns: Numbers, size: int) -> Iterator[tuple[Doubt, Flags]]:
        """Each doubt with the keys that have a row with a time in it. A value that is in force during the whole doubt
        is certain."""
        for each in self.doubts:
            is_touched = np.zeros(size, np.bool_)
            for times in columns:
                is_touched[keys[each.holds_at(times)]] = True
            yield each, is_touched


def doubtful_times(offsets: Numbers, times: Numbers) -> DoubtfulTimes:
    """The doubts of records in log order. Overlapping ones become one."""
    offsets, times = offsets[times != NONE], times[times != NONE]
    if not len(times):
        return DoubtfulTimes()
    latest = np.maximum.accumulate(times)
    steps = np.flatnonzero(times < latest - CLOCK_STEP_US)
    doubts: list[Doubt] = []
    reached = 0
    for step in steps.tolist():
        if step < reached:
            continue
        # Until the clock has caught up everything is one doubt, even if the clock goes back again.
        reached = int(np.searchsorted(latest, latest[step], side="right"))
        is_over = reached < len(times)
        begin = newest_below(times[:step], int(times[step:reached].min()))
        while doubts and begin < doubts[-1].end:
            begin = min(begin, doubts.pop().begin)
        doubts.append(
            Doubt(begin, int(times[reached]) if is_over else STILL, int(offsets[min(reached, len(times) - 1)]))
        )
    return DoubtfulTimes(tuple(doubts))


def newest_below(times: Numbers, bound: int) -> int:
    """The last of these times that is below the bound; NONE if there is none."""
    size = FIRST_LOOK
    while True:
        places = np.flatnonzero(times[-size:] < bound)
        if len(places) or size >= len(times):
            return int(times[-size:][places[-1]]) if len(places) else NONE
        size *= 2


@dataclass
class ClockWatch:
    """Looks at records part by part, and remembers only whether the clock went back, or may have."""

    last_offset: int = -1
    latest: int = NONE
    has_gone_back: bool = False

    def look_at(self, offsets: Numbers, times: Numbers) -> None:
        offsets, times = offsets[times != NONE], times[times != NONE]
        if not len(times) or self.has_gone_back:
            return
        is_in_order = int(offsets[0]) > self.last_offset and bool((np.diff(offsets) > 0).all())
        latest = np.maximum.accumulate(np.append(self.latest, times))[1:]
        self.has_gone_back = not is_in_order or bool((times < latest - CLOCK_STEP_US).any())
        self.last_offset, self.latest = int(offsets[-1]), int(latest[-1])
