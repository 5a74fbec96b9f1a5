"""The sticky assignors of releases 2.4 to 2.8, for groups of that time: one partition after the other, as in Kafka.

Up to 2.5.0 there is one algorithm for all groups. Later releases have another for equal subscriptions, which 3.0
replaced.
"""

import heapq
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.before.sticky_claims_before_3 import (
    Claim,
    TopicPartition,
    cooperative_claim,
    rows_from,
    sticky_claim,
)
from udfs.assignors.before.sticky_equal_before_3 import equal
from udfs.assignors.java.iteration_order import (
    Hashes,
    Positions,
    put_order,
    ranks,
    string_hashes,
    topic_partition_hashes,
)
from udfs.assignors.questions.partition_numbers import NumberedTopics, number_partitions
from udfs.assignors.questions.problems import ABSENT, Assignment, Problem, Rows, within
from udfs.assignors.sticky_steps.balance import fairer_lists
from udfs.assignors.sticky_steps.claims import Ownership
from udfs.assignors.sticky_steps.general_assign import give, listed_times, rows_of, start

EQUAL_WAY_SINCE = (2, 5, 1)
NOTHING = Claim((), None)


def sticky_before_3(problem: Problem) -> Assignment:
    rows, _ = assign(problem, [sticky_claim(problem, member) for member in problem.walked.tolist()], NOTHING)
    return rows


def cooperative_before_3(problem: Problem) -> tuple[Assignment, NDArray[np.bool_] | None]:
    """With the rows that must wait, if the algorithm shows them."""
    claims = [cooperative_claim(problem, member) for member in problem.walked.tolist()]
    # Its user data cannot be read twice either, but says only the generation.
    return assign(problem, claims, None)


def assign(
    problem: Problem, claims: Sequence[Claim], second_reading: Claim | None
) -> tuple[Assignment, NDArray[np.bool_] | None]:
    """`claims` in the order of the walk.

    Members that were looked at before two subscriptions differed had their user data read then, up to its end: what a
    second reading finds is `second_reading`, or a generation that cannot be read.
    """
    if problem.release < EQUAL_WAY_SINCE:
        return general(problem, claims), None
    differing = first_difference(problem)
    if differing is None:
        return equal(problem, claims)
    again = [
        second_reading or Claim(claim.partitions, None if claim.generation is None else ABSENT)
        for claim in claims[:differing]
    ]
    return general(problem, [*again, *claims[differing:]]), None


def first_difference(problem: Problem) -> int | None:
    """Which member's subscription, in the walk, is the first to differ from the first that is not empty."""
    reference: frozenset[int] = frozenset()
    for place, member in enumerate(problem.walked.tolist()):
        topics = problem.topics_of_class[problem.class_of_member[member]].tolist()
        if not reference:
            reference = frozenset(topics)
        elif len(topics) != len(reference) or not reference.issuperset(topics):
            return place
    return None


def general(problem: Problem, claims: Sequence[Claim]) -> Rows:
    holders = holders_by_generation(claims)
    held = [*holders]
    walked = [held[at] for at in put_order(hashes_of(held))]
    rows, before_rows = holding_rows(problem, walked, holders)
    times = listed_times(problem)
    order = np.lexsort((problem.topic_ranks, times))
    topics = number_partitions(problem, order[problem.known[order]])
    before = dict(
        zip(numbers_of(topics, before_rows), ranks(problem.walked)[before_rows.members].tolist(), strict=True)
    )
    numbers = np.arange(topics.total)
    if problem.release < EQUAL_WAY_SINCE and holders and problem.takes[:, problem.known].all():
        earlier = [each for each in walked if len(holders[each]) > 1]
        earlier = [earlier[at] for at in put_order(hashes_of(earlier))]
        numbers = from_largest(problem, topics, rows, earlier)
    is_kept = problem.takes[problem.class_of_member[rows.members], rows.topics]
    kept = rows.take(is_kept)
    is_free = np.ones(topics.total, np.bool_)
    is_free[numbers_of(topics, kept)] = False
    owned = Ownership(rows, np.zeros(len(rows), np.bool_), ABSENT)
    state = start(problem, topics, owned, is_kept, numbers[is_free[numbers]], is_strange=False)
    give(state)
    lists = fairer_lists(problem, state, times[topics.order] >= 2, before, not is_kept.all(), numbers)
    return rows_of(problem, topics, kept, state, lists)


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


def hashes_of(partitions: Sequence[TopicPartition]) -> Hashes:
    topics = string_hashes([topic for topic, _ in partitions])
    return topic_partition_hashes(topics, np.array([partition for _, partition in partitions], np.int64))


def holding_rows(
    problem: Problem, walked: Sequence[TopicPartition], holders: dict[TopicPartition, dict[int, int]]
) -> tuple[Rows, Rows]:
    """Who holds each partition that exists, and who held it in the generation before."""
    now: list[tuple[int, int, int]] = []
    before: list[tuple[int, int, int]] = []
    for topic, partition in walked:
        at = problem.topic_positions.get(topic)
        if at is None or not problem.known[at] or not 0 <= partition < problem.counts[at]:
            continue
        held = holders[topic, partition]
        generations = sorted(held, reverse=True)
        now.append((int(problem.walked[held[generations[0]]]), at, partition))
        if len(generations) > 1:
            before.append((int(problem.walked[held[generations[1]]]), at, partition))
    return rows_from(now), rows_from(before)


def numbers_of(topics: NumberedTopics, rows: Rows) -> list[int]:
    numbers: list[int] = (topics.starts[topics.places[rows.topics]] + rows.partitions).tolist()
    return numbers


def from_largest(problem: Problem, topics: NumberedTopics, rows: Rows, earlier: Sequence[TopicPartition]) -> Positions:
    """The partitions, one at a time from the member that has most left: first those that another had before."""
    left: dict[int, dict[int, None]] = {member: {} for member in range(len(problem.members))}
    for member, number in zip(rows.members.tolist(), numbers_of(topics, rows), strict=True):
        left[member][number] = None
    owner = {number: member for member, numbers in left.items() for number in numbers}
    first: dict[int, deque[int]] = {member: deque() for member in left}
    for topic, partition in earlier:
        at = problem.topic_positions.get(topic)
        if at is not None and problem.known[at] and 0 <= partition < problem.counts[at]:
            number = int(topics.starts[topics.places[at]]) + partition
            first[owner[number]].append(number)
    heap = [(-len(numbers), -int(problem.member_ranks[member]), member) for member, numbers in left.items()]
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
        [topics.starts[topics.places[topic]] + np.arange(problem.counts[topic]) for topic in problem.topics_walked]
        or [np.empty(0, np.intp)]
    )
    hashes = topic_partition_hashes(
        np.repeat(problem.topic_hashes[problem.topics_walked], problem.counts[problem.topics_walked]),
        within(problem.counts[problem.topics_walked]),
    )
    listed = set(order)
    order += [number for number in everywhere[put_order(hashes)].tolist() if number not in listed]
    return np.array(order, np.intp)
