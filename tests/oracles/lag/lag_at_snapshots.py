"""The slow reading of lag: one snapshot, one group, one partition after the other, with dictionaries. Written from the
rules of lag alone; what it says is what the fast reading has to say. Times are microseconds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

Row = dict[str, Any]
# Topic and partition.
Place = tuple[str, int]
LOOKBACK = 30 * 86_400_000_000


@dataclass(frozen=True)
class Captured:
    """A partition in a snapshot; `end` None: the snapshot does not say."""

    topic_id: str | None
    start: int | None
    end: int | None


@dataclass
class SlowLag:
    """Rows as tables have them, in the order of the log; `snapshots` by time."""

    offsets: Sequence[Row] = ()
    owners: Sequence[Row] = ()
    # With `group_id, topics, from_time, to_time`.
    subscriptions: Sequence[Row] = ()
    snapshots: dict[int, dict[Place, Captured]] = field(default_factory=dict)
    # Of the records of the log, in its order.
    record_times: Sequence[int] = ()

    def rows(self) -> Iterator[Row]:
        for at in sorted(self.snapshots):
            for group, topic, partition in sorted(self.subjects(at)):
                yield self.row(at, group, (topic, partition))

    def subjects(self, at: int) -> set[tuple[str, str, int]]:
        rows = {(row["group_id"], row["topic"], row["partition"]) for row in self.offsets if holds(row, at)}
        rows |= {(row["group_id"], row["topic"], row["partition"]) for row in self.reading(at)}
        captured = {place for place, each in self.snapshots[at].items() if each.end is not None}
        for row in self.subscriptions:
            if holds(row, at):
                rows |= {(row["group_id"], *place) for place in captured if place[0] in row["topics"]}
        return rows

    def reading(self, at: int) -> list[Row]:
        return [
            row
            for row in self.owners
            if holds(row, at) and row["group_type"] != "share" and row["role"] in (None, "active")
        ]

    def row(self, at: int, group: str, place: Place) -> Row:
        commit = newest([row for row in self.of(self.offsets, group, place) if holds(row, at)])
        owner = newest(self.of(self.reading(at), group, place))
        newest_time = self.newest_time(at, place)
        captured = None if newest_time is None else self.snapshots[newest_time][place]
        is_other_topic = self.is_other_topic(newest_time, place, commit)
        reason = self.reason(at, group, place, commit, captured, is_other_topic)
        end = captured.end if captured and not is_other_topic else None
        start = captured.start if captured and not is_other_topic else None
        value = commit["committed_offset"] if commit else None
        lag = end - value if reason is None and end is not None and value is not None else None
        has_start = lag is not None and start is not None
        return {
            "snapshot_time": at,
            "group_id": group,
            "topic": place[0],
            "topic_id": self.topic_id(at, newest_time, place, commit, owner),
            "partition": place[1],
            "committed_offset": value,
            "log_start_offset": start,
            "log_end_offset": end,
            "lag_raw": lag,
            "lag": None if lag is None else max(lag, 0),
            "lag_available": max(end - max(value, start), 0) if has_start else None,
            "lost_messages": max(start - value, 0) if has_start else None,
            "no_commit": reason == "no_commit",
            "committed_beyond_end": lag is not None and lag < 0,
            "committed_negative": value is not None and value < 0,
            "snapshot_age_ms": None if newest_time is None else (at - newest_time) // 1000,
            "owner_member_id": owner["member_id"] if owner else None,
            "unknown_reason": reason,
            **self.time_lag(at, place, newest_time, lag, max(value, start) if has_start else value),
        }

    def of(self, rows: Sequence[Row], group: str, place: Place) -> list[Row]:
        return [row for row in rows if (row["group_id"], row["topic"], row["partition"]) == (group, *place)]

    def newest_time(self, at: int, place: Place) -> int | None:
        known = [time for time in self.snapshots if at - LOOKBACK <= time <= at and self.has_end(time, place)]
        return max(known, default=None)

    def has_end(self, time: int, place: Place) -> bool:
        captured = self.snapshots[time].get(place)
        return captured is not None and captured.end is not None

    def is_other_topic(self, until: int | None, place: Place, commit: Row | None) -> bool:
        """Whether the commit is of another topic than the snapshot until then, or may be."""
        if commit is None or until is None:
            return False
        named = [(time, self.snapshots[time][place].topic_id) for time in sorted(self.snapshots)
                 if time <= until and self.has_end(time, place)]  # fmt: skip
        named = [(time, topic_id) for time, topic_id in named if topic_id is not None]
        if not named:
            return False
        newest_id = named[-1][1]
        if commit["topic_id"] is not None:
            return bool(commit["topic_id"] != newest_id)
        last_of_others = max((time for time, topic_id in named if topic_id != newest_id), default=None)
        if last_of_others is None:
            return False
        first_of_this = min(time for time, _ in named if time > last_of_others)
        return bool(commit["from_time"] < first_of_this)

    def topic_id(self, at: int, until: int | None, place: Place, commit: Row | None, owner: Row | None) -> str | None:
        """A name without an id is the topic that had this name then, where the snapshots leave one only."""
        if commit is not None and commit["topic_id"] is not None:
            return str(commit["topic_id"])
        # The id of a classic group's topic comes from its later records.
        if owner is not None and owner["group_type"] != "classic" and owner["topic_id"] is not None:
            return str(owner["topic_id"])
        if until is None:
            return None
        named = self.named(until, place)
        if not self.is_other_topic(until, place, commit):
            return named[-1][1] if named else None
        assert commit is not None
        begun = commit["from_time"]
        before = [topic_id for time, topic_id in named if begun - LOOKBACK <= time <= begun]
        after = next(topic_id for time, topic_id in named if time >= begun)
        return after if not before or before[-1] in (None, after) else None

    def named(self, until: int, place: Place) -> list[tuple[int, str | None]]:
        """The topic's id at each snapshot; one that gives none is of the topic before."""
        found: list[tuple[int, str | None]] = []
        topic_id = None
        for time in sorted(self.snapshots):
            if time <= until and self.has_end(time, place):
                topic_id = self.snapshots[time][place].topic_id or topic_id
                found.append((time, topic_id))
        return found

    def reason(
        self, at: int, group: str, place: Place, commit: Row | None, captured: Captured | None, is_other_topic: bool
    ) -> str | None:
        if self.is_doubtful(at, group, place) and not (commit is None and self.is_in_hole(at, group, place)):
            return "clock_went_back"
        if commit is None:
            return "history_hole" if self.is_in_hole(at, group, place) else "no_commit"
        if commit["committed_offset"] < 0:
            return "committed_negative"
        if captured is None:
            return "no_snapshot"
        return "topic_recreated" if is_other_topic else None

    def is_in_hole(self, at: int, group: str, place: Place) -> bool:
        last = newest([row for row in self.of(self.offsets, group, place) if row["from_time"] <= at])
        return last is not None and last["ended_by"] == "coverage_hole"

    def is_doubtful(self, at: int, group: str, place: Place) -> bool:
        changes = [row[name] for row in self.of(self.offsets, group, place) for name in ("from_time", "to_time")]
        return any(
            begin < at < end and any(time is not None and begin < time < end for time in changes)
            for begin, end in self.doubts
        )

    @cached_property
    def doubts(self) -> list[tuple[float, float]]:
        return doubts_of(self.record_times)

    def time_lag(self, at: int, place: Place, until: int | None, lag: int | None, offset: int | None) -> Row:
        if lag is None or until is None or offset is None:
            return time_lag_row("none")
        if lag <= 0:
            return time_lag_row("no_lag", 0, 0, 0)
        points = self.one_log(until, place)
        if offset >= points[-1][0]:
            return time_lag_row("none")
        for (low, low_time), (high, high_time) in zip(points[-2::-1], points[:0:-1], strict=True):
            if low <= offset < high:
                written = on_line(offset, (low, low_time), (high, high_time))
                return time_lag_row("interpolated", ago(at, written), ago(at, high_time), ago(at, low_time))
        oldest, last = points[0], points[-1]
        if oldest[0] == last[0]:
            return time_lag_row("none", None, ago(at, oldest[1]), None)
        written = min(on_line(offset, oldest, last), oldest[1])
        return time_lag_row("extrapolated", ago(at, written), ago(at, oldest[1]), None)

    def one_log(self, until: int, place: Place) -> list[tuple[int, int]]:
        """End and time of the partition's snapshots until then, as long as it was one log that only grew."""
        result: list[tuple[int, int]] = []
        topic_id: str | None = None
        for time in sorted(time for time in self.snapshots if time <= until and self.has_end(time, place)):
            captured = self.snapshots[time][place]
            end = captured.end or 0
            is_other = None not in (topic_id, captured.topic_id) and topic_id != captured.topic_id
            if is_other or (result and end < result[-1][0]):
                result.clear()
            topic_id = captured.topic_id or topic_id
            result.append((end, time))
        return [point for point in result if point[1] >= until - LOOKBACK]


def holds(row: Row, at: int) -> bool:
    return row["from_time"] <= at and (row["to_time"] is None or at < row["to_time"])


def doubts_of(times: Sequence[int]) -> list[tuple[float, float]]:
    """Of records in log order: around each that is more than a second older than one before it, from the last older
    one before it to the first after it that is younger than all before it."""
    result = []
    for place, time in enumerate(times):
        before = times[:place]
        if before and time < max(before) - 1_000_000:
            older = [each for each in before if each < time]
            younger = [each for each in times[place:] if each > max(before)]
            result.append((older[-1] if older else -math.inf, younger[0] if younger else math.inf))
    return merged(result)


def merged(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    result: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if result and begin < result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def newest(rows: list[Row]) -> Row | None:
    return rows[-1] if rows else None


def on_line(offset: int, low: tuple[int, int], high: tuple[int, int]) -> Fraction:
    return high[1] - Fraction((high[0] - offset) * (high[1] - low[1]), high[0] - low[0])


def ago(at: int, then: Fraction | int) -> int:
    """Milliseconds; when a message was written is known to the microsecond."""
    return max(at - round(then), 0) // 1000


def time_lag_row(method: str, estimate: int | None = None, low: int | None = None, high: int | None = None) -> Row:
    return {"time_lag_method": method, "time_lag_ms": estimate, "time_lag_low_ms": low, "time_lag_high_ms": high}
