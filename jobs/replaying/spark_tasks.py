"""Buckets of offsets partitions as groups of a frame: each is done by one call in a worker of Spark."""

import pickle
from collections.abc import Sequence
from typing import Any

import pandas as pd
from pyspark.sql import SparkSession

from jobs.replaying.plan import told_of
from jobs.replaying.tasks import answer
from jobs.replaying.told import Answer, Share, Told, Work
from jobs.spark.tasks import failures_told

SCHEMA = "bucket int, content binary"


def answers_by_spark(
    spark: SparkSession, work: Work, told: Told[Any], planned: Sequence[Sequence[Share]]
) -> list[Answer[Any]]:
    rows = [
        (number, bytearray(pickle.dumps((work, told_of(told, shares), list(shares)))))
        for number, shares in enumerate(planned)
    ]
    frame = spark.createDataFrame(rows, SCHEMA).repartitionByRange(len(planned), "bucket")
    with failures_told():
        found = frame.groupBy("bucket").applyInPandas(answered_bucket, SCHEMA).collect()
    return [pickle.loads(bytes(row.content)) for row in sorted(found, key=lambda row: row.bucket)]


def answered_bucket(rows: pd.DataFrame) -> pd.DataFrame:
    found = [pickle.dumps(answer(*pickle.loads(content))) for content in rows["content"]]
    return pd.DataFrame({"bucket": rows["bucket"], "content": found})
