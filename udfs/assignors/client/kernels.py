"""The client's `range`, without racks, and `roundrobin`, as loops: many groups in one call."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import (
    CLASSES,
    MEMBERS,
    NUM_SIZES,
    TOPICS,
    ranks_of,
    starts_of_groups,
    starts_of_lists,
)
from udfs.assignors.java.kernels import COMPUTE, TOUCH, Hashes, walked_after, walked_keys
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.questions.problems import Codes
from udfs.assignors.server.ranges.kernels import deal_to_equal, deal_to_unequal

Flags = NDArray[np.bool_]

# What follows the sizes of a group: whether its range has a map of partitions, which is filled from a set of topics;
# before, it had a map of subscribers, which computeIfAbsent filled.
HAS_MAP_OF_PARTITIONS: Final = NUM_SIZES
TABLE: Final = 16


@compiled(inlines=False)
def taken_topics(num_classes: int, first: int, list_starts: Longs, listed: Codes, counts: Longs) -> Any:
    """Class by topic: who subscribes to what the leader knows. `first`: of the group's lists."""
    takes = np.zeros((num_classes, len(counts)), np.bool_)
    for number in range(num_classes):
        for at in range(list_starts[first + number], list_starts[first + number + 1]):
            takes[number, listed[at]] = counts[listed[at]] > 0
    return takes


@compiled(inlines=False)
def met_topics(
    walked: Longs,
    classes: Codes,
    num_classes: int,
    first: int,
    list_starts: Longs,
    listed: Codes,
    num_topics: int,
) -> Any:
    """The subscribed topics, known or not, in the order in which a walk over the members meets them first; and whether
    the walk goes on after it met the last new one."""
    met, size, goes_on = np.empty(num_topics, np.int64), 0, False
    is_met, is_read = np.zeros(num_topics, np.bool_), np.zeros(num_classes, np.bool_)
    for member in walked:
        number = first + classes[member]
        if is_read[classes[member]]:
            goes_on = goes_on or list_starts[number] < list_starts[number + 1]
            continue
        is_read[classes[member]] = True
        for at in range(list_starts[number], list_starts[number + 1]):
            goes_on = is_met[listed[at]]
            if not goes_on:
                is_met[listed[at]] = True
                met[size] = listed[at]
                size += 1
    return met[:size], goes_on


@compiled(inlines=False)
def known_topics(topics: Longs, counts: Longs) -> Longs:
    """Those that the leader knows, in their order."""
    known, size = np.empty(len(topics), np.int64), 0
    for topic in topics:
        if counts[topic] > 0:
            known[size] = topic
            size += 1
    return known[:size]


@compiled(inlines=False)
def put_topics(topics: Longs, hashes: Hashes, ranks: Longs, ties: Longs) -> Longs:
    """Topics as a table walks them in which they were put."""
    order, tied = walked_keys(hashes[topics], ranks[topics] if len(ranks) else ranks, TABLE)
    ties[0] += tied
    walked: Longs = topics[order]
    return walked


@compiled(inlines=False)
def computed_topics(topics: Longs, hashes: Hashes, ranks: Longs, goes_on: bool, ties: Longs) -> Longs:
    """Topics as a table walks them that computeIfAbsent filled, with one more call after the last or without."""
    keys, kinds = np.zeros(len(topics) + goes_on, np.int64), np.full(len(topics) + goes_on, TOUCH)
    for key in range(len(topics)):
        keys[key], kinds[key] = key, COMPUTE
    order, tied = walked_after(hashes[topics], ranks[topics] if len(ranks) else ranks, kinds, keys, TABLE)
    ties[0] += tied
    walked: Longs = topics[order]
    return walked


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64))"
    "(int64[:, ::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], uint32[::1], int64[::1])"
)
def range_rows(
    sizes: Longs,
    order: Longs,
    classes: Codes,
    list_sizes: Longs,
    listed: Codes,
    counts: Longs,
    hashes: Hashes,
    ranks: Longs,
) -> Any:
    """The rows of each group (RangeAssignor.assign): of each topic one range of partitions for each subscriber, in the
    `order` of members, the first ones one longer. And where the rows of each group end, and whether ranks are needed.
    Hashes and ranks are of the members, then of the topics."""
    starts, list_starts = starts_of_groups(sizes), starts_of_lists(list_sizes)
    ties, room, names = np.zeros(1, np.int64), counts.sum(), starts[MEMBERS, len(sizes)]
    members, topics, partitions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    ends, row = np.empty(len(sizes), np.int64), 0
    for group in range(len(sizes)):
        member, last_member = starts[MEMBERS, group], starts[MEMBERS, group + 1]
        first, end = starts[TOPICS, group], starts[TOPICS, group + 1]
        first_list, num_classes = starts[CLASSES, group], sizes[group, CLASSES]
        own_order, own_classes, own_counts = order[member:last_member], classes[member:last_member], counts[first:end]
        topic_hashes, topic_ranks = hashes[names + first : names + end], ranks_of(ranks, names + first, names + end)
        walked = own_order
        if num_classes > 1:
            walked, tied = walked_keys(hashes[member:last_member], ranks_of(ranks, member, last_member), TABLE)
            ties[0] += tied
        met, goes_on = met_topics(walked, own_classes, num_classes, first_list, list_starts, listed, end - first)
        if sizes[group, HAS_MAP_OF_PARTITIONS]:
            known = known_topics(put_topics(met, topic_hashes, topic_ranks, ties), own_counts)
            known = put_topics(known, topic_hashes, topic_ranks, ties)
        else:
            known = known_topics(computed_topics(met, topic_hashes, topic_ranks, goes_on, ties), own_counts)
        if num_classes == 1:
            row = deal_to_equal(own_order, known, own_counts, row, members, topics, partitions)
        else:
            takes = taken_topics(num_classes, first_list, list_starts, listed, own_counts)
            class_starts, class_topics = np.zeros(num_classes + 1, np.int64), np.empty(takes.sum(), np.int64)
            for number in range(num_classes):
                chosen = known[takes[number][known]]
                class_starts[number + 1] = class_starts[number] + len(chosen)
                class_topics[class_starts[number] : class_starts[number + 1]] = chosen
            row = deal_to_unequal(
                own_order, own_classes, class_starts, class_topics, own_counts, row, members, topics, partitions
            )
        ends[group] = row
    return members[:row], topics[:row], partitions[:row], ends, ties[0]


@compiled(allocates=False, inlines=False)
def seat_subscribers(circle: Longs, classes: Codes, takes: Flags, topic: int, seats: Longs) -> int:
    """Lists the places in the circle of those that subscribe to a topic; returns how many they are."""
    size = 0
    for place in range(len(circle)):
        if takes[classes[circle[place]], topic]:
            seats[size] = place
            size += 1
    return size


@compiled(allocates=False, inlines=False)
def have_same_subscribers(takes: Flags, topic: int, other: int) -> bool:
    """Whether the same classes subscribe to two topics."""
    num_different = 0
    for number in range(len(takes)):
        num_different += takes[number, topic] != takes[number, other]
    return num_different == 0


@compiled(allocates=False, inlines=False)
def deal_in_circle(
    circle: Longs,
    classes: Codes,
    takes: Flags,
    own_topics: Longs,
    counts: Longs,
    seats: Longs,
    row: int,
    members: Codes,
    topics: Codes,
    partitions: Codes,
) -> int:
    """Gives each partition, topic by topic, to the next member in the circle that subscribes
    (RoundRobinAssignor.assign); returns where the rows end then."""
    size, at, next_place, before = 0, 0, 0, NOTHING
    for topic in own_topics:
        if before == NOTHING or not have_same_subscribers(takes, topic, before):
            size, before, at = seat_subscribers(circle, classes, takes, topic, seats), topic, 0
            while at < size and seats[at] < next_place:
                at += 1
        if size == 0:
            continue
        for partition in range(counts[topic]):
            at = at if at < size else 0
            members[row], topics[row], partitions[row] = circle[seats[at]], topic, partition
            next_place = seats[at] + 1
            at += 1
            row += 1
    return row


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1]))"
    "(int64[:, ::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1])"
)
def roundrobin_rows(
    sizes: Longs,
    circle: Longs,
    by_name: Longs,
    classes: Codes,
    list_sizes: Longs,
    listed: Codes,
    counts: Longs,
) -> Any:
    """The rows of each group, and where they end."""
    starts, list_starts = starts_of_groups(sizes), starts_of_lists(list_sizes)
    room = counts.sum()
    members, topics, partitions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    ends, row = np.empty(len(sizes), np.int64), 0
    for group in range(len(sizes)):
        member, last_member = starts[MEMBERS, group], starts[MEMBERS, group + 1]
        first, end = starts[TOPICS, group], starts[TOPICS, group + 1]
        own_counts = counts[first:end]
        takes = taken_topics(sizes[group, CLASSES], starts[CLASSES, group], list_starts, listed, own_counts)
        known = known_topics(by_name[first:end], own_counts)
        row = deal_in_circle(
            circle[member:last_member], classes[member:last_member], takes, known, own_counts,
            np.empty(last_member - member, np.int64), row, members, topics, partitions,
        )  # fmt: skip
        ends[group] = row
    return members[:row], topics[:row], partitions[:row], ends
