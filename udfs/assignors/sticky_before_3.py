"""The sticky assignors of releases 2.4 to 2.8, for groups of that time: one partition after the other, as in Kafka.

Up to 2.5.0 there is one algorithm for all groups. Later releases have another for equal subscriptions, which 3.0
replaced.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import ABSENT, Assignment, AssignorFailed, Group, Partition, Positions, Rows, within
from udfs.assignors.java.maps import ranks, string_hashes, topic_partition_hashes, walked
from udfs.assignors.sticky_claims import first_difference, last_generation, previous_assignment
from udfs.assignors.sticky_unequal import GeneralAssignmentBuilder, NumberedTopics

EQUAL_WAY_SINCE = (2, 5, 1)
# From here on the cooperative assignor has generations, and what two claim belongs to neither.
GENERATIONS_SINCE = (2, 8, 1)

TopicPartition = tuple[str, int]


@dataclass(frozen=True)
class Claim:
    """What a member says; `generation` is None where it says none, which is not the same as -1."""

    partitions: Sequence[TopicPartition]
    generation: int | None


def sticky_claim(group: Group, member: int) -> Claim:
    lists, generation = previous_assignment(group.user_data[member])
    partitions = [(topic, partition) for topic, numbers in lists for partition in numbers]
    return Claim(partitions, generation)


def cooperative_claim(group: Group, member: int) -> Claim:
    start, end = np.searchsorted(group.owned.members, [member, member + 1])
    topics, partitions = group.owned.topics[start:end].tolist(), group.owned.partitions[start:end].tolist()
    owned = [(group.topics[topic], partition) for topic, partition in zip(topics, partitions, strict=True)]
    data = group.user_data[member]
    has_generation = group.release >= GENERATIONS_SINCE and data is not None
    return Claim(owned, last_generation(data) if has_generation else None)


NOTHING = Claim((), None)


def sticky_before_3(group: Group) -> Assignment:
    rows, _ = assign(group, [sticky_claim(group, member) for member in group.walked], NOTHING)
    return rows


def cooperative_before_3(group: Group) -> tuple[Assignment, NDArray[np.bool_] | None]:
    """With the rows that must wait, if the algorithm shows them."""
    claims = [cooperative_claim(group, member) for member in group.walked]
    # Its user data cannot be read twice either, but says only the generation.
    return assign(group, claims, None)


def assign(
    group: Group, claims: Sequence[Claim], second_reading: Claim | None
) -> tuple[Assignment, NDArray[np.bool_] | None]:
    """`claims` in the order of the walk.

    Members that were looked at before two subscriptions differed had their user data read then, up to its end: what a
    second reading finds is `second_reading`, or a generation that cannot be read.
    """
    if group.release < EQUAL_WAY_SINCE:
        return general(group, claims), None
    differing = first_difference(group)
    if differing is None:
        return equal(group, claims)
    again = [
        second_reading or Claim(claim.partitions, None if claim.generation is None else ABSENT)
        for claim in claims[:differing]
    ]
    return general(group, [*again, *claims[differing:]]), None


def general(group: Group, claims: Sequence[Claim]) -> Rows:
    holders = holders_by_generation(claims)
    held = [*holders]
    in_order = [held[at] for at in walked(hashes_of(held))]
    rows, before_rows = holding_rows(group, in_order, holders)
    builder = GeneralAssignmentBuilder(group, rows)
    topics, place_of = builder.topics, ranks(group.walked)
    had = zip(topics.numbers(before_rows).tolist(), before_rows.members.tolist(), strict=True)
    before = {number: place_of[member] for number, member in had}
    numbers = None
    if group.release < EQUAL_WAY_SINCE and holders and group.takes[:, group.known].all():
        earlier = [each for each in in_order if len(holders[each]) > 1]
        earlier = [earlier[at] for at in walked(hashes_of(earlier))]
        numbers = from_largest(group, topics, rows, earlier)
    return builder.build(before, numbers)


def holders_by_generation(claims: Sequence[Claim]) -> dict[TopicPartition, dict[int, int]]:
    """For each partition claimed, by generation, the member (by its place in the walk) that claims it."""
    holders: dict[TopicPartition, dict[int, int]] = {}
    for place, claim in enumerate(claims):
        for partition in claim.partitions:
            held = holders.setdefault(partition, {})
            # Of two in one generation the first counts, of two without any the last.
            if claim.generation is None or claim.generation not in held:
                held[ABSENT if claim.generation is None else claim.generation] = place
    return holders


def hashes_of(partitions: Sequence[TopicPartition]) -> list[int]:
    topics = string_hashes([topic for topic, _ in partitions])
    numbers = np.array([partition for _, partition in partitions], np.int64)
    return topic_partition_hashes(topics, numbers).tolist()  # type: ignore[no-any-return]


def holding_rows(
    group: Group, partitions: Sequence[TopicPartition], holders: dict[TopicPartition, dict[int, int]]
) -> tuple[Rows, Rows]:
    """Who holds each partition that exists, and who held it in the generation before."""
    now: list[tuple[int, int, int]] = []
    before: list[tuple[int, int, int]] = []
    for topic, partition in partitions:
        at = group.topic_positions.get(topic)
        if at is None or not group.known[at] or not 0 <= partition < group.counts[at]:
            continue
        held = holders[topic, partition]
        generations = sorted(held, reverse=True)
        now.append((group.walked[held[generations[0]]], at, partition))
        if len(generations) > 1:
            before.append((group.walked[held[generations[1]]], at, partition))
    return Rows.of_triples(now), Rows.of_triples(before)


def from_largest(group: Group, topics: NumberedTopics, rows: Rows, earlier: Sequence[TopicPartition]) -> Positions:
    """The partitions, one at a time from the member that has most left: first those that another had before."""
    left: dict[int, dict[int, None]] = {member: {} for member in range(len(group.members))}
    for member, number in zip(rows.members.tolist(), topics.numbers(rows).tolist(), strict=True):
        left[member][number] = None
    owner = {number: member for member, numbers in left.items() for number in numbers}
    first: dict[int, deque[int]] = {member: deque() for member in left}
    for topic, partition in earlier:
        at = group.topic_positions.get(topic)
        if at is not None and group.known[at] and 0 <= partition < group.counts[at]:
            number = int(topics.starts[topics.places[at]]) + partition
            first[owner[number]].append(number)
    heap = [(-len(numbers), -group.member_ranks[member], member) for member, numbers in left.items()]
    heapq.heapify(heap)
    order = []
    while heap:
        size, rank, member = heap[0]
        if not left[member]:
            heapq.heappop(heap)
            continue
        number = first[member].popleft() if first[member] else next(iter(left[member]))
        del left[member][number]
        order.append(number)
        heapq.heapreplace(heap, (size + 1, rank, member))
    everywhere = np.concatenate(
        [topics.starts[topics.places[topic]] + np.arange(group.counts[topic]) for topic in group.topics_walked]
        or [np.empty(0, np.intp)]
    )
    hashes = topic_partition_hashes(
        np.repeat(np.array(group.topic_codes, np.uint32)[group.topics_walked], group.counts[group.topics_walked]),
        within(group.counts[group.topics_walked]),
    )
    listed = set(order)
    order += [number for number in everywhere[walked(hashes.tolist())].tolist() if number not in listed]
    return np.array(order, np.intp)


# -- equal subscriptions, from 2.5.1 on


@dataclass
class Dealing:
    """What each member has so far. `revoked`: partitions that their owners lose; `waiting`: who gets a partition that
    another member must give up first."""

    lists: list[list[Partition]]
    revoked: frozenset[Partition]
    waiting: dict[Partition, int] = field(default_factory=dict)

    def give_to(self, member: int, partition: Partition) -> None:
        self.lists[member].append(partition)
        if partition in self.revoked:
            self.waiting[partition] = member

    def fill(self, under: list[int], free: deque[Partition], least: int, at_least: deque[int]) -> None:
        """One partition each in turns, while there are free ones. Members with enough move to `at_least`."""
        while under and free:
            for member in list(under):
                if not free:
                    break
                self.give_to(member, free.popleft())
                if len(self.lists[member]) == least:
                    at_least.append(member)
                    under.remove(member)

    def take_from_largest(self, member: int, at_most: deque[int], least: int) -> None:
        while len(self.lists[member]) < least:
            if not at_most:
                raise AssignorFailed("Some consumers are under capacity but all partitions have been assigned")
            partition = self.lists[at_most.popleft()].pop(0)
            self.lists[member].append(partition)
            self.waiting[partition] = member


def equal(group: Group, claims: Sequence[Claim]) -> tuple[Rows, NDArray[np.bool_]]:
    """Everyone keeps up to the largest quota; those below the least are filled, at last from those at the largest."""
    owned, contested = owned_lists(group, claims)
    free = partitions_of(group)
    least, most = len(free) // len(owned), -(-len(free) // len(owned))
    dealing = Dealing([each[:most] for each in owned], contested.union(*(each[most:] for each in owned)))
    kept = {each for numbers in dealing.lists for each in numbers}
    free = deque(each for each in free if each not in kept)
    by_id = [group.member_ranks[member] for member in group.walked]
    under = sorted((m for m, each in enumerate(owned) if len(each) < least), key=by_id.__getitem__)
    rest = [m for m, each in enumerate(owned) if len(each) >= least]
    at_least = deque(m for m in rest if len(dealing.lists[m]) == least)
    at_most = deque(m for m in rest if len(dealing.lists[m]) == most)
    dealing.fill(under, free, least, at_least)
    for member in under:
        dealing.take_from_largest(member, at_most, least)
        at_least.append(member)
    for partition in free:
        if not at_least:
            raise AssignorFailed("Some partitions are unassigned but all consumers are at maximum capacity")
        dealing.give_to(at_least.popleft(), partition)
    return listed_rows(group, dealing.lists, dealing.waiting)


def partitions_of(group: Group) -> deque[Partition]:
    """Those of known topics, by name and number."""
    return deque((topic, at) for topic in group.known_by_name for at in range(group.num_partitions[topic]))


def owned_lists(group: Group, claims: Sequence[Claim]) -> tuple[list[list[Partition]], frozenset[Partition]]:
    """What members of the newest generation own, of topics that are known; and what two of them claim."""
    generations = [ABSENT if claim.generation is None else claim.generation for claim in claims]
    # Where all say something below it, nobody is believed.
    newest = max(ABSENT, *generations)
    lists: list[list[Partition]] = []
    owner: dict[Partition, int] = {}
    contested = set()
    for place, (claim, generation) in enumerate(zip(claims, generations, strict=True)):
        lists.append([])
        if generation != newest:
            continue
        for topic, index in claim.partitions:
            at = group.topic_positions.get(topic)
            if at is None or not group.known[at]:
                continue
            partition = at, index
            if group.release < GENERATIONS_SINCE or partition not in owner:
                owner[partition] = place
                lists[place].append(partition)
            else:
                contested.add(partition)
                if partition in lists[owner[partition]]:
                    lists[owner[partition]].remove(partition)
    return lists, frozenset(contested)


def listed_rows(
    group: Group, lists: Sequence[Sequence[Partition]], waiting: dict[Partition, int]
) -> tuple[Rows, NDArray[np.bool_]]:
    rows = Rows.of_triples([(group.walked[m], *partition) for m, each in enumerate(lists) for partition in each])
    waits = np.zeros(len(rows), np.bool_)
    starts = np.cumsum([0, *map(len, lists)])
    for partition, member in waiting.items():
        if partition in lists[member]:
            waits[starts[member] + lists[member].index(partition)] = True
    return rows, waits
