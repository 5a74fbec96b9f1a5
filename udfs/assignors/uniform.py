"""The coordinator's `uniform`: UniformAssignor.java, with UniformHomogeneousAssignmentBuilder.java for members with
equal subscriptions, and UniformHeterogeneousAssignmentBuilder.java of 4.0 and of before.
"""

import heapq
from collections.abc import Iterable
from typing import Final

from udfs.assignors.groups import (
    NOBODY,
    AssignorFailed,
    Audiences,
    Group,
    Lists,
    Partition,
    empty_target,
    recorded_targets,
)
from udfs.assignors.java.maps import DEFAULT_CAPACITY, Keys, copied_set_capacity, filled, no_order, table_capacity

# The number of partitions of a member, its place by id, and its position.
Entry = tuple[int, int, int]
# KAFKA-17710: unequal subscriptions were assigned in another way before.
MOVES_BY_TOPIC = (4, 0, 0)
# KAFKA-18688: before, the first members of the walk got the larger quotas, whether they had them or not.
KEEPS_LARGER_QUOTAS = (4, 0, 1)
MAX_ITERATION_COUNT: Final = 16


def uniform(group: Group) -> Lists:
    """UniformAssignor.assign."""
    if group.is_homogeneous:
        return UniformHomogeneousAssignmentBuilder(group).build()
    if group.release < MOVES_BY_TOPIC:
        return UniformHeterogeneousBefore4(group).build()
    return UniformHeterogeneousAssignmentBuilder(group).build()


class UniformHomogeneousAssignmentBuilder:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.counts = {topic: group.counts[topic] for topic in subscribed_topic_ids(group)}
        self.targets = recorded_targets(group)
        self.walks = [self.targets[member].walk() for member in group.walked]
        held = {row for walk in self.walks for row in walk}
        everything = ((topic, partition) for topic, count in self.counts.items() for partition in range(count))
        self.unassigned = [row for row in everything if row not in held]

    def build(self) -> Lists:
        missing = self.maybe_revoke_partitions()
        # A partition that is in two targets, or beyond the topic's count, takes a place for nothing.
        if sum(missing) != len(self.unassigned):
            raise AssignorFailed("partitions are left unassigned after each member has its share")
        self.assign_remaining_partitions(missing)
        return [target.walk() for target in self.targets]

    def maybe_revoke_partitions(self) -> list[int]:
        """Of topics that nobody subscribes to any more, and beyond each member's quota; how many each one lacks."""
        missing = []
        for member, walk, quota in zip(self.group.walked, self.walks, self.quotas(), strict=True):
            left = quota
            for topic, partition in walk:
                is_wanted = topic in self.counts
                if is_wanted and left:
                    left -= 1
                    continue
                self.targets[member].take(topic, partition)
                if is_wanted:
                    self.unassigned.append((topic, partition))
            missing.append(left)
        return missing

    def quotas(self) -> list[int]:
        """The smaller one is minimumMemberQuota. The larger ones go to members that have more than that, as far as they
        go round; what is left, to the last members."""
        members = len(self.targets)
        quota, larger = divmod(sum(self.counts.values()), members)
        if self.group.release < KEEPS_LARGER_QUOTAS:
            return [quota + (place < larger) for place in range(members)]
        quotas = []
        for place, walk in enumerate(self.walks):
            size = sum(topic in self.counts for topic, _ in walk)
            gets_larger = larger > 0 and (size > quota or members - place <= larger)
            quotas.append(quota + gets_larger)
            larger -= gets_larger
        return quotas

    def assign_remaining_partitions(self, missing: list[int]) -> None:
        remaining = iter(self.unassigned)
        for member, number in zip(self.group.walked, missing, strict=True):
            for _ in range(number):
                self.targets[member].add(*next(remaining))


def subscribed_topic_ids(group: Group) -> list[int]:
    """Those of the first member in the walk, which are everybody's: a set of ids that is as large as the set of
    names."""
    first = group.walked_classes[0]
    capacity = copied_set_capacity(len(group.subscriptions[first]), group.jdk)
    return filled(group.topic_ids, group.subscribed[first], capacity).walk()


# -- unequal subscriptions


class UniformHeterogeneousAssignmentBuilder:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.targets = recorded_targets(group)
        self.sizes = [0] * len(self.targets)
        counts = group.counts
        subscriptions = [frozenset(topics) for topics in group.subscribed]
        self.subscription_of = [subscriptions[own] for own in group.classes]
        audiences = Audiences(group, group.walked)
        self.audiences = audiences.numbers
        self.subscribers = {topic: audiences.of(topic) for topic in audiences.numbers}
        # Without another move these audiences stay level: Kafka looks at each topic of theirs again.
        self.level = set[int]()
        self.capacities = {
            topic: table_capacity(-(-counts[topic] // len(members)) * 4 // 3 + 1)
            for topic, members in self.subscribers.items()
        }
        self.owners = {topic: [NOBODY] * counts[topic] for topic in self.subscribers}
        # topicComparator: most partitions for each subscriber, then fewest subscribers, then Uuid.compareTo.
        self.topics = sorted(
            self.subscribers,
            key=lambda topic: (
                -counts[topic] / len(self.subscribers[topic]), len(self.subscribers[topic]), group.ids[topic]
            ),
        )  # fmt: skip

    def build(self) -> Lists:
        self.maybe_revoke_partitions()
        self.assign_remaining_partitions()
        self.balance()
        return [target.walk() for target in self.targets]

    def maybe_revoke_partitions(self) -> None:
        """What a member does not subscribe to any more."""
        for member in self.group.walked:
            target = self.targets[member]
            for topic, partition in target.walk():
                if topic not in self.subscription_of[member]:
                    target.take(topic, partition)
                elif partition >= len(self.owners[topic]):
                    raise AssignorFailed("a target holds a partition beyond its topic's count")
                else:
                    self.owners[topic][partition] = member
                    self.sizes[member] += 1

    def assign_remaining_partitions(self) -> None:
        for topic in self.topics:
            owners, balancer = self.owners[topic], None
            for partition, owner in enumerate(owners):
                if owner == NOBODY:
                    balancer = balancer or MemberAssignmentBalancer(self.subscribers[topic], self.sizes)
                    self.assign_partition(topic, partition, balancer.next_least_loaded_member())

    def balance(self) -> None:
        """Sweeps over the topics until a whole sweep moved nothing, or often enough (with balanceTopics)."""
        topics = [topic for topic in self.topics if len(self.subscribers[topic]) > 1]
        last_moved = -1
        for turn in range(MAX_ITERATION_COUNT * len(topics)):
            place = turn % len(topics)
            if place == last_moved:
                break
            last_moved = max(last_moved, 0)
            if self.balance_topic(topics[place]):
                last_moved = place

    def balance_topic(self, topic: int) -> bool:
        """From the most loaded owner to the least loaded subscriber; whether anything moved."""
        subscribers, owners, was_moved = self.subscribers[topic], self.owners[topic], False
        if self.audiences[topic] in self.level:
            return False
        sizes = [self.sizes[member] for member in subscribers]
        if max(sizes) - min(sizes) <= 1:
            self.level.add(self.audiences[topic])
            return False
        owned: dict[int, list[int]] = {member: [] for member in subscribers}
        for partition, owner in enumerate(owners):
            owned[owner].append(partition)
        balancer = MemberAssignmentBalancer(subscribers, self.sizes)
        while not balancer.is_balanced():
            source = balancer.next_most_loaded_member()
            while source != NOBODY and not owned[source]:
                balancer.exclude_most_loaded_member()
                source = balancer.next_most_loaded_member()
            if source == NOBODY:
                break
            destination = balancer.next_least_loaded_member()
            if balancer.is_balanced():
                break
            partition = owned[source].pop()
            self.targets[source].take(topic, partition)
            self.sizes[source] -= 1
            self.assign_partition(topic, partition, destination)
            was_moved = True
        if was_moved:
            self.level.clear()
        return was_moved

    def assign_partition(self, topic: int, partition: int, member: int) -> None:
        """A new set is made for the most that a member should have of the topic."""
        self.targets[member].add(topic, partition, self.capacities[topic])
        self.owners[topic][partition] = member
        self.sizes[member] += 1


class MemberAssignmentBalancer:
    """The least loaded members are a range at the front of the order, which grows by those whose size is the next
    level; the most loaded ones a range at the end. The order itself is that of the beginning."""

    def __init__(self, members: list[int], sizes: list[int]) -> None:
        self.sizes = sizes
        # Equal ones keep their order (memberComparator).
        self.members = sorted(members, key=sizes.__getitem__)
        self.least_end = self.next_least = 0
        self.least_level = sizes[self.members[0]] - 1
        self.most_start = self.most_end = len(members)
        self.next_most = len(members) - 1
        self.most_level = sizes[self.members[-1]] + 1

    def is_balanced(self) -> bool:
        return self.most_level - self.least_level <= 1

    def next_least_loaded_member(self) -> int:
        if self.next_least >= self.least_end:
            self.least_level += 1
            end = self.least_end
            while end < len(self.members) and self.sizes[self.members[end]] == self.least_level:
                end += 1
            self.least_end, self.next_least = end, 0
        self.next_least += 1
        return self.members[self.next_least - 1]

    def next_most_loaded_member(self) -> int:
        """NOBODY when none is left."""
        if self.next_most < self.most_start:
            start = self.most_start
            is_used_up = self.most_end <= start and start > 0
            self.most_level = self.sizes[self.members[start - 1]] if is_used_up else self.most_level - 1
            while start > 0 and self.sizes[self.members[start - 1]] == self.most_level:
                start -= 1
            self.most_start, self.next_most = start, self.most_end - 1
        if self.next_most < 0:
            return NOBODY
        self.next_most -= 1
        return self.members[self.next_most + 1]

    def exclude_most_loaded_member(self) -> None:
        """The one that came last is not given again."""
        last, end = self.next_most + 1, self.most_end - 1
        self.members[last], self.members[end] = self.members[end], self.members[last]
        self.most_end -= 1


# -- 3.8 and 3.9


class UniformHeterogeneousBefore4(UniformHeterogeneousAssignmentBuilder):
    """Partitions move, one by one, to the least loaded member, as long as that improves the balance."""

    def build(self) -> Lists:
        recorded, self.targets = self.targets, [empty_target(self.group) for _ in self.targets]
        self.capacities = dict.fromkeys(self.capacities, DEFAULT_CAPACITY)
        # maxAssignmentSize: all that a member could have.
        self.most = [sum(self.group.counts[topic] for topic in topics) for topics in self.subscription_of]
        for member in self.group.walked:
            for topic, partition in recorded[member].walk():
                if topic in self.subscription_of[member]:
                    self.targets[member].add(topic, partition)
                    self.sizes[member] += 1
                    if partition < self.group.counts[topic]:
                        self.owners[topic][partition] = member
        order = self.sort_topic_id_partitions()
        self.unassigned_partitions_assignment(each for each in order if self.owners[each[0]][each[1]] == NOBODY)
        self.balance_partitions([each for each in order if len(self.subscribers[each[0]]) > 1])
        return [target.walk() for target in self.targets]

    def sort_topic_id_partitions(self) -> list[Partition]:
        """Those of topics with most partitions for each subscriber first, then by number; among equal ones of different
        topics Kafka's set of all partitions decides."""
        group, code, counts = self.group, self.group.topic_ids.hash_code, self.group.counts
        met = (topic for own in dict.fromkeys(group.walked_classes) for topic in group.subscribed[own])
        keys = Keys[Partition](lambda each: 31 * (31 + code(each[0])) + each[1] & 0xFFFFFFFF, no_order)
        sizes = {topic: len(members) for topic, members in self.subscribers.items()}
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
            self.assign_partition(topic, partition, heap[0][2])

    def balance_partitions(self, order: list[Partition]) -> None:
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
                is_checked_next = self.sizes[owner] > min(self.sizes[member] for member in subscribers) + 1
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
                    self.sizes[owner] -= 1
                    self.assign_partition(topic, partition, receiver)
            order = [each for each in order if each not in moved]

    def is_balanced(self) -> bool:
        members = self.sort_members_by_assignment_size(range(len(self.sizes)))
        if not members:
            raise AssignorFailed("every member has all that it can have, and a partition was moved")
        if members[0][0] >= members[-1][0] - 1:
            return True
        loads = {topic: [self.sizes[owner] for owner in owners] for topic, owners in self.owners.items()}
        most = {topic: max(of_topic) for topic, of_topic in loads.items()}
        return not any(
            load > self.sizes[member] + 1 and partition not in (self.targets[member].copy().get(topic) or ())
            for member, topics in enumerate(self.subscription_of)
            for topic in topics
            if most[topic] > self.sizes[member] + 1
            for partition, load in enumerate(loads[topic])
        )

    def entry(self, member: int) -> Entry:
        """Among equally loaded members the id decides."""
        return self.sizes[member], self.group.member_ranks[member], member

    def sort_members_by_assignment_size(self, members: Iterable[int]) -> list[Entry]:
        """Those that do not have all they can have, the least loaded first."""
        return sorted(self.entry(member) for member in members if self.sizes[member] < self.most[member])
