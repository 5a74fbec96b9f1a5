"""Turns the layout of a message into a program: the steps that `kernels.read_messages` takes, and the columns that
they fill."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from schemas.fields import (
    FIXED_SIZES,
    INT32_MAX,
    LONGEST_STRING,
    Array,
    Field,
    Kind,
    Layout,
    Struct,
    layout,
)
from udfs.decoding.messages.filling.kernels import NO_BUFFER, OF_LISTS, OF_NUMBERS, OF_SLICES, OF_STRUCTS
from udfs.decoding.messages.kernels import (
    END,
    INT8_MARKER,
    LIST,
    NEXT,
    NO_MARKER,
    NUMBER,
    NUMBERS,
    OPTIONAL,
    SLICE,
    TAG,
    TAG_END,
    TAGS,
    UUID,
    VARINT_MARKER,
)
from udfs.decoding.steps.kernels import Table

SCALARS: dict[Kind, pa.DataType] = {
    Kind.INT8: pa.int8(),
    Kind.INT16: pa.int16(),
    Kind.UINT16: pa.int32(),  # Spark and Parquet readers disagree about unsigned types
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.UUID: pa.string(),
    Kind.STRING: pa.string(),
    Kind.BYTES: pa.binary(),
    Kind.JAVA_UTF: pa.string(),
    Kind.UTF16_CHARS: pa.string(),
}


@dataclass(frozen=True)
class ColumnNode:
    """A column of numbers, strings or bytes."""

    kind: pa.DataType
    column: int


@dataclass(frozen=True)
class ListNode:
    kind: pa.ListType
    column: int
    items: "Node"


@dataclass(frozen=True)
class StructNode:
    """`column`: of its NULLs; None: it has none."""

    kind: pa.StructType
    children: tuple["Node", ...]
    level: int
    column: int | None


Node = ColumnNode | ListNode | StructNode


@dataclass(frozen=True)
class Program:
    """The numbers of steps and of columns, as `kernels` names them."""

    steps: Table
    columns: Table
    num_levels: int
    root: Node


@cache
def program_of(fields: Layout, version: int) -> Program:
    making = Making(version)
    root = making.struct(fields, 0, is_optional=False)
    making.step(END)
    return Program(np.array(making.steps), np.array(making.columns).reshape(-1, 8), making.num_levels, root)


class Making:
    """A program in the making. Level 0 is that of messages; each list has a level for its elements. `is_optional`: of
    the fields of a level, those that are in some rows only."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.steps: list[list[int]] = []
        self.columns: list[list[int]] = []
        self.num_levels = 1

    def step(self, op: int, *, column: int = 0, to: int = 0, size: int = 0, lowest: int = 0, highest: int = 0) -> int:
        self.steps.append([op, column, to, size, lowest, highest, 0, 0])
        return len(self.steps) - 1

    def column(
        self, kind: int, level: int, size: int, has_nulls: bool, *, items: int = 0, is_text: bool = False
    ) -> int:
        valid = 0 if has_nulls else NO_BUFFER
        self.columns.append([kind, level, 0, 0, valid, size, items, is_text])
        return len(self.columns) - 1

    def struct(self, fields: Layout, level: int, is_optional: bool, column: int | None = None) -> StructNode:
        children: dict[str, Node] = {
            field.name: self.field(field, fields.is_flexible, level, is_optional=is_optional) for field in fields.fields
        }
        if fields.is_flexible:
            children |= self.tags(fields.tagged, level)
        kind = pa.struct([(name, child.kind) for name, child in children.items()])
        return StructNode(kind, tuple(children.values()), level, column)

    def tags(self, tagged: tuple[Field, ...], level: int) -> dict[str, Node]:
        section = self.step(TAGS, size=len(tagged))
        heads = [self.step(TAG, size=field.tag or 0) for field in tagged]
        children: dict[str, Node] = {}
        for field, head in zip(tagged, heads, strict=True):
            self.steps[head][1:3] = [len(self.columns), len(self.steps)]
            children[field.name] = self.field(field, True, level, is_optional=True)
            self.steps[head][4] = len(self.columns) - 1
            self.step(TAG_END, to=section)
        self.steps[section][2] = len(self.steps)
        return children

    def field(self, field: Field, is_flexible: bool, level: int, is_optional: bool) -> Node:
        match field.type:
            case Array(of):
                return self.list(of, is_flexible, level, field.nullable, is_optional)
            case Struct(_, fields):
                inner = layout(fields, self.version, is_flexible)
                if not field.nullable and not is_optional:
                    return self.struct(inner, level, is_optional=False)
                marker = NO_MARKER if not field.nullable else INT8_MARKER if field.tag is None else VARINT_MARKER
                return self.optional_struct(inner, level, marker)
            case kind:
                return self.scalar(kind, is_flexible, level, field.nullable, is_optional)

    def optional_struct(self, fields: Layout, level: int, marker: int) -> StructNode:
        column = self.column(OF_STRUCTS, level, 0, True)
        step = self.step(OPTIONAL, column=column, size=marker)
        node = self.struct(fields, level, is_optional=True, column=column)
        self.steps[step][2] = len(self.steps)
        self.steps[step][4] = len(self.columns) - 1
        return node

    def scalar(self, kind: Kind, is_flexible: bool, level: int, is_nullable: bool, is_optional: bool) -> ColumnNode:
        match kind:
            case Kind.UUID:
                column = self.column(OF_SLICES, level, 4, is_optional)
                self.step(UUID, column=column)
            case Kind.STRING | Kind.BYTES:
                is_text = kind is Kind.STRING
                column = self.column(OF_SLICES, level, 4, is_nullable or is_optional, is_text=is_text)
                self.step(SLICE, column=column, **length_of(kind, is_flexible, is_nullable))
            case _:
                column = self.number(NUMBER, kind, level, is_optional)
        return ColumnNode(SCALARS[kind], column)

    def number(self, op: int, kind: Kind, level: int, is_optional: bool) -> int:
        column = self.column(OF_NUMBERS, level, SCALARS[kind].bit_width // 8, is_optional)
        step = self.step(op, column=column, highest=0xFFFF if kind is Kind.UINT16 else -1)
        self.steps[step][6] = FIXED_SIZES[kind]
        return column

    def list(self, of: Kind | Struct, is_flexible: bool, level: int, is_nullable: bool, is_optional: bool) -> ListNode:
        inside = self.num_levels
        self.num_levels += 1
        column = self.column(OF_LISTS, level, 4, is_nullable or is_optional, items=inside)
        step = self.step(LIST, column=column, **length_of(None, is_flexible, is_nullable))
        items = self.elements(of, is_flexible, inside)
        if not (isinstance(items, ColumnNode) and self.columns[items.column][0] == OF_NUMBERS):
            self.step(NEXT, column=column, to=step)
        self.steps[step][2] = len(self.steps)
        return ListNode(pa.list_(items.kind), column, items)

    def elements(self, of: Kind | Struct, is_flexible: bool, level: int) -> Node:
        """Numbers have one step together, other elements a step NEXT after each."""
        match of:
            case Struct(_, fields):
                return self.struct(layout(fields, self.version, is_flexible), level, is_optional=False)
            case Kind.STRING | Kind.BYTES | Kind.UUID:
                return self.scalar(of, is_flexible, level, is_nullable=False, is_optional=False)
            case _:
                return ColumnNode(SCALARS[of], self.number(NUMBERS, of, level, is_optional=False))


def length_of(kind: Kind | None, is_flexible: bool, is_nullable: bool) -> dict[str, int]:
    """How the length of a string or bytes is written, or the count of a list (None)."""
    highest = LONGEST_STRING if is_flexible and kind is Kind.STRING else INT32_MAX
    size = 0 if is_flexible else 2 if kind is Kind.STRING else 4
    return {"size": size, "lowest": -1 if is_nullable else 0, "highest": highest}
