"""One piece of memory for all columns of a program, and these as Arrow arrays over it."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from schemas.fields import INT32_MAX
from udfs.arrays.arrow_buffers import validity
from udfs.decoding.messages.filling.kernels import (
    CONTENT,
    IS,
    IS_TEXT,
    LEVEL,
    NO_BUFFER,
    OF_NUMBERS,
    OF_SLICES,
    SIZE,
    VALID,
    VALUES,
)
from udfs.decoding.messages.programs import ListNode, Node, Program, StructNode
from udfs.decoding.steps.kernels import SHORT

# Buffers begin at its multiples.
ALIGNMENT = 64
# Strings, bytes and lists have a bound of this size before each row, and one after the last.
BOUND = 4


@dataclass(frozen=True)
class Sizes:
    """The number of rows of each level, and of bytes of the strings in each column."""

    num_rows: list[int]
    num_bytes: list[int]


class ColumnBuffers:
    def __init__(self, program: Program, sizes: Sizes) -> None:
        if max(*sizes.num_rows, *sizes.num_bytes, 0) > INT32_MAX:
            raise OverflowError(f"{max(sizes.num_bytes):,} bytes in one column, at most {INT32_MAX:,} expected")
        self.root = program.root
        self.columns = program.columns.copy()
        self.size = 0
        self.places = self.columns.tolist()
        for column, num_bytes in zip(self.places, sizes.num_bytes, strict=True):
            rows = sizes.num_rows[column[LEVEL]]
            bound = BOUND if column[IS] >= OF_SLICES else 0
            column[VALUES] = self.reserve(bound + rows * column[SIZE]) + bound
            if column[IS] == OF_SLICES:
                column[CONTENT] = self.reserve(num_bytes)
            if column[VALID] != NO_BUFFER:
                column[VALID] = self.reserve(rows)
        self.columns[:] = self.places
        self.memory = pa.allocate_buffer(self.size)
        self.out = np.frombuffer(self.memory, np.uint8)
        for column in self.places:
            if column[IS] >= OF_SLICES:
                self.out[column[VALUES] - BOUND : column[VALUES]] = 0

    def reserve(self, size: int) -> int:
        """With the bytes that are written too many after the last value."""
        begin = self.size
        self.size += -(-(size + SHORT) // ALIGNMENT) * ALIGNMENT
        return begin

    def is_utf8(self, values: pa.StructArray, sizes: Sizes) -> bool:
        """Nearly all text is ASCII, which one look at all bytes shows. Arrow's check reads each string by itself."""
        for column, size in zip(self.places, sizes.num_bytes, strict=True):
            begin = column[CONTENT]
            if column[IS_TEXT] and size and self.out[begin : begin + size].max() >= 0x80:
                try:
                    values.validate(full=True)
                except pa.ArrowInvalid:
                    return False
        return True

    def arrays(self, sizes: Sizes, node: Node | None = None) -> pa.Array:
        node = self.root if node is None else node
        if isinstance(node, StructNode):
            arrays = [self.arrays(sizes, child) for child in node.children]
            rows = sizes.num_rows[node.level]
            if not arrays:
                return pa.array([{}] * rows, node.kind)
            valid = None if node.column is None else self.validity(node.column, rows)
            return pa.Array.from_buffers(node.kind, rows, [valid], children=arrays)
        column = self.places[node.column]
        rows = sizes.num_rows[column[LEVEL]]
        valid = self.validity(node.column, rows)
        if column[IS] == OF_NUMBERS:
            numbers = self.memory.slice(column[VALUES], rows * column[SIZE])
            return pa.Array.from_buffers(node.kind, rows, [valid, numbers])
        bounds = self.memory.slice(column[VALUES] - BOUND, BOUND * (rows + 1))
        if isinstance(node, ListNode):
            return pa.Array.from_buffers(node.kind, rows, [valid, bounds], children=[self.arrays(sizes, node.items)])
        content = self.memory.slice(column[CONTENT], sizes.num_bytes[node.column])
        return pa.Array.from_buffers(node.kind, rows, [valid, bounds, content])

    def validity(self, column: int, rows: int) -> pa.Buffer | None:
        begin = self.places[column][VALID]
        return None if begin == NO_BUFFER else validity(self.out[begin : begin + rows].view(np.bool_))
