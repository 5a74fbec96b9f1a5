"""Steps that read and write bytes. Their callers know where a message ends, and how much may be read beyond it."""

import numpy as np
from numpy.typing import NDArray

from schemas.fields import INT32_MAX, LONGEST_VARINT
from udfs.arrays.compiled import compiled

Bytes = NDArray[np.uint8]
Table = NDArray[np.int64]

# The int16 at the start of each message: a key's record type, a value's or a payload's version.
PREFIX = 2
WORD = 8
# Bytes that may be read and written after the end of a slice.
SHORT = 32
# Instead of a position: the bytes do not fit.
UNFIT = -1


@compiled()
def bytes_at(data: Bytes, position: int, shift: int, more: int) -> np.uint64:
    """Eight bytes as one number, which the compiler reads at once."""
    at, word = np.uint64(position), np.uint64(0)
    for place in range(WORD):
        word |= np.uint64(data[at + np.uint64(place)]) << np.uint64(shift + place * more)
    return word


@compiled()
def word_at(data: Bytes, position: int) -> np.uint64:
    """Eight bytes to be copied."""
    return bytes_at(data, position, 0, 8)


@compiled()
def number_at(data: Bytes, position: int, width: int) -> int:
    """A number of up to eight bytes."""
    return int(np.int64(bytes_at(data, position, 56, -8)) >> np.int64(64 - 8 * width))


@compiled()
def put(out: Bytes, position: int, word: np.uint64) -> None:
    """Eight bytes. Those that are too many are written again by the next value, or are slack between buffers."""
    at = np.uint64(position)
    for place in range(WORD):
        out[at + np.uint64(place)] = np.uint8(word >> np.uint64(8 * place) & np.uint64(0xFF))


@compiled()
def put_block(data: Bytes, position: int, out: Bytes, content: int) -> None:
    """Copies 32 bytes at once: all are read before any is written, as the processor's widest copy does it."""
    first, second = word_at(data, position), word_at(data, position + WORD)
    third, fourth = word_at(data, position + 2 * WORD), word_at(data, position + 3 * WORD)
    put(out, content, first)
    put(out, content + WORD, second)
    put(out, content + 2 * WORD, third)
    put(out, content + 3 * WORD, fourth)


@compiled()
def put_slice(data: Bytes, position: int, length: int, out: Bytes, content: int) -> None:
    """Copies bytes to the place after those of earlier rows. Most slices are short: a fixed number of bytes is copied
    without asking for the length, which no processor foresees. Those too many are written again by the next row."""
    put_block(data, position, out, content)
    for place in range(SHORT, length, SHORT):
        put_block(data, position + place, out, content + place)


@compiled()
def read_uvarint(data: Bytes, position: int, end: int) -> tuple[int, int]:
    """A varint and where it ends, or UNFIT."""
    value = 0
    for place in range(LONGEST_VARINT):
        if position >= end:
            break
        byte = int(data[position])
        position += 1
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (value, position) if value <= INT32_MAX else (0, UNFIT)
    return 0, UNFIT


@compiled()
def is_utf8(data: Bytes, position: int, end: int) -> bool:
    """As in the Unicode standard's table of well-formed sequences, where the second byte has bounds of its own."""
    while position < end:
        first = int(data[position])
        position += 1
        if first < 0x80:
            continue
        more = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        if first < 0xC2 or first > 0xF4 or end - position < more:
            return False
        low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
        high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
        for _ in range(more):
            byte = int(data[position])
            position += 1
            if byte < low or byte > high:
                return False
            low, high = 0x80, 0xBF
    return True
