"""Kafka's RoundRobinAssignor."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, ranks
from udfs.assignors.questions.problems import Assignment, Problem, within

# Before 2.4 a static member stood by its member id.
STATIC_MEMBERS_SINCE = (2, 4, 0)


def roundrobin(problem: Problem) -> Assignment:
    """Deals every partition, topic by topic, to the next member in a circle that subscribes to its topic."""
    topics = np.argsort(problem.topic_ranks)
    topics = topics[problem.known[topics]]
    counts = problem.counts[topics]
    circle = problem.statically_sorted if problem.release >= STATIC_MEMBERS_SINCE else np.argsort(problem.member_ranks)
    places = ranks(circle)
    audience_of_topic, audiences = problem.audiences
    seats = [np.sort(places[members]) for members in audiences]
    dealt = []
    next_place = 0
    for start, end in runs_of_equals(audience_of_topic[topics]):
        subscribed = seats[audience_of_topic[topics[start]]]
        first = int(np.searchsorted(subscribed, next_place)) % len(subscribed)
        total = int(counts[start:end].sum())
        dealt.append(laps(subscribed, first, total))
        next_place = (int(dealt[-1][-1]) + 1) % len(circle)
    owners = circle[np.concatenate(dealt)] if dealt else np.empty(0, np.intp)
    return Assignment(
        owners.astype(np.int32),
        np.repeat(topics.astype(np.int32), counts),
        within(counts).astype(np.int32),
    )


def runs_of_equals(values: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Start and end of each run of equal neighbours."""
    starts = np.flatnonzero(np.diff(values)) + 1
    edges = [0, *starts.tolist(), len(values)] if len(values) else [0]
    return list(pairwise(edges))


def laps(places: Positions, first: int, total: int) -> Positions:
    """So many deals in a circle, beginning at one of the places."""
    return np.resize(np.concatenate([places[first:], places[:first]]), total)
