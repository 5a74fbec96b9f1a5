"""The algorithm of the sticky assignors if members subscribe to different topics."""

import heapq
from bisect import bisect_left, insort

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, ranks
from udfs.assignors.questions.partition_numbers import NOBODY, NumberedTopics, number_partitions, unassigned_partitions
from udfs.assignors.questions.problems import Numbers, Problem, Rows, joined
from udfs.assignors.sticky_steps.balance import fairer_lists
from udfs.assignors.sticky_steps.claims import Claims, Ownership
from udfs.assignors.sticky_steps.racks import Racks, racks_of
from udfs.assignors.sticky_steps.state import State, heaps_of


def general(problem: Problem, claims: Claims, owned: Ownership) -> Rows:
    times = listed_times(problem)
    order = np.lexsort((problem.topic_ranks, times))
    topics = number_partitions(problem, order[problem.known[order]])
    racks = racks_of(problem, topics.order)
    is_kept = problem.takes[problem.class_of_member[owned.rows.members], owned.rows.topics]
    if racks is not None and racks.are_used and len(owned.rows):
        is_kept &= ~racks.are_far(owned.rows)
    kept, strange = owned.rows.take(is_kept), owned.are_strange[is_kept]
    free, is_strange = unassigned_partitions(topics, kept, strange)
    state = start(problem, topics, owned, is_kept, free, is_strange)
    if racks is not None and racks.are_used:
        give_near(state, racks)
    give(state)
    before = previous_owners(problem, topics, claims, owned.highest_generation)
    lists = fairer_lists(problem, state, times[topics.order] >= 2, before, is_anything_revoked=not is_kept.all())
    return rows_of(problem, topics, kept, state, lists)


def listed_times(problem: Problem) -> Numbers:
    """How many subscriptions name each topic."""
    times = np.zeros(len(problem.topics), np.int64)
    for members, topics in zip(problem.members_by_class, problem.topics_of_class, strict=True):
        np.add.at(times, topics, len(members))
    return times


def start(
    problem: Problem,
    topics: NumberedTopics,
    owned: Ownership,
    is_kept: NDArray[np.bool_],
    free: Positions,
    is_strange: bool,
) -> State:
    walk = ranks(problem.walked)
    kept, strange = owned.rows.take(is_kept), owned.are_strange[is_kept]
    keepers = walk[kept.members]
    numbers = topics.starts[topics.places[kept.topics]] + kept.partitions
    # Partitions that their topics do not have get numbers after all existing ones.
    numbers[strange] = topics.total + np.arange(np.count_nonzero(strange))
    owner = np.full(topics.total + np.count_nonzero(strange), NOBODY, np.int64)
    # A member that may not keep a partition stays its owner to Kafka, where another keeps it too.
    real = owned.rows.take(~owned.are_strange)
    owner[topics.starts[topics.places[real.topics]] + real.partitions] = walk[real.members]
    is_strange |= int(np.count_nonzero(owner[: topics.total] != NOBODY)) < len(real)
    audience_of_topic, audiences = problem.audiences
    return State(
        topics=topics,
        id_ranks=problem.member_ranks[problem.walked].tolist(),
        sizes=np.bincount(keepers, minlength=len(problem.members)).tolist(),
        owner=owner.tolist(),
        kept=numbers,
        keepers=keepers,
        free=free,
        topic_of=np.concatenate(
            [np.repeat(np.arange(len(topics.order)), topics.counts), topics.places[kept.topics[strange]]]
        ),
        audience_of=np.repeat(audience_of_topic[topics.order], topics.counts).tolist(),
        audiences=[walk[members].tolist() for members in audiences],
        is_strange=is_strange,
        to_give=free.tolist(),
    )


def give_near(state: State, racks: Racks) -> None:
    """Gives each partition to the smallest member that subscribes and is not in a rack without it."""
    members = sorted(state.entry(member) for member in range(len(state.sizes)))
    subscribers = [set(audience) for audience in state.audiences]
    left = []
    for number in state.to_give:
        subscribed, near = subscribers[state.audience_of[number]], racks.of_partition[number]
        for entry in members:
            if entry[2] in subscribed and not racks.is_far(entry[2], near):
                break
        else:
            left.append(number)
            continue
        del members[bisect_left(members, entry)]
        state.take(number, entry[2])
        insort(members, state.entry(entry[2]))
    state.to_give = left


def give(state: State) -> None:
    """Gives each partition to the smallest member that subscribes: Kafka's sorted set, as a heap for each audience."""
    heaps = heaps_of(state, state.audiences)
    sizes, replace = state.sizes, heapq.heapreplace
    for number in state.to_give:
        heap = heaps[state.audience_of[number]]
        while True:
            size, rank, member = heap[0]
            # Entries are put right when they come to the top: a member may have grown by another audience's topic.
            if size == sizes[member]:
                break
            replace(heap, (sizes[member], rank, member))
        state.take(number, member)
        replace(heap, (size + 1, rank, member))


def previous_owners(problem: Problem, topics: NumberedTopics, claims: Claims, highest: int) -> dict[int, int]:
    """Of partitions that members of older generations claim, the member whose claim is the youngest."""
    rows = claims.rows
    is_old = (claims.generations[rows.members] < highest) & problem.known[rows.topics]
    if not is_old.any():
        return {}
    rows = rows.take(is_old & (rows.partitions >= 0) & (rows.partitions < problem.counts[rows.topics]))
    walk = ranks(problem.walked)[rows.members]
    # The first of equals stays.
    order = np.lexsort((walk, -claims.generations[rows.members]))
    numbers = (topics.starts[topics.places[rows.topics]] + rows.partitions)[order].tolist()
    return dict(reversed(list(zip(numbers, walk[order].tolist(), strict=True))))


def rows_of(problem: Problem, topics: NumberedTopics, kept: Rows, state: State, lists: list[list[int]] | None) -> Rows:
    if lists is None:
        new = topics.rows(problem.walked[state.receivers], np.array(state.given, np.intp))
        return joined(kept, new)
    numbers = np.array([number for numbers in lists for number in numbers], np.intp)
    members = problem.walked[np.repeat(np.arange(len(lists)), [len(numbers) for numbers in lists])]
    if not state.is_strange:
        return topics.rows(members, numbers)
    real = numbers < topics.total
    rows = topics.rows(members, np.where(real, numbers, 0))
    row_of = {number: row for row, number in enumerate(state.kept.tolist())}
    for at in np.flatnonzero(~real).tolist():
        row = row_of[int(numbers[at])]
        rows.topics[at], rows.partitions[at] = kept.topics[row], kept.partitions[row]
    return rows
