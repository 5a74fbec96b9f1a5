"""A member's map of topics to sets of partitions, step by step through Java's own tables."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java_order import DEFAULT_CAPACITY, copied_set_capacity, table_capacity
from udfs.assignors.java_tables import NUMBERS, JavaSet, JavaTable, Keys
from udfs.assignors.problems import Rows
from udfs.assignors.server_problems import ServerProblem

Target = JavaTable[int, JavaSet[int]]


def empty_target(problem: ServerProblem, capacity: int = DEFAULT_CAPACITY) -> Target:
    topics = Keys[int](lambda topic: int(problem.id_hashes[topic]), lambda topic: tuple(problem.ids[topic].tolist()))
    return JavaTable(topics, capacity)


def target_of(problem: ServerProblem, place: int) -> Target:
    """Of the epoch before, as the coordinator makes it of a record: a default map, and a set copied from each list."""
    lists: dict[int, list[int]] = {}
    for topic, partition in pairs(rows_at(problem.walked_targets, place)):
        lists.setdefault(topic, []).append(partition)
    target = empty_target(problem)
    for topic, partitions in lists.items():
        target.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(partitions), problem.jdk), partitions))
    return target


def copied(problem: ServerProblem, target: Target) -> Target:
    copy = empty_target(problem, table_capacity(len(target)))
    for topic, partitions in target.items():
        copy.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(partitions), problem.jdk), partitions))
    return copy


def take(target: Target, topic: int, partition: int) -> None:
    target[topic].remove(partition)
    if not len(target[topic]):
        target.remove(topic)


def give(target: Target, topic: int, partition: int, made_for: int = DEFAULT_CAPACITY) -> None:
    """`made_for`: how many partitions the set is made for that comes with a new topic."""
    target.compute_if_absent(topic, lambda: JavaSet(NUMBERS, table_capacity(made_for))).add(partition)


def rows_at(rows: Rows, place: int, chosen: NDArray[np.bool_] | None = None) -> Rows:
    """Those of one member; the rows are sorted by member."""
    first, end = np.searchsorted(rows.members, [place, place + 1])
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
