"""The coordinator's `range`: each subscriber of a topic gets one range of partitions, static members first, then by
id."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, put_order, table_capacity
from udfs.assignors.questions.member_order import statically_sorted
from udfs.assignors.questions.problems import Assignment, Numbers, within
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.member_maps import packed_order


def server_range(problem: ServerProblem) -> Assignment:
    order = statically_sorted(problem.members, problem.instances, lambda: problem.walked)
    if problem.is_homogeneous:
        # Everybody's map is made alike, of the topics of the first.
        first = problem.class_of_member[order[0]]
        topics = topics_of_map(problem, first, len(problem.subscribed[first]))
        counts = problem.counts[topics]
        return Assignment(
            dealt(topics, counts, [np.arange(len(topics))], [order]).astype(np.int32),
            np.repeat(topics, counts).astype(np.int32),
            within(counts).astype(np.int32),
        )
    topics = np.flatnonzero(problem.takes.any(axis=0))
    counts = problem.counts[topics]
    alike, members = audiences(problem, topics, order)
    owners = dealt(topics, counts, alike, members)
    rows = in_order_of_maps(problem, owners, np.repeat(topics, counts))
    return Assignment(
        owners[rows].astype(np.int32),
        np.repeat(topics, counts)[rows].astype(np.int32),
        within(counts)[rows].astype(np.int32),
    )


def topics_of_map(problem: ServerProblem, number: int, made_for: int) -> Positions:
    """The topics of a class as Kafka walks the map that it makes of them."""
    topics = problem.subscribed[number]
    capacity = table_capacity(int(made_for / 0.75 + 1))
    return topics[put_order(problem.id_hashes[topics], capacity, problem.by_id(topics))]


def audiences(problem: ServerProblem, topics: Positions, order: Positions) -> tuple[list[Positions], list[Positions]]:
    """Which of the topics have the same subscribers and as many partitions, and those subscribers in `order`."""
    takes = problem.takes[:, topics]
    packed = np.packbits(takes, axis=0).T
    groups: dict[tuple[bytes, int], list[int]] = {}
    for at, (row, count) in enumerate(zip(packed, problem.counts[topics].tolist(), strict=True)):
        groups.setdefault((row.tobytes(), count), []).append(at)
    alike = [np.array(group, np.intp) for group in groups.values()]
    classes = problem.class_of_member[order]
    return alike, [order[takes[:, group[0]][classes]] for group in alike]


def dealt(topics: Positions, counts: Numbers, alike: list[Positions], members: list[Positions]) -> Positions:
    """The owner of each partition of the topics, one topic after the other."""
    if len(members) == 1 and (counts == counts[:1]).all():
        return np.resize(cut(members[0], int(counts[0])), int(counts.sum())) if len(counts) else np.empty(0, np.intp)
    starts = np.cumsum(counts) - counts
    owners = np.empty(int(counts.sum()), np.intp)
    for group, subscribers in zip(alike, members, strict=True):
        for count in set(counts[group].tolist()):
            at = group[counts[group] == count]
            owners[starts[at][:, None] + np.arange(count)] = cut(subscribers, count)
    return owners


def cut(members: Positions, count: int) -> Positions:
    """The owner of each of a topic's partitions."""
    share, larger = divmod(count, len(members))
    return np.repeat(members, share + (np.arange(len(members)) < larger))


def in_order_of_maps(problem: ServerProblem, owners: Positions, topics: Positions) -> NDArray[np.intp]:
    """The rows of each member as its own map is walked."""
    places = np.zeros(problem.takes.shape, np.int64)
    for number in range(len(places)):
        # Made for as many topics as there are names, known or not.
        walked = topics_of_map(problem, number, len(problem.topics_of_class[number]))
        places[number, walked] = np.arange(len(walked))
    return packed_order(owners, places[problem.class_of_member[owners], topics])
