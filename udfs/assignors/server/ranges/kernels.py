"""The coordinator's `range` (RangeAssignor.java), as loops: many groups in one call."""

from typing import Any

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import (
    CLASSES,
    LISTED,
    MEMBERS,
    TOPICS,
    starts_of_groups,
    starts_of_lists,
)
from udfs.assignors.java.kernels import Hashes
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.server.maps.records.kernels import Codes
from udfs.assignors.server.walks.kernels import (
    IS_EQUAL,
    IS_NEW_COPY,
    MAP_OF_KNOWN,
    MAP_OF_NAMES,
    hashes_of_ids,
    keys_of_topics,
    walked_subscription,
)


@compiled(allocates=False, inlines=False)
def deal_to_equal(
    order: Longs, own_topics: Longs, counts: Longs, row: int, members: Codes, topics: Codes, partitions: Codes
) -> int:
    """Topic by topic, where all members subscribe to the same (assignHomogeneousGroup); returns where the rows end
    then."""
    for number in range(len(own_topics)):
        topic = own_topics[number]
        share, longer = counts[topic] // len(order), counts[topic] % len(order)
        partition = 0
        for place in range(len(order) if share else longer):
            for _ in range(share + (place < longer)):
                members[row], topics[row], partitions[row] = order[place], topic, partition
                row += 1
                partition += 1
    return row


@compiled(inlines=False)
def deal_to_unequal(
    order: Longs,
    classes: Codes,
    class_starts: Longs,
    class_topics: Longs,
    counts: Longs,
    row: int,
    members: Codes,
    topics: Codes,
    partitions: Codes,
) -> int:
    """Member by member the next range of each topic that the member subscribes to (assignHeterogeneousGroup); returns
    where the rows end then."""
    # Of each topic: its subscribers; of these, those that have a range; and the partitions that they have.
    subscribers, served, given = np.zeros_like(counts), np.zeros_like(counts), np.zeros_like(counts)
    for member in order:
        for at in range(class_starts[classes[member]], class_starts[classes[member] + 1]):
            subscribers[class_topics[at]] += 1
    for member in order:
        for at in range(class_starts[classes[member]], class_starts[classes[member] + 1]):
            topic = class_topics[at]
            share, longer = counts[topic] // subscribers[topic], counts[topic] % subscribers[topic]
            end = given[topic] + share + (served[topic] < longer)
            for partition in range(given[topic], end):
                members[row], topics[row], partitions[row] = member, topic, partition
                row += 1
            given[topic] = end
            served[topic] += 1
    return row


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64))"
    "(int64[:, ::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[:, ::1], uint32[::1],"
    " int64[::1])"
)
def range_rows(
    sizes: Longs,
    order: Longs,
    classes: Codes,
    list_sizes: Longs,
    listed: Codes,
    counts: Longs,
    ids: Longs,
    hashes: Hashes,
    ranks: Longs,
) -> Any:
    """The rows of each group (RangeAssignor.assign): of each topic one range of partitions for each subscriber, in the
    `order` of members, the first ones one longer. And where the rows of each group end, and whether ranks are
    needed: first those of the topics' names, then those of their ids."""
    starts, list_starts, id_hashes = starts_of_groups(sizes), starts_of_lists(list_sizes), hashes_of_ids(ids)
    ties, room = np.zeros(1, np.int64), counts.sum()
    members, topics, partitions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    ends, row = np.empty(len(sizes), np.int64), 0
    for group in range(len(sizes)):
        first, end = starts[TOPICS, group], starts[TOPICS, group + 1]
        own_counts = counts[first:end]
        own_hashes, own_id_hashes, own_names, own_ids = keys_of_topics(first, end, 0, hashes, id_hashes, ranks)
        own_order = order[starts[MEMBERS, group] : starts[MEMBERS, group + 1]]
        own_classes = classes[starts[MEMBERS, group] : starts[MEMBERS, group + 1]]
        is_new, is_equal = sizes[group, IS_NEW_COPY] > 0, sizes[group, IS_EQUAL] > 0
        # Everybody's map is made alike, of the topics of the first.
        chosen = (
            range(own_classes[own_order[0]], own_classes[own_order[0]] + 1)
            if is_equal
            else range(sizes[group, CLASSES])
        )
        table = MAP_OF_KNOWN if is_equal else MAP_OF_NAMES
        class_starts = np.zeros(sizes[group, CLASSES] + 1, np.int64)
        class_topics, size = np.empty(sizes[group, LISTED], np.int64), 0
        for number in chosen:
            own = listed[
                list_starts[starts[CLASSES, group] + number] : list_starts[starts[CLASSES, group] + number + 1]
            ]
            known = walked_subscription(
                own, own_counts, own_hashes, own_id_hashes, own_names, own_ids, is_new, table, ties
            )
            class_topics[size : size + len(known)] = known
            size += len(known)
            class_starts[number + 1] = size
        if is_equal:
            row = deal_to_equal(own_order, class_topics[:size], own_counts, row, members, topics, partitions)
        else:
            row = deal_to_unequal(
                own_order, own_classes, class_starts, class_topics, own_counts, row, members, topics, partitions
            )
        ends[group] = row
    return members[:row], topics[:row], partitions[:row], ends, ties[0]
