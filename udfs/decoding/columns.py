"""Decodes messages of one layout into columns: walks them together, gathers the fields, and leaves out messages that do
not fit."""

import sys
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.declarations.fields import Layout
from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import Slices
from udfs.decoding.arrow_types import layout_type
from udfs.decoding.gather import gather, invalid_text_rows
from udfs.decoding.walk import Cursor, OutOfPatience, Patience, walk_layout

# The int16 at the start of each message: a key's record type, a value's or a payload's version.
PREFIX = 2
# The walk takes as many steps as the longest array has elements, even if few values are that long, and in a hostile
# value every byte could be a step. A step takes as long as reading this many bytes alone. If a walk takes more steps
# than its bytes would cost, it stops.
FEWEST_STEPS = 1000
BYTES_A_STEP = 300


@dataclass(frozen=True)
class Columns:
    """The messages that fit a layout: their rows and values. Messages longer than `longest` were not walked."""

    rows: Positions
    values: pa.StructArray
    unknown_tags: int
    longest: int = sys.maxsize
    # Which value each row has; None: each has its own.
    value_of_row: NDArray[np.int32] | None = None


def read_columns(views: Views, slices: Slices, fields: Layout, version: int, is_open_ended: bool = False) -> Columns:
    """Reads the messages after their two-byte prefix."""
    if not len(slices):
        return Columns(np.zeros(0, np.int64), pa.array([], layout_type(fields, version)), 0)
    patience = Patience(FEWEST_STEPS + int(slices.length.sum()) // BYTES_A_STEP)
    cursor = Cursor(views, slices.start + PREFIX, slices.start + slices.length, patience)
    try:
        tree = walk_layout(cursor, fields, version)
    except OutOfPatience:
        longest = int(slices.length.max()) // 2
        inner = read_some(views, slices, slices.length <= longest, fields, version, is_open_ended)
        return replace(inner, longest=min(longest, inner.longest))
    position = cursor.position()
    is_fit = ~cursor.is_bad & ((position <= cursor.end) if is_open_ended else (position == cursor.end))
    if is_fit.all():
        try:
            return Columns(np.arange(len(slices)), gather(views, tree), cursor.unknown_tags)
        except pa.ArrowInvalid:
            is_fit[invalid_text_rows(views, tree)] = False
            if is_fit.all():
                raise
    # Read again without the others, so that nothing of these is in values or counts.
    return read_some(views, slices, is_fit, fields, version, is_open_ended)


def read_some(
    views: Views, slices: Slices, is_wanted: NDArray[np.bool_], fields: Layout, version: int, is_open_ended: bool
) -> Columns:
    rows = np.flatnonzero(is_wanted)
    inner = read_columns(views, slices.take(rows), fields, version, is_open_ended)
    return replace(inner, rows=rows[inner.rows])
