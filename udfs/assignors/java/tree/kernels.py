"""A bucket of java.util.HashMap that became a tree, as loops over arrays.

Java walks such a bucket by a list that it keeps with the tree: a new key comes after its parent in the tree, and the
tree's root comes first. So the shape of the tree decides, and these loops keep the same shape. A key is the number of
its node. Source: HashMap.java of OpenJDK 17, of which every name in brackets is.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled

Longs = NDArray[np.int64]

# A table is one array of cells, since a call that hands over many arrays takes longer than what it does. It begins with
# these; then come the heads of the buckets, then the nodes, from NODES on. A node is the number of its first cell.
CAPACITY, SIZE, TIES, NODES = 0, 1, 2, 3
HEADS: Final = 4
# The cells of a node. LEFT and RIGHT are the sides too. SPREAD is the hash code with its sign, mixed (HashMap.hash).
# RANK is what compareTo orders keys of one hash code by; where it is UNRANKED, but needed, TIES is set.
LEFT, RIGHT, PARENT, PREVIOUS, NEXT, SPREAD, COLOR, RANK = range(8)
NODE: Final = 8
NOTHING: Final = -1
UNRANKED: Final = -1
CHAINED, BLACK, RED = 0, 1, 2


@compiled(allocates=False, inlines=False)
def make_chain(cells: Longs, bucket: int) -> None:
    """Makes a chain of the tree of a bucket, in the order of its list (untreeify)."""
    node = cells[HEADS + bucket]
    while node >= 0:
        cells[node + COLOR] = CHAINED
        node = cells[node + NEXT]


@compiled(allocates=False, inlines=False)
def plant(cells: Longs, bucket: int) -> None:
    """Makes a tree of the keys of a bucket, in the order of its list (treeify)."""
    first = cells[HEADS + bucket]
    hang(cells, NOTHING, first)
    node = cells[first + NEXT]
    while node >= 0:
        hang(cells, root_of(cells, first), node)
        node = cells[node + NEXT]
    root_to_front(cells, bucket)


@compiled(allocates=False, inlines=False)
def add_to_tree(cells: Longs, bucket: int, node: int) -> None:
    """A new key comes after its parent in the list (putTreeVal)."""
    parent = hang(cells, root_of(cells, cells[HEADS + bucket]), node)
    following = cells[parent + NEXT]
    cells[parent + NEXT] = node
    cells[node + NEXT] = following
    cells[node + PREVIOUS] = parent
    if following >= 0:
        cells[following + PREVIOUS] = node
    root_to_front(cells, bucket)


@compiled(allocates=False, inlines=False)
def remove_from_tree(cells: Longs, bucket: int, node: int) -> None:
    """A small tree becomes a chain; of a larger one the root comes first again (removeTreeNode)."""
    root = root_of(cells, cells[HEADS + bucket])
    unlist(cells, bucket, node)
    if cells[HEADS + bucket] < 0:
        return
    left, right = cells[root + LEFT], cells[root + RIGHT]
    # As Java guesses a small tree from its shape before the removal.
    if left < 0 or right < 0 or cells[left + LEFT] < 0:
        make_chain(cells, bucket)
        return
    unhang(cells, node)
    root_to_front(cells, bucket)


@compiled(allocates=False, inlines=False)
def unlist(cells: Longs, bucket: int, node: int) -> None:
    """Takes a node out of the list of its bucket, not out of the tree (a part of removeTreeNode)."""
    before, after = cells[node + PREVIOUS], cells[node + NEXT]
    if before < 0:
        cells[HEADS + bucket] = after
    else:
        cells[before + NEXT] = after
    if after >= 0:
        cells[after + PREVIOUS] = before


@compiled(allocates=False, inlines=False)
def root_of(cells: Longs, node: int) -> int:
    """The root of a node's tree (TreeNode.root)."""
    while cells[node + PARENT] >= 0:
        node = cells[node + PARENT]
    return node


@compiled(allocates=False, inlines=False)
def root_to_front(cells: Longs, bucket: int) -> None:
    """Puts the root of a bucket's tree first in its list (moveRootToFront)."""
    first = cells[HEADS + bucket]
    root = root_of(cells, first)
    if root != first:
        unlist(cells, bucket, root)
        cells[HEADS + bucket] = root
        cells[root + NEXT] = first
        cells[root + PREVIOUS] = NOTHING
        cells[first + PREVIOUS] = root


@compiled(allocates=False, inlines=False)
def goes_left(cells: Longs, node: int, below: int) -> bool:
    """Whether a key belongs to the left of another: by hash code, then by compareTo (putTreeVal, treeify)."""
    if cells[node + SPREAD] != cells[below + SPREAD]:
        return bool(cells[node + SPREAD] < cells[below + SPREAD])
    if cells[node + RANK] == UNRANKED:
        cells[TIES] = 1
        return True
    return bool(cells[node + RANK] <= cells[below + RANK])


@compiled(allocates=False, inlines=False)
def side_of(cells: Longs, node: int) -> int:
    """The side on which a node hangs below its parent."""
    return RIGHT if cells[cells[node + PARENT] + RIGHT] == node else LEFT


@compiled(allocates=False, inlines=False)
def is_red(cells: Longs, node: int) -> bool:
    """Whether there is such a node and it is red."""
    return node >= 0 and bool(cells[node + COLOR] == RED)


@compiled(allocates=False, inlines=False)
def hang(cells: Longs, root: int, node: int) -> int:
    """Puts a node into the tree below its parent, which is given back as it was then (putTreeVal, treeify)."""
    parent, below, side = NOTHING, root, LEFT
    while below >= 0:
        parent = below
        side = LEFT if goes_left(cells, node, below) else RIGHT
        below = cells[parent + side]
    cells[node + PARENT] = parent
    cells[node + LEFT] = cells[node + RIGHT] = NOTHING
    if parent < 0:
        cells[node + COLOR] = BLACK
    else:
        cells[parent + side] = node
        cells[node + COLOR] = RED
        balance_after_hanging(cells, node)
    return parent


@compiled(allocates=False, inlines=False)
def balance_after_hanging(cells: Longs, node: int) -> None:
    """Colours and rotates until no red node has a red parent (balanceInsertion)."""
    while is_red(cells, cells[node + PARENT]):
        parent = cells[node + PARENT]
        grandparent = cells[parent + PARENT]
        if grandparent < 0:
            return
        side = side_of(cells, parent)
        uncle = cells[grandparent + 1 - side]
        if is_red(cells, uncle):
            cells[uncle + COLOR] = cells[parent + COLOR] = BLACK
            cells[grandparent + COLOR] = RED
            node = grandparent
            continue
        if side_of(cells, node) != side:
            rotate(cells, parent, side)
            node, parent = parent, node
        cells[parent + COLOR] = BLACK
        cells[grandparent + COLOR] = RED
        rotate(cells, grandparent, 1 - side)
    if cells[node + PARENT] < 0:
        cells[node + COLOR] = BLACK


@compiled(allocates=False, inlines=False)
def rotate(cells: Longs, node: int, side: int) -> None:
    """The node goes down to `side`, its child of the other side takes its place (rotateLeft, rotateRight)."""
    child = cells[node + 1 - side]
    inner = cells[child + side]
    cells[node + 1 - side] = inner
    if inner >= 0:
        cells[inner + PARENT] = node
    put_in_place_of(cells, node, child)
    cells[child + side] = node
    cells[node + PARENT] = child


@compiled(allocates=False, inlines=False)
def put_in_place_of(cells: Longs, node: int, other: int) -> None:
    """Hangs another node, or none, below the parent of a node in its place (a part of removeTreeNode)."""
    parent = cells[node + PARENT]
    if parent >= 0:
        cells[parent + side_of(cells, node)] = other
    if other >= 0:
        cells[other + PARENT] = parent


@compiled(allocates=False, inlines=False)
def unhang(cells: Longs, node: int) -> None:
    """Takes a node out of the tree, not out of the list (a part of removeTreeNode)."""
    if cells[node + LEFT] >= 0 and cells[node + RIGHT] >= 0:
        swap_with_next(cells, node)
    child = cells[node + LEFT] if cells[node + LEFT] >= 0 else cells[node + RIGHT]
    if child < 0:
        if cells[node + COLOR] == BLACK:
            balance_for_removal(cells, node)
        put_in_place_of(cells, node, NOTHING)
        return
    put_in_place_of(cells, node, child)
    if cells[child + PARENT] < 0:
        cells[child + COLOR] = BLACK
    if cells[node + COLOR] == BLACK:
        balance_for_removal(cells, child)


@compiled(allocates=False, inlines=False)
def swap_with_next(cells: Longs, node: int) -> None:
    """Changes places with the next higher node, which has no left child (a part of removeTreeNode)."""
    left, right = cells[node + LEFT], cells[node + RIGHT]
    following = right
    while cells[following + LEFT] >= 0:
        following = cells[following + LEFT]
    cells[node + COLOR], cells[following + COLOR] = cells[following + COLOR], cells[node + COLOR]
    after, parent, side = cells[following + RIGHT], cells[following + PARENT], side_of(cells, following)
    put_in_place_of(cells, node, following)
    cells[following + LEFT] = left
    cells[left + PARENT] = following
    if following == right:
        cells[following + RIGHT] = node
        cells[node + PARENT] = following
    else:
        cells[following + RIGHT] = right
        cells[right + PARENT] = following
        cells[parent + side] = node
        cells[node + PARENT] = parent
    cells[node + LEFT], cells[node + RIGHT] = NOTHING, after
    if after >= 0:
        cells[after + PARENT] = node


@compiled(allocates=False, inlines=False)
def balance_for_removal(cells: Longs, node: int) -> None:
    """Colours and rotates, with one black node less on the way to `node` (balanceDeletion)."""
    while cells[node + PARENT] >= 0 and cells[node + COLOR] == BLACK:
        parent, side = cells[node + PARENT], side_of(cells, node)
        sibling = cells[parent + 1 - side]
        if is_red(cells, sibling):
            cells[sibling + COLOR], cells[parent + COLOR] = BLACK, RED
            rotate(cells, parent, side)
            sibling = cells[parent + 1 - side]
        if sibling < 0:
            node = parent
            continue
        near, far = cells[sibling + side], cells[sibling + 1 - side]
        if not is_red(cells, near) and not is_red(cells, far):
            cells[sibling + COLOR] = RED
            node = parent
            continue
        if not is_red(cells, far):
            cells[near + COLOR], cells[sibling + COLOR] = BLACK, RED
            rotate(cells, sibling, 1 - side)
            sibling, far = near, sibling
        cells[sibling + COLOR] = cells[parent + COLOR]
        cells[far + COLOR] = cells[parent + COLOR] = BLACK
        rotate(cells, parent, side)
        return
    cells[node + COLOR] = BLACK
