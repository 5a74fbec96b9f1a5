"""Spark types of declared tables, derived from their Arrow types so that the two cannot differ."""

from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from schemas.tables import Column, ColumnType, ListOf, MapOf, StructOf, Table
from udfs.arrays.arrow_schema import table_schema


def table_type(table: Table) -> StructType:
    """The columns of a table with their comments, which the way by Arrow loses."""
    return with_comments(from_arrow_schema(table_schema(table)), table.columns)


def with_comments(kind: StructType, columns: tuple[Column, ...]) -> StructType:
    return StructType(
        [
            StructField(
                field.name, with_comment(field.dataType, column.type), field.nullable, {"comment": column.comment}
            )
            for field, column in zip(kind, columns, strict=True)
        ]
    )


def with_comment(kind: DataType, declared: ColumnType) -> DataType:
    match kind, declared:
        case ArrayType(), ListOf(item):
            return ArrayType(with_comment(kind.elementType, item), kind.containsNull)
        case StructType(), StructOf(fields):
            return with_comments(kind, fields)
        case MapType(), MapOf(_, value):
            return MapType(kind.keyType, with_comment(kind.valueType, value), kind.valueContainsNull)
        case _:
            return kind
