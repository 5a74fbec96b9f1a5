"""Puts the lines of several parts of a chunk together, in log order."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.lines.json_text import Pieces, characters, merged
from udfs.lines.kernels import AT_ONCE, NO_BOUNDS, write_lines


class PieceTable:
    """The pieces of all parts as `write_lines` takes them: contents and bounds one after another."""

    def __init__(self) -> None:
        self.contents: list[NDArray[np.uint8]] = []
        self.bounds = [np.zeros(0, np.int32)]
        self.pieces: list[tuple[int, int, int]] = []
        self.num_content = self.num_bounds = 0
        # Bytes of all lines.
        self.num_written = 0

    def add(self, piece: str | pa.StringArray, num_lines: int) -> None:
        if isinstance(piece, str):
            content = np.frombuffer(piece.encode(), np.uint8)
            self.pieces.append((self.num_content, NO_BOUNDS, len(content)))
            self.num_written += len(content) * num_lines
        else:
            content = characters(piece)
            bounds = np.frombuffer(piece.buffers()[1], np.int32)[piece.offset : piece.offset + len(piece) + 1]
            self.pieces.append((self.num_content - int(bounds[0]), self.num_bounds, 0))
            self.bounds.append(bounds)
            self.num_bounds += len(bounds)
            self.num_written += len(content)
        self.contents.append(content)
        self.num_content += len(content)


def lines_in_order(parts: Sequence[Pieces], rows: Sequence[Positions]) -> pa.Buffer:
    """`rows`: of which record each line of a part is."""
    if not parts:
        return pa.py_buffer(b"")
    table, first_piece = PieceTable(), [0]
    for part, mine in zip(parts, rows, strict=True):
        for piece in merged(part):
            table.add(piece, len(mine))
        first_piece.append(len(table.pieces))
    order = np.argsort(np.concatenate(rows), kind="stable")
    sizes = [len(mine) for mine in rows]
    part_of_line = np.repeat(np.arange(len(parts), dtype=np.int32), sizes)[order]
    row_of_line = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])[order]
    contents = np.concatenate([*table.contents, np.zeros(AT_ONCE, np.uint8)])
    memory = pa.allocate_buffer(table.num_written + AT_ONCE)
    lines = np.array(table.pieces), np.array(first_piece), part_of_line, row_of_line
    write_lines(contents, np.concatenate(table.bounds), *lines, np.frombuffer(memory, np.uint8))
    return memory.slice(0, table.num_written)
