"""The coordinator's `range` (RangeAssignor.java): each subscriber of a topic gets one range of partitions, static
members first, then by id; the first ranges are one longer."""

import numpy as np

from udfs.assignors.java.maps import filled, table_capacity
from udfs.assignors.questions.member_order import statically_sorted
from udfs.assignors.questions.problems import Assignment
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.ranges import Audiences, Lists, assign_ranges


def server_range(problem: ServerProblem) -> Assignment:
    order = statically_sorted(problem.members, problem.instances, lambda: np.array(problem.walked)).tolist()
    assign = assign_homogeneous_group if problem.is_homogeneous else assign_heterogeneous_group
    lists: Lists = [[] for _ in problem.members]
    assign(problem, order, lists)
    return Assignment.of_lists(lists)


def assign_homogeneous_group(problem: ServerProblem, order: list[int], lists: Lists) -> None:
    """Topic by topic. Everybody's map is made alike, of the topics of the first."""
    first = int(problem.class_of_member[order[0]])
    for topic in walked_topics(problem, first, len(problem.subscribed[first])):
        assign_ranges(topic, int(problem.counts[topic]), order, lists)


def assign_heterogeneous_group(problem: ServerProblem, order: list[int], lists: Lists) -> None:
    """Each member's topics are in the order of its own map."""
    audiences = Audiences(problem, problem.class_of_member.tolist(), order)
    for topic in audiences.known:
        assign_ranges(topic, int(problem.counts[topic]), audiences.of(topic), lists)
    places = [
        {topic: place for place, topic in enumerate(walked_topics(problem, own, len(listed)))}
        for own, listed in enumerate(problem.topics_of_class)
    ]
    for own, rows in zip(audiences.classes, lists, strict=True):
        rows.sort(key=lambda row, own=own: places[own][row[0]])  # type: ignore[misc]


def walked_topics(problem: ServerProblem, own: int, size: int) -> list[int]:
    """Of a class of members: a map of ids that is made for so many."""
    return filled(problem.topic_keys, problem.subscribed[own], table_capacity(size * 4 // 3 + 1)).walk()
