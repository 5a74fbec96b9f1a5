"""The coordinator's `uniform` (UniformAssignor.java).

Members with equal subscriptions all get the same number of partitions, or one more, and keep as many of their own as
possible (UniformHomogeneousAssignmentBuilder.java). Where members subscribe to different topics, they keep what they
had, and the rest goes to the least loaded subscriber. Then, topic by topic, partitions move from the most loaded
subscriber to the least loaded one, until the subscribers of no topic differ by more than one
(UniformHeterogeneousAssignmentBuilder.java, from 4.0 on). Members are places in Kafka's walk of them, topics are
positions.
"""

from typing import Final

from udfs.assignors import uniform_before_4
from udfs.assignors.groups import (
    NOBODY,
    Assignment,
    AssignorFailed,
    Audiences,
    Group,
    by_member,
    recorded_targets,
)
from udfs.assignors.java.maps import copied_set_capacity, filled, table_capacity

# KAFKA-17710: unequal subscriptions were assigned in another way before.
MOVES_BY_TOPIC = (4, 0, 0)
# KAFKA-18688: before, the first members of the walk got the larger quotas, whether they had them or not.
KEEPS_LARGER_QUOTAS = (4, 0, 1)
MAX_ITERATION_COUNT: Final = 16


def uniform(group: Group) -> Assignment:
    """UniformAssignor.assign."""
    if group.is_homogeneous:
        return UniformHomogeneousAssignmentBuilder(group).build()
    if group.release < MOVES_BY_TOPIC:
        return uniform_before_4.UniformHeterogeneousAssignmentBuilder(group).build()
    return UniformHeterogeneousAssignmentBuilder(group).build()


class UniformHomogeneousAssignmentBuilder:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.counts = {topic: group.counts[topic] for topic in subscribed_topic_ids(group)}
        self.targets = recorded_targets(group)
        self.walks = [target.walk() for target in self.targets]
        held = {row for walk in self.walks for row in walk}
        everything = ((topic, partition) for topic, count in self.counts.items() for partition in range(count))
        self.unassigned = [row for row in everything if row not in held]

    def build(self) -> Assignment:
        missing = self.maybe_revoke_partitions()
        # A partition that is in two targets, or beyond the topic's count, takes a place for nothing.
        if sum(missing) != len(self.unassigned):
            raise AssignorFailed("partitions are left unassigned after each member has its share")
        self.assign_remaining_partitions(missing)
        return by_member(self.group, [target.walk() for target in self.targets])

    def maybe_revoke_partitions(self) -> list[int]:
        """Of topics that nobody subscribes to any more, and beyond each member's quota; how many each one lacks."""
        return [self.revoke(place, quota) for place, quota in enumerate(self.quotas())]

    def revoke(self, place: int, quota: int) -> int:
        for topic, partition in self.walks[place]:
            is_wanted = topic in self.counts
            if is_wanted and quota:
                quota -= 1
                continue
            self.targets[place].take(topic, partition)
            if is_wanted:
                self.unassigned.append((topic, partition))
        return quota

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
        for target, number in zip(self.targets, missing, strict=True):
            for _ in range(number):
                target.add(*next(remaining))


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
        self.subscription_of = [subscriptions[own] for own in group.walked_classes]
        audiences = Audiences(group, group.walked_classes, range(len(self.targets)))
        self.audiences = audiences.numbers
        self.subscribers = {topic: audiences.of(topic) for topic in audiences.numbers}
        # Without another move these audiences stay level: Kafka looks at each topic of theirs again.
        self.level = set[int]()
        self.capacities = {
            topic: table_capacity(-(-counts[topic] // len(places)) * 4 // 3 + 1)
            for topic, places in self.subscribers.items()
        }
        self.owners = {topic: [NOBODY] * counts[topic] for topic in self.subscribers}
        # topicComparator: most partitions for each subscriber, then fewest subscribers, then Uuid.compareTo.
        self.topics = sorted(
            self.subscribers,
            key=lambda topic: (
                -counts[topic] / len(self.subscribers[topic]), len(self.subscribers[topic]), group.ids[topic]
            ),
        )  # fmt: skip

    def build(self) -> Assignment:
        self.maybe_revoke_partitions()
        self.assign_remaining_partitions()
        self.balance()
        return by_member(self.group, [target.walk() for target in self.targets])

    def maybe_revoke_partitions(self) -> None:
        """What a member does not subscribe to any more."""
        for place, target in enumerate(self.targets):
            for topic, partition in target.walk():
                if topic not in self.subscription_of[place]:
                    target.take(topic, partition)
                elif partition >= len(self.owners[topic]):
                    raise AssignorFailed("a target holds a partition beyond its topic's count")
                else:
                    self.owners[topic][partition] = place
                    self.sizes[place] += 1

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
        sizes = [self.sizes[place] for place in subscribers]
        if max(sizes) - min(sizes) <= 1:
            self.level.add(self.audiences[topic])
            return False
        owned: dict[int, list[int]] = {place: [] for place in subscribers}
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

    def assign_partition(self, topic: int, partition: int, place: int) -> None:
        """A new set is made for the most that a member should have of the topic."""
        self.targets[place].add(topic, partition, self.capacities[topic])
        self.owners[topic][partition] = place
        self.sizes[place] += 1


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
