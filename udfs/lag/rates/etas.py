"""Whether a group reads, keeps up, catches up or falls behind in a bucket, and when it will have caught up."""

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

    @cached_property
    def lag(self) -> np.ndarray:
        return np.where(self.is_doubtful, np.nan, self.lags[:, -1])

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

    def trend(self, row: int) -> str:
        """Why the cell has no ETA; empty: it has one. The last third of the lags in the bucket is recent; its others,
        and those of the time before, show what is usual."""
        is_known = ~np.isnan(self.lags[row])
        times, own = self.times[row][is_known], self.lags[row][is_known]
        if len(own) == 1:
            seen = (self.times[row, -1] - self.times[row, 0]) / SECOND
            times, own = np.append(self.times[row, 0], times), np.append(own + self.net[row] * seen, own)
        third = -(-len(own) // 3)
        recent = np.sort(own[-third:])
        usual = np.sort(np.append(self.lags_before(row), own[:-third]))
        high = usual[USUAL_PERCENT * (len(usual) - 1) // 100] + self.between_commits[row]
        is_lower = recent[-1] + self.between_commits[row] < own[:third].min()
        if self.net[row] > 0 and (is_lower or own[-1] > high):
            return ""
        if recent[(third - 1) // 2] <= high:
            return EtaUnknown.KEEPS_UP.value
        is_reading = self.last_step[row] > times[-third - 1]
        return (EtaUnknown.NOT_CATCHING_UP if is_reading else EtaUnknown.NOT_READING).value

    def lags_before(self, row: int) -> np.ndarray:
        """The subject's lags in the time before the bucket."""
        first = row
        while first and self.subject[first - 1] == self.subject[row]:
            if self.bucket[first - 1] < self.bucket[row] - BEFORE:
                break
            first -= 1
        earlier = self.lags[first:row]
        return np.asarray(earlier[~np.isnan(earlier)])

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
        for row in np.flatnonzero(reason == "").tolist():
            reason[row] = self.trend(row)
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
