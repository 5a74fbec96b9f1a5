"""Positions of the fields of many messages in a buffer: the output of a walk, and the input of the gather.

Each node has one entry per row. Rows are selected (`take_rows`) and joined (`concat_nodes`) without touching the bytes.
So array elements, which are found wave by wave, can be sorted into the order of their rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.declarations.fields import Kind
from udfs.arrays.big_endian import Positions
from udfs.arrays.number_ranges import ranges


@dataclass(frozen=True, eq=False)
class Fixed:
    """Values of fixed size, `skip` bytes after `anchor`. Fields with the same anchor are gathered as one block."""

    kind: Kind
    anchor: Positions
    skip: int


@dataclass(frozen=True, eq=False)
class Sliced:
    """Strings or bytes; `length` is -1 for null."""

    is_text: bool
    start: Positions
    length: Positions


@dataclass(frozen=True, eq=False)
class Listed:
    """Arrays; `count` is -1 for null. `items` has the elements of all rows one after another."""

    count: Positions
    items: "Node"


@dataclass(frozen=True, eq=False)
class Structured:
    children: dict[str, "Node"]
    size: int


@dataclass(frozen=True, eq=False)
class Sparse:
    """A node for some rows; the others have no value: tagged fields and nullable structs."""

    size: int
    rows: Positions
    node: "Node"


Node = Fixed | Sliced | Listed | Structured | Sparse
Memo = dict[object, NDArray[np.int64]]


def starts_of(counts: Positions) -> Positions:
    return np.cumsum(counts) - counts


def take_rows(node: Node, rows: Positions, memo: Memo | None = None) -> Node:
    # The memo keeps anchors shared: two fields of one block stay in one block.
    memo = {} if memo is None else memo
    match node:
        case Fixed(kind, anchor, skip):
            if (id(anchor), id(rows)) not in memo:
                memo[id(anchor), id(rows)] = anchor[rows]
            return Fixed(kind, memo[id(anchor), id(rows)], skip)
        case Sliced(is_text, start, length):
            return Sliced(is_text, start[rows], length[rows])
        case Listed(count, items):
            sizes = np.maximum(count, 0)
            picked = ranges(starts_of(sizes)[rows], sizes[rows])
            return Listed(count[rows], take_rows(items, picked))
        case Structured(children, _):
            return Structured({name: take_rows(child, rows, memo) for name, child in children.items()}, len(rows))
        case Sparse(size, present, child):
            place = np.full(size, -1)
            place[present] = np.arange(len(present))
            picked = place[rows]
            kept = np.flatnonzero(picked >= 0)
            return Sparse(len(rows), kept, take_rows(child, picked[kept]))


def concat_nodes(nodes: Sequence[Node], memo: Memo | None = None) -> Node:
    """Nodes of one field, one after another."""
    memo = {} if memo is None else memo
    first = nodes[0]
    if len(nodes) == 1:
        return first
    match first:
        case Fixed(kind, _, skip):
            # Distances differ between waves: a count of two bytes sets a new anchor, a count of one byte does not.
            anchors = [(node.anchor, node.skip - skip) for node in nodes if isinstance(node, Fixed)]
            identity = tuple((id(anchor), shift) for anchor, shift in anchors)
            if identity not in memo:
                memo[identity] = np.concatenate([anchor + shift if shift else anchor for anchor, shift in anchors])
            return Fixed(kind, memo[identity], skip)
        case Sliced(is_text, _, _):
            sliced = [node for node in nodes if isinstance(node, Sliced)]
            return Sliced(
                is_text,
                np.concatenate([node.start for node in sliced]),
                np.concatenate([node.length for node in sliced]),
            )
        case Listed():
            listed = [node for node in nodes if isinstance(node, Listed)]
            return Listed(
                np.concatenate([node.count for node in listed]), concat_nodes([node.items for node in listed])
            )
        case Structured(children, _):
            structured = [node for node in nodes if isinstance(node, Structured)]
            return Structured(
                {name: concat_nodes([node.children[name] for node in structured], memo) for name in children},
                sum(node.size for node in structured),
            )
        case Sparse():
            sparse = [node for node in nodes if isinstance(node, Sparse)]
            sizes = np.array([node.size for node in sparse])
            rows = [node.rows + start for node, start in zip(sparse, starts_of(sizes), strict=True)]
            return Sparse(int(sizes.sum()), np.concatenate(rows), concat_nodes([node.node for node in sparse]))
