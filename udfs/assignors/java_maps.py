"""Maps of topic ids to sets of partitions, one for each member, in the order in which Java walks them.

The coordinator's assignors hand on such maps and walk them, so their order decides who keeps what. A map is given by
its rows in the order in which they were put; nothing is kept in the shape of a table.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java_order import DEFAULT_CAPACITY, Hashes, Positions
from udfs.assignors.problems import Numbers, Rows

FIRST_JDK_OF_NEW_COPIES = 19
# A chain that grows beyond this length doubles a table of fewer than 64 buckets, whatever its load.
LONGEST_CHAIN = 8
SMALLEST_TREE_TABLE = 64
WORD_BITS = 63


@dataclass(frozen=True)
class Sets:
    """The sets of all members' maps: one for each pair of a member and a topic, in the order of their first rows.

    The leading rows were there before, the others were added. A stretch is rows of one set that stand together.
    """

    rows: Rows
    member: Numbers
    topic: Numbers
    first_row: Positions
    size_before: Numbers
    size: Numbers
    stretch_start: Positions
    set_of_stretch: Positions
    stretch_sizes: Positions

    @property
    def is_new(self) -> NDArray[np.bool_]:
        return np.asarray(self.size_before == 0, dtype=np.bool_)

    @property
    def set_of_row(self) -> Positions:
        return np.repeat(self.set_of_stretch, self.stretch_sizes)


def sets_of(rows: Rows, before: int) -> Sets:
    """`before`: how many of the rows were there before; among them each set's rows stand together."""
    changes = (rows.members[1:] != rows.members[:-1]) | (rows.topics[1:] != rows.topics[:-1])
    if 0 < before < len(rows):
        changes[before - 1] = True
    start = np.flatnonzero(np.concatenate([[len(rows) > 0], changes]))
    sizes = np.concatenate([start[1:], [len(rows)]])[: len(start)] - start
    members, topics = rows.members[start].astype(np.int64), rows.topics[start].astype(np.int64)
    if before == len(rows):
        number = np.arange(len(start))
        return Sets(rows, members, topics, start, sizes, sizes, start, number, sizes)
    first, set_of_stretch = firsts(members, topics)
    count = len(first)
    size = np.bincount(set_of_stretch, weights=sizes, minlength=count).astype(np.int64)
    # What was there before stands in one stretch, the first.
    size_before = np.where(start[first] < before, sizes[first], 0)
    return Sets(rows, members[first], topics[first], start[first], size_before, size, start, set_of_stretch, sizes)


def firsts(members: Numbers, topics: Numbers) -> tuple[Positions, Positions]:
    """Where each distinct pair stands first, in that order, and for each place the number of its pair."""
    order = packed_order(members, topics)
    by_member, by_topic = members[order], topics[order]
    starts_run = np.ones(len(order), np.bool_)
    starts_run[1:] = (by_member[1:] != by_member[:-1]) | (by_topic[1:] != by_topic[:-1])
    is_first = np.zeros(len(order), np.bool_)
    first_of_run = order[starts_run]
    is_first[first_of_run] = True
    number = np.cumsum(is_first) - 1
    numbers = np.empty(len(order), np.intp)
    numbers[order] = number[first_of_run][np.cumsum(starts_run) - 1]
    return np.flatnonzero(is_first), numbers


def grown_capacities(capacities: Numbers, sizes: Numbers) -> Numbers:
    """Tables double when they are more than three quarters full."""
    return np.maximum(capacities, powers_of_two(sizes / 0.75))


def powers_of_two(asked: NDArray[np.number]) -> Numbers:
    """The smallest power of two that is not below each number."""
    return np.asarray(1 << np.ceil(np.log2(np.maximum(asked, 1))).astype(np.int64), dtype=np.int64)


def copied_set_capacities(sizes: Numbers, jdk: int) -> Numbers:
    if jdk >= FIRST_JDK_OF_NEW_COPIES:
        return powers_of_two(np.maximum(sizes, 12) / 0.75)
    return powers_of_two(np.maximum((sizes / 0.75).astype(np.int64) + 1, DEFAULT_CAPACITY))


def walked(sets: Sets, map_capacity: Numbers, set_capacity: Numbers, id_hashes: Hashes) -> tuple[Rows, Positions]:
    """The rows as a walk over the members, their maps and sets meets them, and where each row stood.

    `map_capacity` is given for each member. Keys that were there before stand in the order in which they were put;
    new ones were put first in their chains (computeIfAbsent), so the last comes first.
    """
    if not len(sets.rows):
        return sets.rows, np.empty(0, np.intp)
    count = len(sets.member)
    hashes = id_hashes[sets.topic].astype(np.int64)
    bucket = (hashes ^ (hashes >> 16)) & (map_capacity[sets.member] - 1)
    number = np.arange(count)
    chain = np.where(sets.is_new, count - 1 - number, count + number)
    order = packed_order(sets.member, bucket, chain)
    place = np.empty(count, np.intp)
    place[order] = number
    positions = walk_of_sets(sets, place, set_capacity)
    if positions is None:
        return sets.rows, np.arange(len(sets.rows))
    return sets.rows.take(positions), positions


def packed_order(*keys: Numbers) -> Positions:
    """By the first key, then by the next, and so on, then as they stand.

    One sort of packed numbers, where they fit into 63 bits, takes a tenth of what a stable one does.
    """
    bits = [int(key.max(initial=0)).bit_length() for key in keys]
    index_bits = len(keys[0]).bit_length()
    if sum(bits) + index_bits > WORD_BITS:
        return np.lexsort(keys[::-1])
    packed = keys[0]
    for key, width in zip(keys[1:], bits[1:], strict=True):
        packed = packed << width | key
    packed = packed << index_bits | np.arange(len(packed))
    packed.sort()
    return packed & ((1 << index_bits) - 1)


def walk_of_sets(sets: Sets, place: Positions, capacity: Numbers) -> Positions | None:
    """Where the rows stand once the sets are walked in the order of their places; None where they stand so already."""
    keys = bucket_keys(sets, place, capacity)
    order = None if (keys[1:] >= keys[:-1]).all() else packed_order(keys)
    if int(sets.size.max()) > LONGEST_CHAIN:
        walked_keys = keys if order is None else keys[order]
        if (walked_keys[LONGEST_CHAIN:] == walked_keys[:-LONGEST_CHAIN]).any():
            # More rows than a chain may hold are of one bucket of one set.
            chained = with_long_chains(sets.rows.partitions, sets.set_of_row, capacity)
            return packed_order(bucket_keys(sets, place, chained))
    return order


def bucket_keys(sets: Sets, place: Positions, capacity: Numbers) -> Numbers:
    """For each row a number that tells its set's place and its bucket in the set."""
    partitions = sets.rows.partitions
    if int(partitions.max()) >> 16:
        partitions = partitions ^ (partitions >> 16)
    bits = int(capacity.max() - 1).bit_length()
    sets_at = np.repeat((place << bits)[sets.set_of_stretch], sets.stretch_sizes)
    mask = np.repeat((capacity - 1)[sets.set_of_stretch], sets.stretch_sizes)
    return np.asarray(sets_at | (partitions & mask), dtype=np.int64)


def with_long_chains(partitions: NDArray[np.int32], set_of_row: Positions, capacity: Numbers) -> Numbers:
    """Small tables double for a chain that becomes too long, too."""
    sizes = np.bincount(set_of_row, minlength=len(capacity))
    suspects = np.flatnonzero((sizes > LONGEST_CHAIN) & (capacity < SMALLEST_TREE_TABLE))
    if len(suspects):
        capacity = capacity.copy()
        is_suspect = np.zeros(len(capacity), np.bool_)
        is_suspect[suspects] = True
        chosen = np.flatnonzero(is_suspect[set_of_row])
        bucket = partitions[chosen] & (capacity[set_of_row[chosen]] - 1)
        chains = np.bincount(set_of_row[chosen] * SMALLEST_TREE_TABLE + bucket)
        for each in np.unique(np.flatnonzero(chains > LONGEST_CHAIN) // SMALLEST_TREE_TABLE):
            capacity[each] = chained_capacity(partitions[set_of_row == each].tolist(), int(capacity[each]))
    return capacity


def chained_capacity(keys: list[int], capacity: int) -> int:
    """The table of a set after each key was added to it, one by one."""
    for added in range(LONGEST_CHAIN + 1, len(keys) + 1):
        capacity = capacity_with(keys[:added], keys[added - 1], capacity)
    return capacity


def capacity_with(keys: Collection[int], last: int, capacity: int) -> int:
    """The table of a set of these keys after the last of them was added."""
    if capacity < SMALLEST_TREE_TABLE and len(keys) > LONGEST_CHAIN:
        chain = sum((each ^ last) & (capacity - 1) == 0 for each in keys)
        capacity *= 2 if chain > LONGEST_CHAIN else 1
    return capacity * 2 if len(keys) > 0.75 * capacity else capacity
