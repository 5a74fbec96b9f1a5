"""Arrow and Spark types of records are one: what the decoder makes is what Spark expects."""

import random

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from jobs.spark.types import table_type
from schemas.records import REGISTRY
from schemas.tables import TABLES
from tests.builders.records.random_records import EVERY_LAYOUT, Draw
from tests.oracles.decoding.both_decoders import table as table_of
from udfs.arrays.arrow_schema import table_schema
from udfs.decoding.arrow_types import record_schema


def record_type(record):
    """Key and value of a record type as two structs; a tombstone's value is null."""
    return from_arrow_schema(record_schema(record))


@pytest.mark.parametrize("record", REGISTRY.values(), ids=lambda record: record.name)
def test_spark_types_are_arrow_types(record):
    spark_type = record_type(record)
    assert to_arrow_schema(spark_type).equals(record_schema(record))
    assert [(field.name, field.nullable) for field in spark_type] == [("key", False), ("value", True)]


def test_spark_types_of_a_commit_and_of_what_has_a_port():
    assert record_type(REGISTRY[1]).simpleString() == (
        "struct<key:struct<group:string,topic:string,partition:int>,value:struct<offset:bigint,leader_epoch:int,"
        "metadata:string,commit_timestamp:bigint,topic_id:string,expire_timestamp:bigint>>"
    )
    (endpoint,) = (field for field in record_type(REGISTRY[19])["value"].dataType if field.name == "user_endpoint")
    assert endpoint.dataType.simpleString() == "struct<host:string,port:int>"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_spark_types_of_tables_are_arrow_types(table):
    spark_type = table_type(table)
    assert to_arrow_schema(spark_type, timezone="UTC").equals(table_schema(table))
    for field, column in zip(spark_type, table.columns, strict=True):
        assert (field.name, field.nullable) == (column.name, column.is_nullable)
        assert field.metadata == {"comment": column.comment}


def test_spark_types_of_a_table_keep_comments_inside_structs():
    members = table_type(TABLES["classic_group_metadata"])["members"].dataType.elementType
    assert members["subscription"].dataType["rack_id"].metadata["comment"].startswith("The member's rack")


@pytest.mark.spark
@pytest.mark.drawn(2)
@pytest.mark.parametrize("number", [1, 5, 8, 19])
def test_spark_takes_the_decoder_s_columns_as_they_are(spark, seed, number):
    layouts = [kept for kept in EVERY_LAYOUT if kept.record.number == number]
    draw = Draw(random.Random(seed))
    records = [draw.record(kept) for kept in layouts for _ in range(20)]
    record = REGISTRY[number]

    def decoded(batches):
        import numpy as np

        from udfs.arrays.slices import slices_of
        from udfs.decoding.arrow_types import conform
        from udfs.decoding.decode import decode

        schema = record_schema(record)
        for batch in batches:
            keys, values = slices_of(batch.column("key")), slices_of(batch.column("value"))
            for part in decode(keys, values, np.zeros(batch.num_rows, bool)).parts:
                wanted = schema.field("value").type
                value = pa.nulls(len(part.rows), wanted) if part.value is None else conform(part.value, wanted)
                yield pa.record_batch([part.key, value], schema)

    given = spark.createDataFrame(table_of([(each.key_bytes, each.value_bytes) for each in records]).to_pandas())
    rows = given.mapInArrow(decoded, record_type(record)).collect()
    assert len(rows) == len(records)
    assert sorted(str(row.key.asDict()) for row in rows) == sorted(str(each.key) for each in records)
    assert sum(row.value is None for row in rows) == sum(each.value is None for each in records)
