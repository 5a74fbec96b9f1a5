"""The tables of the warehouse, and functions of queries: declared as text, a file a subject in the folder `tables`, and
read into plain data for writers, checks and docs.

A file has groups of columns that several tables have, and tables. A line is a column: name, type, `!` if it is never
NULL, and after two spaces a sentence with the unit and when it is NULL. `[int]` is a list, `{string:int}` a map, and a
group's name the type of a struct with its columns; fields of a `struct` are two further to the right. `+GROUP` has all
columns of that group, or of a table. A table with `key: none` is written nowhere: its rows are handed on.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from schemas.words.lines import Line, lines_of, text_of

# Of names, types and meaning of the tables: in Delta the property groupscope.contract_version.
CONTRACT_VERSION = 3

STATE_FOLDER = "_state"

# Runs that are no command: which report or file an audit could not write; a span that was validated.
REPORT_JOB = "report"
SPAN_JOB = "gate --span"


class Type(StrEnum):
    """What one value is, by its name in SQL. Times are microseconds since 1970 in UTC."""

    STRING = "STRING"
    BINARY = "BINARY"
    BOOLEAN = "BOOLEAN"
    INT = "INT"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    TIMESTAMP = "TIMESTAMP"


@dataclass(frozen=True, slots=True)
class ListOf:
    item: "ColumnType"


@dataclass(frozen=True, slots=True)
class StructOf:
    fields: tuple["Column", ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """Keys are never null."""

    key: Type
    value: "ColumnType"


ColumnType = Type | ListOf | StructOf | MapOf


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or a field of a struct. The comment says the unit and when it is NULL."""

    name: str
    type: ColumnType
    comment: str
    is_nullable: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """`order` is the order of rows in a file; `job` is the command that writes them; `is_state`: only the job's next
    run reads it, so no list that users see has it."""

    name: str
    grain: str
    comment: str
    key: tuple[str, ...]
    order: tuple[str, ...]
    columns: tuple[Column, ...]
    job: str
    is_state: bool = False

    def __hash__(self) -> int:
        # Tables are looked up thousands of times, each time by the hash of all columns otherwise.
        return hash(self.name)

    @property
    def folder(self) -> str:
        """Where the table is below the warehouse."""
        return f"{STATE_FOLDER}/{self.name}" if self.is_state else self.name

    def column(self, name: str) -> Column:
        (column,) = (each for each in self.columns if each.name == name)
        return column


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


def sql_type(kind: ColumnType) -> str:
    """The type as SQL writes it."""
    match kind:
        case ListOf(item):
            return f"ARRAY<{sql_type(item)}>"
        case StructOf(fields):
            return f"STRUCT<{', '.join(f'{field.name}: {sql_type(field.type)}' for field in fields)}>"
        case MapOf(key, value):
            return f"MAP<{sql_type(key)}, {sql_type(value)}>"
        case _:
            return kind.value


Groups = Mapping[str, tuple[Column, ...]]
TYPES = {kind.value.lower(): kind for kind in Type}
COLUMN = re.compile(r"(\w+) +([\w:{}[\]]+)(!?)  +(.+)")
NO_KEY = "none"
FUNCTION = re.compile(r"function (\w+)(?: of (\w+))?: (.+)")
TABLE = re.compile(r"(state )?table (\w+), ([a-z -]+): (.+)")


def columns_of(lines: deque[Line], groups: Groups, indent: int = 2) -> tuple[Column, ...]:
    """Takes the lines of columns at the head of `lines`."""
    columns: list[Column] = []
    while lines and lines[0].indent >= indent:
        line = lines.popleft()
        if line.indent > indent:
            line.refuse("expected no fields here: the column above is no struct")
        if line.text.startswith("+"):
            for word in line.text.split():
                columns += groups.get(word[1:]) or line.refuse(f"no group {word[1:]} is declared before")
        elif found := COLUMN.fullmatch(line.text):
            name, kind, is_set, comment = found.groups()
            columns.append(Column(name, type_of(kind, line, lines, groups), comment, is_nullable=not is_set))
        else:
            line.refuse("expected a name, a type and, after two spaces, a sentence; or +GROUP")
        if len({column.name for column in columns}) < len(columns):
            line.refuse("expected a name that no column before has")
    return tuple(columns)


def type_of(kind: str, line: Line, lines: deque[Line], groups: Groups) -> ColumnType:
    if kind.startswith("[") and kind.endswith("]"):
        return ListOf(type_of(kind[1:-1], line, lines, groups))
    if kind.startswith("{string:") and kind.endswith("}"):
        return MapOf(Type.STRING, type_of(kind[8:-1], line, lines, groups))
    if kind == "struct":
        return StructOf(columns_of(lines, groups, line.indent + 2) or line.refuse("expected fields below a struct"))
    if kind in groups:
        return StructOf(groups[kind])
    return TYPES.get(kind) or line.refuse(f"expected as type {', '.join(TYPES)}, struct or a group, got {kind}")


def said_below(lines: deque[Line], *keys: str) -> dict[str, str]:
    """Takes lines like `key: …` at the head of `lines`."""
    said: dict[str, str] = {}
    while lines and (about := re.match(rf"({'|'.join(keys)}): ", lines[0].text)):
        said[about[1]] = lines.popleft().text[about.end() :]
    return said


def table_of(lines: deque[Line], groups: Groups) -> Table:
    first = lines.popleft()
    found = TABLE.fullmatch(first.text) or first.refuse("expected group NAME, or [state] table NAME, JOB: a row")
    is_state, name, job, grain = found.groups()
    said = said_below(lines, "about", "key", "order")
    columns = columns_of(lines, groups)
    named = said.get("key") or first.refuse("expected below it key: and columns, or key: none if it is written nowhere")
    key = () if named == NO_KEY else tuple(named.split())
    order = tuple(said["order"].split()) if "order" in said else key
    if unknown := {*key, *order} - {column.name for column in columns}:
        first.refuse(f"expected columns of the table as key and order, got {', '.join(sorted(unknown))}")
    comment = said.get("about") or first.refuse("expected below it about: and a sentence")
    return Table(name, grain, comment, key, order, columns, job, bool(is_state))


def read_tables(file: str, text: Iterable[str], groups: dict[str, tuple[Column, ...]]) -> tuple[Table, ...]:
    """The tables of a file; `groups` get those that it declares, and the columns of its tables."""
    lines = lines_of(file, text)
    tables = []
    while lines:
        if named := re.fullmatch(r"group (\w+)", lines[0].text):
            first = lines.popleft()
            name, columns = named[1], columns_of(lines, groups) or first.refuse("expected columns below it")
        else:
            first = lines[0]
            tables.append(table_of(lines, groups))
            name, columns = tables[-1].name, tables[-1].columns
        if name in groups:
            first.refuse("expected a name that no group or table before has")
        groups[name] = columns
    return tuple(tables)


def read_functions(file: str, text: Iterable[str]) -> Iterator[Function | ScalarFunction]:
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


# Columns that several tables have, and those of each table, by name.
GROUPS: dict[str, tuple[Column, ...]] = {}

# By the file that declares them. Later files may use the groups of earlier ones.
SUBJECTS: dict[str, tuple[Table, ...]] = {
    subject: read_tables(f"{subject}.tables", text_of(f"tables/{subject}.tables").splitlines(), GROUPS)
    for subject in ("decoded", "snapshots", "history", "offsets", "replayed", "assignments", "lag", "gate", "runs")
}
DECLARED = {table.name: table for tables in SUBJECTS.values() for table in tables}

TABLES: dict[str, Table] = {name: table for name, table in DECLARED.items() if table.key}
READING_ENDS = DECLARED["reading_ends"]

# For queries of any origin, in Spark and in DuckDB.
READ = tuple(read_functions("functions.tables", text_of("tables/functions.tables").splitlines()))
FUNCTIONS = {each.name: each for each in READ if isinstance(each, Function)}
SCALAR_FUNCTIONS = {each.name: each for each in READ if isinstance(each, ScalarFunction)}

# What users see: lists, pages, SQL and the docs.
USER_TABLES = {name: table for name, table in TABLES.items() if not table.is_state}

# Changed without a run, so read at the newest version: runs name none of them.
BESIDE_RUNS = frozenset(name for name, table in TABLES.items() if table.job in (SPAN_JOB, "mark"))


def folder_of(name: str) -> str:
    """Below the warehouse: of a table, or of a folder that is none, such as that of staged rows."""
    return TABLES[name].folder if name in TABLES else name
