"""Writes a Delta table by way of Python workers, reads it back and prints what it read: run by test_delta.py."""

import json
import sys
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from jobs.spark.session import spark_session
from tests import short_lived_java


def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"id": pc.multiply(batch.column("id"), 2)})


def main(table: str) -> None:
    settings = {
        **short_lived_java.SETTINGS,
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    spark = spark_session("round trip", shuffle_partitions=1, settings=settings)
    spark.range(5).mapInArrow(double, "id BIGINT").write.format("delta").save(table)
    spark.sql(f"DELETE FROM delta.`{table}` WHERE id = 4")  # the catalog and the extension must both be there
    ids = [row.id for row in spark.read.format("delta").load(table).orderBy("id").collect()]
    java = spark.sparkContext._jvm.System.getProperty("java.home")
    spark.stop()
    sys.stdout.write(json.dumps({"ids": ids, "java_home": java}))


if __name__ == "__main__":
    main(sys.argv[1])
