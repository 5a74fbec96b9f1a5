"""The moves that the sticky assignors remember, so that they do not swap partitions of one topic back and forth."""

from dataclasses import dataclass, field

import numpy as np

from udfs.assignors.java.iteration_order import DEFAULT_CAPACITY, Hashes, buckets, grown_capacity

Pair = tuple[int, int]


@dataclass
class MovedPartitions:
    """A Java set of partitions: what it holds in order of insertion, and how many it held at most."""

    numbers: list[int] = field(default_factory=list)
    peak: int = 0


@dataclass
class Moves:
    """By topic, what moved from one member to another in the end. `hashes` are those of all partitions."""

    topic_of: list[int]
    hashes: Hashes
    of_partition: dict[int, Pair] = field(default_factory=dict)
    of_topic: dict[int, dict[Pair, MovedPartitions]] = field(default_factory=dict)

    def add(self, number: int, source: int, target: int) -> None:
        before = self.of_partition.pop(number, None)
        if before is not None:
            self.forget(number, before)
            source = before[0]
            if source == target:
                return
        self.of_partition[number] = source, target
        moved = self.of_topic.setdefault(self.topic_of[number], {}).setdefault((source, target), MovedPartitions())
        moved.numbers.append(number)
        moved.peak = max(moved.peak, len(moved.numbers))

    def forget(self, number: int, pair: Pair) -> None:
        pairs = self.of_topic[self.topic_of[number]]
        pairs[pair].numbers.remove(number)
        if not pairs[pair].numbers:
            del pairs[pair]

    def instead_of(self, number: int, source: int, target: int) -> int:
        """The partition to move in its place: one that once moved the other way, where there is one."""
        pairs = self.of_topic.get(self.topic_of[number])
        if not pairs:
            return number
        if number in self.of_partition:
            source = self.of_partition[number][0]
        moved = pairs.get((target, source))
        return number if moved is None else self.first_of(moved)

    def first_of(self, moved: MovedPartitions) -> int:
        if len(moved.numbers) == 1:
            return moved.numbers[0]
        capacity = grown_capacity(DEFAULT_CAPACITY, moved.peak)
        return moved.numbers[int(np.argmin(buckets(self.hashes[moved.numbers], capacity)))]
