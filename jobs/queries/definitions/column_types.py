"""Column types in the dialect of each engine, where they differ from Spark's."""

from collections.abc import Callable

from schemas.tables import ColumnType, ListOf, MapOf, StructOf, Type

DUCKDB_NAMES = {
    Type.STRING: "VARCHAR",
    Type.BINARY: "BLOB",
    Type.INT: "INTEGER",
    Type.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
}
TRINO_NAMES = {
    Type.STRING: "varchar",
    Type.BINARY: "varbinary",
    Type.INT: "integer",
    Type.TIMESTAMP: "timestamp(6) with time zone",
}


def duckdb_type(kind: ColumnType) -> str:
    match kind:
        case ListOf(item):
            return f"{duckdb_type(item)}[]"
        case StructOf():
            return f"STRUCT({fields(kind, duckdb_type)})"
        case MapOf(key, value):
            return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
        case Type():
            return DUCKDB_NAMES.get(kind, kind.value)


def trino_type(kind: ColumnType) -> str:
    match kind:
        case ListOf(item):
            return f"array({trino_type(item)})"
        case StructOf():
            return f"row({fields(kind, trino_type)})"
        case MapOf(key, value):
            return f"map({trino_type(key)}, {trino_type(value)})"
        case Type():
            return TRINO_NAMES.get(kind, kind.value.lower())


def fields(struct: StructOf, in_engine: Callable[[ColumnType], str]) -> str:
    return ", ".join(f'"{field.name}" {in_engine(field.type)}' for field in struct.fields)
