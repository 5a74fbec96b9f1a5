"""The walk: follows a declared layout through many messages at once and records the position of each field.

It reads only lengths and counts. If a message does not fit, it is marked, its position is kept inside the buffer, and
the walk continues: so the normal path has no branch per row. Later `scalar_reader` finds out why it does not fit.
"""

from collections.abc import Callable

import numpy as np

from schemas.declarations.fields import (
    FIXED_SIZES,
    INT32_MAX,
    LONGEST_STRING,
    LONGEST_VARINT,
    Array,
    Field,
    Kind,
    Layout,
    Struct,
    layout,
)
from udfs.arrays.big_endian import Positions, Views
from udfs.decoding.trees import Fixed, Listed, Node, Sliced, Sparse, Structured, concat_nodes, starts_of, take_rows


def held(views: Views, position: Positions) -> Positions:
    """Positions limited to the buffer. Overruns stay one byte after its end, where no message ends. At the very end,
    the last message of a buffer would seem to fit."""
    return np.minimum(position, views.size + 1)


class OutOfPatience(Exception):
    """A walk took more steps than its messages are worth."""


class Patience:
    """How many more steps a walk may take. A step costs the same for one message as for thousands. So a walk that
    continues only for a few long ones stops, and those are read by themselves."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise OutOfPatience


class Cursor:
    """Reading positions in a set of messages. The next field is `skip` bytes after the anchors. Fields of fixed size
    only increase `skip`, so consecutive ones share their anchors and are later gathered as one block."""

    def __init__(self, views: Views, start: Positions, end: Positions, patience: Patience) -> None:
        self.views = views
        self.patience = patience
        self.anchor = held(views, start)
        self.end = end
        self.skip = 0
        self.is_bad = np.zeros(len(start), bool)
        self.unknown_tags = 0

    def __len__(self) -> int:
        return len(self.anchor)

    def position(self) -> Positions:
        return self.anchor + self.skip if self.skip else self.anchor

    def move_to(self, position: Positions) -> None:
        self.anchor = held(self.views, position)
        self.skip = 0

    def sub(self, rows: Positions) -> "Cursor":
        return Cursor(self.views, self.position()[rows], self.end[rows], self.patience)

    def rejoin(self, sub: "Cursor", rows: Positions) -> None:
        """Continues where a cursor over some of the rows ended."""
        self.unknown_tags += sub.unknown_tags
        self.is_bad[rows] |= sub.is_bad
        position = self.position().copy()
        position[rows] = sub.position()
        self.move_to(position)


def read_uvarint(cursor: Cursor) -> Positions:
    position = cursor.position()
    value = cursor.views.data[position].astype(np.int64)
    size: int | Positions = 1
    if len(value) and value.max() >= 0x80:
        size = np.ones(len(value), np.int64)
        live = np.flatnonzero(value >= 0x80)
        value[live] &= 0x7F
        for place in range(1, LONGEST_VARINT):
            byte = cursor.views.data[np.minimum(position[live] + place, cursor.views.size)].astype(np.int64)
            value[live] |= (byte & 0x7F) << 7 * place
            size[live] += 1
            live = live[byte >= 0x80]
        cursor.is_bad[live] = True  # a sixth byte would follow
        cursor.is_bad |= value > INT32_MAX
        value[cursor.is_bad] = 0
    if isinstance(size, int):
        cursor.skip += size
    else:
        cursor.move_to(position + size)
    return value


def read_length(cursor: Cursor, kind: Kind | None, is_flexible: bool, is_nullable: bool) -> Positions:
    """Length of a string or bytes, or count of an array (kind None); -1 is null, which only nullable fields may be."""
    if is_flexible:
        length = read_uvarint(cursor) - 1
    elif kind is Kind.STRING:
        length = cursor.views.i2[cursor.position()].astype(np.int64)
        cursor.skip += 2
    else:
        length = cursor.views.i4[cursor.position()].astype(np.int64)
        cursor.skip += 4
    lowest = -1 if is_nullable else 0
    if len(length) and length.min() < lowest:
        wrong = length < lowest
        cursor.is_bad |= wrong
        length[wrong] = lowest
    return length


def walk_slice(cursor: Cursor, kind: Kind, is_flexible: bool, is_nullable: bool) -> Sliced:
    length = read_length(cursor, kind, is_flexible, is_nullable)
    if kind is Kind.STRING and is_flexible and len(length) and length.max() > LONGEST_STRING:
        cursor.is_bad |= length > LONGEST_STRING
    start = cursor.position()
    cursor.move_to(start + np.maximum(length, 0) if is_nullable else start + length)
    return Sliced(kind is Kind.STRING, start, length)


def bounded_count(cursor: Cursor, is_flexible: bool, is_nullable: bool) -> Positions:
    """An array's count. Each element takes a byte or more. So a count above the number of remaining bytes is wrong, and
    must not make the walk take that many steps."""
    count = read_length(cursor, None, is_flexible, is_nullable)
    too_many = count > np.maximum(cursor.end - cursor.position(), 0)
    if too_many.any():
        cursor.is_bad |= too_many
        count[too_many] = 0
    return count


def walk_array(cursor: Cursor, of: Kind | Struct, is_flexible: bool, is_nullable: bool, version: int) -> Listed:
    count = bounded_count(cursor, is_flexible, is_nullable)
    sizes = np.maximum(count, 0)
    if isinstance(of, Struct):
        fields = layout(of.fields, version, is_flexible)
        steps = len(fields.fields) + len(fields.tagged) + 1
        return Listed(count, walk_elements(cursor, sizes, steps, lambda live: walk_layout(live, fields, version)))
    if of is Kind.STRING:
        return Listed(count, walk_elements(cursor, sizes, 1, lambda live: walk_slice(live, of, is_flexible, False)))
    return walk_numbers(cursor, of, count, sizes)


def walk_numbers(cursor: Cursor, of: Kind, count: Positions, sizes: Positions) -> Listed:
    start, width = cursor.position(), FIXED_SIZES[of]
    overrun = start + sizes * width > cursor.end
    if overrun.any():
        # Limited, since each element becomes a position: a wrong count must not make more than the bytes can contain.
        cursor.is_bad |= overrun
        sizes = np.where(overrun, 0, sizes)
        count = np.where(overrun, 0, count)
    cursor.move_to(start + sizes * width)
    within = np.arange(int(sizes.sum())) - np.repeat(starts_of(sizes), sizes)
    return Listed(count, Fixed(of, np.repeat(start, sizes) + within * width, 0))


def walk_elements(cursor: Cursor, sizes: Positions, steps: int, walk_one: Callable[[Cursor], Node]) -> Node:
    """Elements of unequal size, wave by wave: wave k takes element k of every message with more than k elements.
    `steps`: the cost of one wave."""
    rows = np.flatnonzero(sizes)
    live = cursor.sub(rows)
    if not len(rows):
        return walk_one(live)
    after = cursor.position().copy()
    first = starts_of(sizes)
    waves: list[Node] = []
    places: list[Positions] = []
    while len(rows):
        cursor.patience.spend(steps)
        # Otherwise `skip` would grow from wave to wave without a limit.
        live.move_to(live.position())
        waves.append(walk_one(live))
        places.append(first[rows] + len(waves) - 1)
        has_more = sizes[rows] > len(waves)
        if not has_more.all():
            cursor.is_bad[rows] |= live.is_bad
            cursor.unknown_tags += live.unknown_tags
            after[rows] = live.position()
            kept = np.flatnonzero(has_more)
            rows, live = rows[kept], live.sub(kept)
    cursor.move_to(after)
    return in_row_order(waves, places)


def in_row_order(waves: list[Node], places: list[Positions]) -> Node:
    """Elements of all waves, with those of one message together."""
    elements = concat_nodes(waves)
    if len(waves) == 1:
        return elements
    place = np.concatenate(places)
    order = np.empty(len(place), np.int64)
    order[place] = np.arange(len(place))
    return take_rows(elements, order)


def walk_field(cursor: Cursor, field: Field, is_flexible: bool, version: int) -> Node:
    match field.type:
        case Array(of):
            return walk_array(cursor, of, is_flexible, field.nullable, version)
        case Struct(_, fields):
            return walk_struct(cursor, field, layout(fields, version, is_flexible), version)
        case Kind.STRING | Kind.BYTES as kind:
            return walk_slice(cursor, kind, is_flexible, field.nullable)
        case kind:
            node = Fixed(kind, cursor.anchor, cursor.skip)
            cursor.skip += FIXED_SIZES[kind]
            return node


def walk_struct(cursor: Cursor, field: Field, fields: Layout, version: int) -> Node:
    if not field.nullable:
        return walk_layout(cursor, fields, version)
    if field.tag is None:
        marker = cursor.views.i1[cursor.position()]
        cursor.skip += 1
        present = np.flatnonzero(marker >= 0)
    else:
        # Inside a tag the marker is a varint that counts in the tag's size, not an int8.
        present = np.flatnonzero(read_uvarint(cursor) > 0)
    sub = cursor.sub(present)
    node = walk_layout(sub, fields, version)
    cursor.rejoin(sub, present)
    return Sparse(len(cursor), present, node)


def walk_layout(cursor: Cursor, fields: Layout, version: int) -> Structured:
    children = {field.name: walk_field(cursor, field, fields.is_flexible, version) for field in fields.fields}
    if fields.is_flexible:
        children |= walk_tags(cursor, fields.tagged, version)
    return Structured(children, len(cursor))


def walk_tags(cursor: Cursor, tagged: tuple[Field, ...], version: int) -> dict[str, Node]:
    """The tagged section at the end of every flexible struct: known tags become sparse nodes, others are skipped."""
    count = read_uvarint(cursor)
    found: dict[str, list[Sparse]] = {field.name: [] for field in tagged}
    rows = np.flatnonzero(count)
    if len(rows):
        after = cursor.position().copy()
        live = cursor.sub(rows)
        # A tag takes two bytes or more: a larger count is wrong and must not prolong the loop.
        left = np.minimum(count[rows], np.maximum(live.end - live.position(), 0) // 2)
        live.is_bad |= left < count[rows]
        while len(rows):
            cursor.patience.spend(2)
            walk_tag(live, rows, len(cursor), tagged, version, found)
            left = left - 1
            after[rows] = live.position()
            cursor.is_bad[rows] |= live.is_bad
            cursor.unknown_tags += live.unknown_tags
            kept = np.flatnonzero(left > 0)
            rows, left, live = rows[kept], left[kept], live.sub(kept)
        cursor.move_to(after)
    return {field.name: sparse_of(cursor, field, found[field.name], version) for field in tagged}


def walk_tag(
    live: Cursor, rows: Positions, size: int, tagged: tuple[Field, ...], version: int, found: dict[str, list[Sparse]]
) -> None:
    tag, length = read_uvarint(live), read_uvarint(live)
    body = live.position()
    live.move_to(body + length)
    is_known = np.zeros(len(rows), bool)
    for field in tagged:
        mine = np.flatnonzero(tag == field.tag)
        if len(mine):
            is_known[mine] = True
            # Reads only the tag's own bytes: a count in it must not extend past them.
            end = np.minimum(body[mine] + length[mine], live.end[mine])
            sub = Cursor(live.views, body[mine], end, live.patience)
            node = walk_field(sub, field, True, version)
            live.is_bad[mine] |= sub.is_bad | (sub.position() != body[mine] + length[mine])
            live.unknown_tags += sub.unknown_tags
            found[field.name].append(Sparse(size, rows[mine], node))
    live.unknown_tags += int(np.count_nonzero(~is_known))


def sparse_of(cursor: Cursor, field: Field, found: list[Sparse], version: int) -> Sparse:
    """One sparse node from the results of all rounds of tags. If a tag appears twice, the last value counts, as in
    Kafka."""
    if not found:
        none = np.zeros(0, np.int64)
        nothing = Cursor(cursor.views, none, none, cursor.patience)
        return Sparse(len(cursor), none, walk_field(nothing, field, True, version))
    if len(found) == 1:
        return found[0]
    rows = np.concatenate([sparse.rows for sparse in found])
    nodes = concat_nodes([sparse.node for sparse in found])
    last = {int(row): index for index, row in enumerate(rows)}
    picked = np.array([last[row] for row in sorted(last)])
    return Sparse(len(cursor), rows[picked], take_rows(nodes, picked))
