"""Whether a group reads, keeps up, catches up or falls behind in a bucket, and when it will have caught up."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from schemas.words.lag import EtaUnknown
from udfs.arrays.nullable import NONE, Flags, Numbers, first_of, integers

SECOND = 1_000_000
# What is usual shows in the bucket and in so much time before it.
BEFORE = 3_600 * SECOND
# A group is silent after so many times its usual time between two commits.
SILENCE_FACTOR = 10
USUAL_PERCENT = 95
# Cells whose lags of an hour are held side by side.
MOST_AT_ONCE = 4_096


@dataclass(frozen=True)
class Course:
    """How cells went, each a subject in a bucket; in the order of subjects and buckets. `times`, `lags`: at the begin
    of the bucket, at snapshots in it, and at its end (NaN: not known); `step_gap`: usual microseconds between two
    commits of a partition, `last_step`: when the group committed last; NONE: not known. Rates are by second."""

    subject: Numbers
    bucket: Numbers
    times: Numbers
    lags: np.ndarray
    consumed: np.ndarray
    produced: np.ndarray
    has_steps: Flags
    step_gap: Numbers
    last_step: Numbers
    is_doubtful: Flags

    @property
    def lag(self) -> np.ndarray:
        return self.lags[:, -1]

    @cached_property
    def net(self) -> np.ndarray:
        return np.asarray(self.consumed - self.produced)

    @cached_property
    def between_commits(self) -> np.ndarray:
        """Messages that are written between two commits: so many wait although nobody is late."""
        gap = np.where(self.step_gap == NONE, 0, self.step_gap)
        return np.asarray(np.nan_to_num(self.produced) * gap / SECOND)

    @cached_property
    def is_silent(self) -> Flags:
        """Messages waited for longer than the group usually takes to commit, and it committed nothing meanwhile."""
        begun, ended = self.times[:, 0], self.times[:, -1]
        since = np.where(self.step_gap == NONE, begun, ended - SILENCE_FACTOR * self.step_gap)[:, None]
        is_unknown = (self.step_gap == NONE) & self.has_steps
        is_early = (self.times <= since) & (self.times >= self.last_step[:, None]) & (self.times != NONE)
        # Since the last of these times, and at all that followed.
        first = np.where(is_early.any(axis=1), self.times.shape[1] - 1 - np.argmax(is_early[:, ::-1], axis=1), -1)
        is_later = np.arange(self.times.shape[1])[None, :] >= first[:, None]
        waits = np.where(is_later & ~np.isnan(self.lags), self.lags > 0, True).all(axis=1)
        waits &= self.lags[np.arange(len(first)), first] > 0
        return np.asarray((first >= 0) & waits & ~is_unknown)

    def trends(self, rows: Numbers) -> np.ndarray:
        """Why each of these cells has no ETA; empty: it has one. The last third of the lags in a bucket is recent; its
        others, and those of the time before, show what is usual."""
        own, times, number = self.known_lags(rows)
        place, third = np.arange(own.shape[1])[None, :], (-(-number // 3))[:, None]
        is_own, is_recent = place < number[:, None], place >= number[:, None] - third
        usual = np.sort(np.column_stack([*self.lags_before(rows), np.where(is_recent, np.nan, own)]), axis=1)
        number_usual = np.count_nonzero(~np.isnan(usual), axis=1)
        each, between = np.arange(len(rows)), self.between_commits[rows]
        high = usual[each, USUAL_PERCENT * (number_usual - 1) // 100] + between
        recent = np.sort(np.where(is_recent & is_own, own, np.nan), axis=1)
        middle, highest = recent[each, (third[:, 0] - 1) // 2], recent[each, third[:, 0] - 1]
        lowest_at_begin = np.where(place < third, own, np.inf).min(axis=1)
        is_lower = highest + between < lowest_at_begin
        is_reading = self.last_step[rows] > times[each, number - third[:, 0] - 1]
        return np.select(
            [
                (self.net[rows] > 0) & (is_lower | (self.lag[rows] > high)),
                middle <= high,
                is_reading,
            ],
            ["", EtaUnknown.KEEPS_UP.value, EtaUnknown.NOT_CATCHING_UP.value],
            EtaUnknown.NOT_READING.value,
        ).astype(object)

    def known_lags(self, rows: Numbers) -> tuple[np.ndarray, Numbers, Numbers]:
        """The known lags of the bucket of each cell and their times, in order, and how many they are: two or more. Of a
        single one, that at the end, follows by the rates what the lag was at the begin."""
        own, times = self.lags[rows], self.times[rows]
        order = np.argsort(np.isnan(own), axis=1, kind="stable")
        own, times = (np.take_along_axis(values, order, axis=1) for values in (own, times))
        number = np.count_nonzero(~np.isnan(own), axis=1)
        single = np.flatnonzero(number == 1)
        begun, ended = self.times[rows[single], 0], self.times[rows[single], -1]
        own[single, 1], times[single, 1] = own[single, 0], ended
        own[single, 0], times[single, 0] = own[single, 1] + self.net[rows[single]] * (ended - begun) / SECOND, begun
        number[single] = 2
        return own, times, number

    def lags_before(self, rows: Numbers) -> Iterator[np.ndarray]:
        """The lags of each cell's subject in the time before its bucket; NaN: not known."""
        for back in range(1, len(self.subject)):
            before = np.maximum(rows - back, 0)
            is_near = (rows >= back) & (self.subject[before] == self.subject[rows])
            is_near &= self.bucket[before] >= self.bucket[rows] - BEFORE
            if not is_near.any():
                return
            yield np.where(is_near[:, None], self.lags[before], np.nan)

    @cached_property
    def reason(self) -> np.ndarray:
        """Empty: it catches up."""
        reason = np.select(
            [
                self.is_doubtful,
                self.lag < 1,
                np.isnan(self.lag),
                self.is_silent,
                np.isnan(self.net),
                self.lag <= self.between_commits,
            ],
            [
                EtaUnknown.CLOCK_WENT_BACK.value,
                EtaUnknown.NOTHING_TO_READ.value,
                EtaUnknown.NO_SNAPSHOTS.value,
                EtaUnknown.NOT_READING.value,
                EtaUnknown.NO_SNAPSHOTS.value,
                EtaUnknown.KEEPS_UP.value,
            ],
            "",
        ).astype(object)
        asked = np.flatnonzero(reason == "")
        for begin in range(0, len(asked), MOST_AT_ONCE):
            rows = asked[begin : begin + MOST_AT_ONCE]
            reason[rows] = self.trends(rows)
        return reason

    def columns(self, lag: Numbers, rows: Numbers) -> dict[str, pa.Array]:
        """Of these cells. `lag`: of all, as whole numbers."""
        reason, lag = self.reason[rows], lag[rows]
        is_reading = (lag > 0) & (reason != EtaUnknown.NOT_READING.value)
        low = time_to_read(lag, self.consumed[rows], is_reading & (self.consumed[rows] > 0))
        high = time_to_read(lag, self.net[rows], reason == "")
        return {
            "eta_low_ms": integers(low),
            "eta_high_ms": integers(high),
            "eta_unknown_reason": pa.array(reason, pa.string(), mask=reason == ""),
        }


def steps_so_far(subject: Numbers, bucket: Numbers, gap: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
    """Of each cell its own gap between commits and its last commit, or those of the newest cell of the hour before it
    that has any."""
    place = np.arange(len(subject))
    begins = np.maximum.accumulate(np.where(first_of(subject), place, 0)) if len(place) else place
    return tuple(  # type: ignore[return-value]
        np.where(is_near, values[np.maximum(newest, 0)], NONE)
        for values in (gap, last)
        for newest in [np.maximum.accumulate(np.where(values != NONE, place, -1)) if len(place) else place]
        for is_near in [(newest >= begins) & (bucket[np.maximum(newest, 0)] >= bucket - BEFORE)]
    )


def time_to_read(lag: Numbers, per_s: np.ndarray, is_known: np.ndarray) -> Numbers:
    """Milliseconds. A rate of a message a century is none: what no number can hold is not known."""
    is_known = is_known & (per_s > 0)
    ms = np.where(is_known, lag / np.where(is_known, per_s, 1) * 1000, np.inf)
    return np.where(ms < 1 << 62, ms, NONE).astype(np.int64)
