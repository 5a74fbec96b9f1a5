"""The language in which tables are declared: plain data, read by writers, checks and docs alike."""

from dataclasses import dataclass
from enum import StrEnum

STATE_FOLDER = "_state"


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
