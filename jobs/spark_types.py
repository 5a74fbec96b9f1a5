"""Spark types of declared records, by way of their Arrow types: one derivation, so that the two cannot differ."""

from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from schemas.fields import RecordType
from udfs.decoding.arrow_types import record_schema


def record_type(record: RecordType) -> StructType:
    """Key and value of a record type as two structs; a tombstone's value is null."""
    return from_arrow_schema(record_schema(record))
