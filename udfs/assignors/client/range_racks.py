"""Kafka's client-side RangeAssignor for members and replicas that name their racks (from 3.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import ranks
from udfs.assignors.questions.problems import Assignment, PartitionRacks, Problem
from udfs.assignors.questions.racks import partition_racks, racks_matter


@dataclass
class Topic:
    """What of a topic is still to be given. `members` stand in the order in which they are served."""

    topic: int
    members: Sequence[int]
    rack_of: Sequence[str | None]
    racks: Sequence[frozenset[str]]
    left: list[int]
    share: int
    extra: int
    given: dict[int, int] = field(default_factory=dict)

    def allowed(self, member: int) -> int:
        return max(0, self.share + (self.extra > 0) - self.given.get(member, 0))

    def give(self, member: int, partitions: Sequence[int]) -> None:
        self.given[member] = self.given.get(member, 0) + len(partitions)
        if self.given[member] > self.share:
            self.extra -= 1
        gone = set(partitions)
        self.left = [each for each in self.left if each not in gone]

    def matches(self, member: int, partition: int) -> bool:
        rack = self.rack_of[member]
        return rack is None or (partition < len(self.racks) and rack in self.racks[partition])


Give = Callable[[Topic, int, Sequence[int]], None]


def needs_racks(problem: Problem) -> NDArray[np.bool_]:
    """Of each topic, whether its members' racks tell its partitions apart."""
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
    needed = needs_racks(problem)
    topics = [remaining(problem, int(topic)) for topic in problem.topics_walked]
    rows: list[tuple[int, int, int]] = []

    def give(topic: Topic, member: int, partitions: Sequence[int]) -> None:
        topic.give(member, partitions)
        rows.extend((member, topic.topic, partition) for partition in partitions)

    for together in copartitioned(topics):
        if len(together) > 1:
            give_together(together, give)
        elif needed[together[0].topic]:
            give_ranges(together[0], together[0].matches, give)
    for topic in topics:
        give_ranges(topic, lambda member, partition: True, give)
    # Every list is sorted in the end, so the order in which the topics were served leaves no trace.
    rows.sort(key=lambda row: (row[0], problem.topic_ranks[row[1]], row[2]))
    members, served, partitions = np.array(rows, np.int32).reshape(-1, 3).T
    return Assignment(members, served, partitions)


def remaining(problem: Problem, topic: int) -> Topic:
    audience_of_topic, audiences = problem.audiences
    places = ranks(problem.statically_sorted)
    members = sorted(audiences[audience_of_topic[topic]].tolist(), key=places.__getitem__)
    count = int(problem.counts[topic])
    return Topic(
        topic=topic,
        members=members,
        rack_of=problem.racks,
        racks=racks_of_topic(problem, topic) if any(problem.racks[m] for m in members) else [],
        left=list(range(count)),
        share=count // len(members),
        extra=count % len(members),
    )


def copartitioned(topics: Sequence[Topic]) -> list[list[Topic]]:
    """Topics of the same members and as many partitions with known racks: none where no member names a rack."""
    groups: dict[tuple[tuple[int, ...], int], list[Topic]] = {}
    for topic in topics:
        groups.setdefault((tuple(sorted(topic.members)), len(topic.racks)), []).append(topic)
    return list(groups.values())


def give_together(topics: Sequence[Topic], give: Give) -> None:
    """Gives a partition of all topics to the first member that may have it in each of them."""
    waiting = list(topics[0].members)
    for partition in range(len(topics[0].racks)):
        for member in waiting:
            if all(topic.matches(member, partition) and topic.allowed(member) > 0 for topic in topics):
                break
        else:
            continue
        for topic in topics:
            give(topic, member, [partition])
        if not any(topic.allowed(member) for topic in topics):
            waiting.remove(member)


def give_ranges(topic: Topic, may: Callable[[int, int], bool], give: Give) -> None:
    for member in topic.members:
        allowed = topic.allowed(member)
        wanted = [partition for partition in topic.left if may(member, partition)][:allowed] if allowed else []
        if wanted:
            give(topic, member, wanted)
