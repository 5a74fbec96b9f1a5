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
    Partition,
    Positions,
    assignment_of,
    empty_target,
    recorded_targets,
)
from udfs.assignors.java.maps import filled, java_sorted, ranks, walked


class Board:
    """Who has what, changed as the algorithm goes on; members are places in the walk of members."""

    def __init__(self, group: Group) -> None:
        takes = np.zeros((len(group.members), len(group.topics)), np.bool_)
        for place, own in enumerate(group.walked_classes):
            takes[place, group.subscribed[own]] = True
        self.subscribers: list[Positions] = [np.flatnonzero(column) for column in takes.T]
        self.topics: list[list[int]] = [np.flatnonzero(row).tolist() for row in takes]
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


def uniform_before_4(group: Group) -> Assignment:
    board = Board(group)
    for place, before in enumerate(recorded_targets(group)):
        for topic, partition in before.walk():
            if topic in board.topics[place]:
                board.add(place, topic, partition)
    order = partitions_in_order(group, board)
    deal([(topic, partition) for topic, partition in order if board.owners[topic][partition] == NOBODY], board)
    even_out([(topic, partition) for topic, partition in order if len(board.subscribers[topic]) > 1], board)
    return assignment_of(group, [target.walk() for target in board.targets])


def partitions_in_order(group: Group, board: Board) -> list[Partition]:
    """Those of topics with most partitions for each subscriber first, then by number; among equal ones of different
    topics Kafka's set of all partitions decides."""
    met = [topic for own in dict.fromkeys(group.walked_classes) for topic in group.subscribed[own]]
    code, counts = group.topic_ids.hash_code, group.num_partitions
    everything = [(topic, at) for topic in filled(group.topic_ids, met).walk() for at in range(counts[topic])]
    walk = walked([31 * (code(topic) + 31) + partition & 0xFFFFFFFF for topic, partition in everything])
    sizes = [len(subscribers) for subscribers in board.subscribers]
    return sorted(
        (everything[at] for at in walk),
        key=lambda each: (-(counts[each[0]] / sizes[each[0]]), sizes[each[0]], each[1]),
    )


def deal(free: list[Partition], board: Board) -> None:
    """To the least loaded subscriber that may still take something."""
    heaps: dict[int, list[tuple[int, int, int]]] = {}
    for topic, partition in free:
        if topic not in heaps:
            places = board.subscribers[topic].tolist()
            heaps[topic] = [(int(board.loads[place]), int(board.ranks[place]), place) for place in places]
            heapq.heapify(heaps[topic])
        heap = heaps[topic]
        while heap:
            load, rank, place = heap[0]
            now = int(board.loads[place])
            if now >= board.most[place]:
                heapq.heappop(heap)
            elif now == load:
                break
            else:
                # While this loop deals, loads only grow: an old entry of the heap gets its new place.
                heapq.heapreplace(heap, (now, rank, place))
        else:
            raise AssignorFailed("some partitions are left unassigned")
        board.add(place, topic, partition)


def even_out(order: list[Partition], board: Board) -> None:
    """Lap by lap; a partition that was moved is left out of the laps that follow. Kafka remembers what was moved so
    that a move back takes the same partition, but then takes that for a contradiction and fails."""
    moved = set[Partition]()
    ways = set[tuple[int, int, int]]()
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
                if (topic, partition) in moved or (topic, receiver, owner) in ways:
                    raise AssignorFailed("a partition would be moved twice")
                moved.add((topic, partition))
                ways.add((topic, owner, receiver))
                board.take_from_owner(topic, partition)
                board.add(receiver, topic, partition)
        order = [each for each in order if each not in moved]
