"""Steps that write rows of columns into the memory of all columns."""

import numpy as np

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.decoding.steps.kernels import Bytes, Table, bytes_at, put

UUID_BYTES = 16
UUID_LETTERS = 22
ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
# Two letters for each 12 bits.
LETTER_PAIRS = np.stack([ALPHABET.repeat(64), np.tile(ALPHABET, 64)], axis=1).reshape(-1).view(np.uint16)

# The numbers of a column: what it is made of, which rows it has, and where its buffers are in the memory of all.
IS, LEVEL, VALUES, CONTENT, VALID, SIZE, ITEMS, IS_TEXT = range(8)
OF_NUMBERS, OF_STRUCTS, OF_SLICES, OF_LISTS = range(4)
NO_BUFFER = -1


@compiled()
def put_row(out: Bytes, columns: Table, at: int, row: int, value: int, is_valid: bool) -> None:
    """A row of a column: a number, or where a string or list ends. VALUES: where that of row 0 is."""
    if columns[at, IS] != OF_STRUCTS:
        put(out, columns[at, VALUES] + row * columns[at, SIZE], np.uint64(value))
    if columns[at, VALID] != NO_BUFFER:
        out[columns[at, VALID] + row] = is_valid


@compiled()
def put_nulls(out: Bytes, columns: Table, first: int, end: int, level: int, place: Positions, used: Positions) -> None:
    """NULL in each of these columns, except those of the elements of lists, which get no row."""
    for at in range(first, end):
        if columns[at, LEVEL] == level:
            value = 0
            if columns[at, IS] == OF_SLICES:
                value = used[at]
            elif columns[at, IS] == OF_LISTS:
                value = place[columns[at, ITEMS]]
            put_row(out, columns, at, place[level], value, False)


@compiled()
def put_uuid(data: Bytes, position: int, out: Bytes, content: int) -> None:
    """Kafka's text for a uuid: URL-safe base64 without padding. Six bytes are eight letters; the last four are six."""
    for word in range(3):
        bits, letters = bytes_at(data, position + 6 * word, 56, -8), np.uint64(0)
        if word == 2:
            bits &= np.uint64(0xFFFFFFFF << 32)
        for place in range(4):
            pair = LETTER_PAIRS[int(bits >> np.uint64(52 - 12 * place) & np.uint64(0xFFF))]
            letters |= np.uint64(pair) << np.uint64(16 * place)
        put(out, content + 8 * word, letters)
