"""Buckets of offsets partitions as groups of a frame: each is replayed by one call in a worker of Spark."""

import pickle
from collections.abc import Sequence

import pandas as pd
from pyspark.sql import SparkSession

from jobs.replaying.assignment import Answer, Assignment, Share
from jobs.replaying.plan import told
from jobs.replaying.tasks import answer
from jobs.spark.tasks import failures_told

SCHEMA = "bucket int, content binary"


def replayed(spark: SparkSession, assignment: Assignment, planned: Sequence[Sequence[Share]]) -> list[Answer]:
    rows = [
        (number, bytearray(pickle.dumps((told(assignment, shares), list(shares)))))
        for number, shares in enumerate(planned)
    ]
    frame = spark.createDataFrame(rows, SCHEMA).repartitionByRange(len(planned), "bucket")
    with failures_told():
        found = frame.groupBy("bucket").applyInPandas(replay_bucket, SCHEMA).collect()
    return [pickle.loads(bytes(row.content)) for row in sorted(found, key=lambda row: row.bucket)]


def replay_bucket(rows: pd.DataFrame) -> pd.DataFrame:
    found = [pickle.dumps(answer(*pickle.loads(content))) for content in rows["content"]]
    return pd.DataFrame({"bucket": rows["bucket"], "content": found})
