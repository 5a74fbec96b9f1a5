"""Numbers all partitions consecutively, topic by topic."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hashes import Positions
from udfs.assignors.questions.problems import Codes, Numbers, Problem, Rows

NOBODY = -1


@dataclass(frozen=True)
class NumberedTopics:
    """The topics to assign in an order, and the numbers of their partitions in that order."""

    order: Codes
    places: Positions
    counts: Numbers
    starts: Numbers

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def rows(self, members: Positions, numbers: Positions) -> Rows:
        topics = np.repeat(np.arange(len(self.order), dtype=np.int32), self.counts)[numbers]
        partitions = numbers - self.starts[topics]
        return Rows(members.astype(np.int32), self.order[topics], partitions.astype(np.int32))


def number_partitions(problem: Problem, order: Positions) -> NumberedTopics:
    counts = problem.counts[order]
    places = np.full(len(problem.topics), NOBODY, np.intp)
    places[order] = np.arange(len(order))
    return NumberedTopics(order.astype(np.int32), places, counts, np.cumsum(counts) - counts)


def unassigned_partitions(topics: NumberedTopics, kept: Rows, are_strange: NDArray[np.bool_]) -> tuple[Positions, bool]:
    """All partitions that nobody keeps; and whether what is kept is other than distinct partitions that exist.

    Kafka walks two sorted lists side by side. A partition that its topic does not have, or that two members keep, is
    never met: every partition that is kept after it counts as unassigned too.
    """
    places, partitions = topics.places[kept.topics], kept.partitions
    is_free = np.ones(topics.total, np.bool_)
    if not are_strange.any():
        is_free[topics.starts[places] + partitions] = False
        free = np.flatnonzero(is_free)
        if len(free) + len(kept) == topics.total:
            return free, False
        is_free[:] = True
    order = np.lexsort((partitions, places))
    places, partitions = places[order], partitions[order]
    is_never_met = are_strange[order]
    is_never_met[1:] |= (places[1:] == places[:-1]) & (partitions[1:] == partitions[:-1])
    met = slice(int(np.flatnonzero(is_never_met)[0]))
    is_free[topics.starts[places[met]] + partitions[met]] = False
    return np.flatnonzero(is_free), True
