"""Members' maps of topics to sets of partitions, computed step by step with Java's own hash tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hash_map import NUMBERS, JavaSet, JavaTable, Keys
from udfs.assignors.java.iteration_order import Hashes, copied_set_capacity, table_capacity
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY
from udfs.assignors.questions.problems import Numbers, Rows

Target = JavaTable[int, JavaSet[int]]


@dataclass(frozen=True)
class ExactMaps:
    """Topics are positions. Without `ids` those of one hash code have no order."""

    id_hashes: Hashes
    ids: NDArray[np.int64] | None
    jdk: int

    def empty(self, capacity: int = DEFAULT_CAPACITY) -> Target:
        ids = self.ids
        return JavaTable(
            Keys(
                lambda topic: int(self.id_hashes[topic]),
                lambda topic: 0 if ids is None else tuple(ids[topic].tolist()),
            ),
            capacity,
        )

    def of_record(self, rows: Rows) -> Target:
        """The rows of one member, as the coordinator makes a target of them: a default map, and a set copied from each
        list."""
        lists: dict[int, list[int]] = {}
        for topic, partition in pairs(rows):
            lists.setdefault(topic, []).append(partition)
        target = self.empty()
        for topic, partitions in lists.items():
            target.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(partitions), self.jdk), partitions))
        return target

    def copied(self, target: Target) -> Target:
        copy = self.empty(table_capacity(len(target)))
        for topic, partitions in target.items():
            copy.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(partitions), self.jdk), partitions))
        return copy

    def changed(self, before: Rows, lost: Rows, got: Rows, made_for: Numbers) -> Target:
        """A copy of a member's target, after it lost partitions and got others."""
        target = self.copied(self.of_record(before))
        for topic, partition in pairs(lost):
            take(target, topic, partition)
        for topic, partition in pairs(got):
            give(target, topic, partition, int(made_for[topic]))
        return target


def take(target: Target, topic: int, partition: int) -> None:
    target[topic].remove(partition)
    if not len(target[topic]):
        target.remove(topic)


def give(target: Target, topic: int, partition: int, made_for: int = DEFAULT_CAPACITY) -> None:
    """`made_for`: how many partitions the set is made for that comes with a new topic."""
    target.compute_if_absent(topic, lambda: JavaSet(NUMBERS, table_capacity(made_for))).add(partition)


def rows_at(rows: Rows, place: int, chosen: NDArray[np.bool_] | None = None) -> Rows:
    """Those of one member; the rows are sorted by member."""
    # Of their own type: for any other the whole column would be cast.
    first, end = np.searchsorted(rows.members, np.array([place, place + 1], rows.members.dtype))
    own = rows.take(np.arange(first, end))
    return own if chosen is None else own.take(chosen[first:end])


def pairs(rows: Rows) -> list[tuple[int, int]]:
    return list(zip(rows.topics.tolist(), rows.partitions.tolist(), strict=True))


def listed_rows(targets: dict[int, Target]) -> Rows:
    """By place."""
    found = [
        (place, topic, partition)
        for place, target in targets.items()
        for topic, partitions in target.items()
        for partition in partitions
    ]
    return Rows(*np.array(found, np.int32).reshape(-1, 3).T)
