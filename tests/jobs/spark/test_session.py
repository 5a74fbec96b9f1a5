"""The settings that right answers rest on, seen by their effect."""

import sys

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError

pytestmark = pytest.mark.spark


def test_columns_returned_in_another_order_are_refused_rather_than_swapped(spark):
    def swap(batches):
        for batch in batches:
            yield batch.select(["second", "first"])

    frame = spark.createDataFrame([(1, 2)], "first BIGINT, second BIGINT")
    with pytest.raises(Py4JJavaError, match="ARROW_TYPE_MISMATCH"):
        frame.mapInArrow(swap, frame.schema).collect()


def test_a_time_is_shown_in_utc(spark):
    assert spark.sql("SELECT CAST(timestamp_millis(0) AS STRING)").collect()[0][0] == "1970-01-01 00:00:00"


def test_workers_run_the_interpreter_of_the_driver(spark):
    def interpreter(batches):
        for _ in batches:
            yield pa.record_batch({"prefix": [sys.prefix]})

    rows = spark.range(1).mapInArrow(interpreter, "prefix STRING").collect()
    assert [row.prefix for row in rows] == [sys.prefix]
