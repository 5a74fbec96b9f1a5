"""Writes Arrow columns as JSON text, a column at a time.

The text of a column is a list of pieces: constant strings and string arrays, which are joined row by row. Pieces of
nested objects stay flat, so a line takes only one join, even if it is deeply nested.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Pieces = list[str | pa.StringArray]

NULL = "null"
EMPTY = ""


def merged(pieces: Sequence[str | pa.StringArray]) -> Pieces:
    """Constants that follow each other as one."""
    joined: Pieces = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def join_pieces(pieces: Sequence[str | pa.StringArray], rows: int) -> pa.StringArray:
    """The pieces as one string a row."""
    few = merged(pieces)
    if len(few) == 1:
        return pa.array([few[0]] * rows, pa.string()) if isinstance(few[0], str) else few[0]
    return pc.binary_join_element_wise(*few, EMPTY)


@dataclass(frozen=True)
class Style:
    """`replaced` gives the finished text of struct fields, by name, in place of their values; fields named in
    `omitted` are left out where they are null."""

    replaced: Mapping[str, pa.StringArray] = dataclasses.field(default_factory=dict)
    omitted: frozenset[str] = frozenset()


PLAIN = Style()


def text_of(column: pa.Array, style: Style = PLAIN) -> Pieces:
    """JSON of each value."""
    kind = column.type
    if pa.types.is_struct(kind):
        return or_null(column, struct_text(column, style))
    if pa.types.is_list(kind):
        items = column.flatten()
        return list_text(column, join_pieces(text_of(items, style), len(items)))
    if pa.types.is_binary(kind):
        return or_null(column, ['"', hex_of(column), '"'])
    if pa.types.is_string(kind):
        return or_null(column, ['"', escaped(column), '"'])
    return number_text(column)


def number_text(column: pa.Array) -> Pieces:
    if len(column) and not column.null_count:
        values = column.to_numpy(zero_copy_only=False)
        if (values == values[0]).all():
            # Many columns hold one value in a whole batch: as a constant it costs nothing a row.
            return [json.dumps(column[0].as_py())]
    text = column.cast(pa.string())
    return [text.fill_null(NULL) if column.null_count else text]


def or_null(column: pa.Array, pieces: Pieces) -> Pieces:
    if not column.null_count:
        return pieces
    if column.null_count == len(column):
        return ["null"]
    filled = [piece if isinstance(piece, str) else piece.fill_null(EMPTY) for piece in pieces]
    return [pc.if_else(column.is_valid(), join_pieces(filled, len(column)), NULL)]


def struct_text(column: pa.StructArray, style: Style = PLAIN) -> Pieces:
    """The fields of a struct as an object; its first field is never left out."""
    pieces: Pieces = []
    for field, child in zip(column.type, column.flatten(), strict=True):
        text: Pieces = [style.replaced[field.name]] if field.name in style.replaced else text_of(child, style)
        if pieces and field.name in style.omitted:
            pieces += optional_field(field.name, child, text)
        else:
            pieces += [("," if pieces else "{") + f'"{field.name}":', *text]
    return [*pieces, "}"]


def list_text(column: pa.ListArray, items: pa.StringArray) -> Pieces:
    """A list around the finished text of its items."""
    texts = pa.ListArray.from_arrays(list_bounds(column), items)
    return or_null(column, ["[", pc.binary_join(texts, ","), "]"])


def list_bounds(column: pa.ListArray) -> pa.Array:
    """Offsets that begin at 0, as those of `column.flatten()` do; null lists are empty."""
    sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    bounds = np.zeros(len(column) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    return pa.array(bounds)


def characters(column: pa.Array) -> NDArray[np.uint8]:
    """The bytes of all values of a string or binary column, one after another."""
    offsets, values = column.buffers()[1:]
    if values is None:
        return np.zeros(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(values, np.uint8)[bounds[0] : bounds[-1]]


def escaped(column: pa.StringArray) -> pa.StringArray:
    """The strings as they stand between JSON's quotes."""
    raw = characters(column)
    if not len(raw):
        return column
    if (raw == ord("\\")).any():
        column = pc.replace_substring(column, "\\", "\\\\")
    if (raw == ord('"')).any():
        column = pc.replace_substring(column, '"', '\\"')
    for code in np.unique(raw[raw < 0x20]):
        column = pc.replace_substring(column, chr(code), json.dumps(chr(code))[1:-1])
    return column


def hex_of(column: pa.BinaryArray) -> pa.StringArray:
    """Two lower-case hex digits a byte."""
    raw = characters(column)
    digits = np.frombuffer(raw.tobytes().hex().encode(), np.uint8)
    bounds = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    ends = (bounds - bounds[0]) * 2
    text = pa.Array.from_buffers(
        pa.string(), len(column), [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(digits)]
    )
    return pc.if_else(column.is_valid(), text, pa.scalar(None, pa.string())) if column.null_count else text


def optional_field(name: str, column: pa.Array, text: Pieces) -> Pieces:
    """`,"name":…` where the column holds a value, nothing elsewhere."""
    if not column.null_count:
        return [f',"{name}":', *text]
    if column.null_count == len(column):
        return []
    filled = [piece if isinstance(piece, str) else piece.fill_null(EMPTY) for piece in text]
    return [pc.if_else(column.is_valid(), join_pieces([f',"{name}":', *filled], len(column)), EMPTY)]
