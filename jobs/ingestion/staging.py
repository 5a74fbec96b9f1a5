"""A folder of rows on their way into tables: what tasks of Spark hand on, and what they answer, by parts of a run."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.ingestion.row_sinks import Blob, Blobs, deserialized
from jobs.ingestion.task_answers import Answer, Assignment
from jobs.ingestion.tasks import Task, guarded_steps
from jobs.ingestion.writer import FrameSteps
from jobs.sources.archive_files import FileSystem
from jobs.spark.failures import failures_told
from jobs.spark.types import table_type
from schemas.columns import Table

ANSWER = "answer"
SCHEMA = "kind string, partition int, stretch bigint, content binary"
ARROW_SCHEMA = pa.schema(
    [("kind", pa.string()), ("partition", pa.int32()), ("stretch", pa.int64()), ("content", pa.binary())]
)
PARQUET = {
    # Blobs are compressed, and no two are alike.
    "compression": "none",
    "parquet.enable.dictionary": "false",
    # Parquet looks at its sizes after a hundred rows, which may be most of the memory here.
    "parquet.page.size.row.check.min": "1",
    "parquet.page.size.row.check.max": "1",
    "parquet.block.size.row.check.min": "1",
    "parquet.block.size.row.check.max": "1",
    "parquet.block.size": str(32 << 20),
}
MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class Staging:
    spark: SparkSession
    folder: str

    def run(self, part: str, frame: DataFrame, steps: FrameSteps, assignment: Assignment) -> list[Answer]:
        """What tasks make of the frame goes into a part of the folder; their answers come back."""
        with failures_told():
            self.write(part, frame.mapInArrow(partial(worked, assignment, steps), SCHEMA))
            (answers,) = [found for path, found in self.blobs_of(part) if path == ANSWER]
            return [pickle.loads(bytes(row.content)) for row in answers.select("content").collect()]

    def add(self, part: str, blobs: Iterable[Blob]) -> None:
        """What the driver has."""
        rows = [(blob.kind, blob.partition, blob.stretch, bytearray(blob.content)) for blob in blobs]
        if rows:
            self.write(part, self.spark.createDataFrame(rows, SCHEMA))

    def write(self, part: str, frame: DataFrame) -> None:
        frame.write.options(**PARQUET).partitionBy("kind").mode("overwrite").parquet(f"{self.folder}/{part}")

    def blobs(self) -> dict[str, DataFrame]:
        """By kind, of all parts."""
        found: dict[str, DataFrame] = {}
        for part in self.children(self.folder):
            for kind, frame in self.blobs_of(part):
                found[kind] = found[kind].unionByName(frame) if kind in found else frame
        return found

    def blobs_of(self, part: str) -> Iterator[tuple[str, DataFrame]]:
        for child in self.children(f"{self.folder}/{part}"):
            name, _, kind = child.partition("=")
            if name == "kind":
                stored = self.spark.read.schema(SCHEMA).parquet(f"{self.folder}/{part}/{child}")
                yield kind, stored.withColumn("kind", F.lit(kind))

    def children(self, folder: str) -> list[str]:
        system = FileSystem(self.spark)
        path = system.path(folder)
        if not system.of(path).exists(path):
            return []
        return sorted(status.getPath().getName() for status in system.of(path).listStatus(path))

    def remove(self) -> None:
        system = FileSystem(self.spark)
        system.of(system.path(self.folder)).delete(system.path(self.folder), True)


def worked(assignment: Assignment, steps: FrameSteps, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sink = Blobs()
    task = Task(assignment, sink)
    for _ in guarded_steps(task, partial(steps, batches)):
        yield from map(batch_of, sink.taken())
    yield from map(batch_of, sink.taken())
    yield batch_of(Blob(ANSWER, pickle.dumps(task.answer)))


def batch_of(blob: Blob) -> pa.RecordBatch:
    values = [[blob.kind], [blob.partition], [blob.stretch], [blob.content]]
    return pa.record_batch(
        [pa.array(value, field.type) for value, field in zip(values, ARROW_SCHEMA, strict=True)], ARROW_SCHEMA
    )


def table_rows(blobs: DataFrame, table: Table) -> DataFrame:
    """The rows of a table out of their blobs."""
    return blobs.select("content").mapInArrow(unpacked, table_type(table))


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for content in batch.column(0):
            yield from deserialized(content.as_buffer()).to_batches(max_chunksize=MOST_ROWS)
