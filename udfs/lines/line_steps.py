"""Turns columns into a program: the steps that `kernels.write_lines` takes for each line, and the memory that they
read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.decoding.steps.kernels import SHORT, WORD, Bytes
from udfs.lines.kernels import (
    BIT,
    BOOLEAN,
    CONTENT,
    END,
    ESCAPES,
    HEX,
    ITEMS,
    KNOWN,
    LEVEL,
    LIST,
    NEXT,
    NOTHING,
    NUM_FIELDS,
    NUMBER,
    OP,
    OTHERWISE,
    OWN,
    RECORD,
    SAID,
    SIZE,
    STRING,
    TEXT,
    TO,
    UNKNOWN,
    VALID,
    VALUES,
    WIDTH,
)
from udfs.lines.words import AS_JSON, AS_JSON_IN_CELL, IN_CELL

NULL = "null"


@dataclass(frozen=True)
class Style:
    """`replaced` gives the finished text of struct fields, by name, in place of their values; fields named in
    `omitted` are left out where they are null."""

    replaced: Mapping[str, pa.StringArray] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()


PLAIN = Style()
NO_NUMBERS: Mapping[int, int] = {}


class Memory:
    """Texts of steps and contents of columns, one after another."""

    def __init__(self) -> None:
        self.pieces: list[Bytes] = []
        self.size = 0

    def add(self, piece: Bytes) -> int:
        """Where it begins."""
        begin = self.size
        self.pieces.append(piece)
        self.size += len(piece)
        return begin

    def joined(self) -> Bytes:
        """All of it, and spare bytes: loops read whole words, also at its end."""
        return np.concatenate([*self.pieces, np.zeros(SHORT + WORD, np.uint8)])


class Steps:
    """A program in the making. What is said becomes the text of the step that follows."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.steps: list[list[int]] = []
        self.said = ""
        self.num_levels = OWN + 1
        # Whether it is in a quoted cell of CSV.
        self.is_quoted = False

    def copy(self) -> "Steps":
        other = Steps(self.memory)
        other.steps, other.said = [list(step) for step in self.steps], self.said
        return other

    def say(self, text: str) -> None:
        self.said += text.replace('"', '""') if self.is_quoted else text

    @contextmanager
    def quoted(self) -> Iterator[None]:
        """A cell of CSV, in which quotes are doubled."""
        self.say('"')
        self.is_quoted = True
        yield
        self.is_quoted = False
        self.say('"')

    def add(self, op: int, level: int = OWN, numbers: Mapping[int, int] = NO_NUMBERS) -> list[int]:
        said, self.said = np.frombuffer(self.said.encode(), np.uint8), ""
        step = [0] * NUM_FIELDS
        step[OP], step[SAID], step[SIZE], step[LEVEL] = op, self.memory.add(said), len(said), level
        for place, number in numbers.items():
            step[place] = number
        self.steps.append(step)
        return step

    def meet(self, *others: list[int]) -> None:
        """Other steps continue here. What they wrote last is unknown."""
        if self.said:
            self.add(NOTHING)
        for step in others:
            step[TO] = len(self.steps)

    def end(self) -> None:
        self.add(END)

    # columns of the chunk's records

    def record_number(self, values: NDArray[Any], *, may_be_unknown: bool = True, otherwise: str = NULL) -> None:
        """Unknown ones as null."""
        if (values == values[0]).all():
            # Many columns hold one value in a whole batch: as a constant it costs nothing a row.
            self.say(otherwise if may_be_unknown and values[0] == UNKNOWN else str(values[0]))
            return
        width, begin = values.itemsize, self.memory.add(bytes_of(values))
        is_mixed = may_be_unknown and (values == UNKNOWN).any()
        known = [self.add(KNOWN, RECORD, {VALUES: begin, WIDTH: width, OTHERWISE: len(otherwise)})] if is_mixed else []
        self.add(NUMBER, RECORD, {VALUES: begin, WIDTH: width})
        self.meet(*known)

    def record_boolean(self, values: NDArray[np.bool_]) -> None:
        if (values == values[0]).all():
            self.say("true" if values[0] else "false")
        else:
            self.add(BOOLEAN, RECORD, {VALUES: self.memory.add(bytes_of(values))})

    # columns of a part, and of elements

    def text(self, column: pa.StringArray, level: int = OWN) -> None:
        """Finished texts, none of them null."""
        self.add(STRING if self.is_quoted else TEXT, level, {ESCAPES: IN_CELL, **self.slices(column)})

    def value(self, column: pa.Array, level: int = OWN, style: Style = PLAIN) -> None:
        """JSON of each value."""
        if is_all_null(column):
            self.say(NULL)
            return
        with self.where_valid(column, level, NULL):
            self.valid_value(column, level, style)

    def valid_value(self, column: pa.Array, level: int, style: Style) -> None:
        if pa.types.is_struct(column.type):
            self.struct(column, level, style)
        elif pa.types.is_list(column.type):
            self.list(column, level, style)
        elif pa.types.is_binary(column.type) or pa.types.is_string(column.type):
            self.say('"')
            escapes = AS_JSON_IN_CELL if self.is_quoted else AS_JSON
            op = HEX if pa.types.is_binary(column.type) else STRING
            self.add(op, level, {ESCAPES: escapes, **self.slices(column)})
            self.say('"')
        else:
            self.number(column, level)

    def number(self, column: pa.Array, level: int) -> None:
        width = column.type.bit_width // 8
        values = np.frombuffer(column.buffers()[1] or b"", f"i{width}")[column.offset : column.offset + len(column)]
        if len(values) and not column.null_count and (values == values[0]).all():
            self.say(str(values[0]))
        else:
            self.add(NUMBER, level, {VALUES: self.memory.add(bytes_of(values)), WIDTH: width})

    def struct(self, column: pa.StructArray, level: int = OWN, style: Style = PLAIN) -> None:
        self.say("{")
        self.fields(column, level, style)
        self.say("}")

    def fields(self, column: pa.StructArray, level: int = OWN, style: Style = PLAIN) -> None:
        """The fields of an object; the first one is never left out."""
        for place, name in enumerate(column.type.names):
            child = column.field(place)
            may_be_omitted = place > 0 and name in style.omitted
            if may_be_omitted and is_all_null(child):
                continue
            with self.where_valid(child, level, "") if may_be_omitted else nullcontext():
                self.say(("," if place else "") + f'"{name}":')
                if name in style.replaced:
                    self.text(style.replaced[name], level)
                elif may_be_omitted:
                    self.valid_value(child, level, style)
                else:
                    self.value(child, level, style)

    def list(self, column: pa.ListArray, level: int, style: Style) -> None:
        items, ends = column.flatten(), np.cumsum(column.value_lengths().fill_null(0).to_numpy(), dtype=np.int32)
        begin, below = self.memory.add(bytes_of(np.append(np.int32(0), ends))), self.num_levels
        self.num_levels += 1
        self.say("[")
        step = self.add(LIST, level, {VALUES: begin, ITEMS: below})
        first = len(self.steps)
        self.value(items, below, style)
        self.add(NEXT, level, {TO: first, ITEMS: below})
        step[TO] = len(self.steps)
        self.say("]")

    @contextmanager
    def where_valid(self, column: pa.Array, level: int, otherwise: str) -> Iterator[None]:
        if not column.null_count:
            yield
            return
        bits = self.memory.add(np.frombuffer(column.buffers()[0], np.uint8))
        step = self.add(VALID, level, {BIT: 8 * bits + column.offset, OTHERWISE: len(otherwise)})
        yield
        self.meet(step)

    def slices(self, column: pa.Array) -> dict[int, int]:
        """Where bounds and contents of strings or bytes begin."""
        offsets, content = column.buffers()[1:]
        bounds = np.frombuffer(offsets or bytes(4), np.int32)[column.offset : column.offset + len(column) + 1]
        first, last = (int(bounds[0]), int(bounds[-1])) if len(bounds) else (0, 0)
        content = np.frombuffer(content or b"", np.uint8)[first:last]
        return {VALUES: self.memory.add(bytes_of(bounds)), CONTENT: self.memory.add(content) - first}


def is_all_null(column: pa.Array) -> bool:
    return bool(0 < column.null_count == len(column))


def bytes_of(values: NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8)
