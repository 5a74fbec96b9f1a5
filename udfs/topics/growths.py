"""Since when partitions exist, by snapshots: a topic that grew had fewer partitions in an earlier one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from udfs.topics.names import Key


class Count(NamedTuple):
    """The snapshots, one after the other, in which a topic has the same number of partitions: the times of the first
    and the last of them, in microseconds."""

    from_time: int
    to_time: int
    number: int


class Growth(NamedTuple):
    """The last snapshot without a partition, and the first with it; None: no later one up to the time in question."""

    unseen_time: int
    seen_time: int | None


@dataclass(frozen=True)
class Growths:
    # By topic name.
    counts: Mapping[str, Sequence[Count]] = field(default_factory=dict)

    @classmethod
    def of(cls, topics: Mapping[int, Mapping[Key, int]]) -> "Growths":
        """`topics`: the number of partitions of each topic, by the time of the snapshot."""
        counts: dict[str, list[Count]] = {}
        for time in sorted(topics):
            for (name, _), number in topics[time].items():
                known = counts.setdefault(name, []) if name is not None else []
                if known and known[-1].number == number:
                    known[-1] = known[-1]._replace(to_time=time)
                else:
                    known.append(Count(time, time, number))
        return cls(counts)

    def growth(self, topic: str | None, partition: int, at: int | None) -> Growth | None:
        """Of a partition that somebody has at that time. None: no snapshot before is without it."""
        unseen = seen = None
        if at is None:
            return None
        for count in self.counts.get(topic or "", ()):
            if count.from_time > at:
                break
            if count.number <= partition:
                unseen, seen = count.to_time if count.to_time <= at else count.from_time, None
            elif seen is None:
                seen = count.from_time
        return None if unseen is None else Growth(unseen, seen)

    def text(self, topics: Collection[str], until: int | None) -> str:
        """What bounds may rest on that were made of a log up to this time: later snapshots do not change it."""
        lines = []
        for topic in sorted(topics & self.counts.keys()):
            known = [each for each in self.counts[topic] if until is not None and each.from_time <= until]
            if len(known) > 1:
                times = [(each.from_time, min(each.to_time, until or 0), each.number) for each in known]
                lines.append(f"{topic} {times}")
        return "\n".join(lines)
