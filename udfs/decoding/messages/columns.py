"""Decodes messages of one layout into columns, and leaves out messages that do not fit."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.fields import Layout
from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import Slices
from udfs.decoding.messages.column_buffers import ColumnBuffers, Sizes
from udfs.decoding.messages.filling.kernels import UUID_LETTERS
from udfs.decoding.messages.kernels import (
    FITS,
    REPEATS_TAG,
    SIZE_OF_STATE,
    read_messages,
)
from udfs.decoding.messages.programs import Program, program_of
from udfs.decoding.steps.kernels import PREFIX, Bytes, Table

NO_BYTES, NO_ROWS = np.zeros(0, np.uint8), np.zeros(0, np.int64)
# Buffers as large as this may be larger than what they will hold.
MOST_SPARE_BYTES = 64 << 20


@dataclass(frozen=True)
class Columns:
    """The messages that fit a layout: their rows and values. `repeat_tags`: rows of messages in which a tag occurs
    twice. Kafka takes its last value; these messages are read one by one."""

    rows: Positions
    values: pa.StructArray
    unknown_tags: int
    repeat_tags: Positions = field(default_factory=lambda: NO_ROWS)
    # Which value each row has; None: each has its own.
    value_of_row: NDArray[np.int32] | None = None


def prefixes(slices: Slices) -> Positions:
    """The int16 at the start of each message, -1 where it is too short or null."""
    return np.where(slices.length >= PREFIX, Views(slices.data).i2[slices.start], -1)


def without(rows: Positions, others: Positions) -> Positions:
    return np.setdiff1d(rows, others, assume_unique=True) if len(others) < len(rows) else rows[:0]


def read_columns(slices: Slices, rows: Positions, fields: Layout, version: int, is_open_ended: bool = False) -> Columns:
    """Reads the messages in some rows after their two-byte prefix."""
    messages = Messages(slices, program_of(fields, version), is_open_ended)
    largest = messages.largest_sizes(rows)
    columns = None if largest is None else messages.copied(rows, largest)
    # Arrow checks text faster than the loop, but does not say which is bad.
    for checks_text in (False, True):
        if columns is not None:
            break
        outcome, sizes = messages.measured(rows, checks_text)
        fits, repeat_tags = (rows[outcome == each] for each in (FITS, REPEATS_TAG))
        if len(fits) < len(rows):
            # Again without the others, so that nothing of these is in sizes or counts.
            _, sizes = messages.measured(fits, checks_text=False)
        columns = messages.copied(fits, sizes, repeat_tags)
    assert columns is not None
    return columns


@dataclass(frozen=True)
class Messages:
    slices: Slices
    program: Program
    is_open_ended: bool

    def largest_sizes(self, rows: Positions) -> Sizes | None:
        """Without lists sizes need not be measured: each column has a row for each message, and strings have no more
        bytes than the messages."""
        if self.program.num_levels > 1 or (num_bytes := int(self.slices.length[rows].sum())) > MOST_SPARE_BYTES:
            return None
        most = max(num_bytes, UUID_LETTERS * len(rows))
        return Sizes([len(rows)], [most] * len(self.program.columns))

    def measured(self, rows: Positions, checks_text: bool) -> tuple[Positions, Sizes]:
        outcome, _, sizes = self.read(rows, self.program.columns, NO_BYTES, checks_text=checks_text)
        return outcome, sizes

    def copied(self, rows: Positions, sizes: Sizes, repeat_tags: Positions = NO_ROWS) -> Columns | None:
        """None if some do not fit, or some text is not UTF-8."""
        buffers = ColumnBuffers(self.program, sizes)
        outcome, unknown_tags, sizes = self.read(rows, buffers.columns, buffers.out, is_filling=True)
        if outcome.any():
            return None
        values = buffers.arrays(sizes)
        return Columns(rows, values, unknown_tags, repeat_tags) if buffers.is_utf8(values, sizes) else None

    def read(
        self, rows: Positions, columns: Table, out: Bytes, *, is_filling: bool = False, checks_text: bool = False
    ) -> tuple[Positions, int, Sizes]:
        """The outcome of each message, the number of unknown tags, and the sizes of columns."""
        slices, steps = self.slices, self.program.steps
        place, used = np.zeros(self.program.num_levels, np.int64), np.zeros(len(columns), np.int64)
        state, outcome = np.empty((len(steps), SIZE_OF_STATE), np.int64), np.empty(len(rows), np.int64)
        inputs = (slices.data, slices.start, slices.length, rows, self.is_open_ended, steps, columns)
        unknown_tags = read_messages(*inputs, place, used, state, is_filling, checks_text, out, outcome)
        return outcome, unknown_tags, Sizes(place.tolist(), used.tolist())
