"""Members' maps of topics to sets of partitions for rules that Python does step by step: Java's tables give the
orders."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hash_map import NUMBERS, JavaSet, JavaTable, Keys
from udfs.assignors.java.iteration_order import Hashes, copied_set_capacity
from udfs.assignors.questions.problems import Rows

Target = JavaTable[int, JavaSet[int]]


@dataclass(frozen=True)
class ExactMaps:
    """Topics are positions."""

    id_hashes: Hashes
    ids: NDArray[np.int64]
    jdk: int

    def empty(self) -> Target:
        return JavaTable(Keys(lambda topic: int(self.id_hashes[topic]), lambda topic: tuple(self.ids[topic].tolist())))

    def of_record(self, rows: Rows) -> Target:
        """The rows of one member, as the coordinator makes a target of them: a default map, and a set copied from each
        list."""
        lists: dict[int, list[int]] = {}
        for topic, partition in zip(rows.topics.tolist(), rows.partitions.tolist(), strict=True):
            lists.setdefault(topic, []).append(partition)
        target = self.empty()
        for topic, partitions in lists.items():
            target.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(partitions), self.jdk), partitions))
        return target


def take(target: Target, topic: int, partition: int) -> None:
    target[topic].remove(partition)
    if not len(target[topic]):
        target.remove(topic)


def give(target: Target, topic: int, partition: int) -> None:
    target.compute_if_absent(topic, lambda: JavaSet(NUMBERS)).add(partition)


def rows_at(rows: Rows, place: int) -> Rows:
    """Those of one member; the rows are sorted by member."""
    # Of their own type: for any other the whole column would be cast.
    first, end = np.searchsorted(rows.members, np.array([place, place + 1], rows.members.dtype))
    return rows.take(np.arange(first, end))


def listed_rows(targets: dict[int, Target]) -> Rows:
    """By place."""
    listed = [
        (place, topic, partition)
        for place, target in targets.items()
        for topic, partitions in target.items()
        for partition in partitions
    ]
    return Rows(*np.array(listed, np.int32).reshape(-1, 3).T)
