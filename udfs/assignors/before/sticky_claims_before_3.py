"""What members of sticky groups say that they own, as releases 2.4 to 2.8 read it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from udfs.assignors.questions.problems import Problem, Rows
from udfs.assignors.sticky_steps.member_data import last_generation, previous_assignment

# From here on the cooperative assignor has generations, and what two claim belongs to neither.
GENERATIONS_SINCE = (2, 8, 1)

TopicPartition = tuple[str, int]


@dataclass(frozen=True)
class Claim:
    """What a member says; `generation` is None where it says none, which is not the same as -1."""

    partitions: Sequence[TopicPartition]
    generation: int | None


def sticky_claim(problem: Problem, member: int) -> Claim:
    lists, generation = previous_assignment(problem.user_data[member])
    partitions = [(topic, partition) for topic, numbers in lists for partition in numbers]
    return Claim(partitions, generation)


def cooperative_claim(problem: Problem, member: int) -> Claim:
    start, end = np.searchsorted(problem.owned.members, [member, member + 1])
    topics, partitions = problem.owned.topics[start:end].tolist(), problem.owned.partitions[start:end].tolist()
    owned = [(problem.topics[topic], partition) for topic, partition in zip(topics, partitions, strict=True)]
    data = problem.user_data[member]
    has_generation = problem.release >= GENERATIONS_SINCE and data is not None
    return Claim(owned, last_generation(data) if has_generation else None)


def rows_from(triples: Sequence[tuple[int, int, int]]) -> Rows:
    members, topics, partitions = np.array(triples, np.int32).reshape(-1, 3).T
    return Rows(members, topics, partitions)
