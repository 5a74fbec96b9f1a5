"""Functions for queries of any origin, in Spark and in DuckDB, declared in `tables/functions.tables`; it says how."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schemas.tables import TABLES, Column, ColumnType, columns_of, lines_of, said_below, text_of

FUNCTION = re.compile(r"function (\w+)(?: of (\w+))?: (.+)")


@dataclass(frozen=True, slots=True)
class Function:
    """Of a table, which it `reads`. `arguments` come before the instant and `cluster`; `columns` are in order."""

    name: str
    comment: str
    arguments: tuple[Column, ...]
    reads: str
    columns: tuple[Column, ...]
    newest: str | None = None


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """Of a row. `result_comment` says what the value is; fields of a struct have comments of their own."""

    name: str
    comment: str
    arguments: tuple[Column, ...]
    result: ColumnType
    result_comment: str


def functions_of(file: str, text: Iterable[str]) -> Iterator[Function | ScalarFunction]:
    lines = lines_of(file, text)
    while lines:
        first = lines.popleft()
        found = FUNCTION.fullmatch(first.text) or first.refuse("expected function NAME [of TABLE]: what it answers")
        name, table, comment = found.groups()
        said = said_below(lines, "columns", "newest")
        below = columns_of(lines, {}) or first.refuse("expected below it its arguments and its result")
        if table is None:
            yield ScalarFunction(name, comment, below[:-1], below[-1].type, below[-1].comment)
        else:
            known = {column.name: column for column in TABLES[table].columns} if table in TABLES else {}
            columns = (
                known.get(each) or first.refuse(f"expected columns of a table, got {table}.{each}")
                for each in said.get("columns", "").split()
            )
            yield Function(name, comment, below, table, tuple(columns), said.get("newest"))


DECLARED = tuple(functions_of("functions.tables", text_of("tables/functions.tables").splitlines()))
FUNCTIONS = {each.name: each for each in DECLARED if isinstance(each, Function)}
SCALAR_FUNCTIONS = {each.name: each for each in DECLARED if isinstance(each, ScalarFunction)}
