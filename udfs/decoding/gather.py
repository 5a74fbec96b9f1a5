"""Builds Arrow columns from the positions that a walk found."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.declarations.fields import FIXED_SIZES, INT32_MAX, Kind
from udfs.arrays.big_endian import Positions, Views, column
from udfs.decoding.arrow_types import SCALARS
from udfs.decoding.trees import Fixed, Listed, Node, Sliced, Sparse, Structured

NUMBERS = {
    Kind.INT8: ("i1", np.int8),
    Kind.INT16: (">i2", np.int16),
    Kind.UINT16: (">u2", np.int32),  # Spark and Parquet readers disagree about unsigned types
    Kind.INT32: (">i4", np.int32),
    Kind.INT64: (">i8", np.int64),
}

# A larger block would extend past the padding of the buffer.
WIDEST_BLOCK = 48
# Types with offsets that are wide enough for a buffer of more than 2 GiB.
WIDE = {pa.binary(): pa.large_binary(), pa.string(): pa.large_string()}

ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
# Two letters for each 12 bits: a uuid then takes 11 lookups instead of 22.
LETTER_PAIRS = np.stack([ALPHABET.repeat(64), np.tile(ALPHABET, 64)], axis=1).reshape(-1).view(np.uint16)
UUID_LETTERS = 22

Blocks = dict[int, NDArray[np.void]]


def gather(views: Views, node: Node, blocks: Blocks | None = None) -> pa.Array:
    match node:
        case Fixed():
            return gather_fixed(views, node, {} if blocks is None else blocks)
        case Sliced(is_text, start, length):
            return strings(views, start, length) if is_text else binaries(views, start, length)
        case Listed(count, items):
            return listed(count, gather(views, items))
        case Structured(children, size):
            return gather_struct(views, children, size)
        case Sparse(size, rows, child):
            return spread(gather(views, child), rows, size)


def gather_struct(views: Views, children: dict[str, Node], size: int) -> pa.StructArray:
    blocks = shared_blocks(views, list(children.values()))
    arrays = [gather(views, child, blocks) for child in children.values()]
    if not arrays:
        return pa.array([{}] * size, pa.struct([]))
    return pa.StructArray.from_arrays(arrays, list(children))


def shared_blocks(views: Views, children: list[Node]) -> Blocks:
    """One block for all fields after the same anchor."""
    widths: dict[int, int] = {}
    anchors: dict[int, Positions] = {}
    for child in children:
        if isinstance(child, Fixed) and child.kind is not Kind.UUID:
            width = child.skip + FIXED_SIZES[child.kind]
            if width <= WIDEST_BLOCK:
                anchors[id(child.anchor)] = child.anchor
                widths[id(child.anchor)] = max(width, widths.get(id(child.anchor), 0))
    return {key: views.blocks(anchors[key], width) for key, width in widths.items()}


def gather_fixed(views: Views, node: Fixed, blocks: Blocks) -> pa.Array:
    if node.kind is Kind.UUID:
        return uuid_texts(views, node.anchor + node.skip)
    wire, dtype = NUMBERS[node.kind]
    if id(node.anchor) in blocks:
        values = column(blocks[id(node.anchor)], node.skip, wire)
    else:
        values = views.of(wire)[node.anchor + node.skip]
    return pa.Array.from_buffers(SCALARS[node.kind], len(values), [None, pa.py_buffer(values.astype(dtype))])


def uuid_texts(views: Views, positions: Positions) -> pa.StringArray:
    """Kafka's text for a uuid: URL-safe base64 without padding."""
    block = views.blocks(positions, 16)
    high, low = (column(block, skip, ">u8").astype(np.uint64) for skip in (0, 8))
    letters = np.empty((len(positions), UUID_LETTERS // 2), np.uint16)
    for pair in range(5):
        letters[:, pair] = LETTER_PAIRS[(high >> np.uint64(52 - 12 * pair)) & np.uint64(0xFFF)]
    letters[:, 5] = LETTER_PAIRS[((high & np.uint64(0xF)) << np.uint64(8)) | (low >> np.uint64(56))]
    for pair in range(4):
        letters[:, 6 + pair] = LETTER_PAIRS[(low >> np.uint64(44 - 12 * pair)) & np.uint64(0xFFF)]
    letters[:, 10] = LETTER_PAIRS[(low & np.uint64(0xFF)) << np.uint64(4)]
    ends = np.arange(len(positions) + 1, dtype=np.int32) * UUID_LETTERS
    return pa.Array.from_buffers(pa.string(), len(positions), [None, pa.py_buffer(ends), pa.py_buffer(letters)])


def validity(is_valid: NDArray[np.bool_]) -> pa.Buffer | None:
    return None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))


def copied(views: Views, start: Positions, length: Positions, kind: pa.DataType) -> pa.Array:
    """The slices as a column of strings or bytes, unchecked. The bounds of all slices, one after another, are those of
    a column over the whole buffer in which every second value is a slice. Taking these makes Arrow copy the bytes."""
    size = len(start)
    if not size:
        return pa.array([], kind)
    nulls = validity(length >= 0) if length.min() < 0 else None
    is_wide = len(views.data) > INT32_MAX
    # With the bounds of the buffer at both ends: slices of decompressed batches are not in ascending order.
    bounds = np.empty(2 * size + 2, np.int64 if is_wide else np.int32)
    bounds[0], bounds[-1] = 0, len(views.data)
    bounds[1:-1:2] = start
    np.add(start, length if nulls is None else np.maximum(length, 0), out=bounds[2:-1:2], casting="same_kind")
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(views.data)]
    whole = pa.Array.from_buffers(WIDE[kind] if is_wide else kind, 2 * size + 1, buffers, null_count=0)
    odd = pa.Array.from_buffers(pa.int64(), size, [None, pa.py_buffer(np.arange(1, 2 * size, 2))], null_count=0)
    taken = whole.take(odd)
    if is_wide:
        taken = taken.cast(kind)
    return taken if nulls is None else pa.Array.from_buffers(kind, size, [nulls, *taken.buffers()[1:]])


def binaries(views: Views, start: Positions, length: Positions) -> pa.BinaryArray:
    return copied(views, start, length, pa.binary())


def strings(views: Views, start: Positions, length: Positions) -> pa.StringArray:
    """Raises ArrowInvalid if one of them is not UTF-8."""
    filled = np.flatnonzero(length > 0)
    if len(filled) * 2 > len(length):
        return checked(copied(views, start, length, pa.string()))
    # Mostly empty, like the metadata of commits: only the others need copying.
    few = checked(copied(views, start[filled], length[filled], pa.string()))
    ends = np.zeros(len(length) + 1, np.int32)
    np.cumsum(np.maximum(length, 0), out=ends[1:])
    nulls = validity(length >= 0) if len(length) else None
    return pa.Array.from_buffers(pa.string(), len(length), [nulls, pa.py_buffer(ends), few.buffers()[2]])


def checked(column: pa.StringArray) -> pa.StringArray:
    """Nearly all text is ASCII, which one look at all bytes shows. Arrow's check reads each string by itself."""
    raw = column.buffers()[2]
    if raw is not None and len(column) and np.frombuffer(raw, np.uint8).max(initial=0) >= 0x80:
        column.validate(full=True)
    return column


def listed(count: Positions, items: pa.Array) -> pa.ListArray:
    sizes = np.maximum(count, 0)
    ends = np.zeros(len(count) + 1, np.int32)
    np.cumsum(sizes, out=ends[1:])
    nulls = validity(count >= 0) if len(count) else None
    kind = pa.list_(items.type)
    return pa.Array.from_buffers(kind, len(count), [nulls, pa.py_buffer(ends)], children=[items])


def spread(array: pa.Array, rows: Positions, size: int) -> pa.Array:
    """The array's values at the given rows of a longer array; other rows are null."""
    if len(rows) == size:
        return array
    place = np.full(size, -1)
    place[rows] = np.arange(len(rows))
    return array.take(pa.array(place, mask=place < 0))


def invalid_text_rows(views: Views, node: Node) -> Positions:
    """Rows in which a string is not UTF-8. Called only after a cast has failed."""
    match node:
        case Sliced(True, start, length):
            return np.flatnonzero([not is_utf8(views, at, size) for at, size in zip(start, length, strict=True)])
        case Listed(count, items):
            owner = np.repeat(np.arange(len(count)), np.maximum(count, 0))
            return np.unique(owner[invalid_text_rows(views, items)])
        case Structured(children, _):
            rows = [invalid_text_rows(views, child) for child in children.values()]
            return np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
        case Sparse(_, rows, child):
            return rows[invalid_text_rows(views, child)]
        case _:
            return np.zeros(0, np.int64)


def is_utf8(views: Views, start: int, length: int) -> bool:
    try:
        str(views.data[start : start + max(length, 0)].data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
