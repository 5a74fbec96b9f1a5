"""The coordinator's `uniform` of 3.8 and 3.9 for members that subscribe to different topics
(UniformHeterogeneousAssignmentBuilder.java of these releases).

Members keep what they had, and the rest goes to the least loaded subscriber. Then partitions move, one by one, to the
least loaded member, as long as that improves the balance (KAFKA-17710 replaced it). Members are places in Kafka's walk.
"""

import heapq
from collections.abc import Iterable

from udfs.assignors.groups import (
    NOBODY,
    Assignment,
    AssignorFailed,
    Audiences,
    Group,
    Partition,
    by_member,
    empty_target,
    recorded_targets,
)
from udfs.assignors.java.maps import Keys, filled

Entry = tuple[int, int, int]


class UniformHeterogeneousAssignmentBuilder:
    def __init__(self, group: Group) -> None:
        self.group = group
        audiences = Audiences(group, group.walked_classes, range(len(group.members)))
        self.subscribers = {topic: audiences.of(topic) for topic in audiences.numbers}
        self.topics = [group.subscribed[own] for own in group.walked_classes]
        # maxAssignmentSize: all that a member could have.
        self.most = [sum(group.counts[topic] for topic in topics) for topics in self.topics]
        self.loads = [0] * len(self.topics)
        self.targets = [empty_target(group) for _ in self.topics]
        self.owners = {topic: [NOBODY] * group.counts[topic] for topic in self.subscribers}

    def build(self) -> Assignment:
        for place, before in enumerate(recorded_targets(self.group)):
            for topic, partition in before.walk():
                if topic in self.topics[place]:
                    self.add_partition_to_target_assignment(topic, partition, place)
        order = self.sort_topic_id_partitions()
        self.unassigned_partitions_assignment(each for each in order if self.owners[each[0]][each[1]] == NOBODY)
        self.balance([each for each in order if len(self.subscribers[each[0]]) > 1])
        return by_member(self.group, [target.walk() for target in self.targets])

    def sort_topic_id_partitions(self) -> list[Partition]:
        """Those of topics with most partitions for each subscriber first, then by number; among equal ones of different
        topics Kafka's set of all partitions decides."""
        group = self.group
        code, counts = group.topic_ids.hash_code, group.counts
        met = (topic for own in dict.fromkeys(group.walked_classes) for topic in group.subscribed[own])
        keys = Keys[Partition](lambda each: 31 * (31 + code(each[0])) + each[1] & 0xFFFFFFFF, lambda each: 0)
        sizes = {topic: len(places) for topic, places in self.subscribers.items()}
        return sorted(
            filled(keys, group.partitions_of(filled(group.topic_ids, met).walk())).walk(),
            key=lambda each: (-(counts[each[0]] / sizes[each[0]]), sizes[each[0]], each[1]),
        )

    def unassigned_partitions_assignment(self, unassigned: Iterable[Partition]) -> None:
        """To the least loaded subscriber that may still take something."""
        heaps: dict[int, list[Entry]] = {}
        for topic, partition in unassigned:
            if topic not in heaps:
                heaps[topic] = self.sort_members_by_assignment_size(self.subscribers[topic])
            heap = heaps[topic]
            # Here loads only grow: an old entry gets its new place when it comes to the top.
            while heap and heap[0] != (now := self.entry(heap[0][2])):
                heapq.heapreplace(heap, now)
                if now[0] >= self.most[now[2]]:
                    heapq.heappop(heap)
            if not heap:
                raise AssignorFailed("some partitions are left unassigned")
            self.add_partition_to_target_assignment(topic, partition, heap[0][2])

    def balance(self, order: list[Partition]) -> None:
        """Lap by lap; a partition that was moved is left out of the laps that follow. Kafka remembers what was moved so
        that a move back takes the same partition, but then takes that for a contradiction and fails
        (performReassignments, PartitionMovements)."""
        moved = set[Partition]()
        ways = set[tuple[int, int, int]]()
        was_moved = True
        while was_moved:
            was_moved = is_checked_next = False
            for topic, partition in order:
                if is_checked_next and self.is_balanced():
                    return
                subscribers, owner = self.subscribers[topic], self.owners[topic][partition]
                is_checked_next = self.loads[owner] > min(self.loads[place] for place in subscribers) + 1
                if is_checked_next:
                    was_moved = True
                    receivers = self.sort_members_by_assignment_size(subscribers)
                    if not receivers:
                        raise AssignorFailed("no subscriber may take a partition that another has too many of")
                    receiver = receivers[0][2]
                    if (topic, partition) in moved or (topic, receiver, owner) in ways:
                        raise AssignorFailed("a partition would be moved twice")
                    moved.add((topic, partition))
                    ways.add((topic, owner, receiver))
                    self.targets[owner].take(topic, partition)
                    self.loads[owner] -= 1
                    self.add_partition_to_target_assignment(topic, partition, receiver)
            order = [each for each in order if each not in moved]

    def is_balanced(self) -> bool:
        members = self.sort_members_by_assignment_size(range(len(self.loads)))
        if not members:
            raise AssignorFailed("every member has all that it can have, and a partition was moved")
        if members[0][0] >= members[-1][0] - 1:
            return True
        loads = {topic: [self.loads[owner] for owner in owners] for topic, owners in self.owners.items()}
        most = {topic: max(of_topic) for topic, of_topic in loads.items()}
        return not any(
            load > self.loads[place] + 1 and partition not in (self.targets[place].copy().get(topic) or ())
            for place, topics in enumerate(self.topics)
            for topic in topics
            if most[topic] > self.loads[place] + 1
            for partition, load in enumerate(loads[topic])
        )

    def entry(self, place: int) -> Entry:
        """Among equally loaded members the id decides."""
        return self.loads[place], self.group.member_ranks[self.group.walked[place]], place

    def sort_members_by_assignment_size(self, places: Iterable[int]) -> list[Entry]:
        """Those that do not have all they can have, the least loaded first."""
        return sorted(self.entry(place) for place in places if self.loads[place] < self.most[place])

    def add_partition_to_target_assignment(self, topic: int, partition: int, place: int) -> None:
        self.targets[place].add(topic, partition)
        if partition < len(self.owners[topic]):
            self.owners[topic][partition] = place
        self.loads[place] += 1
