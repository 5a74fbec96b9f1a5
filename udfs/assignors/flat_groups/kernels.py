"""What loops over flat groups begin with. Members, topics and classes of members are numbered within their group."""

from typing import Any

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.questions.problems import Codes

# The first columns of the groups' sizes. What follows is what else there is to know of a group.
MEMBERS, TOPICS, CLASSES, LISTED, ROWS, NUM_SIZES = range(6)


@compiled(inlines=False)
def starts_of_groups(sizes: Longs) -> Longs:
    """For each column of sizes where what belongs to each group starts, and where the last one ends."""
    starts = np.zeros((NUM_SIZES, len(sizes) + 1), np.int64)
    for column in range(NUM_SIZES):
        for group in range(len(sizes)):
            starts[column, group + 1] = starts[column, group] + sizes[group, column]
    return starts


@compiled(inlines=False)
def starts_of_lists(sizes: Longs) -> Longs:
    """Where each of some lists starts, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    for number in range(len(sizes)):
        starts[number + 1] = starts[number] + sizes[number]
    return starts


@compiled(inlines=False)
def ranks_of(ranks: Longs, first: int, end: int) -> Longs:
    """Those of some keys, where ranks are given at all."""
    return ranks[first:end] if len(ranks) else ranks


@compiled(inlines=False)
def rows_by_member(num_members: int, members: Codes, topics: Codes, partitions: Codes) -> Any:
    """Where the rows of each member start; copies of topics and partitions by member, each member's in
    their order."""
    starts = np.zeros(num_members + 1, np.int64)
    is_sorted, row = True, 0
    while row < len(members):
        member, first = members[row], row
        # A member's rows mostly follow each other: one addition for all of them.
        while row < len(members) and members[row] == member:
            row += 1
        starts[member + 1] += row - first
        is_sorted = is_sorted and (row == len(members) or members[row] > member)
    for member in range(num_members):
        starts[member + 1] += starts[member]
    if is_sorted:
        return starts, topics.copy(), partitions.copy()
    ends, own_topics, own_partitions = starts.copy(), np.empty_like(topics), np.empty_like(partitions)
    for row in range(len(members)):
        at = ends[members[row]]
        own_topics[at], own_partitions[at] = topics[row], partitions[row]
        ends[members[row]] += 1
    return starts, own_topics, own_partitions
