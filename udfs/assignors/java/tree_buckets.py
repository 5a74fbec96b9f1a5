"""A bucket of Java's hash tables that became a tree, and its iteration order.

Java iterates over such a bucket by a list that it keeps with the tree: a new key comes after its parent in the tree,
and the tree's root comes first. So the shape of the tree decides, and this module keeps the same shape.
"""

from collections.abc import Iterable
from typing import Any, Final

LEFT: Final = 0
RIGHT: Final = 1


class Node:
    __slots__ = ("children", "is_red", "key", "parent", "rank")

    def __init__(self, key: Any, rank: tuple[int, Any]) -> None:
        self.key, self.rank = key, rank
        self.is_red = False
        self.parent: Node | None = None
        self.children: list[Node | None] = [None, None]

    @property
    def side(self) -> int:
        """Of its parent."""
        assert self.parent is not None
        return RIGHT if self.parent.children[RIGHT] is self else LEFT


def is_red(node: Node | None) -> bool:
    return node is not None and node.is_red


class TreeBucket:
    """`order` is the list that is walked; its first node is the root, unless an iterator removed a key since."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.order: list[Node] = []
        self.root: Node | None = None
        for node in nodes:
            self.order.append(node)
            self._hang(node)
        self._root_to_front()

    def __len__(self) -> int:
        return len(self.order)

    def add(self, node: Node) -> None:
        parent = self._hang(node)
        self.order.insert(self.order.index(parent) + 1 if parent else 0, node)
        self._root_to_front()

    def remove(self, key: Any, by_iterator: bool) -> bool:
        """Whether it is still a tree. An iterator leaves small trees as they are, and the root where it stands."""
        node = next(each for each in self.order if each.key == key)
        self.order.remove(node)
        if not self.order:
            return False
        if not by_iterator and self._is_small():
            return False
        self._unhang(node)
        if not by_iterator:
            self._root_to_front()
        return True

    def _is_small(self) -> bool:
        """As Java guesses it from the tree's shape before the removal."""
        assert self.root is not None
        left, right = self.root.children
        return left is None or right is None or left.children[LEFT] is None

    def _root_to_front(self) -> None:
        assert self.root is not None
        if self.order[0] is not self.root:
            self.order.remove(self.root)
            self.order.insert(0, self.root)

    def _hang(self, node: Node) -> Node | None:
        """Puts a node into the tree below its parent, which is given back as it was then."""
        parent, below = None, self.root
        side = LEFT
        while below is not None:
            parent, side = below, LEFT if node.rank <= below.rank else RIGHT
            below = parent.children[side]
        node.parent, node.children = parent, [None, None]
        if parent is None:
            self.root, node.is_red = node, False
        else:
            parent.children[side] = node
            node.is_red = True
            self._balance_after_hanging(node)
        return parent

    def _balance_after_hanging(self, node: Node) -> None:
        while node.parent is not None and node.parent.is_red:
            parent = node.parent
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
                self._rotate(parent, side)
                node, parent = parent, node
            parent.is_red = False
            grandparent.is_red = True
            self._rotate(grandparent, 1 - side)
        if node.parent is None:
            node.is_red = False

    def _rotate(self, node: Node, side: int) -> None:
        """The node goes down to `side`, its child of the other side takes its place."""
        child = node.children[1 - side]
        assert child is not None
        inner = child.children[side]
        node.children[1 - side] = inner
        if inner is not None:
            inner.parent = node
        self._put_in_place_of(node, child)
        child.children[side] = node
        node.parent = child

    def _put_in_place_of(self, node: Node, other: Node | None) -> None:
        if node.parent is None:
            self.root = other
        else:
            node.parent.children[node.side] = other
        if other is not None:
            other.parent = node.parent

    def _unhang(self, node: Node) -> None:
        left, right = node.children
        if left is not None and right is not None:
            self._swap_with_next(node, right)
            left, right = node.children
        child = left if left is not None else right
        if child is None:
            if not node.is_red:
                self._balance_for_removal(node)
            self._put_in_place_of(node, None)
            return
        self._put_in_place_of(node, child)
        if child.parent is None:
            child.is_red = False
        if not node.is_red:
            self._balance_for_removal(child)

    def _swap_with_next(self, node: Node, right: Node) -> None:
        """Changes places with the next higher node, which has no left child."""
        following = right
        while (lower := following.children[LEFT]) is not None:
            following = lower
        node.is_red, following.is_red = following.is_red, node.is_red
        left, after = node.children[LEFT], following.children[RIGHT]
        parent, side = following.parent, following.side
        self._put_in_place_of(node, following)
        following.children[LEFT] = left
        if left is not None:
            left.parent = following
        if following is right:
            following.children[RIGHT], node.parent = node, following
        else:
            following.children[RIGHT], right.parent = right, following
            assert parent is not None
            parent.children[side], node.parent = node, parent
        node.children = [None, after]
        if after is not None:
            after.parent = node

    def _balance_for_removal(self, node: Node) -> None:
        """One black node less on the way to `node`."""
        while node.parent is not None and not node.is_red:
            parent, side = node.parent, node.side
            sibling = parent.children[1 - side]
            if sibling is not None and sibling.is_red:
                sibling.is_red, parent.is_red = False, True
                self._rotate(parent, side)
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
                self._rotate(sibling, 1 - side)
                sibling, far = near, sibling
            sibling.is_red = parent.is_red
            assert far is not None
            far.is_red = parent.is_red = False
            self._rotate(parent, side)
            return
        node.is_red = False
