"""Maps of topic ids to sets of partitions, one per member, in Java's iteration order.

The coordinator's assignors pass such maps on and iterate over them, so their order decides who keeps what. A map is
represented by its rows in the order in which they were put; there is no hash table.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from udfs.arrays.number_ranges import ranges
from udfs.assignors.java.iteration_order import Hashes, Positions, put_order
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY
from udfs.assignors.questions.problems import Numbers, Rows

FIRST_JDK_OF_NEW_COPIES = 19
# A chain that grows beyond this length doubles a table of fewer than 64 buckets, whatever its load.
LONGEST_CHAIN = 8
SMALLEST_TREE_TABLE = 64
WORD_BITS = 63
CAPACITIES = 1 << np.arange(40)
# How many keys tables of these capacities hold before they double.
MOST_KEYS = CAPACITIES * 3 // 4


@dataclass(frozen=True)
class Sets:
    """The sets of all members' maps: one for each pair of a member and a topic, in the order of their first rows.

    The leading rows were there before, the others were added, and so were the leading `num_old` sets. A stretch is rows
    of one set that stand together.
    """

    rows: Rows
    member: Numbers
    topic: Numbers
    first_row: Positions
    size: Numbers
    num_old: int
    stretch_start: Positions
    set_of_stretch: Positions
    stretch_sizes: Positions

    @property
    def set_of_row(self) -> Positions:
        return np.repeat(self.set_of_stretch, self.stretch_sizes)


def sets_of(rows: Rows, before: int) -> Sets:
    """`before`: how many of the rows were there before; among them each set's rows stand together."""
    bounds = np.ones(len(rows) + 1, np.bool_)
    np.not_equal(rows.members[1:], rows.members[:-1], out=bounds[1:-1])
    bounds[1:-1] |= rows.topics[1:] != rows.topics[:-1]
    bounds[before] = True
    start = bounds.nonzero()[0]
    start, sizes = start[:-1], start[1:] - start[:-1]
    members, topics = rows.members[start].astype(np.int64), rows.topics[start].astype(np.int64)
    if before == len(rows):
        number = np.arange(len(start))
        return Sets(rows, members, topics, start, sizes, len(start), start, number, sizes)
    first, set_of_stretch = firsts(members, topics)
    size = np.bincount(set_of_stretch, weights=sizes, minlength=len(first)).astype(np.int64)
    # What was there before stands in one stretch, the first.
    num_old = int(start.searchsorted(before))
    return Sets(rows, members[first], topics[first], start[first], size, num_old, start, set_of_stretch, sizes)


def firsts(members: Numbers, topics: Numbers) -> tuple[Positions, Positions]:
    """Where each distinct pair stands first, in that order, and for each place the number of its pair."""
    pairs = members * (int(topics.max(initial=0)) + 1) + topics
    order = packed_order(pairs)
    pairs = pairs[order]
    starts_run = np.ones(len(order), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=starts_run[1:])
    first_of_run = order[starts_run]
    is_first = np.zeros(len(order), np.bool_)
    is_first[first_of_run] = True
    number = is_first.cumsum() - 1
    numbers = np.empty(len(order), np.intp)
    numbers[order] = number[first_of_run][starts_run.cumsum() - 1]
    return np.flatnonzero(is_first), numbers


def grown_capacities(capacities: Numbers | int, sizes: Numbers) -> Numbers:
    """Tables double when they are more than three quarters full."""
    return np.asarray(np.maximum(capacities, CAPACITIES[MOST_KEYS.searchsorted(sizes)]), dtype=np.int64)


def powers_of_two(asked: Numbers) -> Numbers:
    """The smallest power of two that is not below each number."""
    return np.asarray(CAPACITIES[CAPACITIES.searchsorted(asked)], dtype=np.int64)


def copied_set_capacities(sizes: Numbers, jdk: int) -> Numbers:
    """Before that release a copy is made with room for one more."""
    return grown_capacities(DEFAULT_CAPACITY, sizes if jdk >= FIRST_JDK_OF_NEW_COPIES else sizes + 1)


@dataclass(frozen=True)
class Walk:
    """The rows as a walk over the members, their maps and sets meets them, and where each row stood.

    Of crowded members a map or a set has a chain so long that Java makes a tree of it, or had one as its table was
    smaller. Where keys were only ever put, the order holds for those too.
    """

    rows: Rows
    positions: Positions
    crowded: Positions


def walked(sets: Sets, map_capacity: Numbers, set_capacity: Numbers, id_hashes: Hashes) -> Walk:
    """`map_capacity` is given for each member. Keys that were there before stand in the order in which they were put;
    new ones were put first in their chains (computeIfAbsent), so the last comes first.
    """
    if not len(sets.rows):
        return Walk(sets.rows, np.empty(0, np.intp), np.empty(0, np.intp))
    count, old = len(sets.member), sets.num_old
    hashes = id_hashes[sets.topic]
    # The buckets of all maps are numbered through, member by member.
    bucket = (np.cumsum(map_capacity) - map_capacity)[sets.member]
    bucket += (hashes ^ (hashes >> 16)) & (map_capacity[sets.member] - 1)
    if old == count:
        order = packed_order(bucket)
    else:
        chain = np.concatenate([np.arange(count - 1, old - 1, -1), np.arange(old)])
        order = chain[packed_order(bucket[chain])]
    place = np.empty(count, np.intp)
    place[order] = np.arange(count)
    highest = int(sets.rows.partitions.max())
    crowded = crowded_sets(sets, set_capacity, highest)
    positions = walk_of_sets(sets, place, set_capacity, highest, crowded)
    members = np.concatenate([sets.member[crowded], sets.member[crowded_maps(bucket, order)]])
    members = np.unique(members) if len(members) else members
    if positions is None:
        return Walk(sets.rows, np.arange(len(sets.rows)), members.astype(np.intp))
    return Walk(sets.rows.take(positions), positions, members.astype(np.intp))


def crowded_maps(bucket: Numbers, order: Positions) -> Positions:
    """Sets that stand in a long chain of their map. Chains that were long only in a smaller table are not looked for:
    ids are random, so that eight hardly ever meet."""
    walked = bucket[order]
    found: Positions = order[: 1 - LONGEST_CHAIN][walked[LONGEST_CHAIN - 1 :] == walked[: 1 - LONGEST_CHAIN]]
    return found


def crowded_sets(sets: Sets, capacity: Numbers, highest: int) -> Positions:
    """Sets in which a chain is, or was in a smaller table, longer than Java bears; no partition is above `highest`."""
    if highest < LONGEST_CHAIN * DEFAULT_CAPACITY:
        return np.empty(0, np.intp)
    is_large = sets.size > LONGEST_CHAIN
    if not is_large.any():
        return np.empty(0, np.intp)
    # Nine partitions of one bucket are at least so far apart; what was in the smallest tables a larger one forgets.
    widths = widths_of(sets)
    smallest = np.where(capacity <= SMALLEST_TREE_TABLE, DEFAULT_CAPACITY, SMALLEST_TREE_TABLE)
    suspects = np.flatnonzero(is_large & (widths >= LONGEST_CHAIN * smallest))
    if not len(suspects):
        return suspects
    rows, starts = rows_of(sets, suspects)
    partitions = sets.rows.partitions[rows]
    found = []
    size = DEFAULT_CAPACITY
    while size <= capacity[suspects].max():
        may = (smallest[suspects] <= size) & (size <= capacity[suspects]) & (widths[suspects] >= LONGEST_CHAIN * size)
        # What a table of this size held at most.
        counts = np.minimum(sets.size[suspects[may]], size * 3 // 4 + 1)
        held = partitions[ranges(starts[may], counts)]
        chains = np.bincount(np.repeat(np.arange(len(counts)), counts) * size + ((held ^ held >> 16) & size - 1))
        found.append(suspects[may][np.flatnonzero(chains > LONGEST_CHAIN) // size])
        size *= 2
    return np.unique(np.concatenate(found)).astype(np.intp)


def widths_of(sets: Sets) -> Numbers:
    """How far the partitions of each set are apart."""
    partitions, count = sets.rows.partitions, len(sets.size)
    highest, lowest = np.zeros(count, np.int64), np.full(count, np.iinfo(np.int64).max)
    np.maximum.at(highest, sets.set_of_stretch, np.maximum.reduceat(partitions, sets.stretch_start))
    np.minimum.at(lowest, sets.set_of_stretch, np.minimum.reduceat(partitions, sets.stretch_start))
    return np.asarray(highest - lowest, dtype=np.int64)


def rows_of(sets: Sets, chosen: Positions) -> tuple[Positions, Positions]:
    """Where the rows of some sets stand, set by set, and where each set begins among them."""
    number = np.full(len(sets.size), -1)
    number[chosen] = np.arange(len(chosen))
    of_row = number[sets.set_of_row]
    rows = np.flatnonzero(of_row >= 0)
    rows = rows[packed_order(of_row[rows])]
    sizes = sets.size[chosen]
    return rows, np.cumsum(sizes) - sizes


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


def walk_of_sets(sets: Sets, place: Positions, capacity: Numbers, highest: int, crowded: Positions) -> Positions | None:
    """Where the rows stand once the sets are walked in the order of their places; None where they stand so already."""
    bits = int(capacity.max() - 1).bit_length()
    bucket = sets.rows.partitions
    if highest >= capacity.min() or len(crowded):
        mask = np.repeat((capacity - 1)[sets.set_of_stretch], sets.stretch_sizes)
        bucket = (bucket ^ (bucket >> 16) if highest >> 16 else bucket) & mask
    if len(crowded):
        found, starts = rows_of(sets, crowded)
        for rows, each in zip(np.split(found, starts[1:]), capacity[crowded].tolist(), strict=True):
            # The place in the walk stands for the bucket, which alone does not tell it.
            walk = put_order(sets.rows.partitions[rows].astype(np.uint32), each)
            bucket[rows[walk]] = np.arange(len(rows))
    keys = np.repeat((place << bits)[sets.set_of_stretch], sets.stretch_sizes) | bucket
    return None if (keys[1:] >= keys[:-1]).all() else packed_order(keys)


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
