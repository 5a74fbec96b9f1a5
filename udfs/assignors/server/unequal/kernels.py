"""The coordinator's `uniform` from 4.0 on for members that subscribe to different topics, as loops (KAFKA-17710:
UniformHeterogeneousAssignmentBuilder.java). Members are places in Kafka's walk of them."""

from typing import Any, Final

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.server.maps.records.kernels import Codes, Flags
from udfs.assignors.server.maps.sets.kernels import ADD, TAKE
from udfs.assignors.server.maps.steps.kernels import note
from udfs.assignors.server.unequal.audiences.kernels import audiences_of, takes_of_classes, topics_by_load
from udfs.assignors.server.unequal.balancer.kernels import (
    NOBODY,
    exclude_last_most,
    is_balanced,
    least,
    most,
    sort_by_load,
    start_balancer,
)

MOST_SWEEPS: Final = 16
# The columns of the log.
MEMBER, TOPIC, PARTITION, KIND = range(4)


@compiled(allocates=False, inlines=False)
def note_in_log(log: Longs, at: int, member: int, topic: int, partition: int, kind: int) -> None:
    """One step that is done to a member's map (addPartitionToTargetAssignment, removePartitionFromTargetAssignment)."""
    log[at, MEMBER], log[at, TOPIC], log[at, PARTITION], log[at, KIND] = member, topic, partition, kind


@compiled(inlines=False)
def with_room(log: Longs, end: int) -> Longs:
    """The log, or a longer copy where it has less room."""
    if end <= len(log):
        return log
    longer = np.empty((2 * end, 4), np.int64)
    for step in range(len(log)):
        for column in range(4):
            longer[step, column] = log[step, column]
    return longer


@compiled(allocates=False, inlines=False)
def owned_by_each(owners: Longs, members: Longs, firsts: Longs, ends: Longs, partitions: Longs) -> None:
    """A topic's partitions by owner, then by number, and where those of each member begin and end (balanceTopic)."""
    for member in members:
        ends[member] = 0
    for owner in owners:
        ends[owner] += 1
    at = 0
    for member in members:
        firsts[member], at = at, at + ends[member]
        ends[member] = firsts[member]
    for partition in range(len(owners)):
        owner = owners[partition]
        partitions[ends[owner]] = partition
        ends[owner] += 1


@compiled(inlines=False)
def deal(
    order: Longs,
    audience_of: Longs,
    audience_starts: Longs,
    audiences: Longs,
    counts: Longs,
    starts: Longs,
    owners: Longs,
    loads: Longs,
    log: Longs,
    at: int,
) -> int:
    """Gives what nobody has to the least loaded subscriber, topic by topic (assignRemainingPartitions), as `least`
    finds it. Returns where the log ends then."""
    ordered, tallies = np.empty(len(loads), np.int64), np.empty(4 * len(loads), np.int64)
    for topic in order:
        members = audiences[audience_starts[audience_of[topic]] : audience_starts[audience_of[topic] + 1]]
        end, turn, level = NOBODY, 0, 0
        for place in range(starts[topic], starts[topic] + counts[topic]):
            if owners[place] != NOBODY:
                continue
            if end == NOBODY:
                sort_by_load(members, loads, tallies, ordered)
                end, level = 0, loads[ordered[0]] - 1
            if turn >= end:
                level, turn = level + 1, 0
                while end < len(members) and loads[ordered[end]] == level:
                    end += 1
            member = ordered[turn]
            turn += 1
            loads[member] += 1
            owners[place] = member
            note_in_log(log, at, member, topic, place - starts[topic], ADD)
            at += 1
    return at


@compiled(inlines=False)
def balance(
    order: Longs,
    audience_of: Longs,
    audience_starts: Longs,
    audiences: Longs,
    counts: Longs,
    starts: Longs,
    owners: Longs,
    loads: Longs,
    log: Longs,
    at: int,
) -> Any:
    """Sweeps over the topics until a whole sweep moved nothing, or often enough (balance, balanceTopics)."""
    state, ordered, tallies = np.empty(7, np.int64), np.empty(len(loads), np.int64), np.empty(4 * len(loads), np.int64)
    firsts, ends, partitions = np.empty_like(loads), np.empty_like(loads), np.empty(counts.max(), np.int64)
    # Without another move these audiences stay level.
    are_level = np.zeros(len(audience_starts) - 1, np.bool_)
    last_moved = -1
    for turn in range(MOST_SWEEPS * len(order)):
        place = turn % len(order)
        if place == last_moved:
            break
        last_moved = max(last_moved, 0)
        topic = order[place]
        audience = audience_of[topic]
        if are_level[audience]:
            continue
        members = audiences[audience_starts[audience] : audience_starts[audience + 1]]
        sort_by_load(members, loads, tallies, ordered)
        if loads[ordered[len(members) - 1]] - loads[ordered[0]] <= 1:
            are_level[audience] = True
            continue
        own, before = owners[starts[topic] : starts[topic] + counts[topic]], at
        owned_by_each(own, members, firsts, ends, partitions)
        start_balancer(state, ordered, len(members), loads)
        log, at = balance_topic(topic, own, state, ordered, len(members), loads, firsts, ends, partitions, log, at)
        if at > before:
            last_moved = place
            are_level[:] = False
    return log, at


@compiled(inlines=False)
def balance_topic(
    topic: int,
    owners: Longs,
    state: Longs,
    order: Longs,
    members: int,
    loads: Longs,
    firsts: Longs,
    ends: Longs,
    partitions: Longs,
    log: Longs,
    at: int,
) -> Any:
    """Moves partitions of a topic from the most loaded owner to the least loaded subscriber (balanceTopic). Returns the
    log, and where it ends then."""
    while not is_balanced(state):
        source = most(state, order, loads)
        while source != NOBODY and firsts[source] == ends[source]:
            exclude_last_most(state, order)
            source = most(state, order, loads)
        if source == NOBODY:
            break
        destination = least(state, order, members, loads)
        if is_balanced(state):
            break
        # Its last partition of the topic.
        ends[source] -= 1
        partition = partitions[ends[source]]
        owners[partition] = destination
        loads[source] -= 1
        loads[destination] += 1
        log = with_room(log, at + 2)
        note_in_log(log, at, source, topic, partition, TAKE)
        note_in_log(log, at + 1, destination, topic, partition, ADD)
        at += 2
    return log, at


@compiled(allocates=False, inlines=False)
def keep_targets(
    walked: Longs,
    classes: Codes,
    takes: Flags,
    counts: Longs,
    starts: Longs,
    topics: Codes,
    partitions: Codes,
    row_starts: Longs,
    owners: Longs,
    loads: Longs,
    log: Longs,
) -> Any:
    """Takes from each member what it does not subscribe to, and writes who has the rest (maybeRevokePartitions).
    Returns where the log ends then; whether there is a partition beyond a topic's count, where Kafka fails; and whether
    some partition has two owners."""
    at, is_beyond, is_shared = 0, False, False
    for place in range(len(walked)):
        member = walked[place]
        for row in range(row_starts[member], row_starts[member + 1]):
            topic, partition = topics[row], partitions[row]
            if not takes[classes[member], topic]:
                note_in_log(log, at, place, topic, partition, TAKE)
                at += 1
            elif partition >= counts[topic]:
                is_beyond = True
            else:
                is_shared = is_shared or owners[starts[topic] + partition] != NOBODY
                owners[starts[topic] + partition] = place
                loads[place] += 1
    return at, is_beyond, is_shared


@compiled(inlines=False)
def shared_topics(order: Longs, audience_of: Longs, audience_starts: Longs) -> Longs:
    """Topics of two or more subscribers (canTopicParticipateInReassignment)."""
    shared, at = np.empty_like(order), 0
    for topic in order:
        audience = audience_of[topic]
        if audience_starts[audience + 1] - audience_starts[audience] >= 2:
            shared[at] = topic
            at += 1
    return shared[:at]


@compiled(inlines=False)
def steps_of_log(log: Longs, at: int, walked: Longs) -> Any:
    """The log by member, in its order: where each member's steps start; their kinds, topics and partitions."""
    step_starts = np.zeros(len(walked) + 1, np.int64)
    for step in range(at):
        step_starts[walked[log[step, MEMBER]] + 1] += 1
    for member in range(len(walked)):
        step_starts[member + 1] += step_starts[member]
    ends = step_starts.copy()
    steps = np.empty((3, at), np.int64)
    for step in range(at):
        member = walked[log[step, MEMBER]]
        note(steps, ends[member], log[step, KIND], log[step, TOPIC], log[step, PARTITION])
        ends[member] += 1
    return step_starts, steps


@compiled(inlines=False)
def unequal_steps(
    walked: Longs,
    classes: Codes,
    list_starts: Longs,
    listed: Codes,
    counts: Longs,
    ids: Longs,
    topics: Codes,
    partitions: Codes,
    row_starts: Longs,
) -> Any:
    """What is done to each member's map (UniformHeterogeneousAssignmentBuilder.build), see `walked_maps`: where each
    member's steps start; their kinds, topics and partitions; and for how many partitions sets are made. And whether the
    group fails, and whether some partition had two owners."""
    starts = np.zeros(len(counts) + 1, np.int64)
    for topic in range(len(counts)):
        starts[topic + 1] = starts[topic] + counts[topic]
    takes = takes_of_classes(list_starts, listed, counts)
    audience_of, audience_starts, audiences = audiences_of(walked, classes, takes)
    order = topics_by_load(audience_of, audience_starts, counts, ids)
    owners, loads = np.full(starts[-1], NOBODY), np.zeros(len(walked), np.int64)
    # Each row is taken at most once before partitions move, and each partition is added at most once.
    log = np.empty((len(topics) + starts[-1] + 16, 4), np.int64)
    at, fails, is_shared = keep_targets(
        walked, classes, takes, counts, starts, topics, partitions, row_starts, owners, loads, log
    )
    if not fails and len(order):
        at = deal(order, audience_of, audience_starts, audiences, counts, starts, owners, loads, log, at)
        shared = shared_topics(order, audience_of, audience_starts)
        if len(shared):
            log, at = balance(shared, audience_of, audience_starts, audiences, counts, starts, owners, loads, log, at)
    step_starts, steps = steps_of_log(log, at, walked)
    return step_starts, steps, sizes_of_sets(audience_of, audience_starts, counts), fails, is_shared


@compiled(inlines=False)
def sizes_of_sets(audience_of: Longs, audience_starts: Longs, counts: Longs) -> Longs:
    """For how many partitions the set is made with which a topic comes to a member
    (maxPartitionsPerMember in addPartitionToTargetAssignment)."""
    sizes = np.empty_like(counts)
    for topic in range(len(counts)):
        members = audience_starts[audience_of[topic] + 1] - audience_starts[audience_of[topic]]
        sizes[topic] = -(-counts[topic] // max(members, 1)) * 4 // 3 + 1
    return sizes
