"""The loop that reads messages into columns: it follows a program (`programs`) through each message."""

from udfs.arrays.big_endian import Positions
from udfs.arrays.compiled import compiled
from udfs.decoding.messages.filling.kernels import (
    CONTENT,
    IS_TEXT,
    ITEMS,
    LEVEL,
    UUID_BYTES,
    UUID_LETTERS,
    put_nulls,
    put_row,
    put_uuid,
)
from udfs.decoding.steps.kernels import (
    PREFIX,
    UNFIT,
    Bytes,
    Table,
    is_utf8,
    number_at,
    put_slice,
    read_uvarint,
)

# What a step of a program does.
END, NUMBER, SLICE, UUID, LIST, NEXT, NUMBERS, OPTIONAL, TAGS, TAG, TAG_END = range(11)
# The numbers of a step. TO: the step after a list, an optional struct or a section of tags; the first step of an
# element or of a tag. PREFIX_SIZE: bytes of a length, 0 for a varint that is one more. WIDTH: bytes of a number.
OP, COLUMN, TO, PREFIX_SIZE, LOWEST, HIGHEST, WIDTH, SLOT = range(8)
# A tag's own numbers: its columns, as a range.
NUM_TAGS, TAG_NUMBER, LAST_COLUMN = PREFIX_SIZE, PREFIX_SIZE, LOWEST
# How a message says whether an optional struct is there: not at all (it always is), by an int8, or by a varint.
NO_MARKER, INT8_MARKER, VARINT_MARKER = range(3)

# What is kept of a list or of a section of tags while its elements are read.
LEFT, SEEN, OUTER_END = range(3)
SIZE_OF_STATE = 3

# What becomes of a message, as UNFIT does; the second is also used instead of a position in it.
FITS, REPEATS_TAG = 0, -2


@compiled()
def read_length(data: Bytes, position: int, end: int, program: Table, step: int) -> tuple[int, int]:
    """The length of a string or of bytes, or the count of a list, -1 for null; and what follows it, or UNFIT."""
    size = program[step, PREFIX_SIZE]
    if size == 0:
        length, position = read_uvarint(data, position, end)
        length -= 1
    elif end - position < size:
        return 0, UNFIT
    else:
        length = number_at(data, position, size)
        position += size
    if position == UNFIT or length < program[step, LOWEST] or length > program[step, HIGHEST]:
        return 0, UNFIT
    return length, position


@compiled()
def read_slice(
    data: Bytes, position: int, end: int, program: Table, step: int,
    columns: Table, place: Positions, used: Positions, is_filling: bool, checks_text: bool, out: Bytes,
) -> int:  # fmt: skip
    """A string, bytes or a uuid: what follows it, or UNFIT."""
    at = program[step, COLUMN]
    length = size = UUID_LETTERS
    if program[step, OP] == UUID:
        size = UUID_BYTES
    else:
        length, position = read_length(data, position, end, program, step)
        size = max(length, 0)
    if position == UNFIT or size > end - position:
        return UNFIT
    if is_filling:
        if program[step, OP] == UUID:
            put_uuid(data, position, out, columns[at, CONTENT] + used[at])
        else:
            put_slice(data, position, length, out, columns[at, CONTENT] + used[at])
        put_row(out, columns, at, place[columns[at, LEVEL]], used[at] + max(length, 0), length >= 0)
    elif checks_text and columns[at, IS_TEXT] and not is_utf8(data, position, position + size):
        return UNFIT
    used[at] += max(length, 0)
    return position + size


@compiled()
def begin_list(
    data: Bytes, position: int, end: int, program: Table, step: int,
    columns: Table, place: Positions, state: Table, is_filling: bool, out: Bytes,
) -> tuple[int, int]:  # fmt: skip
    """The count of a list: what follows it, or UNFIT, and the next step."""
    at = program[step, COLUMN]
    count, position = read_length(data, position, end, program, step)
    # An element takes a byte or more: a larger count must not cost that many steps.
    if position == UNFIT or count > end - position:
        return UNFIT, step
    if is_filling:
        place_after = place[columns[at, ITEMS]] + max(count, 0)
        put_row(out, columns, at, place[columns[at, LEVEL]], place_after, count >= 0)
    state[step, LEFT] = count
    return position, step + 1 if count > 0 else program[step, TO]


@compiled()
def read_numbers(
    data: Bytes, position: int, end: int, program: Table, step: int, count: int,
    columns: Table, place: Positions, is_filling: bool, out: Bytes,
) -> int:  # fmt: skip
    """Numbers of one kind, one after another: what follows them, or UNFIT."""
    at, width = program[step, COLUMN], int(program[step, WIDTH])
    if count * width > end - position:
        return UNFIT
    if is_filling:
        row = place[columns[at, LEVEL]]
        for _ in range(count):
            number = number_at(data, position, width) & program[step, HIGHEST]
            put_row(out, columns, at, row, number, True)
            position, row = position + width, row + 1
        return position
    return position + count * width


@compiled()
def next_tag(
    data: Bytes, position: int, end: int, program: Table, step: int,
    columns: Table, place: Positions, used: Positions, state: Table, is_filling: bool, out: Bytes,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Goes on in the section of tags that step `step` begins, to the next tag that is known, or beyond the section.
    What follows, where the bytes end that may be read there, the next step, and how many tags are unknown."""
    num_tags, num_unknown = program[step, NUM_TAGS], 0
    while state[step, LEFT] > 0:
        state[step, LEFT] -= 1
        number, position = read_uvarint(data, position, end)
        size = 0
        if position != UNFIT:
            size, position = read_uvarint(data, position, end)
        if position == UNFIT or size > end - position:
            return UNFIT, end, step, 0
        for tag in range(num_tags):
            if program[step + 1 + tag, TAG_NUMBER] == number:
                if state[step, SEEN] >> tag & 1:
                    return REPEATS_TAG, end, step, 0
                state[step, SEEN] |= 1 << tag
                state[step, OUTER_END] = end
                return position, position + size, program[step + 1 + tag, TO], num_unknown
        num_unknown += 1
        position += size
    if is_filling:
        for tag in range(step + 1, step + 1 + num_tags):
            if not state[step, SEEN] >> (tag - step - 1) & 1:
                first = program[tag, COLUMN]
                put_nulls(out, columns, first, program[tag, LAST_COLUMN] + 1, columns[first, LEVEL], place, used)
    return position, end, program[step, TO], num_unknown


@compiled()
def begin_optional(
    data: Bytes, position: int, end: int, program: Table, step: int,
    columns: Table, place: Positions, used: Positions, is_filling: bool, out: Bytes,
) -> tuple[int, int]:  # fmt: skip
    """A struct that may be missing: what follows its marker, or UNFIT, and the next step."""
    at, is_there = program[step, COLUMN], True
    if program[step, PREFIX_SIZE] == INT8_MARKER:
        if position >= end:
            return UNFIT, step
        is_there = data[position] < 0x80
        position += 1
    elif program[step, PREFIX_SIZE] == VARINT_MARKER:
        # Inside a tag the marker counts in the tag's size.
        marker, position = read_uvarint(data, position, end)
        is_there = marker > 0
    if is_filling:
        level = columns[at, LEVEL]
        if is_there:
            put_row(out, columns, at, place[level], 0, True)
        else:
            put_nulls(out, columns, at, program[step, LAST_COLUMN] + 1, level, place, used)
    return position, step + 1 if is_there else program[step, TO]


@compiled()
def begin_tags(data: Bytes, position: int, end: int, step: int, state: Table) -> int:
    """The number of tags: what follows it, or UNFIT."""
    count, position = read_uvarint(data, position, end)
    # A tag takes two bytes or more.
    if position == UNFIT or count > (end - position) // 2:
        return UNFIT
    state[step, LEFT], state[step, SEEN] = count, 0
    return position


@compiled()
def follow_tags(
    data: Bytes, position: int, end: int, program: Table, step: int,
    columns: Table, place: Positions, used: Positions, state: Table, is_filling: bool, out: Bytes,
) -> tuple[int, int, int, int]:  # fmt: skip
    """From the start of a section of tags, or the end of one of its tags, to the next: as `next_tag`."""
    section = step
    if program[step, OP] == TAGS:
        position = begin_tags(data, position, end, step, state)
    else:
        section = program[step, TO]
        # A tag ends exactly where its size says.
        position = position if position == end else UNFIT
        end = state[section, OUTER_END]
    if position < 0:
        return position, end, step, 0
    return next_tag(data, position, end, program, section, columns, place, used, state, is_filling, out)


@compiled(
    "i8(Array(u1, 1, 'C', True), i8[::1], i8[::1], i8[::1], b1, i8[:, ::1], i8[:, ::1], i8[::1], i8[::1], i8[:, ::1],"
    " b1, b1, u1[::1], i8[::1])",
    allocates=False,
)
def read_messages(
    data: Bytes,
    start: Positions,
    length: Positions,
    rows: Positions,
    is_open_ended: bool,
    program: Table,
    columns: Table,
    place: Positions,
    used: Positions,
    state: Table,
    is_filling: bool,
    checks_text: bool,
    out: Bytes,
    outcome: Positions,
) -> int:
    """Reads each message after its prefix by the steps of `program`, and returns how many of their tags are unknown.

    Each message gets an `outcome`. `place[level]` becomes the number of rows of each level, `used[column]` that of the
    bytes of each string column: these are the sizes that `out` must have when it is filled, if all messages fit.
    `checks_text`: whether text is UTF-8.
    """
    num_unknown = 0
    for number in range(rows.size):
        row = rows[number]
        position, end, step = start[row] + PREFIX, start[row] + length[row], 0
        while position >= 0:
            op = program[step, OP]
            if op == NUMBER:
                position = read_numbers(data, position, end, program, step, 1, columns, place, is_filling, out)
                step += 1
            elif op in (SLICE, UUID):
                position = read_slice(
                    data, position, end, program, step, columns, place, used, is_filling, checks_text, out
                )
                step += 1
            elif op == LIST:
                position, step = begin_list(data, position, end, program, step, columns, place, state, is_filling, out)
            elif op == NUMBERS:
                count = state[step - 1, LEFT]
                position = read_numbers(data, position, end, program, step, count, columns, place, is_filling, out)
                place[columns[program[step, COLUMN], LEVEL]] += count
                step += 1
            elif op == NEXT:
                around = program[step, TO]
                place[columns[program[step, COLUMN], ITEMS]] += 1
                state[around, LEFT] -= 1
                step = around + 1 if state[around, LEFT] > 0 else step + 1
            elif op == OPTIONAL:
                position, step = begin_optional(
                    data, position, end, program, step, columns, place, used, is_filling, out
                )
            elif op in (TAGS, TAG_END):
                position, end, step, more = follow_tags(
                    data, position, end, program, step, columns, place, used, state, is_filling, out
                )
                num_unknown += more
            else:
                break
        outcome[number] = position if position < 0 else FITS if position == end or is_open_ended else UNFIT
        place[0] += 1
    return num_unknown
