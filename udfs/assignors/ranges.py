"""Kafka's RangeAssignor and RoundRobinAssignor of clients, and the RangeAssignor of coordinators."""

from collections.abc import Callable, Sequence

from udfs.assignors.groups import NOBODY, Audiences, Group, Lists, partition_racks, racks_matter
from udfs.assignors.java.maps import JavaMap, filled, table_capacity

# From here on a leader's range has a map of partitions, which is filled from a set of topics; before, it had a map of
# subscribers, which computeIfAbsent filled.
RACKS_SINCE = (3, 5, 0)


def client_range(group: Group) -> Lists:
    lists: Lists = [[] for _ in group.members]
    audiences = Audiences(group, group.statically_sorted)
    if states := topic_assignment_states(group, audiences):
        assign_with_racks(states, lists)
    else:
        topics = group.topics_walked if group.release >= RACKS_SINCE else consumers_per_topic(group)
        for topic in topics:
            add_partitions(topic, group.counts[topic], audiences.of(topic), lists)
    return lists


def is_rack_aware(group: Group) -> bool:
    return bool(topic_assignment_states(group, Audiences(group, range(len(group.members)))))


def add_partitions(topic: int, count: int, members: Sequence[int], lists: Lists) -> None:
    """One range of a topic for each member (addPartitionsToAssignment). What assignRanges of leaders comes to where no
    rack counts."""
    quota, extra = divmod(count, len(members))
    end = 0
    for place, member in enumerate(members if quota else members[:extra]):
        begin, end = end, end + quota + (place < extra)
        lists[member] += [(topic, partition) for partition in range(begin, end)]


def round_robin(group: Group) -> Lists:
    circle = group.statically_sorted
    lists: Lists = [[] for _ in group.members]
    audiences = Audiences(group, circle)
    place_of = {member: place for place, member in enumerate(circle)}
    place = 0
    for topic in group.known_by_name:
        members = audiences.of(topic)
        at = next((at for at, member in enumerate(members) if place_of[member] >= place), 0)
        for partition in range(group.counts[topic]):
            lists[members[at]].append((topic, partition))
            place = place_of[members[at]] + 1
            at = (at + 1) % len(members)
    return lists


def consumers_per_topic(group: Group) -> list[int]:
    """The topics to assign, as a map of subscribers is walked, which each member asks for each of its topics
    (consumersPerTopic). A second member with the same topics changes nothing, but by one call."""
    topics: JavaMap[int, None] = JavaMap(group.names)
    read = set[int]()
    for own in group.classes if len(group.subscriptions) == 1 else group.walked_classes:
        for topic in group.subscriptions[own][: 1 if own in read else None]:
            topics.compute_if_absent(topic, lambda: None)
        read.add(own)
    return [topic for topic in topics.walk() if group.counts[topic]]


# -- racks, in a leader's range from 3.5 on


class TopicAssignmentState:
    """A topic whose partitions are given to members by racks. Members are places in `members`; `owners` are those of
    the partitions, `held` counts what each member has. Up to `extra` more members may have one more than the quota."""

    def __init__(self, group: Group, topic: int, members: list[int]) -> None:
        self.topic, self.members = topic, members
        self.racks = partition_racks(group, topic)
        self.rack_of = [group.racks[member] for member in members]
        self.needs_racks = racks_matter({*filter(None, self.rack_of)}, self.racks)
        self.owners = [NOBODY] * len(self.racks)
        self.held = [0] * len(members)
        self.quota, self.extra = divmod(len(self.racks), len(members))

    def room(self, place: int) -> int:
        return self.quota + (self.extra > 0) - self.held[place]

    def give(self, place: int, partition: int) -> None:
        self.owners[partition] = place
        self.held[place] += 1
        self.extra -= self.held[place] > self.quota

    def is_near(self, place: int, partition: int) -> bool:
        """Whether a replica of a partition is in a member's rack; a member without a rack may have any
        (racksMatch)."""
        rack = self.rack_of[place]
        return not rack or rack in self.racks[partition]


def topic_assignment_states(group: Group, audiences: Audiences) -> list[TopicAssignmentState]:
    """By name; none where no topic needs racks."""
    # Most groups have no racks.
    if group.release < RACKS_SINCE or group.partition_racks is None or not any(group.racks):
        return []
    states = [TopicAssignmentState(group, topic, audiences.of(topic)) for topic in group.known_by_name]
    return states if any(state.needs_racks for state in states) else []


def assign_with_racks(states: list[TopicAssignmentState], lists: Lists) -> None:
    """Kafka sorts every list in the end, so the order in which topics are served leaves no trace."""
    together: dict[tuple[int, int], list[TopicAssignmentState]] = {}
    for state in states:
        # One audience is one list.
        together.setdefault((id(state.members), len(state.racks)), []).append(state)
    for alike in together.values():
        first = alike[0]
        if any(first.rack_of):
            if len(alike) > 1:
                assign_co_partitioned_with_rack_matching(first, alike)
            elif first.needs_racks:
                assign_ranges(first, first.is_near)
        assign_ranges(first, lambda place, partition: True)
        for state in alike:
            state.owners = first.owners
    for state in states:
        for partition, place in enumerate(state.owners):
            lists[state.members[place]].append((state.topic, partition))


def assign_co_partitioned_with_rack_matching(first: TopicAssignmentState, alike: list[TopicAssignmentState]) -> None:
    """A partition of all topics goes to the first member that is near it in each of them."""
    for partition in range(len(first.owners)):
        for place in range(len(first.members)):
            if first.room(place) > 0 and all(state.is_near(place, partition) for state in alike):
                first.give(place, partition)
                break


def assign_ranges(state: TopicAssignmentState, may_have: Callable[[int, int], bool]) -> None:
    """Gives each member in turn the first free partitions that it may have (assignRanges)."""
    begin = 0
    for place in range(len(state.members)):
        room = state.room(place)
        while begin < len(state.owners) and state.owners[begin] != NOBODY:
            # What is given at the beginning is not looked at again.
            begin += 1
        for partition in range(begin, len(state.owners)):
            if room <= 0:
                break
            if state.owners[partition] == NOBODY and may_have(place, partition):
                state.give(place, partition)
                room -= 1


# -- coordinators


def server_range(group: Group) -> Lists:
    """RangeAssignor.assign."""
    lists: Lists = [[] for _ in group.members]
    (assign_homogeneous_group if group.is_homogeneous else assign_heterogeneous_group)(group, lists)
    return lists


def assign_homogeneous_group(group: Group, lists: Lists) -> None:
    """Topic by topic. Everybody's map is made alike, of the topics of the first."""
    order = group.statically_sorted
    first = group.classes[order[0]]
    for topic in walked_topics(group, first, len(group.subscribed[first])):
        add_partitions(topic, group.counts[topic], order, lists)


def assign_heterogeneous_group(group: Group, lists: Lists) -> None:
    """Each member's topics are in the order of its own map."""
    audiences = Audiences(group, group.statically_sorted)
    for topic in audiences.numbers:
        add_partitions(topic, group.counts[topic], audiences.of(topic), lists)
    places = [
        {topic: place for place, topic in enumerate(walked_topics(group, own, len(listed)))}
        for own, listed in enumerate(group.subscriptions)
    ]
    for own, rows in zip(group.classes, lists, strict=True):
        rows.sort(key=lambda row, own=own: places[own][row[0]])  # type: ignore[misc]


def walked_topics(group: Group, own: int, size: int) -> list[int]:
    """Of a class of members: a map of ids that is made for so many."""
    return filled(group.topic_ids, group.subscribed[own], table_capacity(size * 4 // 3 + 1)).walk()
