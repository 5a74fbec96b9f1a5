"""Arrow schemas of declared tables."""

from functools import cache

import pyarrow as pa

from schemas.tables import Column, ColumnType, ListOf, MapOf, StructOf, Table, Type

SCALARS: dict[Type, pa.DataType] = {
    Type.STRING: pa.string(),
    Type.BINARY: pa.binary(),
    Type.BOOLEAN: pa.bool_(),
    Type.INT: pa.int32(),
    Type.BIGINT: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.TIMESTAMP: pa.timestamp("us", "UTC"),
}


@cache
def table_schema(table: Table) -> pa.Schema:
    """Columns in order, with their comments as metadata."""
    return pa.schema([arrow_field(column) for column in table.columns])


@cache
def empty_rows(table: Table) -> pa.Table:
    """Making a column of structs takes longer than most tables with a row."""
    return table_schema(table).empty_table()


def with_types(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in these types. A cast of a whole table takes longer: it casts each column that has its type already."""
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def arrow_field(column: Column) -> pa.Field:
    kind = arrow_type(column.type)
    return pa.field(column.name, kind, nullable=column.is_nullable, metadata={"comment": column.comment})


def arrow_type(kind: ColumnType) -> pa.DataType:
    match kind:
        case ListOf(item):
            return pa.list_(arrow_type(item))
        case StructOf(fields):
            return pa.struct([arrow_field(field) for field in fields])
        case MapOf(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case _:
            return SCALARS[kind]
