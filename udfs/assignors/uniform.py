"""The coordinator's `uniform` for members with equal subscriptions: all get the same number of partitions, or one more,
and keep as many of their own as possible (UniformHomogeneousAssignmentBuilder.java)."""

from udfs.assignors.java.maps import copied_set_capacity, filled
from udfs.assignors.questions.problems import Assignment, AssignorFailed
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.targets import assignment_of, recorded_targets
from udfs.assignors.uniform_before_4 import uniform_before_4
from udfs.assignors.uniform_unequal import UniformHeterogeneousAssignmentBuilder

# KAFKA-17710: unequal subscriptions were assigned in another way before.
MOVES_BY_TOPIC = (4, 0, 0)
# KAFKA-18688: before, the first members of the walk got the larger quotas, whether they had them or not.
KEEPS_LARGER_QUOTAS = (4, 0, 1)


def uniform(problem: ServerProblem) -> Assignment:
    """UniformAssignor.assign."""
    if problem.is_homogeneous:
        return UniformHomogeneousAssignmentBuilder(problem).build()
    if problem.release < MOVES_BY_TOPIC:
        return uniform_before_4(problem)
    return UniformHeterogeneousAssignmentBuilder(problem).build()


class UniformHomogeneousAssignmentBuilder:
    def __init__(self, problem: ServerProblem) -> None:
        self.problem = problem
        self.counts = {topic: int(problem.counts[topic]) for topic in subscribed_topic_ids(problem)}
        self.targets = recorded_targets(problem)
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
        return assignment_of(self.problem, [target.walk() for target in self.targets])

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
        """The larger ones go to members that have more than the smaller one, as far as they go round; what is left, to
        the last members."""
        members = len(self.targets)
        quota, larger = divmod(sum(self.counts.values()), members)
        if self.problem.release < KEEPS_LARGER_QUOTAS:
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


def subscribed_topic_ids(problem: ServerProblem) -> list[int]:
    """Those of the first member in the walk, which are everybody's: a set of ids that is as large as the set of
    names."""
    first = problem.class_of_place[0]
    capacity = copied_set_capacity(len(problem.topics_of_class[first]), problem.jdk)
    return filled(problem.topic_keys, problem.subscribed[first], capacity).walk()
