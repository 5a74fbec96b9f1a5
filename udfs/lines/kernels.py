"""The loop that writes lines: it follows a program (`line_steps`) through each record."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.decoding.steps.kernels import SHORT, WORD, Bytes, Table, put, put_slice, word_at
from udfs.lines.words import (
    BACKSLASHES,
    DIGITS,
    ESCAPE_SIZES,
    ESCAPE_WORDS,
    FALSE_WORD,
    NULL_WORD,
    ONES,
    QUOTES,
    SPACES,
    TOPS,
    TRUE_WORD,
)

# What a step does after it has written its own text. STRING writes with escapes, TEXT without a change. VALID and
# KNOWN go on to TO where there is no value.
END, NOTHING, NUMBER, BOOLEAN, STRING, TEXT, HEX, VALID, KNOWN, LIST, NEXT = range(11)
# The numbers of a step: its text; the level of the row that it reads; where values and contents begin; bytes of a
# number; the step after a list or a missing value, or the first of an element; how strings are written.
OP, SAID, SIZE, LEVEL, VALUES, CONTENT, WIDTH, TO, ESCAPES = range(9)
NUM_FIELDS = 9
# Other names of two of them. BIT: of row 0 in a bitmap; OTHERWISE: how many letters of "null" are written for no value;
# ITEMS: the level of a list's elements.
BIT, OTHERWISE, ITEMS = VALUES, CONTENT, CONTENT
# The levels of rows that every program has: records of the chunk, and of the part. Elements of lists have further ones.
RECORD, OWN = 0, 1

NO_LINE = -1
# Instead of a position: no more room.
FULL = -1
# For a number or a constant, and for the bytes that a copy writes after the end of a text.
ROOM = 2 * SHORT
# Of one byte: \u001f.
LONGEST_ESCAPE = 6
# In place of a time, a producer or an epoch: there is none.
UNKNOWN = -1

HEX_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
TEN_TO_4, TEN_TO_8 = np.uint64(10**4), np.uint64(10**8)


@compiled()
def integer_at(data: Bytes, position: int, width: int) -> int:
    """A number of a column. Its lowest byte is the first."""
    unused = 64 - 8 * width
    return int(np.int64(word_at(data, position) << np.uint64(unused)) >> np.int64(unused))


@compiled()
def eight_digits(number: np.uint64) -> np.uint64:
    """Digits of a number below 10^8, the first in the lowest byte. All parts of it are divided at once, by 10,000, by
    100 and by 10: n · 10,486 >> 20 is n / 100 below 10^4, and n · 103 >> 10 is n / 10 below 100."""
    fours = number // TEN_TO_4 | number % TEN_TO_4 << np.uint64(32)
    hundreds = fours * np.uint64(10_486) >> np.uint64(20) & np.uint64(0x7F0000007F)
    twos = hundreds | (fours - np.uint64(100) * hundreds) << np.uint64(16)
    tens = twos * np.uint64(103) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    return np.uint64(DIGITS | tens | (twos - np.uint64(10) * tens) << np.uint64(8))


@compiled()
def put_short(number: np.uint64, out: Bytes, position: int) -> int:
    """A number below 10^8, and where it ends."""
    size, least = 1, np.uint64(10)
    for _ in range(7):
        size += 1 if number >= least else 0
        least *= np.uint64(10)
    put(out, position, eight_digits(number) >> np.uint64(8 * (WORD - size)))
    return position + size


@compiled()
def put_number(number: int, out: Bytes, position: int) -> int:
    """A number in decimal digits, eight at a time, and where it ends."""
    if number < 0:
        out[position] = ord("-")
        position += 1
        number = -number
    # Machine code has no positive number for the lowest one, but its bits are right.
    left = np.uint64(number)
    high, low = left // TEN_TO_8, left % TEN_TO_8
    if high == np.uint64(0):
        return put_short(low, out, position)
    if high < TEN_TO_8:
        position = put_short(high, out, position)
    else:
        position = put_short(high // TEN_TO_8, out, position)
        put(out, position, eight_digits(high % TEN_TO_8))
        position += WORD
    put(out, position, eight_digits(low))
    return position + WORD


@compiled()
def has_escapes(word: np.uint64) -> bool:
    """Whether a control character, a quote or a backslash is among eight bytes. Of a byte below what is subtracted the
    top bit becomes 1."""
    marks = (word - SPACES) & ~word
    for mark in (QUOTES, BACKSLASHES):
        other = word ^ mark
        marks |= (other - ONES) & ~other
    return bool((marks & TOPS) != np.uint64(0))


@compiled()
def put_string(data: Bytes, start: int, size: int, out: Bytes, position: int, escapes: int) -> int:
    """A string with escapes, and where it ends. Eight bytes at a time, since few have any."""
    for place in range(0, size, WORD):
        word, count = word_at(data, start + place), min(size - place, WORD)
        put(out, position, word)
        # What follows the string may look like one.
        own = ~np.uint64(0) >> np.uint64(8 * (WORD - count))
        if not has_escapes(word & own | DIGITS & ~own):
            position += count
            continue
        for at in range(start + place, start + place + count):
            byte = int(data[at])
            put(out, position, ESCAPE_WORDS[escapes, byte])
            position += ESCAPE_SIZES[escapes, byte]
    return position


@compiled()
def put_hex(data: Bytes, start: int, size: int, out: Bytes, position: int) -> int:
    """Two digits a byte, and where they end."""
    for at in range(start, start + size):
        byte = int(data[at])
        out[position], out[position + 1] = HEX_DIGITS[byte >> 4], HEX_DIGITS[byte & 15]
        position += 2
    return position


@compiled()
def bounds_at(data: Bytes, steps: Table, step: int, row: int) -> tuple[int, int]:
    """Where a value of a column begins and ends."""
    at = steps[step, VALUES] + 4 * row
    return integer_at(data, at, 4), integer_at(data, at + 4, 4)


@compiled()
def put_content(data: Bytes, steps: Table, step: int, row: int, out: Bytes, position: int) -> int:
    """A string, a finished text or bytes, and where they end, or FULL."""
    start, end = bounds_at(data, steps, step, row)
    size, start = end - start, start + steps[step, CONTENT]
    most = size if steps[step, OP] == TEXT else LONGEST_ESCAPE * size
    if position + most + ROOM > out.size:
        return FULL
    if steps[step, OP] == STRING:
        return put_string(data, start, size, out, position, steps[step, ESCAPES])
    if steps[step, OP] == HEX:
        return put_hex(data, start, size, out, position)
    put_slice(data, start, size, out, position)
    return position + size


@compiled()
def is_there(data: Bytes, steps: Table, step: int, row: int) -> bool:
    """Whether a row has a value: by a column's bitmap, or by the value itself."""
    if steps[step, OP] == KNOWN:
        return integer_at(data, steps[step, VALUES] + row * steps[step, WIDTH], steps[step, WIDTH]) != UNKNOWN
    bit = steps[step, BIT] + row
    return bool(int(data[bit >> 3]) >> (bit & 7) & 1)


@compiled()
def put_line(data: Bytes, steps: Table, step: int, row: Positions, end: Positions, out: Bytes, position: int) -> int:
    """Follows a program from `step` to its end, and returns where the line ends, or FULL. `row`, `end`: of each level,
    which row is read, and where the list ends."""
    while position + steps[step, SIZE] + ROOM <= out.size:
        put_slice(data, steps[step, SAID], steps[step, SIZE], out, position)
        position += steps[step, SIZE]
        op, at = steps[step, OP], row[steps[step, LEVEL]]
        if op == NUMBER:
            width = steps[step, WIDTH]
            position = put_number(integer_at(data, steps[step, VALUES] + at * width, width), out, position)
        elif op in (STRING, TEXT, HEX):
            position = put_content(data, steps, step, at, out, position)
            if position == FULL:
                return FULL
        elif op == BOOLEAN:
            is_true = data[steps[step, VALUES] + at] != 0
            put(out, position, TRUE_WORD if is_true else FALSE_WORD)
            position += 4 if is_true else 5
        elif op in (VALID, KNOWN):
            if not is_there(data, steps, step, at):
                put(out, position, NULL_WORD)
                position += steps[step, OTHERWISE]
                step = steps[step, TO] - 1
        elif op == LIST:
            items = steps[step, ITEMS]
            row[items], end[items] = bounds_at(data, steps, step, at)
            if row[items] == end[items]:
                step = steps[step, TO] - 1
        elif op == NEXT:
            items = steps[step, ITEMS]
            row[items] += 1
            if row[items] < end[items]:
                out[position] = ord(",")
                position += 1
                step = steps[step, TO] - 1
        elif op == END:
            return position
        step += 1
    return FULL


@compiled(
    "i8(u1[::1], i8[:, ::1], i8[::1], i4[::1], i4[::1], i8[::1], i8[::1], i8, u1[::1], i8[::1])",
    allocates=False,
)
def write_lines(
    data: Bytes,
    steps: Table,
    first_step: Positions,
    program: NDArray[np.int32],
    row_of_part: NDArray[np.int32],
    row: Positions,
    end: Positions,
    begin: int,
    out: Bytes,
    bounds: Positions,
) -> int:
    """Writes the lines of all records from `begin` on, each by its program, and returns the first one that has no room.
    `bounds` gets the end of each line, in bytes from the start of line 0; `out` begins with the line `begin`.

    Texts are JSON as Python's json.dumps writes it without spaces and without escapes beyond ASCII. In a quoted cell of
    CSV, quotes are doubled (RFC 4180)."""
    for line in range(begin, program.size):
        bounds[line + 1] = bounds[line]
        if program[line] != NO_LINE:
            row[RECORD], row[OWN] = line, row_of_part[line]
            position = bounds[line] - bounds[begin]
            position = put_line(data, steps, first_step[program[line]], row, end, out, position)
            if position == FULL:
                return line
            bounds[line + 1] = bounds[begin] + position
    return int(program.size)
