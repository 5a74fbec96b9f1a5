"""What members have, as the coordinator hands it to an assignor, and how an assignor changes it.

A target is a map of topic ids to sets of partitions. An assignor copies a member's map as soon as it changes something
in it; what it does nothing to is walked as it was made of its record. Members are places in Kafka's walk of them,
topics are positions.
"""

from collections.abc import Iterable, Sequence

from udfs.assignors.java.maps import DEFAULT_CAPACITY, NUMBERS, JavaMap, JavaSet, Keys, copied_set, table_capacity
from udfs.assignors.questions.problems import ABSENT, Assignment
from udfs.assignors.questions.server_problems import ServerProblem


class Target:
    def __init__(self, topics: Keys[int], listed: Iterable[tuple[int, Sequence[int]]], jdk: int) -> None:
        """A default map, and a set copied from each list (ModernGroup.updateTargetAssignment)."""
        self.jdk, self.is_copy = jdk, False
        self.partitions: JavaMap[int, JavaSet[int]] = JavaMap(topics)
        for topic, partitions in listed:
            self.partitions.put(topic, copied_set(NUMBERS, partitions, jdk))

    def walk(self) -> list[tuple[int, int]]:
        """Topics and partitions."""
        return [(topic, partition) for topic in self.partitions.walk() for partition in self.partitions[topic].walk()]

    def copy(self) -> JavaMap[int, JavaSet[int]]:
        """The map that may be changed: a copy is made once, for its size (AssignorHelpers.deepCopyAssignment)."""
        if not self.is_copy:
            before = self.partitions
            self.is_copy, self.partitions = True, JavaMap(before.keys_, table_capacity(len(before)))
            for topic in before.walk():
                self.partitions.put(topic, copied_set(NUMBERS, before[topic].walk(), self.jdk))
        return self.partitions

    def add(self, topic: int, partition: int, capacity: int = DEFAULT_CAPACITY) -> None:
        """To a new set of so many buckets, if there is none (addPartitionToTargetAssignment)."""
        self.copy().compute_if_absent(topic, lambda: JavaSet(NUMBERS, capacity)).put(partition, None)

    def take(self, topic: int, partition: int) -> None:
        """And the topic with its last partition (removePartitionFromTargetAssignment)."""
        partitions = self.copy()[topic]
        partitions.remove(partition)
        if not partitions:
            self.partitions.remove(topic)


def empty_target(problem: ServerProblem) -> Target:
    """A default map, which may be changed as it is."""
    target = Target(problem.topic_keys, (), problem.jdk)
    target.is_copy = True
    return target


def recorded_targets(problem: ServerProblem) -> list[Target]:
    """Of each member in the walk."""
    keys, jdk, rows = problem.topic_keys, problem.jdk, problem.targets
    if not len(rows):
        return [Target(keys, (), jdk) for _ in problem.members]
    listed: list[dict[int, list[int]]] = [{} for _ in problem.members]
    for member, topic, partition in zip(
        rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True
    ):
        partitions = listed[member].setdefault(topic, [])
        if partition != ABSENT:
            partitions.append(partition)
    return [Target(keys, listed[member].items(), jdk) for member in problem.walked]


def assignment_of(problem: ServerProblem, walks: Sequence[list[tuple[int, int]]]) -> Assignment:
    """What each member in the walk gets."""
    lists: list[list[tuple[int, int]]] = [[] for _ in walks]
    for member, walk in zip(problem.walked, walks, strict=True):
        lists[member] = walk
    return Assignment.of_lists(lists)
