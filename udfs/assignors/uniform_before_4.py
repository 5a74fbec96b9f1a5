"""The coordinator's `uniform` of 3.8 and 3.9 for members that subscribe to different topics.

Members keep what they had, and the rest goes to the least loaded subscriber. Then partitions move, one by one, to the
least loaded member, as long as that improves the balance (KAFKA-17710 replaced it).
"""

import heapq

import numpy as np

from udfs.assignors.groups import (
    NOBODY,
    Assignment,
    AssignorFailed,
    Group,
    Positions,
    assignment_of,
    empty_target,
    recorded_targets,
    within,
)  # fmt: skip
from udfs.assignors.java.maps import filled, java_sorted, ranks, walked


class Board:
    """Who has what, changed as the algorithm goes on; members are places in the walk of members."""

    def __init__(self, group: Group) -> None:
        takes = np.zeros((len(group.members), len(group.topics)), np.bool_)
        for place, own in enumerate(group.walked_classes):
            takes[place, group.subscribed[own]] = True
        self.subscribers: list[Positions] = [np.flatnonzero(column) for column in takes.T]
        self.topics: list[Positions] = [np.flatnonzero(row) for row in takes]
        self.most = takes @ group.counts
        self.loads = np.zeros(len(takes), np.int64)
        self.targets = [empty_target(group) for _ in takes]
        self.owners = [np.full(count, NOBODY) for count in group.num_partitions]
        # Among equally loaded members the id decides.
        self.ranks = np.array(ranks(java_sorted([group.members[member] for member in group.walked])), np.intp)

    def add(self, place: int, topic: int, partition: int) -> None:
        self.targets[place].add(topic, partition)
        if partition < len(self.owners[topic]):
            self.owners[topic][partition] = place
        self.loads[place] += 1

    def take_from_owner(self, topic: int, partition: int) -> None:
        owner = int(self.owners[topic][partition])
        self.targets[owner].take(topic, partition)
        self.loads[owner] -= 1

    def by_load(self, places: Positions) -> Positions:
        """Those that do not have all they can have, the least loaded first."""
        open_ones = places[self.loads[places] < self.most[places]]
        order: Positions = open_ones[np.lexsort((self.ranks[open_ones], self.loads[open_ones]))]
        return order

    def is_balanced(self) -> bool:
        places = self.by_load(np.arange(len(self.loads)))
        if not len(places):
            raise AssignorFailed("every member has all that it can have, and a partition was moved")
        if self.loads[places[0]] >= self.loads[places[-1]] - 1:
            return True
        return not any(self.may_take(place, topic) for place in places.tolist() for topic in self.topics[place])

    def may_take(self, place: int, topic: int) -> bool:
        """Whether the member could have a partition of one that has at least two more."""
        rich = np.flatnonzero(self.loads[self.owners[topic]] > self.loads[place] + 1)
        held = self.targets[place].copy().get(topic) or ()
        return any(partition not in held for partition in rich.tolist())


class Moves:
    """What was moved already. Kafka remembers it so that a move back takes the same partition, but then takes that for
    a contradiction and fails."""

    def __init__(self) -> None:
        self.partitions: set[tuple[int, int]] = set()
        self.ways: set[tuple[int, int, int]] = set()

    def note(self, topic: int, partition: int, owner: int, receiver: int) -> None:
        if (topic, partition) in self.partitions or (topic, receiver, owner) in self.ways:
            raise AssignorFailed("a partition would be moved twice")
        self.partitions.add((topic, partition))
        self.ways.add((topic, owner, receiver))


def uniform_before_4(group: Group) -> Assignment:
    board = Board(group)
    keep_targets(group, board)
    order = partitions_in_order(group, board)
    deal([(topic, partition) for topic, partition in order if board.owners[topic][partition] == NOBODY], board)
    even_out([(topic, partition) for topic, partition in order if len(board.subscribers[topic]) > 1], board)
    return assignment_of(group, [target.walk() for target in board.targets])


def keep_targets(group: Group, board: Board) -> None:
    for place, before in enumerate(recorded_targets(group)):
        subscribed = set(board.topics[place].tolist())
        for topic, partition in before.walk():
            if topic in subscribed:
                board.add(place, topic, partition)


def partitions_in_order(group: Group, board: Board) -> list[tuple[int, int]]:
    """Those of topics with most partitions for each subscriber first, then by number; among equal ones of different
    topics Kafka's set of all partitions decides."""
    met = dict.fromkeys(topic for own in group.walked_classes for topic in group.subscribed[own])
    walked_topics = filled(group.topic_ids, met).walk()
    topics = np.array(walked_topics, np.intp)
    counts = group.counts[topics]
    topic, partition = np.repeat(topics, counts), within(counts)
    codes = np.array([group.topic_ids.hash_code(each) for each in walked_topics], np.uint32)
    hashes = np.uint32(31) * (np.repeat(codes, counts) + np.uint32(31)) + partition.astype(np.uint32)
    walk = walked(hashes.tolist())
    sizes = np.array([len(subscribers) for subscribers in board.subscribers])
    topic, partition = topic[walk], partition[walk]
    order = np.lexsort((partition, sizes[topic], -(group.counts[topic] / sizes[topic])))
    return list(zip(topic[order].tolist(), partition[order].tolist(), strict=True))


def deal(free: list[tuple[int, int]], board: Board) -> None:
    """To the least loaded subscriber that may still take something."""
    heaps: dict[int, list[tuple[int, int, int]]] = {}
    for topic, partition in free:
        if topic not in heaps:
            heaps[topic] = [
                (int(board.loads[place]), int(board.ranks[place]), int(place)) for place in board.subscribers[topic]
            ]
            heapq.heapify(heaps[topic])
        place = least_loaded(heaps[topic], board)
        if place is None:
            raise AssignorFailed("some partitions are left unassigned")
        board.add(place, topic, partition)


def least_loaded(heap: list[tuple[int, int, int]], board: Board) -> int | None:
    """Loads only grow meanwhile: an entry that is out of date goes back to its place."""
    while heap:
        load, rank, place = heap[0]
        now = int(board.loads[place])
        if now >= board.most[place]:
            heapq.heappop(heap)
        elif now > load:
            heapq.heapreplace(heap, (now, rank, place))
        else:
            return place
    return None


def even_out(order: list[tuple[int, int]], board: Board) -> None:
    """Lap by lap; a partition that was moved is left out of the laps that follow."""
    moves = Moves()
    was_moved = True
    while was_moved:
        was_moved = is_checked_next = False
        for topic, partition in order:
            if is_checked_next and board.is_balanced():
                return
            subscribers = board.subscribers[topic]
            owner = int(board.owners[topic][partition])
            is_checked_next = bool(board.loads[owner] > board.loads[subscribers].min() + 1)
            if is_checked_next:
                was_moved = True
                receivers = board.by_load(subscribers)
                if not len(receivers):
                    raise AssignorFailed("no subscriber may take a partition that another has too many of")
                receiver = int(receivers[0])
                moves.note(topic, partition, owner, receiver)
                board.take_from_owner(topic, partition)
                board.add(receiver, topic, partition)
        order = [each for each in order if each not in moves.partitions]
