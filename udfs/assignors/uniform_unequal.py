"""The coordinator's `uniform` from 4.0 on for members that subscribe to different topics (KAFKA-17710:
UniformHeterogeneousAssignmentBuilder.java).

Members keep what they had, and the rest goes to the least loaded subscriber. Then, topic by topic, partitions move from
the most loaded subscriber to the least loaded one, until the subscribers of no topic differ by more than one.
"""

from typing import Final

from udfs.assignors.java.maps import table_capacity
from udfs.assignors.questions.problems import Assignment, AssignorFailed
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.ranges import Audiences
from udfs.assignors.targets import assignment_of, recorded_targets

NOBODY: Final = -1
MAX_ITERATION_COUNT: Final = 16


class UniformHeterogeneousAssignmentBuilder:
    def __init__(self, problem: ServerProblem) -> None:
        self.problem = problem
        self.targets = recorded_targets(problem)
        self.sizes = [0] * len(self.targets)
        counts = problem.counts.tolist()
        subscriptions = [frozenset(topics) for topics in problem.subscribed]
        self.subscription_of = [subscriptions[own] for own in problem.class_of_place]
        audiences = Audiences(problem, problem.class_of_place, range(len(self.targets)))
        self.audiences = audiences.numbers
        self.subscribers = {topic: audiences.of(topic) for topic in audiences.known}
        # Without another move these audiences stay level: Kafka looks at each topic of theirs again.
        self.level = set[tuple[int, ...]]()
        self.capacities = {
            topic: table_capacity(-(-counts[topic] // len(places)) * 4 // 3 + 1)
            for topic, places in self.subscribers.items()
        }
        self.owners = {topic: [NOBODY] * counts[topic] for topic in self.subscribers}
        ids = problem.ids.tolist()
        # topicComparator: most partitions for each subscriber, then fewest subscribers, then Uuid.compareTo.
        self.topics = sorted(
            self.subscribers,
            key=lambda topic: (
                -counts[topic] / len(self.subscribers[topic]), len(self.subscribers[topic]), ids[topic]
            ),
        )  # fmt: skip

    def build(self) -> Assignment:
        self.maybe_revoke_partitions()
        self.assign_remaining_partitions()
        self.balance()
        return assignment_of(self.problem, [target.walk() for target in self.targets])

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
                    self.assign(topic, partition, balancer.next_least_loaded_member())

    def balance(self) -> None:
        """Sweeps over the topics until a whole sweep moved nothing, or often enough (balanceTopics)."""
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
            self.assign(topic, partition, destination)
            was_moved = True
        if was_moved:
            self.level.clear()
        return was_moved

    def assign(self, topic: int, partition: int, place: int) -> None:
        """addPartitionToTargetAssignment: a new set is made for the most that a member should have of the topic."""
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
