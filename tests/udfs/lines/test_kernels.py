"""Arguments for the loop that writes lines."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from udfs.lines.kernels import NO_LINE, ROOM
from udfs.lines.line_steps import Memory, Steps, Style
from udfs.lines.written_lines import tables

LINES = 12
# Control characters, marks that JSON escapes, and bytes beyond ASCII, short and long.
HOSTILE = ["", '"', "\\" * 9, "\x00\x1f\x7f", "a" * 7 + '"', "é測😀" * 5, "\n" * 40, "null,", "x" * 70]
ELEMENT = pa.struct([("name", pa.string()), ("numbers", pa.list_(pa.int16())), ("raw", pa.binary())])


def drawn_records(rng: np.random.Generator, steps: Steps) -> None:
    """Columns of the chunk: every second number is unknown."""
    for kind in (np.int64, np.int32, np.int16):
        limits = np.iinfo(kind)
        values = rng.integers(limits.min, limits.max, LINES, kind, endpoint=True)
        values[::2] = -1
        steps.record_number(values)
        steps.say(",")
    steps.record_boolean(np.arange(LINES) % 3 == 0)


def drawn_element(rng: np.random.Generator) -> dict[str, Any] | None:
    if rng.random() < 0.2:
        return None
    numbers = None if rng.random() < 0.2 else rng.integers(-(2**15), 2**15, rng.integers(0, 4)).tolist()
    raw = None if rng.random() < 0.2 else rng.bytes(int(rng.integers(0, 40)))
    return {"name": rng.choice([None, *HOSTILE]), "numbers": numbers, "raw": raw}


def program(rng: np.random.Generator, memory: Memory, is_quoted: bool) -> Steps:
    steps = Steps(memory)
    drawn_records(rng, steps)
    steps.is_quoted = is_quoted
    steps.text(pa.array(rng.choice(HOSTILE, LINES).tolist()))
    lists = [None if rng.random() < 0.2 else [drawn_element(rng) for _ in range(3)] for _ in range(LINES)]
    steps.value(pa.array(lists, pa.list_(ELEMENT)), style=Style(omitted=frozenset({"numbers"})))
    steps.say("\n" * int(rng.integers(1, 50)))
    steps.end()
    return steps


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    return {"write_lines": list(calls(rng))}


def calls(rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """With room for no line, for some, and for all of them; from the first line and from a later one."""
    memory = Memory()
    programs = [program(rng, memory, is_quoted) for is_quoted in (False, True)]
    numbers = rng.integers(NO_LINE, 2, LINES).astype(np.int32)
    row = rng.integers(0, LINES, LINES).astype(np.int32)
    for begin, size in ((0, 1 << 17), (0, 900), (3, 2 * ROOM), (LINES, ROOM), (0, 0)):
        data, steps, first_step, place, end = tables(programs)
        out, bounds = np.zeros(size, np.uint8), np.zeros(LINES + 1, np.int64)
        yield data, steps, first_step, numbers, row, place, end, begin, out, bounds
