"""java.util.HashMap as loops over arrays: which key comes where when the table is walked.

A key is the number of its node, from 0; callers know which keys are there. Source: HashMap.java of OpenJDK 17, of which
every name in brackets is. A table doubles when it is more than three quarters full; a chain of nine in a table of at
least 64 buckets becomes a tree, whose nodes are walked by a list that is kept beside it.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import (
    CAPACITY,
    CHAINED,
    COLOR,
    HEADS,
    NEXT,
    NODE,
    NODES,
    NOTHING,
    PREVIOUS,
    RANK,
    SIZE,
    SPREAD,
    TIES,
    UNRANKED,
    Longs,
    add_to_tree,
    make_chain,
    plant,
    remove_from_tree,
)

Hashes = NDArray[np.uint32]

# What a step does to a key: puts it (put), computes it (computeIfAbsent), asks for one that is there (computeIfAbsent),
# removes it (remove).
PUT, COMPUTE, TOUCH, REMOVE = range(4)
# A key put at the end of a chain of this length doubles a table of fewer than 64 buckets, at any load. In a larger
# table it makes a tree of the chain. computeIfAbsent counts the new key too.
FULL_CHAIN: Final = 8
FULL_CHAIN_COMPUTED: Final = 7
SMALLEST_TREE_TABLE: Final = 64
# A tree of so few keys becomes a chain again when its table doubles.
SMALL_TREE: Final = 6


@compiled(inlines=False)
def made(keys: int, largest: int) -> Longs:
    """Room for the keys, and for tables of at most the `largest` capacity: the cells of tables to come."""
    largest = max(largest, SMALLEST_TREE_TABLE)
    cells = np.empty(HEADS + largest + keys * NODE, np.int64)
    cells[TIES] = 0
    cells[NODES] = HEADS + largest
    return cells


@compiled(allocates=False, inlines=False)
def table_capacity(asked: int) -> int:
    """Buckets of a table that is made for so many (tableSizeFor)."""
    capacity = 1
    while capacity < asked:
        capacity *= 2
    return capacity


@compiled(allocates=False, inlines=False)
def grown(capacity: int, keys: int) -> int:
    """The largest table that may come of so many keys, as each resize doubles it (resize)."""
    while keys > capacity * 3 >> 2:
        capacity *= 2
    return capacity


@compiled(allocates=False, inlines=False)
def clear(cells: Longs, capacity: int) -> None:
    """An empty table of so many buckets (HashMap.clear, or a new one)."""
    cells[CAPACITY] = capacity
    cells[SIZE] = 0
    for bucket in range(HEADS, HEADS + capacity):
        cells[bucket] = NOTHING


@compiled(allocates=False, inlines=False)
def settle(cells: Longs, bucket: int, size: int, is_whole: bool) -> None:
    """Part of a tree as it is in the larger table (TreeNode.split)."""
    if 0 < size <= SMALL_TREE:
        make_chain(cells, bucket)
    elif size and not is_whole:
        plant(cells, bucket)


@compiled(allocates=False, inlines=False)
def double(cells: Longs) -> None:
    """What of a bucket goes to one of the two that it becomes keeps its order (resize)."""
    half = cells[CAPACITY]
    cells[CAPACITY] = 2 * half
    for bucket in range(HEADS + half, HEADS + 2 * half):
        cells[bucket] = NOTHING
    for bucket in range(half):
        node = cells[HEADS + bucket]
        is_tree = node >= 0 and cells[node + COLOR] != CHAINED and cells[node + NEXT] >= 0
        low, high, num_low, num_high = NOTHING, NOTHING, 0, 0
        while node >= 0:
            last = high if cells[node + SPREAD] & half else low
            if cells[node + SPREAD] & half:
                high, num_high, at = node, num_high + 1, HEADS + bucket + half
            else:
                low, num_low, at = node, num_low + 1, HEADS + bucket
            cells[at if last < 0 else last + NEXT] = node
            cells[node + PREVIOUS] = last
            node = cells[node + NEXT]
        if low < 0:
            cells[HEADS + bucket] = NOTHING
        else:
            cells[low + NEXT] = NOTHING
        if high >= 0:
            cells[high + NEXT] = NOTHING
        # Java moves a lone key of a tree without a look at it.
        if is_tree:
            settle(cells, bucket, num_low, num_high == 0)
            settle(cells, bucket + half, num_high, num_low == 0)


@compiled(allocates=False, inlines=False)
def make_tree(cells: Longs, bucket: int) -> None:
    """Of a chain, in a large table (treeifyBin)."""
    if cells[CAPACITY] < SMALLEST_TREE_TABLE:
        double(cells)
        return
    last = NOTHING
    node = cells[HEADS + bucket]
    while node >= 0:
        cells[node + PREVIOUS] = last
        last, node = node, cells[node + NEXT]
    plant(cells, bucket)


@compiled(allocates=False, inlines=False)
def put(cells: Longs, first: int, end: int) -> None:
    """The keys of the nodes from the first on, which are not there, one after the other (putVal)."""
    for node in range(first, end, NODE):
        bucket = cells[node + SPREAD] & (cells[CAPACITY] - 1)
        last = cells[HEADS + bucket]
        cells[SIZE] += 1
        if last >= 0 and cells[last + COLOR] != CHAINED:
            add_to_tree(cells, bucket, node)
        else:
            cells[node + NEXT] = NOTHING
            cells[node + COLOR] = CHAINED
            if last < 0:
                cells[HEADS + bucket] = node
            else:
                length = 1
                while cells[last + NEXT] >= 0:
                    last = cells[last + NEXT]
                    length += 1
                cells[last + NEXT] = node
                if length >= FULL_CHAIN:
                    make_tree(cells, bucket)
        if cells[SIZE] > cells[CAPACITY] * 3 >> 2:
            double(cells)


@compiled(allocates=False, inlines=False)
def compute(cells: Longs, node: int) -> None:
    """A key that is not there (computeIfAbsent): after `make_room`, the new key comes first in its chain."""
    bucket = cells[node + SPREAD] & (cells[CAPACITY] - 1)
    head = cells[HEADS + bucket]
    if head >= 0 and cells[head + COLOR] != CHAINED:
        add_to_tree(cells, bucket, node)
    else:
        cells[node + NEXT] = head
        cells[node + COLOR] = CHAINED
        cells[HEADS + bucket] = node
        length = 1
        while head >= 0:
            head = cells[head + NEXT]
            length += 1
        if length > FULL_CHAIN_COMPUTED:
            make_tree(cells, bucket)
    cells[SIZE] += 1


@compiled(allocates=False, inlines=False)
def make_room(cells: Longs) -> None:
    """Doubles a full table before computeIfAbsent, once at a time: a table of one bucket may stay too full by what
    was computed before (resize)."""
    if cells[SIZE] > cells[CAPACITY] * 3 >> 2:
        double(cells)


@compiled(allocates=False, inlines=False)
def remove(cells: Longs, node: int) -> None:
    """A key that is there (removeNode)."""
    bucket = cells[node + SPREAD] & (cells[CAPACITY] - 1)
    head = cells[HEADS + bucket]
    cells[SIZE] -= 1
    if cells[head + COLOR] != CHAINED:
        remove_from_tree(cells, bucket, node)
    elif head == node:
        cells[HEADS + bucket] = cells[node + NEXT]
    else:
        while cells[head + NEXT] != node:
            head = cells[head + NEXT]
        cells[head + NEXT] = cells[node + NEXT]


@compiled(allocates=False, inlines=False)
def walk(cells: Longs, order: Longs) -> int:
    """Writes the keys from the first place on, bucket by bucket, and returns how many there are (HashIterator)."""
    at = 0
    for bucket in range(cells[CAPACITY]):
        node = cells[HEADS + bucket]
        while node >= 0:
            order[at] = (node - cells[NODES]) // NODE
            at += 1
            node = cells[node + NEXT]
    return at


@compiled(allocates=False, inlines=False)
def spread_of(hash_code: int) -> int:
    """The mixed hash code (HashMap.hash) of a hash code without sign, with the sign that trees are ordered by."""
    spread = hash_code ^ (hash_code >> 16)
    return spread - ((spread >> 31) << 32)


@compiled(allocates=False, inlines=False)
def set_key(cells: Longs, key: int, hash_code: int, rank: int) -> int:
    """Writes the hash code and the rank of a key into its node (newNode), which it returns."""
    node: int = cells[NODES] + key * NODE
    cells[node + SPREAD] = spread_of(hash_code)
    cells[node + RANK] = rank
    return node


@compiled(allocates=False, inlines=False)
def walk_puts(cells: Longs, hashes: Longs, count: int, ranks: Longs, capacity: int, order: Longs) -> None:
    """How a table walks so many keys that were put in their order. Integers are their own hash codes, and need no
    rank."""
    if are_in_order(hashes, count, capacity):
        for key in range(count):
            order[key] = key
    elif count <= FULL_CHAIN:
        walk_few(hashes, count, capacity, order)
    else:
        for key in range(count):
            set_key(cells, key, hashes[key], ranks[key] if len(ranks) else UNRANKED)
        clear(cells, capacity)
        put(cells, cells[NODES], cells[NODES] + count * NODE)
        walk(cells, order)


@compiled(allocates=False, inlines=False)
def are_in_order(hashes: Longs, count: int, capacity: int) -> bool:
    """Whether keys are in the order of buckets, in a table that does not grow by them: no chain is too long."""
    if count > capacity * 3 >> 2:
        return False
    before, length = -1, 0
    for key in range(count):
        bucket = spread_of(hashes[key]) & (capacity - 1)
        length = length + 1 if bucket == before else 1
        if bucket < before or length > FULL_CHAIN:
            return False
        before = bucket
    return True


@compiled(allocates=False, inlines=False)
def walk_few(hashes: Longs, count: int, capacity: int, order: Longs) -> None:
    """So few keys cannot crowd a bucket: sorted by bucket, in their order."""
    last = grown(capacity, count) - 1
    for key in range(count):
        at = key
        bucket = spread_of(hashes[key]) & last
        while at > 0 and spread_of(hashes[order[at - 1]]) & last > bucket:
            order[at] = order[at - 1]
            at -= 1
        order[at] = key


@compiled("Tuple((int64[::1], boolean))(uint32[::1], int64[::1], int64[::1], int64[::1], int64)", inlines=False)
def walked_after(hashes: Hashes, ranks: Longs, kinds: Longs, keys: Longs, capacity: int) -> Any:
    """The keys of a table as it is walked after steps, each a kind and a key; and whether ranks are needed."""
    cells = made(len(hashes), grown(capacity, len(keys)))
    for key in range(len(hashes)):
        set_key(cells, key, int(hashes[key]), ranks[key] if len(ranks) else UNRANKED)
    clear(cells, capacity)
    for step in range(len(keys)):
        kind, node = kinds[step], cells[NODES] + keys[step] * NODE
        if kind == PUT:
            put(cells, node, node + NODE)
        elif kind == COMPUTE:
            make_room(cells)
            compute(cells, node)
        elif kind == TOUCH:
            make_room(cells)
        else:
            remove(cells, node)
    order = np.empty(cells[SIZE], np.int64)
    walk(cells, order)
    return order, cells[TIES] > 0


@compiled("Tuple((int64[::1], int64))(uint32[::1], int64[::1], int64)", inlines=False)
def walked_keys(hashes: Hashes, ranks: Longs, capacity: int) -> Any:
    """Distinct keys as a table walks them in which they were put in this order; and whether ranks are needed."""
    cells, order = made(len(hashes), grown(capacity, len(hashes))), np.empty(len(hashes), np.int64)
    walk_puts(cells, hashes.astype(np.int64), len(hashes), ranks, capacity, order)
    return order, cells[TIES]


@compiled(
    *(f"Tuple((uint32[::1], int64))(Array({units}, 1, 'C', readonly=True), int64)" for units in ("uint8", "uint16"))
)
def text_hashes(units: NDArray[np.uint8] | NDArray[np.uint16], count: int) -> Any:
    """String.hashCode of texts of UTF-16 units, each ended by NUL; and how many NULs there are, which is more than
    there are texts if a text has one."""
    hashes = np.empty(count, np.uint32)
    at, code = 0, 0
    for unit in units:
        if unit:
            code = (31 * code + int(unit)) & 0xFFFFFFFF
        else:
            if at < count:
                hashes[at] = code
            at, code = at + 1, 0
    return hashes, at
