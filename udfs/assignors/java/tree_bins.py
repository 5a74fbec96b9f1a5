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
    """`order`: the mixed hash code with its sign, then what compareTo goes by. `before` and `after` are its neighbours
    in the list, which is a ring."""

    __slots__ = ("after", "before", "children", "is_red", "key", "order", "parent")

    def __init__(self, key: K, order: Any) -> None:
        self.key, self.order, self.is_red = key, order, False
        self.before: Node[K] = self
        self.after: Node[K] = self
        self.parent: Node[K] = NONE
        self.children: list[Node[K]] = [NONE, NONE]

    @property
    def side(self) -> int:
        """On which it hangs below its parent."""
        return RIGHT if self.parent.children[RIGHT] is self else LEFT

    @property
    def root(self) -> "Node[K]":
        node = self
        while node.parent is not NONE:
            node = node.parent
        return node

    def unlist(self) -> None:
        """Takes it out of the list, not out of the tree."""
        self.before.after, self.after.before = self.after, self.before

    def list_after(self, other: "Node[K]") -> None:
        self.before, self.after = other, other.after
        other.after.before = other.after = self


# In place of a child or parent that is missing; black, as leaves are.
NONE: Final[Node[Any]] = Node.__new__(Node)
NONE.is_red = False


class TreeBin(Generic[K]):
    """The first node of the list, after `head`, is the root of the tree."""

    def __init__(self, keys: Iterable[K], order_of: Callable[[K], Any]) -> None:
        self.order_of = order_of
        self.head: Node[Any] = Node(None, None)
        for key in keys:
            Node(key, order_of(key)).list_after(self.head.before)
        # Makes the tree, key by key (treeify).
        root: Node[K] = NONE
        for node in self.nodes():
            hang(root, node)
            root = node.root
        self.move_root_to_front(root)

    def nodes(self) -> Iterator[Node[K]]:
        node = self.head.after
        while node is not self.head:
            yield node
            node = node.after

    def __bool__(self) -> bool:
        return self.head.after is not self.head

    def __iter__(self) -> Iterator[K]:
        return (node.key for node in self.nodes())

    def add(self, key: K) -> None:
        """After its parent in the list (putTreeVal)."""
        node, root = Node(key, self.order_of(key)), self.head.after
        node.list_after(hang(root, node))
        self.move_root_to_front(root.root)

    def remove(self, key: K) -> "TreeBin[K] | list[K]":
        """What is left of the bucket: a small tree becomes a chain, as Java guesses from its shape before
        (removeTreeNode)."""
        root = self.head.after
        node = next(node for node in self.nodes() if node.key == key)
        node.unlist()
        left, right = root.children
        if left is NONE or right is NONE or left.children[LEFT] is NONE:
            return list(self)
        self.move_root_to_front(unhang(node))
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

    def move_root_to_front(self, root: Node[K]) -> None:
        """moveRootToFront."""
        root.unlist()
        root.list_after(self.head)


def hang(root: Node[K], node: Node[K]) -> Node[K]:
    """Puts a node below its parent, which is given back as it was then: by hash code, then by compareTo; of equal ones
    the new one goes to the left (putTreeVal, treeify)."""
    parent, below, side = root, root, LEFT
    while below is not NONE:
        parent, side = below, LEFT if node.order <= below.order else RIGHT
        below = parent.children[side]
    if parent is not NONE:
        parent.children[side] = node
        node.parent, node.is_red = parent, True
        balance_insertion(node)
    return parent


def balance_insertion(node: Node[K]) -> None:
    """Colours and rotates until no red node has a red parent (balanceInsertion)."""
    while node.parent is not NONE and node.parent.is_red and node.parent.parent is not NONE:
        parent, grandparent = node.parent, node.parent.parent
        side = parent.side
        uncle = grandparent.children[1 - side]
        if uncle.is_red:
            uncle.is_red = parent.is_red = False
            grandparent.is_red = True
            node = grandparent
            continue
        if node.side != side:
            rotate(parent, side)
            node, parent = parent, node
        parent.is_red, grandparent.is_red = False, True
        rotate(grandparent, 1 - side)
    if node.parent is NONE:
        node.is_red = False


def rotate(node: Node[K], side: int) -> None:
    """The node goes down to `side`, its child of the other side takes its place (rotateLeft, rotateRight)."""
    child = node.children[1 - side]
    put_below(node, 1 - side, child.children[side])
    put_in_place_of(node, child)
    put_below(child, side, node)


def put_below(parent: Node[K], side: int, node: Node[K]) -> None:
    parent.children[side] = node
    if node is not NONE:
        node.parent = parent


def put_in_place_of(node: Node[K], other: Node[K]) -> None:
    """Hangs another node, or none, below the parent of a node in its place."""
    if node.parent is not NONE:
        put_below(node.parent, node.side, other)
    elif other is not NONE:
        other.parent = NONE


def unhang(node: Node[K]) -> Node[K]:
    """Takes a node out of the tree; the root that it has then (removeTreeNode)."""
    left, right = node.children
    if left is not NONE and right is not NONE:
        # Changes places with the next higher node, which has no left child.
        following = right
        while following.children[LEFT] is not NONE:
            following = following.children[LEFT]
        node.is_red, following.is_red = following.is_red, node.is_red
        after, parent, side = following.children[RIGHT], following.parent, following.side
        put_in_place_of(node, following)
        put_below(following, LEFT, left)
        if parent is node:
            put_below(following, RIGHT, node)
        else:
            put_below(following, RIGHT, right)
            put_below(parent, side, node)
        node.children[LEFT] = NONE
        put_below(node, RIGHT, after)
    child = node.children[LEFT] if node.children[LEFT] is not NONE else node.children[RIGHT]
    if child is NONE:
        if not node.is_red:
            balance_deletion(node)
        put_in_place_of(node, NONE)
        return node.parent.root
    put_in_place_of(node, child)
    if child.parent is NONE:
        child.is_red = False
    if not node.is_red:
        balance_deletion(child)
    return child.root


def balance_deletion(node: Node[K]) -> None:
    """Colours and rotates, with one black node less on the way to `node` (balanceDeletion)."""
    while node.parent is not NONE and not node.is_red:
        parent, side = node.parent, node.side
        sibling = parent.children[1 - side]
        if sibling.is_red:
            sibling.is_red, parent.is_red = False, True
            rotate(parent, side)
            sibling = parent.children[1 - side]
        near, far = sibling.children[side], sibling.children[1 - side]
        if not near.is_red and not far.is_red:
            sibling.is_red = True
            node = parent
            continue
        if not far.is_red:
            near.is_red, sibling.is_red = False, True
            rotate(sibling, 1 - side)
            sibling, far = near, sibling
        sibling.is_red = parent.is_red
        far.is_red = parent.is_red = False
        rotate(parent, side)
        return
    node.is_red = False
