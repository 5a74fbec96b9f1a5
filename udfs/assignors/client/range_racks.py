"""Kafka's client-side RangeAssignor for members and replicas that name their racks (from 3.5)."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.client.racks.kernels import rack_range_rows
from udfs.assignors.java.iteration_order import ranks
from udfs.assignors.questions.problems import Assignment, PartitionRacks, Problem
from udfs.assignors.questions.racks import RackCodes, partition_racks, racks_matter


def needs_racks(problem: Problem) -> NDArray[np.bool_]:
    """For each topic: whether the racks of its members distinguish its partitions."""
    needed = np.zeros(len(problem.topics), np.bool_)
    if problem.partition_racks is None or not any(problem.racks):
        return needed
    audience_of_topic, audiences = problem.audiences
    named = [{rack for m in members if (rack := problem.racks[m])} for members in audiences]
    for topic in np.flatnonzero(problem.known):
        needed[topic] = racks_matter(named[audience_of_topic[topic]], racks_of_topic(problem, int(topic)))
    return needed


def racks_of_topic(problem: Problem, topic: int) -> list[frozenset[str]]:
    stated: PartitionRacks | None = problem.partition_racks[topic] if problem.partition_racks else None
    return partition_racks(stated, int(problem.counts[topic]))


def range_by_racks(problem: Problem) -> Assignment:
    """Kafka sorts every list in the end, so the order in which topics are served leaves no trace."""
    by_name = np.argsort(problem.topic_ranks)
    by_name = by_name[problem.known[by_name]]
    audience_of_topic, of_audiences = problem.audiences
    places = ranks(problem.statically_sorted)
    audiences = np.concatenate([members[np.argsort(places[members])] for members in of_audiences])
    codes = RackCodes()
    rack_of = codes.of_members(problem.racks)
    set_starts, set_codes = codes.of_sets([racks for t in by_name.tolist() for racks in racks_of_topic(problem, t)])
    return Assignment(
        *rack_range_rows(
            np.cumsum([0, *map(len, of_audiences)]),
            audiences,
            rack_of[audiences],
            by_name,
            audience_of_topic,
            problem.counts.copy(),
            needs_racks(problem),
            set_starts,
            set_codes,
        )
    )
