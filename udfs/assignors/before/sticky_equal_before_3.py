"""The sticky assignors of releases 2.5.1 to 2.8 for groups whose members have equal subscriptions."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.before.sticky_claims_before_3 import GENERATIONS_SINCE, Claim, rows_from
from udfs.assignors.questions.partition_numbers import number_partitions
from udfs.assignors.questions.problems import ABSENT, AssignorFailed, Problem, Rows

# Topic and number.
Partition = tuple[int, int]


@dataclass
class Dealing:
    """What each member has so far. `revoked`: partitions that their owners lose; `waiting`: who gets a partition that
    another member must give up first."""

    lists: list[list[Partition]]
    revoked: frozenset[Partition]
    waiting: dict[Partition, int] = field(default_factory=dict)

    def give_to(self, member: int, partition: Partition) -> None:
        self.lists[member].append(partition)
        if partition in self.revoked:
            self.waiting[partition] = member

    def fill(self, under: list[int], free: deque[Partition], least: int, at_least: deque[int]) -> None:
        """One partition each in turns, while there are free ones. Members with enough move to `at_least`."""
        while under and free:
            for member in list(under):
                if not free:
                    break
                self.give_to(member, free.popleft())
                if len(self.lists[member]) == least:
                    at_least.append(member)
                    under.remove(member)

    def take_from_largest(self, member: int, at_most: deque[int], least: int) -> None:
        while len(self.lists[member]) < least:
            if not at_most:
                raise AssignorFailed("Some consumers are under capacity but all partitions have been assigned")
            partition = self.lists[at_most.popleft()].pop(0)
            self.lists[member].append(partition)
            self.waiting[partition] = member


def equal(problem: Problem, claims: Sequence[Claim]) -> tuple[Rows, NDArray[np.bool_]]:
    """Everyone keeps up to the largest quota; those below the least are filled, at last from those at the largest."""
    owned, contested = owned_lists(problem, claims)
    free = partitions_of(problem)
    least, most = len(free) // len(owned), -(-len(free) // len(owned))
    dealing = Dealing([each[:most] for each in owned], contested.union(*(each[most:] for each in owned)))
    kept = {each for numbers in dealing.lists for each in numbers}
    free = deque(each for each in free if each not in kept)
    by_id = problem.member_ranks[problem.walked]
    under = sorted((m for m, each in enumerate(owned) if len(each) < least), key=by_id.__getitem__)
    rest = [m for m, each in enumerate(owned) if len(each) >= least]
    at_least = deque(m for m in rest if len(dealing.lists[m]) == least)
    at_most = deque(m for m in rest if len(dealing.lists[m]) == most)
    dealing.fill(under, free, least, at_least)
    for member in under:
        dealing.take_from_largest(member, at_most, least)
        at_least.append(member)
    for partition in free:
        if not at_least:
            raise AssignorFailed("Some partitions are unassigned but all consumers are at maximum capacity")
        dealing.give_to(at_least.popleft(), partition)
    return listed_rows(problem, dealing.lists, dealing.waiting)


def partitions_of(problem: Problem) -> deque[Partition]:
    """Those of known topics, by name and number."""
    by_name = np.argsort(problem.topic_ranks)
    topics = number_partitions(problem, by_name[problem.known[by_name]])
    counts = zip(topics.order.tolist(), topics.counts.tolist(), strict=True)
    return deque((topic, partition) for topic, count in counts for partition in range(count))


def owned_lists(problem: Problem, claims: Sequence[Claim]) -> tuple[list[list[Partition]], frozenset[Partition]]:
    """What members of the newest generation own, of topics that are known; and what two of them claim."""
    generations = [ABSENT if claim.generation is None else claim.generation for claim in claims]
    # Where all say something below it, nobody is believed.
    newest = max(ABSENT, *generations)
    lists: list[list[Partition]] = []
    owner: dict[Partition, int] = {}
    contested = set()
    for place, (claim, generation) in enumerate(zip(claims, generations, strict=True)):
        lists.append([])
        if generation != newest:
            continue
        for topic, index in claim.partitions:
            at = problem.topic_positions.get(topic)
            if at is None or not problem.known[at]:
                continue
            partition = at, index
            if problem.release < GENERATIONS_SINCE or partition not in owner:
                owner[partition] = place
                lists[place].append(partition)
            else:
                contested.add(partition)
                if partition in lists[owner[partition]]:
                    lists[owner[partition]].remove(partition)
    return lists, frozenset(contested)


def listed_rows(
    problem: Problem, lists: Sequence[Sequence[Partition]], waiting: dict[Partition, int]
) -> tuple[Rows, NDArray[np.bool_]]:
    rows = rows_from([(int(problem.walked[m]), *partition) for m, each in enumerate(lists) for partition in each])
    waits = np.zeros(len(rows), np.bool_)
    starts = np.cumsum([0, *map(len, lists)])
    for partition, member in waiting.items():
        if partition in lists[member]:
            waits[starts[member] + lists[member].index(partition)] = True
    return rows, waits
