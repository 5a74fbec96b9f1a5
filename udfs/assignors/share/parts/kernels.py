"""What there is to share in a share group, as loops: all its topics together, or topic by topic.

`given`: the topics, in their order. A member is its place in the coordinator's walk. A topic without partitions in a
target is a row whose partition is NOTHING.
"""

from typing import Any

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import Hashes, grown, made, walked_keys
from udfs.assignors.java.tree.kernels import NOTHING, TIES, Longs
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes, Flags, copy_as_recorded, walk_record
from udfs.assignors.server.maps.steps.kernels import DROP
from udfs.assignors.server.walks.kernels import known_names
from udfs.assignors.share.sharing.kernels import write_step


@compiled(inlines=False)
def walk_targets(
    row_starts: Longs, topics: Codes, partitions: Codes, hashes: Hashes, ranks: Longs, is_new_copy: bool, ties: Longs
) -> None:
    """Puts the rows of each member in the order in which its target is walked."""
    largest = 1
    for member in range(len(row_starts) - 1):
        largest = max(largest, row_starts[member + 1] - row_starts[member])
    cells, desk = made(largest, grown(DEFAULT_CAPACITY, largest + 1)), np.empty((6, largest + 1), np.int64)
    held_topics, held_partitions = np.empty(largest, np.int32), np.empty(largest, np.int32)
    for member in range(len(row_starts) - 1):
        first, end = row_starts[member], row_starts[member + 1]
        if copy_as_recorded(first, end, topics, partitions, hashes, is_new_copy, topics, partitions, first):
            continue
        own_topics, own_partitions = topics[first:end], partitions[first:end]
        walk_record(cells, desk, own_topics, own_partitions, hashes, ranks, is_new_copy, held_topics, held_partitions)
        for row in range(first, end):
            topics[row], partitions[row] = held_topics[row - first], held_partitions[row - first]
    ties[0] += cells[TIES]


@compiled(inlines=False)
def wanted_partitions(given: Longs, counts: Longs, firsts: Longs, is_assignable: Flags) -> Any:
    """Topics and partitions to share, topic by topic (computeTargetPartitions), and where those of each topic start."""
    starts = np.zeros(len(given) + 1, np.int64)
    for place in range(len(given)):
        first = firsts[given[place]]
        starts[place + 1] = starts[place] + is_assignable[first : first + counts[given[place]]].sum()
    wanted, at = np.empty((2, starts[len(given)]), np.int32), 0
    for topic in given:
        for partition in range(counts[topic]):
            if is_assignable[firsts[topic] + partition]:
                wanted[0, at], wanted[1, at] = topic, partition
                at += 1
    return wanted, starts


@compiled(inlines=False)
def notes_of_all(
    walked: Longs, given: Longs, counts: Longs, row_starts: Longs, topics: Codes, partitions: Codes, steps: Longs
) -> Any:
    """What members have of the topics that all subscribe to: members, topics and partitions; and how many steps it
    takes to remove the other topics (revokeUnassignablePartitions)."""
    is_given, noted, at, num_steps = np.zeros(len(counts), np.bool_), np.empty((3, len(topics)), np.int32), 0, 0
    for topic in given:
        is_given[topic] = True
    for place in range(len(walked)):
        first = row_starts[walked[place]]
        for row in range(first, row_starts[walked[place] + 1]):
            topic = topics[row]
            if is_given[topic] and partitions[row] != NOTHING:
                noted[0, at], noted[1, at], noted[2, at] = place, topic, partitions[row]
                at += 1
            elif not is_given[topic] and (row == first or topics[row - 1] != topic):
                num_steps = write_step(steps, num_steps, place, DROP, topic, NOTHING)
    return noted[:, :at].copy(), np.array([0, at]), num_steps


@compiled(inlines=False)
def notes_by_topic(
    walked: Longs, given: Longs, counts: Longs, row_starts: Longs, topics: Codes, partitions: Codes
) -> Any:
    """What members have of the topics that some subscribe to, topic by topic: members, topics and partitions; and where
    those of each topic start."""
    starts, ends = np.zeros(len(given) + 1, np.int64), np.zeros(len(counts), np.int64)
    is_given = np.zeros(len(counts), np.bool_)
    for row in range(len(topics)):
        ends[topics[row]] += partitions[row] != NOTHING
    for place in range(len(given)):
        topic = given[place]
        is_given[topic] = True
        starts[place + 1] = starts[place] + ends[topic]
        ends[topic] = starts[place]
    noted = np.empty((3, starts[len(given)]), np.int32)
    for place in range(len(walked)):
        for row in range(row_starts[walked[place]], row_starts[walked[place] + 1]):
            topic = topics[row]
            if is_given[topic] and partitions[row] != NOTHING:
                at = ends[topic]
                noted[0, at], noted[1, at], noted[2, at] = place, topic, partitions[row]
                ends[topic] += 1
    return noted, starts


@compiled(inlines=False)
def topics_of_some(
    walked: Longs, classes: Codes, list_starts: Longs, listed: Codes, counts: Longs, name_hashes: Hashes,
    id_hashes: Hashes, name_ranks: Longs, id_ranks: Longs, is_new_copy: bool, ties: Longs,
) -> Longs:  # fmt: skip
    """The topics that some member subscribes to and the metadata knows, as a set of their ids is walked to which each
    member adds its own."""
    is_seen, is_added = np.zeros(len(list_starts) - 1, np.bool_), np.zeros(len(counts), np.bool_)
    added, size = np.empty(len(counts), np.int64), 0
    for member in walked:
        number = classes[member]
        if is_seen[number]:
            continue
        is_seen[number] = True
        own = listed[list_starts[number] : list_starts[number + 1]]
        for topic in known_names(own, counts, name_hashes, name_ranks, is_new_copy, ties):
            if not is_added[topic]:
                is_added[topic] = True
                added[size] = topic
                size += 1
    added = added[:size]
    ranks = id_ranks[added] if len(id_ranks) else id_ranks
    order, tied = walked_keys(id_hashes[added], ranks, DEFAULT_CAPACITY)
    ties[0] += tied
    given: Longs = added[order]
    return given


@compiled(inlines=False)
def takers_by_topic(
    walked: Longs, classes: Codes, list_starts: Longs, listed: Codes, counts: Longs, given: Longs
) -> Any:
    """The subscribers of each topic (computeSubscribedMembers), and where each topic's start."""
    ends, starts = np.zeros(len(counts), np.int64), np.zeros(len(given) + 1, np.int64)
    for member in walked:
        for at in range(list_starts[classes[member]], list_starts[classes[member] + 1]):
            ends[listed[at]] += 1
    for place in range(len(given)):
        topic = given[place]
        starts[place + 1] = starts[place] + ends[topic]
        ends[topic] = starts[place]
    takers = np.empty(starts[len(given)], np.int32)
    for place in range(len(walked)):
        number = classes[walked[place]]
        for at in range(list_starts[number], list_starts[number + 1]):
            topic = listed[at]
            if counts[topic] > 0:
                takers[ends[topic]] = place
                ends[topic] += 1
    return takers, starts
