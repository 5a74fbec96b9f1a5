"""The distinct sets of subscribers, and the order in which topics are assigned, as loops
(UniformHeterogeneousAssignmentBuilder.java). Members are places in Kafka's walk of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.server.maps.records.kernels import Codes, Flags


@compiled(inlines=False)
def takes_of_classes(list_starts: Longs, listed: Codes, counts: Longs) -> Flags:
    """Class by topic: who subscribes to what the metadata knows."""
    takes = np.zeros((len(list_starts) - 1, len(counts)), np.bool_)
    for number in range(len(takes)):
        for at in range(list_starts[number], list_starts[number + 1]):
            takes[number, listed[at]] = counts[listed[at]] > 0
    return takes


@compiled(inlines=False)
def audiences_of(walked: Longs, classes: Codes, takes: Flags) -> Any:
    """The number of each topic's set of subscribers; where the members of each set start; and the members."""
    num_classes, num_topics = takes.shape
    audience_of, first = np.zeros(num_topics, np.int64), np.empty(num_topics + 1, np.int64)
    numbered = 1
    # Class by class, each set falls into the topics that the class takes and those that it does not take.
    for own in range(num_classes):
        numbered = split_audiences(takes, own, audience_of)
    for topic in range(num_topics - 1, -1, -1):
        first[audience_of[topic]] = topic
    class_sizes = np.zeros(num_classes, np.int64)
    for member in walked:
        class_sizes[classes[member]] += 1
    starts = np.zeros(numbered + 1, np.int64)
    for number in range(numbered):
        starts[number + 1] = starts[number]
        for own in range(num_classes):
            starts[number + 1] += class_sizes[own] if takes[own, first[number]] else 0
    members, at = np.empty(starts[-1], np.int64), 0
    for number in range(numbered):
        for place in range(len(walked)):
            if takes[classes[walked[place]], first[number]]:
                members[at] = place
                at += 1
    return audience_of, starts, members


@compiled(inlines=False)
def split_audiences(takes: Flags, own: int, audience_of: Longs) -> int:
    """Numbers the sets anew, from 0 on, by one more class of members; returns how many they are."""
    # Of each old number the new ones: of topics that the class does not take, and of those that it takes.
    new_numbers = np.full((2, len(audience_of)), -1)
    numbered = 0
    for topic in range(len(audience_of)):
        is_taken = 1 if takes[own, topic] else 0
        if new_numbers[is_taken, audience_of[topic]] < 0:
            new_numbers[is_taken, audience_of[topic]] = numbered
            numbered += 1
        audience_of[topic] = new_numbers[is_taken, audience_of[topic]]
    return numbered


@compiled(inlines=False)
def topics_by_load(audience_of: Longs, audience_starts: Longs, counts: Longs, ids: Longs) -> Longs:
    """The topics that somebody subscribes to, most partitions for each subscriber first (topicComparator)."""
    loads, sizes = np.empty(len(counts), np.float64), np.empty(len(counts), np.int64)
    order, size = np.empty(len(counts), np.int64), 0
    for topic in range(len(counts)):
        sizes[topic] = audience_starts[audience_of[topic] + 1] - audience_starts[audience_of[topic]]
        if sizes[topic]:
            loads[topic] = counts[topic] / sizes[topic]
            order[size] = topic
            size += 1
    order, other, width = order[:size], np.empty(size, np.int64), 1
    while width < size:
        for first in range(0, size, 2 * width):
            merge(order, other, first, min(first + width, size), min(first + 2 * width, size), loads, sizes, ids)
        order, other = other, order
        width *= 2
    return order


@compiled(allocates=False, inlines=False)
def merge(
    order: Longs, into: Longs, first: int, middle: int, end: int, loads: NDArray[np.float64], sizes: Longs, ids: Longs
) -> None:
    """Two sorted neighbours into one."""
    left, right = first, middle
    for at in range(first, end):
        if right >= end or (left < middle and not is_before(order[right], order[left], loads, sizes, ids)):
            into[at] = order[left]
            left += 1
        else:
            into[at] = order[right]
            right += 1


@compiled(allocates=False, inlines=False)
def is_before(topic: int, other: int, loads: NDArray[np.float64], sizes: Longs, ids: Longs) -> bool:
    """Most partitions for each subscriber, then fewest subscribers, then Uuid.compareTo."""
    if loads[topic] != loads[other]:
        return bool(loads[topic] > loads[other])
    if sizes[topic] != sizes[other]:
        return bool(sizes[topic] < sizes[other])
    if ids[topic, 0] != ids[other, 0]:
        return bool(ids[topic, 0] < ids[other, 0])
    return bool(ids[topic, 1] < ids[other, 1])
