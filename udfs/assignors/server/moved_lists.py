"""The partition lists of members that gave or received partitions. Their maps are computed step by step, as in Java."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import (
    copied_set_capacity,
    grown_capacity,
    may_crowd,
    table_capacity,
)
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY
from udfs.assignors.questions.problems import Assignment, Numbers, Rows
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.exact_maps import Target, give, take
from udfs.assignors.server.member_maps import LONGEST_CHAIN, SMALLEST_TREE_TABLE, capacity_with, chained_capacity
from udfs.assignors.server.uniform import Held, exact_map, maps_of


class Move(NamedTuple):
    topic: int
    partition: int
    source: int
    destination: int


@dataclass
class PartitionSet:
    capacity: int
    place: int  # in its chain of the map
    partitions: dict[int, None] = field(default_factory=dict)
    # All that ever were in it: a tree keeps its order without those that it was made for.
    met: list[int] = field(default_factory=list)

    def add(self, partition: int) -> None:
        self.partitions[partition] = None
        self.met.append(partition)
        self.capacity = capacity_with(self.partitions, partition, self.capacity)

    def may_be_crowded(self) -> bool:
        if len(self.met) <= LONGEST_CHAIN or max(self.met) < LONGEST_CHAIN * DEFAULT_CAPACITY:
            return False
        gone = len(self.met) - len(self.partitions)
        return may_crowd(np.array(self.met, np.uint32), DEFAULT_CAPACITY, self.capacity, LONGEST_CHAIN, gone)

    def walked(self) -> list[int]:
        return sorted(self.partitions, key=lambda each: (each ^ each >> 16) & self.capacity - 1)


@dataclass
class MemberMap:
    """A member's map of topics to sets of partitions."""

    capacity: int
    sets: dict[int, PartitionSet]
    opened: int = 0

    def add(self, topic: int, partition: int, made_for: int) -> None:
        # computeIfAbsent makes room before it looks, and puts what is new first in its chain.
        self.capacity = grown_capacity(self.capacity, len(self.sets))
        if topic not in self.sets:
            self.opened += 1
            self.sets[topic] = PartitionSet(table_capacity(made_for), -self.opened)
        self.sets[topic].add(partition)

    def remove(self, topic: int, partition: int) -> None:
        del self.sets[topic].partitions[partition]
        if not self.sets[topic].partitions:
            del self.sets[topic]

    def may_be_crowded(self) -> bool:
        """Whether some set has or had a chain of which Java makes a tree."""
        return any(one.may_be_crowded() for one in self.sets.values())

    def walked(self, hashes: Sequence[int]) -> Iterator[tuple[int, int]]:
        def key(topic: int) -> tuple[int, int]:
            return (hashes[topic] ^ hashes[topic] >> 16) & self.capacity - 1, self.sets[topic].place

        for topic in sorted(self.sets, key=key):
            for partition in self.sets[topic].walked():
                yield topic, partition


def with_moves(
    problem: ServerProblem,
    held: Held,
    kept: NDArray[np.bool_],
    given: Rows,
    moves: Sequence[Move],
    made_for: Numbers,
    found: Assignment,
) -> Assignment:
    """`found` are the lists before the moves."""
    touched = {place for move in moves for place in (move.source, move.destination)}
    maps = {place: copied_map(problem, held, kept, place) for place in touched}
    sizes = made_for.tolist()
    is_touched = np.zeros(len(problem.members), np.bool_)
    is_touched[list(touched)] = True
    for place, topic, partition in rows_of(given, is_touched[given.members]):
        maps[place].add(topic, partition, sizes[topic])
    for move in moves:
        maps[move.source].remove(move.topic, move.partition)
        maps[move.destination].add(move.topic, move.partition, sizes[move.topic])
    hashes = problem.id_hashes.tolist()
    crowded = {place for place in touched if place in held.crowded or maps[place].may_be_crowded()}
    lists = [(place, *pair) for place in sorted(touched - crowded) for pair in maps[place].walked(hashes)]
    for place in sorted(crowded):
        target = exact_map(maps_of(problem), held, kept, given, made_for, place)
        replay(moves, place, target, sizes)
        lists += [(place, topic, partition) for topic, of in target.items() for partition in of]
    places, topics, partitions = np.array(lists, np.int32).reshape(-1, 3).T
    others = found.take(~is_touched[problem.places[found.members]])
    return Assignment(
        np.concatenate([others.members, problem.walked[places].astype(np.int32)]),
        np.concatenate([others.topics, topics]),
        np.concatenate([others.partitions, partitions]),
    )


def replay(moves: Sequence[Move], place: int, target: Target, made_for: Sequence[int]) -> None:
    for move in moves:
        if move.source == place:
            take(target, move.topic, move.partition)
        elif move.destination == place:
            give(target, move.topic, move.partition, made_for[move.topic])


def rows_of(rows: Rows, chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    some = rows.take(chosen)
    return zip(some.members.tolist(), some.topics.tolist(), some.partitions.tolist(), strict=True)


def copied_map(problem: ServerProblem, held: Held, kept: NDArray[np.bool_], place: int) -> MemberMap:
    """The map of a member's target as it is copied at the first change, without topics that it no longer takes."""
    first, end = np.searchsorted(held.rows.members, [place, place + 1])
    sets: dict[int, PartitionSet] = {}
    for topic, partition, is_kept in zip(
        held.rows.topics[first:end].tolist(), held.rows.partitions[first:end].tolist(), kept[first:end], strict=True
    ):
        if is_kept:
            sets.setdefault(topic, PartitionSet(0, len(sets))).partitions[partition] = None
    for one in sets.values():
        one.met = list(one.partitions)
        made = copied_set_capacity(len(one.partitions), problem.jdk)
        is_small = made < SMALLEST_TREE_TABLE
        one.capacity = chained_capacity(list(one.partitions), made) if is_small else made
    size = int(held.num_sets[place])
    return MemberMap(grown_capacity(table_capacity(size), size), sets)
