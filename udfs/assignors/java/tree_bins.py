"""A crowded bucket of java.util.HashMap, which Java makes a tree.

Java walks such a bucket by a list that it keeps beside the tree: a new key comes after its parent in the tree, and the
tree's root comes first. So the shape of the tree decides, and this is Java's red-black tree with all its turns. Source:
HashMap.java of OpenJDK 17, whose names are in brackets.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")

# A tree of so few keys becomes a chain again when its table doubles.
UNTREEIFY_THRESHOLD: Final = 6
LEFT, RIGHT = 0, 1


class Node(Generic[K]):
    """`order`: the mixed hash code with its sign, then what compareTo goes by."""

    __slots__ = ("after", "before", "children", "is_red", "key", "order", "parent")

    def __init__(self, key: K, order: Any) -> None:
        self.key, self.order, self.is_red = key, order, False
        self.before: Node[K] | None = None
        self.after: Node[K] | None = None
        self.parent: Node[K] | None = None
        self.children: list[Node[K] | None] = [None, None]

    @property
    def side(self) -> int:
        """On which it hangs below its parent."""
        assert self.parent is not None
        return RIGHT if self.parent.children[RIGHT] is self else LEFT

    @property
    def root(self) -> "Node[K]":
        node = self
        while node.parent is not None:
            node = node.parent
        return node


class TreeBin(Generic[K]):
    """`first` is the first node of its list, and the root of its tree."""

    def __init__(self, keys: Iterable[K], order_of: Callable[[K], Any]) -> None:
        self.order_of = order_of
        self.first: Node[K] | None = None
        last = None
        for key in keys:
            node = Node(key, order_of(key))
            node.before = last
            if last is None:
                self.first = node
            else:
                last.after = node
            last = node
        self.plant()

    def __bool__(self) -> bool:
        return self.first is not None

    def __iter__(self) -> Iterator[K]:
        node = self.first
        while node is not None:
            yield node.key
            node = node.after

    def plant(self) -> None:
        """Makes the tree, key by key (treeify)."""
        node = first = self.first
        assert first is not None
        while node is not None:
            hang(None if node is first else first.root, node)
            node = node.after
        self.root_to_front(first.root)

    def add(self, key: K) -> None:
        """After its parent in the list (putTreeVal)."""
        assert self.first is not None
        node = Node(key, self.order_of(key))
        parent = hang(self.first, node)
        assert parent is not None
        node.before, node.after = parent, parent.after
        if parent.after is not None:
            parent.after.before = node
        parent.after = node
        self.root_to_front(self.first.root)

    def remove(self, key: K) -> "TreeBin[K] | list[K]":
        """What is left of the bucket: a small tree becomes a chain, as Java guesses from its shape before
        (removeTreeNode)."""
        node = root = self.first
        assert root is not None
        while node is not None and node.key != key:
            node = node.after
        assert node is not None
        self.unlist(node)
        if self.first is None:
            return []
        left, right = root.children
        if left is None or right is None or left.children[LEFT] is None:
            return list(self)
        self.root_to_front(unhang(node))
        return self

    def parts(self, goes_up: Callable[[K], bool]) -> "tuple[TreeBin[K] | list[K], TreeBin[K] | list[K]]":
        """The two buckets that it becomes when the table doubles (split). Java moves a lone key as it is."""
        keys = list(self)
        low, high = [key for key in keys if not goes_up(key)], [key for key in keys if goes_up(key)]
        if len(keys) == 1:
            return (self, []) if low else ([], self)
        return self.part(low, not high), self.part(high, not low)

    def part(self, keys: list[K], is_whole: bool) -> "TreeBin[K] | list[K]":
        if len(keys) <= UNTREEIFY_THRESHOLD:
            return keys
        return self if is_whole else TreeBin(keys, self.order_of)

    def unlist(self, node: Node[K]) -> None:
        """Takes a node out of the list, not out of the tree."""
        if node.before is None:
            self.first = node.after
        else:
            node.before.after = node.after
        if node.after is not None:
            node.after.before = node.before

    def root_to_front(self, root: Node[K]) -> None:
        """moveRootToFront."""
        first = self.first
        assert first is not None
        if root is not first:
            self.unlist(root)
            self.first, root.before, root.after, first.before = root, None, first, root


def is_red(node: Node[K] | None) -> bool:
    return node is not None and node.is_red


def hang(root: Node[K] | None, node: Node[K]) -> Node[K] | None:
    """Puts a node below its parent, which is given back as it was then: by hash code, then by compareTo; of equal ones
    the new one goes to the left (putTreeVal, treeify)."""
    parent, below, side = None, root, LEFT
    while below is not None:
        parent, side = below, LEFT if node.order <= below.order else RIGHT
        below = parent.children[side]
    node.parent, node.children = parent, [None, None]
    node.is_red = parent is not None
    if parent is not None:
        parent.children[side] = node
        balance_insertion(node)
    return parent


def balance_insertion(node: Node[K]) -> None:
    """Colours and rotates until no red node has a red parent (balanceInsertion)."""
    while (parent := node.parent) is not None and parent.is_red:
        grandparent = parent.parent
        if grandparent is None:
            return
        side = parent.side
        uncle = grandparent.children[1 - side]
        if uncle is not None and uncle.is_red:
            uncle.is_red = parent.is_red = False
            grandparent.is_red = True
            node = grandparent
            continue
        if node.side != side:
            rotate(parent, side)
            node, parent = parent, node
        parent.is_red, grandparent.is_red = False, True
        rotate(grandparent, 1 - side)
    if node.parent is None:
        node.is_red = False


def rotate(node: Node[K], side: int) -> None:
    """The node goes down to `side`, its child of the other side takes its place (rotateLeft, rotateRight)."""
    child = node.children[1 - side]
    assert child is not None
    inner = node.children[1 - side] = child.children[side]
    if inner is not None:
        inner.parent = node
    put_in_place_of(node, child)
    child.children[side] = node
    node.parent = child


def put_in_place_of(node: Node[K], other: Node[K] | None) -> None:
    """Hangs another node, or none, below the parent of a node in its place."""
    if node.parent is not None:
        node.parent.children[node.side] = other
    if other is not None:
        other.parent = node.parent


def unhang(node: Node[K]) -> Node[K]:
    """Takes a node out of the tree; the root that it has then (removeTreeNode)."""
    if node.children[LEFT] is not None and node.children[RIGHT] is not None:
        swap_with_next(node)
    child = node.children[LEFT] if node.children[LEFT] is not None else node.children[RIGHT]
    if child is None:
        if not node.is_red:
            balance_deletion(node)
        above = node.parent
        put_in_place_of(node, None)
        assert above is not None
        return above.root
    put_in_place_of(node, child)
    if child.parent is None:
        child.is_red = False
    if not node.is_red:
        balance_deletion(child)
    return child.root


def swap_with_next(node: Node[K]) -> None:
    """Changes places with the next higher node, which has no left child."""
    left, right = node.children
    assert left is not None
    assert right is not None
    following = right
    while (lower := following.children[LEFT]) is not None:
        following = lower
    node.is_red, following.is_red = following.is_red, node.is_red
    after, parent, side = following.children[RIGHT], following.parent, following.side
    put_in_place_of(node, following)
    following.children[LEFT], left.parent = left, following
    if following is right:
        following.children[RIGHT], node.parent = node, following
    else:
        assert parent is not None
        following.children[RIGHT], right.parent = right, following
        parent.children[side], node.parent = node, parent
    node.children = [None, after]
    if after is not None:
        after.parent = node


def balance_deletion(node: Node[K]) -> None:
    """Colours and rotates, with one black node less on the way to `node` (balanceDeletion)."""
    while (parent := node.parent) is not None and not node.is_red:
        side = node.side
        sibling = parent.children[1 - side]
        if sibling is not None and sibling.is_red:
            sibling.is_red, parent.is_red = False, True
            rotate(parent, side)
            sibling = parent.children[1 - side]
        if sibling is None:
            node = parent
            continue
        near, far = sibling.children[side], sibling.children[1 - side]
        if not is_red(near) and not is_red(far):
            sibling.is_red = True
            node = parent
            continue
        if not is_red(far):
            assert near is not None
            near.is_red, sibling.is_red = False, True
            rotate(sibling, 1 - side)
            sibling, far = near, sibling
        assert far is not None
        sibling.is_red = parent.is_red
        far.is_red = parent.is_red = False
        rotate(parent, side)
        return
    node.is_red = False
