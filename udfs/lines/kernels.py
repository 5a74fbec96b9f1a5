"""The loop that puts lines together."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.decoding.steps.kernels import WORD, put, word_at

# What is copied at once. So many bytes may be read after the contents of all pieces, and written after the last line.
AT_ONCE = 32

# The numbers of a piece: where its contents and its bounds begin. Without bounds it is the same in every line.
CONTENT, BOUNDS, SIZE = range(3)
NO_BOUNDS = -1


@compiled(
    "i8(u1[::1], i4[::1], i8[:, ::1], i8[::1], i4[::1], i4[::1], u1[::1])",
    allocates=False,
)
def write_lines(
    contents: NDArray[np.uint8],
    bounds: NDArray[np.int32],
    pieces: NDArray[np.int64],
    first_piece: Positions,
    part: NDArray[np.int32],
    row: NDArray[np.int32],
    out: NDArray[np.uint8],
) -> int:
    """Writes one line after another, each made of its part's pieces, and returns where the last one ends. Most pieces
    are short: a fixed number of bytes is copied without asking for their length, which no processor foresees. Those
    that are too many are written again by the next piece."""
    position = 0
    for line in range(part.size):
        for piece in range(first_piece[part[line]], first_piece[part[line] + 1]):
            start, size = pieces[piece, CONTENT], pieces[piece, SIZE]
            if pieces[piece, BOUNDS] != NO_BOUNDS:
                bound = pieces[piece, BOUNDS] + row[line]
                start += bounds[bound]
                size = int(bounds[bound + 1]) - int(bounds[bound])
            for place in range(0, AT_ONCE, WORD):
                put(out, position + place, word_at(contents, start + place))
            for place in range(AT_ONCE, size, WORD):
                put(out, position + place, word_at(contents, start + place))
            position += size
    return position
