"""Lines and texts, written by the programs of `line_steps`."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions
from udfs.decoding.steps.kernels import Bytes, Table
from udfs.lines.kernels import NO_LINE, ROOM, SIZE, TO, write_lines
from udfs.lines.line_steps import PLAIN, Memory, Steps, Style

# Of one buffer, unless a line is longer.
MOST_AT_ONCE = 32 << 20


def lines_in_order(programs: Sequence[Steps], rows: Sequence[Positions], num_records: int) -> Iterator[pa.Buffer]:
    """The lines of some records, in order. `rows`: which records each program is for; of others there is no line."""
    return written(programs, rows, np.zeros(num_records + 1, np.int64))


def texts_in_order(programs: Sequence[Steps], rows: Sequence[Positions], num_rows: int) -> pa.StringArray:
    """The same as a column."""
    bounds = np.zeros(num_rows + 1, np.int64)
    buffers = list(written(programs, rows, bounds))
    content = buffers[0] if len(buffers) == 1 else pa.py_buffer(b"".join(buffers))
    texts = pa.Array.from_buffers(pa.large_string(), num_rows, [None, pa.py_buffer(bounds), content], null_count=0)
    return texts.cast(pa.string())


def json_of(column: pa.Array, style: Style = PLAIN) -> pa.StringArray:
    """JSON of each value."""
    steps = Steps(Memory())
    steps.value(column, style=style)
    steps.end()
    return texts_in_order([steps], [np.arange(len(column))], len(column))


def written(programs: Sequence[Steps], rows: Sequence[Positions], bounds: Positions) -> Iterator[pa.Buffer]:
    """As many lines at a time as there is room for. `bounds` becomes where each line ends."""
    if not programs:
        return
    program, row = np.full(len(bounds) - 1, NO_LINE, np.int32), np.zeros(len(bounds) - 1, np.int32)
    for number, mine in enumerate(rows):
        program[mine], row[mine] = number, np.arange(len(mine))
    data, steps, first_step, place, end = tables(programs)
    begin, size = 0, likely_size(programs, program, len(data))
    while begin < len(program):
        memory = pa.allocate_buffer(size, resizable=True)
        out = np.frombuffer(memory, np.uint8)
        done = write_lines(data, steps, first_step, program, row, place, end, begin, out, bounds)
        del out
        size = size if done > begin else 2 * size
        if done > begin:
            num_written = int(bounds[done] - bounds[begin])
            memory.resize(num_written)
            # Python would still see the size from before.
            yield memory.slice(0, num_written)
        begin = done


def tables(programs: Sequence[Steps]) -> tuple[Bytes, Table, Positions, Positions, Positions]:
    """What the loop follows: all memory, all steps, the first one of each program, and the rows of each level."""
    num_steps = [len(each.steps) for each in programs]
    first_step = np.cumsum([0, *num_steps])[:-1]
    steps = np.array(list(chain.from_iterable(each.steps for each in programs)))
    steps[:, TO] += np.repeat(first_step, num_steps)
    row, end = (np.zeros(max(each.num_levels for each in programs), np.int64) for _ in range(2))
    return programs[0].memory.joined(), steps, first_step, row, end


def likely_size(programs: Sequence[Steps], program: NDArray[np.int32], num_bytes: int) -> int:
    """Texts of steps, and what is in columns."""
    said = np.array([sum(step[SIZE] for step in each.steps) for each in programs])
    num_lines = np.bincount(program[program >= 0], minlength=len(programs))
    return min(int(num_lines @ said) + num_bytes + num_bytes // 4, MOST_AT_ONCE) + ROOM
