"""Kafka's client-side RangeAssignor and RoundRobinAssignor.

Range: each subscriber of a topic gets one range of partitions, static members first, then by id; the first ranges are
one longer. Round robin: the members form a circle in that order, and each partition goes to the next that
subscribes. Members and topics are positions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from udfs.assignors.java.hashes import utf_16
from udfs.assignors.java.maps import JavaMap, Keys
from udfs.assignors.questions.problems import Assignment, PartitionRacks, Problem
from udfs.assignors.questions.racks import partition_racks, racks_matter
from udfs.assignors.questions.server_problems import ServerProblem

# From here on a range has a map of partitions, which is filled from a set of topics; before, it had a map of
# subscribers, which computeIfAbsent filled.
RACKS_SINCE = (3, 5, 0)
Lists = list[list[tuple[int, int]]]
NOBODY = -1


def client_range(problem: Problem) -> Assignment:
    lists: Lists = [[] for _ in problem.members]
    audiences = Audiences(problem, problem.class_of_member.tolist(), problem.statically_sorted.tolist())
    if states := rack_states(problem, audiences):
        assign_with_racks(states, lists)
    else:
        topics = problem.topics_walked.tolist() if problem.release >= RACKS_SINCE else consumers_per_topic(problem)
        for topic in topics:
            assign_ranges(topic, int(problem.counts[topic]), audiences.of(topic), lists)
    return Assignment.of_lists(lists)


def is_rack_aware(problem: Problem) -> bool:
    audiences = Audiences(problem, problem.class_of_member.tolist(), range(len(problem.members)))
    return bool(rack_states(problem, audiences))


def assign_ranges(topic: int, count: int, members: Sequence[int], lists: Lists) -> None:
    quota, extra = divmod(count, len(members))
    end = 0
    for place, member in enumerate(members if quota else members[:extra]):
        begin, end = end, end + quota + (place < extra)
        lists[member] += [(topic, partition) for partition in range(begin, end)]


def round_robin(problem: Problem) -> Assignment:
    circle = problem.statically_sorted.tolist()
    lists: Lists = [[] for _ in problem.members]
    audiences = Audiences(problem, problem.class_of_member.tolist(), circle)
    place_of = {member: place for place, member in enumerate(circle)}
    names, place = problem.topics, 0
    for topic in sorted(audiences.known, key=lambda topic: utf_16(names[topic])):
        members = audiences.of(topic)
        at = next((at for at, member in enumerate(members) if place_of[member] >= place), 0)
        for partition in range(problem.counts[topic]):
            lists[members[at]].append((topic, partition))
            place = place_of[members[at]] + 1
            at = (at + 1) % len(members)
    return Assignment.of_lists(lists)


class Audiences:
    """Who subscribes to each topic that the metadata knows, in a given order of members. `classes`: of each member."""

    def __init__(self, problem: Problem | ServerProblem, classes: list[int], order: Sequence[int]) -> None:
        self.classes, self.order = classes, order
        self.numbers: dict[int, tuple[int, ...]] = {}
        for own, topics in enumerate(problem.topics_of_class):
            for topic in dict.fromkeys(topics.tolist()):
                if problem.counts[topic]:
                    self.numbers[topic] = (*self.numbers.get(topic, ()), own)
        self.members: dict[tuple[int, ...], list[int]] = {}

    @property
    def known(self) -> Iterator[int]:
        return iter(self.numbers)

    def of(self, topic: int) -> list[int]:
        classes = self.numbers[topic]
        if classes not in self.members:
            self.members[classes] = [member for member in self.order if self.classes[member] in classes]
        return self.members[classes]


def consumers_per_topic(problem: Problem) -> list[int]:
    """The topics to assign, as a map of subscribers is walked, which each member asks for each of its topics
    (consumersPerTopic). A second member with the same topics changes nothing, but by one call."""
    codes = problem.topic_hashes.tolist()
    topics: JavaMap[int, None] = JavaMap(Keys(codes.__getitem__, lambda topic: utf_16(problem.topics[topic])))
    read = set[int]()
    for own in walked_classes(problem):
        for topic in problem.topics_of_class[own][: 1 if own in read else None].tolist():
            topics.compute_if_absent(topic, lambda: None)
        read.add(own)
    return [topic for topic in topics.walk() if problem.counts[topic]]


def walked_classes(problem: Problem) -> list[int]:
    """The members' classes, as Kafka walks its map of subscriptions."""
    classes = problem.class_of_member
    return (classes if len(problem.topics_of_class) == 1 else classes[problem.walked]).tolist()  # type: ignore[no-any-return]


@dataclass
class TopicAssignmentState:
    """A topic whose partitions are given to members by racks. `needs_racks`: whether the racks of its members
    distinguish its partitions."""

    topic: int
    racks: list[frozenset[str]]
    members: list[int]
    rack_of: list[str | None]
    needs_racks: bool


@dataclass
class Division:
    """Of the partitions of topics that have the same members and as many partitions: who owns each, by place."""

    owners: list[int]
    held: list[int]
    quota: int
    extra: int

    def may_take(self, place: int) -> bool:
        return self.held[place] < self.quota + (self.extra > 0)

    def give(self, place: int, partition: int) -> None:
        self.owners[partition] = place
        self.held[place] += 1
        self.extra -= self.held[place] > self.quota


def rack_states(problem: Problem, audiences: Audiences) -> list[TopicAssignmentState]:
    """By name; none where no topic needs racks."""
    # Most groups have no racks.
    if problem.release < RACKS_SINCE or problem.partition_racks is None or not any(problem.racks):
        return []
    states = []
    for topic in sorted(audiences.known, key=lambda topic: utf_16(problem.topics[topic])):
        stated: PartitionRacks | None = problem.partition_racks[topic]
        racks, members = partition_racks(stated, int(problem.counts[topic])), audiences.of(topic)
        named = {rack for member in members if (rack := problem.racks[member])}
        rack_of = [problem.racks[member] for member in members]
        states.append(TopicAssignmentState(topic, racks, members, rack_of, racks_matter(named, racks)))
    return states if any(state.needs_racks for state in states) else []


def assign_with_racks(states: list[TopicAssignmentState], lists: Lists) -> None:
    """Kafka sorts every list in the end, so the order in which topics are served leaves no trace."""
    together: dict[tuple[int, int], list[TopicAssignmentState]] = {}
    for state in states:
        # One audience is one list.
        together.setdefault((id(state.members), len(state.racks)), []).append(state)
    given: dict[int, list[int]] = {}
    for alike in together.values():
        owners = divided(alike)
        for state in alike:
            given[state.topic] = [state.members[place] for place in owners]
    for state in states:
        for partition, member in enumerate(given[state.topic]):
            lists[member].append((state.topic, partition))


def divided(alike: list[TopicAssignmentState]) -> list[int]:
    first = alike[0]
    division = Division(
        [NOBODY] * len(first.racks), [0] * len(first.members), *divmod(len(first.racks), len(first.members))
    )
    if any(first.rack_of):
        if len(alike) > 1:
            assign_co_partitioned_with_rack_matching(alike, division)
        elif first.needs_racks:
            assign_by(division, lambda place, partition: is_near(first, place, partition))
    assign_by(division, lambda place, partition: True)
    return division.owners


def assign_co_partitioned_with_rack_matching(alike: list[TopicAssignmentState], division: Division) -> None:
    """A partition of all topics goes to the first member that is near it in each of them."""
    for partition in range(len(division.owners)):
        for place in range(len(division.held)):
            if division.may_take(place) and all(is_near(state, place, partition) for state in alike):
                division.give(place, partition)
                break


def assign_by(division: Division, may_have: Callable[[int, int], bool]) -> None:
    """Gives each member in turn the first free partitions that it may have (assignRanges)."""
    begin = 0
    for place in range(len(division.held)):
        room = max(division.quota + (division.extra > 0) - division.held[place], 0)
        while begin < len(division.owners) and division.owners[begin] != NOBODY:
            # What is given at the beginning is not looked at again.
            begin += 1
        for partition in range(begin, len(division.owners) if room else begin):
            if division.owners[partition] == NOBODY and may_have(place, partition):
                division.give(place, partition)
                room -= 1
                if not room:
                    break


def is_near(state: TopicAssignmentState, place: int, partition: int) -> bool:
    """Whether a replica of a partition is in a member's rack; a member without a rack may have any."""
    rack = state.rack_of[place]
    return not rack or rack in state.racks[partition]
