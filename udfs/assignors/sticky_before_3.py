"""The sticky assignors of releases 2.4 to 2.8, for groups of that time: one partition after the other, as in Kafka.

Up to 2.5.0 there is one algorithm for all groups. Later releases have another for equal subscriptions, which 3.0
replaced.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import ABSENT, Assignment, AssignorFailed, Group, Lists, Partition, Positions, Rows
from udfs.assignors.java.maps import string_hashes, topic_partition_hashes, walked
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


def sticky_before_3(group: Group) -> Assignment:
    said = [previous_assignment(group.user_data[member]) for member in group.walked]
    claims = [Claim([(topic, at) for topic, numbers in lists for at in numbers], said_in) for lists, said_in in said]
    rows, _ = assign(group, claims, Claim((), None))
    return rows


def cooperative_before_3(group: Group) -> tuple[Assignment, NDArray[np.bool_] | None]:
    """With the rows that must wait, if the algorithm shows them."""
    lists, claims = group.owned.lists(len(group.members)), []
    for member in group.walked:
        data = group.user_data[member]
        has_generation = group.release >= GENERATIONS_SINCE and data is not None
        owned = [(group.topics[topic], partition) for topic, partition in lists[member]]
        claims.append(Claim(owned, last_generation(data) if has_generation else None))
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
    # Who holds each partition that exists, and who held it in the generation before.
    now, before = list[tuple[int, int, int]](), dict[Partition, int]()
    for each in in_order:
        if (partition := existing(group, each)) is not None:
            newest, *older = (holders[each][generation] for generation in sorted(holders[each], reverse=True))
            now.append((group.walked[newest], *partition))
            if older:
                before[partition] = older[0]
    rows = Rows.of_triples(now)
    builder = GeneralAssignmentBuilder(group, rows)
    numbers_before = builder.topics.numbers(Rows.of_lists([[*before]])).tolist()
    numbers = None
    if group.release < EQUAL_WAY_SINCE and holders and group.takes[:, group.known].all():
        earlier = [each for each in in_order if len(holders[each]) > 1]
        earlier = [earlier[at] for at in walked(hashes_of(earlier))]
        numbers = from_largest(group, builder.topics, rows, earlier)
    return builder.build(dict(zip(numbers_before, before.values(), strict=True)), numbers)


def existing(group: Group, partition: TopicPartition) -> Partition | None:
    topic, number = group.topic_positions.get(partition[0]), partition[1]
    return (topic, number) if topic is not None and group.known[topic] and 0 <= number < group.counts[topic] else None


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


def from_largest(group: Group, topics: NumberedTopics, rows: Rows, earlier: Sequence[TopicPartition]) -> Positions:
    """The partitions, one at a time from the member that has most left: first those that another had before."""
    left: dict[int, dict[int, None]] = {member: {} for member in range(len(group.members))}
    for member, number in zip(rows.members.tolist(), topics.numbers(rows).tolist(), strict=True):
        left[member][number] = None
    owner = {number: member for member, numbers in left.items() for number in numbers}
    first: dict[int, deque[int]] = {member: deque() for member in left}
    exist = [partition for each in earlier if (partition := existing(group, each)) is not None]
    for number in topics.numbers(Rows.of_lists([exist])).tolist():
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
    everywhere = [(topic, at) for topic in group.topics_walked for at in range(group.num_partitions[topic])]
    walk = walked(hashes_of([(group.topics[topic], at) for topic, at in everywhere]))
    numbers, listed = topics.numbers(Rows.of_lists([everywhere])), set(order)
    return np.array(order + [number for number in numbers[walk].tolist() if number not in listed], np.intp)


# -- equal subscriptions, from 2.5.1 on


def equal(group: Group, claims: Sequence[Claim]) -> tuple[Rows, NDArray[np.bool_]]:
    """Everyone keeps up to the largest quota; those below the least are filled, at last from those at the largest. With
    the rows that another member must give up first."""
    owned, revoked = owned_lists(group, claims)
    everything = [(topic, at) for topic in group.known_by_name for at in range(group.num_partitions[topic])]
    least, most = len(everything) // len(owned), -(-len(everything) // len(owned))
    lists, revoked = [each[:most] for each in owned], revoked.union(*(each[most:] for each in owned))
    kept = {each for own in lists for each in own}
    free = deque(each for each in everything if each not in kept)
    waiting: dict[Partition, int] = {}

    def give(member: int) -> None:
        partition = free.popleft()
        lists[member].append(partition)
        if partition in revoked:
            waiting[partition] = member

    by_id = [group.member_ranks[member] for member in group.walked]
    under = sorted((m for m, each in enumerate(owned) if len(each) < least), key=by_id.__getitem__)
    rest = [m for m, each in enumerate(owned) if len(each) >= least]
    at_least = deque(m for m in rest if len(lists[m]) == least)
    at_most = deque(m for m in rest if len(lists[m]) == most)
    while under and free:
        # One partition each in turns.
        for member in under[: len(free)]:
            give(member)
            if len(lists[member]) == least:
                at_least.append(member)
                under.remove(member)
    for member in under:
        while len(lists[member]) < least:
            if not at_most:
                raise AssignorFailed("Some consumers are under capacity but all partitions have been assigned")
            partition = lists[at_most.popleft()].pop(0)
            lists[member].append(partition)
            waiting[partition] = member
        at_least.append(member)
    while free:
        if not at_least:
            raise AssignorFailed("Some partitions are unassigned but all consumers are at maximum capacity")
        give(at_least.popleft())
    rows = [(place, partition) for place, own in enumerate(lists) for partition in own]
    # Of two in one list the first waits.
    waits = [waiting.get(partition) == place and waiting.pop(partition) == place for place, partition in rows]
    return Rows.of_triples([(group.walked[place], *partition) for place, partition in rows]), np.array(waits, np.bool_)


def owned_lists(group: Group, claims: Sequence[Claim]) -> tuple[Lists, set[Partition]]:
    """What members of the newest generation own, of topics that are known; and what two of them claim."""
    generations = [ABSENT if claim.generation is None else claim.generation for claim in claims]
    # Where all say something below it, nobody is believed.
    newest = max(ABSENT, *generations)
    lists: Lists = []
    owner: dict[Partition, int] = {}
    contested = set[Partition]()
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
    return lists, contested
