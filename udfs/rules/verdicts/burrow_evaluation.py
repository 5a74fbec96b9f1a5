"""Burrow's evaluation: computes the verdict of each partition from its window of commits, and of each group from its
partitions.

The rules are those of linkedin/Burrow's caching evaluator, including its faults, so that both tools give the same
answer."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.words.lag import BurrowRule, LagVerdict
from udfs.arrays.capped import capped_differences
from udfs.arrays.nullable import Flags, Numbers

Words = NDArray[np.object_]
# Below every offset and time.
UNKNOWN_LAG = np.iinfo(np.int64).min
NO_END = np.iinfo(np.int64).max

# From the best to the worst, as Burrow numbers them: a group has the worst verdict of its partitions. UNKNOWN, which
# Burrow does not have, hides no worse verdict and no OK hides it; DOWN is only of our own.
IN_ORDER = (
    LagVerdict.OK, LagVerdict.UNKNOWN, LagVerdict.WARN, LagVerdict.ERR, LagVerdict.STOP, LagVerdict.STALL,
    LagVerdict.REWIND, LagVerdict.DOWN,
)  # fmt: skip
VERDICT_OF = {
    BurrowRule.NO_END_OFFSETS: LagVerdict.UNKNOWN,
    BurrowRule.LOG_ENDED: LagVerdict.UNKNOWN,
    BurrowRule.NO_COMMITS: LagVerdict.OK,
    BurrowRule.INCOMPLETE: LagVerdict.OK,
    BurrowRule.LAG_ALLOWED: LagVerdict.OK,
    BurrowRule.SILENT: LagVerdict.STOP,
    BurrowRule.WENT_BACK: LagVerdict.REWIND,
    BurrowRule.LAG_WAS_ALLOWED: LagVerdict.OK,
    BurrowRule.SAME_OFFSET: LagVerdict.STALL,
    BurrowRule.NEVER_FELL: LagVerdict.WARN,
    BurrowRule.NOTHING_ELSE: LagVerdict.OK,
}


def severity(verdict: LagVerdict) -> int:
    return IN_ORDER.index(verdict)


@dataclass(frozen=True)
class BurrowRules:
    """Burrow's own settings, in seconds as there. The patterns are searched for in group ids; empty: none."""

    intervals: int = 10
    expire_group_s: int = 604_800
    minimum_complete: float = 0.0
    allowed_lag: int = 0
    min_distance_s: int = 0
    allowed_groups: str = ""
    denied_groups: str = ""

    def oldest_ms(self, now_s: int) -> int:
        """Commits before this time do not count."""
        return (now_s - self.expire_group_s) * 1000

    def admit(self, group_id: str) -> bool:
        if self.allowed_groups and not re.search(self.allowed_groups, group_id):
            return False
        return not (self.denied_groups and re.search(self.denied_groups, group_id))


@dataclass(frozen=True)
class Windows:
    """A row for each partition of a group, with `intervals` columns; the newest entry is in the last column, and only
    the last `sizes` columns count. `ends`: the newest polled ends likewise, NO_END where there are fewer."""

    offsets: Numbers
    times_ms: Numbers
    lags: Numbers
    sizes: Numbers
    ends: Numbers
    # Commits were dropped because no end of the partition was known when they came.
    lacks_ends: Flags

    @property
    def num_rows(self) -> int:
        return len(self.sizes)

    @property
    def intervals(self) -> int:
        return int(self.offsets.shape[1])

    def are_entries(self) -> Flags:
        return np.asarray(np.arange(self.intervals) >= self.intervals - self.sizes[:, None])

    def complete(self) -> NDArray[np.float64]:
        return np.asarray(self.sizes / self.intervals)

    def current_lags(self) -> Numbers:
        """0 without a commit, and where the newest end is below the newest commit."""
        lags = lags_of(self.ends[:, -1], self.offsets[:, -1])
        return np.where((self.sizes == 0) | (self.ends[:, -1] == NO_END), 0, lags)


def lags_of(ends: Numbers, offsets: Numbers) -> Numbers:
    """Offsets may be negative."""
    return np.maximum(capped_differences(ends, offsets), 0)


def partition_rules(windows: Windows, rules: BurrowRules, now_s: int) -> Words:
    """The first rule that matches, of each row."""
    newest_time, newest_offset = windows.times_ms[:, -1], windows.offsets[:, -1]
    oldest_time = windows.times_ms[np.arange(windows.num_rows), windows.intervals - np.maximum(windows.sizes, 1)]
    is_silent = now_s * 1000 - newest_time > newest_time - oldest_time
    known_lags = windows.are_entries() & (windows.lags != UNKNOWN_LAG)
    conditions = {
        BurrowRule.NO_END_OFFSETS: windows.lacks_ends & (windows.sizes == 0),
        BurrowRule.NO_COMMITS: windows.sizes == 0,
        BurrowRule.INCOMPLETE: windows.complete() < rules.minimum_complete,
        BurrowRule.LAG_ALLOWED: windows.current_lags() <= rules.allowed_lag,
        BurrowRule.SILENT: is_silent & ~(windows.ends <= newest_offset[:, None]).any(axis=1),
        BurrowRule.WENT_BACK: went_back(windows),
        BurrowRule.LAG_WAS_ALLOWED: (known_lags & (windows.lags <= rules.allowed_lag)).any(axis=1),
        BurrowRule.SAME_OFFSET: ((windows.offsets == newest_offset[:, None]) | ~windows.are_entries()).all(axis=1),
        BurrowRule.NEVER_FELL: ~lag_fell(windows.lags, known_lags),
    }
    decided = np.full(windows.num_rows, BurrowRule.NOTHING_ELSE, object)
    for rule, is_met in reversed(conditions.items()):
        decided[is_met] = rule
    return decided


def confirmed_rules(decided: Words, windows: Windows, now_s: int, log_until_s: int, least_gap_s: int) -> Words:
    """Burrow reads the live log. Where ours is not known up to now, its STOP stands when the silence that is known
    lasts long enough, and no alarm does when more time is unknown than `least_gap_s` or the window lasts."""
    newest_time = windows.times_ms[:, -1]
    oldest_time = windows.times_ms[np.arange(windows.num_rows), windows.intervals - np.maximum(windows.sizes, 1)]
    span = newest_time - oldest_time
    is_heard = log_until_s * 1000 - newest_time > span
    is_near = (now_s - log_until_s) * 1000 <= np.maximum(span, least_gap_s * 1000)
    is_alarm = np.array([VERDICT_OF[rule] not in (LagVerdict.OK, LagVerdict.UNKNOWN) for rule in decided], np.bool_)
    is_open = is_alarm & ~(is_near & (is_heard | (decided != BurrowRule.SILENT)))
    return np.where(is_open, BurrowRule.LOG_ENDED, decided)


def went_back(windows: Windows) -> Flags:
    """Only the first step back counts: whether no entry from it on reaches the offset before it again."""
    entries = windows.are_entries()
    before = np.full(windows.num_rows, UNKNOWN_LAG)  # the offset before the first step back, once it is reached
    is_back = np.zeros(windows.num_rows, np.bool_)
    has_recovered = np.zeros(windows.num_rows, np.bool_)
    for place in range(1, windows.intervals):
        offset, previous = windows.offsets[:, place], windows.offsets[:, place - 1]
        is_first_step = entries[:, place - 1] & (offset < previous) & ~is_back
        before = np.where(is_first_step, previous, before)
        is_back |= is_first_step
        has_recovered |= is_back & (offset >= before)
    return np.asarray(is_back & ~has_recovered)


def lag_fell(lags: Numbers, is_known: Flags) -> Flags:
    """Whether a known lag is below the known one before it."""
    fell = np.zeros(len(lags), np.bool_)
    last = np.full(len(lags), UNKNOWN_LAG)
    for place in range(lags.shape[1]):
        fell |= is_known[:, place] & (lags[:, place] < last)
        last = np.where(is_known[:, place], lags[:, place], last)
    return fell


def group_rule(partition_verdicts: list[LagVerdict], *, is_known: bool) -> tuple[LagVerdict, BurrowRule]:
    """Of a group with these partitions. `is_known`: it has a commit within expire-group."""
    worst = max({*partition_verdicts}, key=severity, default=LagVerdict.OK)
    if not is_known:
        # Commits that only lacked an end are no proof that the group is gone.
        return (
            (LagVerdict.UNKNOWN, BurrowRule.NO_END_OFFSETS)
            if worst == LagVerdict.UNKNOWN
            else (LagVerdict.NOTFOUND, BurrowRule.NO_GROUP)
        )
    is_error = severity(worst) > severity(LagVerdict.ERR)
    return LagVerdict.ERR if is_error else worst, BurrowRule.WORST_PARTITION
