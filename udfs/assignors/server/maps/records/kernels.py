"""What a member has as the coordinator makes it of a record, in the order in which Java walks it, as loops.

A target is a default HashMap, and a HashSet copied from each topic's list (ModernGroup.updateTargetAssignment).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import FULL_CHAIN, Hashes, grown, walk_puts
from udfs.assignors.java.tree.kernels import UNRANKED, Longs

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

DEFAULT_CAPACITY: Final = 16


@compiled(allocates=False, inlines=False)
def copied_capacity(size: int, is_new_copy: bool) -> int:
    """Buckets of `new HashSet(collection)`; before JDK 19 a copy is made with room for one more."""
    return grown(DEFAULT_CAPACITY, size if is_new_copy else size + 1)


@compiled(inlines=False)
def walk_record(
    cells: Longs,
    desk: Longs,
    topics: Codes,
    partitions: Codes,
    hashes: Hashes,
    ranks: Longs,
    is_new_copy: bool,
    found_topics: Codes,
    found_partitions: Codes,
) -> None:
    """A member's rows as HashMap and HashSets made of its record are walked (updateTargetAssignment)."""
    starts, order, numbers, keys, set_hashes, set_ranks = desk[0], desk[1], desk[2], desk[3], desk[4], desk[5]
    num_sets = sets_of(topics, starts)
    for number in range(num_sets):
        topic = topics[starts[number]]
        set_hashes[number] = hashes[topic]
        set_ranks[number] = ranks[topic] if len(ranks) else UNRANKED
    walk_puts(cells, set_hashes, num_sets, set_ranks, DEFAULT_CAPACITY, order)
    at = 0
    for place in range(num_sets):
        first, end = starts[order[place]], starts[order[place] + 1]
        size = end - first
        found_topics[at : at + size] = topics[first]
        if size == 1:
            found_partitions[at] = partitions[first]
        else:
            for row in range(size):
                numbers[row] = partitions[first + row]
            walk_puts(cells, numbers, size, ranks[:0], copied_capacity(size, is_new_copy), keys)
            for key in range(size):
                found_partitions[at + key] = numbers[keys[key]]
        at += size


@compiled(allocates=False, inlines=False)
def sets_of(topics: Codes, starts: Longs) -> int:
    """Writes where each set of a member's rows starts, and where the last one ends; returns how many there are."""
    num_sets = 0
    for row in range(len(topics)):
        if row == 0 or topics[row] != topics[row - 1]:
            starts[num_sets] = row
            num_sets += 1
    starts[num_sets] = len(topics)
    return num_sets


@compiled(allocates=False, inlines=False)
def copy_as_recorded(
    first: int,
    end: int,
    topics: Codes,
    partitions: Codes,
    hashes: Hashes,
    is_new_copy: bool,
    found_topics: Codes,
    found_partitions: Codes,
    at: int,
) -> bool:
    """Copies a member's rows to `at`, and returns True, if Java walks the member's map in the order of the rows: these
    are in the order of buckets, and too few to crowd one. Otherwise returns False: the copy is not complete then."""
    num_sets, topic_bucket, row = 0, -1, first
    while row < end:
        start, topic = row, topics[row]
        num_sets += 1
        # A map of so few topics has not grown.
        bucket = (hashes[topic] ^ hashes[topic] >> 16) & (DEFAULT_CAPACITY - 1)
        if bucket < topic_bucket or num_sets > FULL_CHAIN:
            return False
        topic_bucket = int(bucket)
        while row < end and topics[row] == topic:
            row += 1
        mask = copied_capacity(row - start, is_new_copy) - 1
        before, length = -1, 0
        for own in range(start, row):
            partition = (partitions[own] ^ partitions[own] >> 16) & mask
            length = length + 1 if partition == before else 1
            if partition < before or length > FULL_CHAIN:
                return False
            before = partition
            found_topics[at], found_partitions[at] = topic, partitions[own]
            at += 1
    return True
