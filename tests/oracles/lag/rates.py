"""A slow model of how groups read: each group, topic and bucket by itself, in plain loops.

It knows one log per partition, which only grows, and no ids of topics."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low
from typing import Any

Row = Mapping[str, Any]
Place = tuple[str, int]
SECOND = 1_000_000
HOUR = 3_600 * SECOND
MOST_LOOKS = 24


@dataclass
class SlowRates:
    """`offsets`: rows of offset_history; `ends`: by the time of each snapshot; `resets`: numbers of the rows of offsets
    that are none of reading on."""

    offsets: Sequence[Row]
    ends: Mapping[int, Mapping[Place, int]]
    as_of: int
    resets: frozenset[int] = frozenset()

    def rows(self, length: int) -> Iterator[tuple[Any, ...]]:
        """Bucket, group, topic, messages read, lag at the end, milliseconds until it is read at the present rate, or
        why these are not known."""
        subjects = sorted({(row["group_id"], row["topic"]) for row in self.offsets if row["from_time"] <= self.as_of})
        times = [*self.ends, *(row["from_time"] for row in self.offsets)]
        buckets = range(0, max(times) // length + 1) if times else range(0)
        found = [
            (bucket * length, *subject, *answer)
            for bucket in buckets
            for subject in subjects
            if (answer := self.answer(subject, bucket * length, length)) is not None
        ]
        yield from found

    def answer(self, subject: tuple[str, str], begin: int, length: int) -> tuple[Any, ...] | None:
        steps = self.steps(subject, begin, begin + length)
        looks = self.looks(begin, begin + length)
        lags = self.lags(subject, looks)
        lag = lags[-1] if lags else None
        if not steps and not (lag and self.has_snapshot(begin, begin + length)):
            return None
        read = sum(self.read(number) for number in steps)
        whole = None if lag is None else int(lag)
        if lag is None or not whole:
            return read, whole, None, "no_snapshots" if lag is None else "nothing_to_read"
        usual_gap, last = self.usual_gap(subject, begin, length), self.last_step(subject, begin, length)
        if self.is_silent(looks, lags, usual_gap, last, has_steps=bool(steps)):
            return read, whole, None, "not_reading"
        grown = self.grown(subject, looks)
        if grown is None:
            return read, whole, None, "no_snapshots"
        captured, seen = looks[-1] - looks[0], min(begin + length, self.as_of) - begin
        produced, consumed = Fraction(grown * SECOND, captured), Fraction(read * SECOND, seen)
        between_commits = produced * (usual_gap or 0) / SECOND
        if lag <= between_commits:
            return read, whole, None, "keeps_up"
        known = [(time, each) for time, each in zip(looks, lags, strict=True) if each is not None]
        if len(known) == 1:
            known.insert(0, (looks[0], lag + (consumed - produced) * captured / SECOND))
        third = -(-len(known) // 3)
        recent = [each for _, each in known[-third:]]
        usual = sorted([*self.lags_before(subject, begin, length), *(each for _, each in known[:-third])])
        high = usual[95 * (len(usual) - 1) // 100] + between_commits
        has_fallen = max(recent) + between_commits < min(each for _, each in known[:third])
        if consumed > produced and (has_fallen or lag > high):
            return read, whole, int(whole / float(consumed - produced) * 1000), None
        if median_low(recent) <= high:
            return read, whole, None, "keeps_up"
        is_reading = last is not None and last > known[-third - 1][0]
        return read, whole, None, "not_catching_up" if is_reading else "not_reading"

    def has_snapshot(self, begin: int, end: int) -> bool:
        return any(begin <= time < end for time in self.ends)

    def steps(self, subject: tuple[str, str], begin: int, end: int) -> list[int]:
        return [
            number
            for number, row in enumerate(self.offsets)
            if (row["group_id"], row["topic"]) == subject and begin <= row["from_time"] < end
            and row["from_time"] <= self.as_of
        ]  # fmt: skip

    def read(self, number: int) -> int:
        """A step of the offset is reading unless a reset made it, or it is larger than all that was there to read."""
        row = self.offsets[number]
        after = min((time for time in self.ends if time >= row["from_time"]), default=None)
        end = None if after is None else self.ends[after].get((row["topic"], row["partition"]))
        is_jump = number in self.resets or (end is not None and row["committed_offset"] > end)
        return 0 if is_jump else max(row["delta"] or 0, 0)

    def looks(self, begin: int, end: int) -> list[int]:
        """The part of the bucket that was captured: its begin, snapshots in it, and its end."""
        if not self.ends:
            return []
        first, last = max(begin, min(self.ends)), min(end, max(self.ends))
        if last <= first:
            return []
        inside = sorted(time for time in self.ends if first < time < last)
        most = min(MOST_LOOKS - 2, len(inside))
        return [first, *(inside[number * len(inside) // most] for number in range(most)), last]

    def held(self, subject: tuple[str, str], time: int) -> dict[int, int]:
        """What was committed just before, by partition."""
        return {
            row["partition"]: row["committed_offset"]
            for row in self.offsets
            if (row["group_id"], row["topic"]) == subject
            and row["from_time"] < time
            and (row["to_time"] is None or row["to_time"] >= time)
        }

    def end(self, place: Place, time: int) -> Fraction | None:
        before = max((each for each, ends in self.ends.items() if each <= time and place in ends), default=None)
        after = min((each for each in self.ends if each >= time), default=None)
        if before is None or after is None or place not in self.ends[after]:
            return None
        low, high = self.ends[before][place], self.ends[after][place]
        return Fraction(low) if after == before else low + Fraction(high - low) * (time - before) / (after - before)

    def lags(self, subject: tuple[str, str], looks: Sequence[int]) -> list[Fraction | None]:
        """At each look, of the partitions that are committed at the last; none is known if that one is not."""
        if not looks:
            return []
        partitions = self.held(subject, looks[-1])
        result: list[Fraction | None] = []
        for time in looks:
            held, total = self.held(subject, time), Fraction(0)
            for partition in partitions:
                end = self.end((subject[1], partition), time)
                if end is None or partition not in held:
                    break
                total += max(end - held[partition], 0)
            else:
                result.append(total if partitions else None)
                continue
            result.append(None)
        return result if result[-1] is not None else [None] * len(looks)

    def grown(self, subject: tuple[str, str], looks: Sequence[int]) -> Fraction | None:
        total = Fraction(0)
        for partition in self.held(subject, looks[-1]):
            first, last = (self.end((subject[1], partition), time) for time in (looks[0], looks[-1]))
            if first is None or last is None:
                return None
            total += last - first
        return total

    def lags_before(self, subject: tuple[str, str], begin: int, length: int) -> list[Fraction]:
        """Of the whole buckets in the hour before that have a commit of the subject or a snapshot."""
        return [
            lag
            for bucket in range(begin - HOUR, begin, length)
            if self.steps(subject, bucket, bucket + length) or self.has_snapshot(bucket, bucket + length)
            for lag in self.lags(subject, self.looks(bucket, bucket + length))
            if lag is not None
        ]

    def cells(self, subject: tuple[str, str], begin: int, length: int) -> Iterator[list[Row]]:
        """Steps of the bucket, and of those in the hour before it, newest first."""
        for bucket in range(begin, begin - HOUR - 1, -length):
            yield [self.offsets[number] for number in self.steps(subject, bucket, bucket + length)]

    def usual_gap(self, subject: tuple[str, str], begin: int, length: int) -> int | None:
        for rows in self.cells(subject, begin, length):
            by_partition: defaultdict[int, list[int]] = defaultdict(list)
            for row in rows:
                by_partition[row["partition"]].append(row["from_time"])
            if (more := len(rows) - len(by_partition)) > 0:
                times = [row["from_time"] for row in rows]
                return max((max(times) - min(times)) * len(by_partition) // more, SECOND)
        return None

    def last_step(self, subject: tuple[str, str], begin: int, length: int) -> int | None:
        return next(
            (max(row["from_time"] for row in rows) for rows in self.cells(subject, begin, length) if rows), None
        )

    @staticmethod
    def is_silent(
        looks: Sequence[int], lags: Sequence[Fraction | None], gap: int | None, last: int | None, *, has_steps: bool
    ) -> bool:
        if gap is None and has_steps:
            return False
        until = looks[0] if gap is None else looks[-1] - 10 * gap
        early = [place for place, time in enumerate(looks) if time <= until and (last is None or time >= last)]
        if not early or lags[early[-1]] is None:
            return False
        return all(lag is None or lag > 0 for lag in lags[early[-1] :])
