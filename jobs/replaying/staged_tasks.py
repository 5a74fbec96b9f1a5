"""What Spark's tasks do with the rows of offsets partitions: they come as blobs, are replayed in a folder of the task's
own, and what comes of it goes as blobs again."""

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.ingestion.row_sinks import Blob, deserialized, serialized
from jobs.ingestion.staging import ANSWER, SCHEMA, batch_of
from jobs.ingestion.state import DECODED
from jobs.replaying.earlier_rows import partition_column
from jobs.replaying.log_files import LogFile
from jobs.replaying.tasks import answer
from jobs.replaying.told import Share, Told, Work
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES
from udfs.tables.arrow_schema import table_schema


def packed_rows(name: str, frame: DataFrame, partitions: Sequence[int]) -> DataFrame:
    rows = frame.where(F.col(partition_column(TABLES[name])).isin(list(partitions)))
    return rows.select(*table_schema(TABLES[name]).names).mapInArrow(partial(packed, name), SCHEMA)


def packed(name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    column = partition_column(TABLES[name])
    for batch in batches:
        rows = pa.Table.from_batches([batch]).cast(table_schema(TABLES[name]))
        for partition in pc.unique(rows.column(column)).to_pylist():
            ours = rows.filter(pc.equal(rows.column(column), partition))
            yield batch_of(Blob(name, serialized(ours), partition))


def replayed(work: Work, told: Told[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """`batches` are blobs of all tables, those of one offsets partition together."""
    rows = (
        (partition, kind, content)
        for batch in batches
        for partition, kind, content in zip(
            batch.column("partition").to_pylist(),
            batch.column("kind").to_pylist(),
            batch.column("content"),
            strict=True,
        )
    )
    for partition, group in groupby(rows, key=itemgetter(0)):
        blobs = ((kind, deserialized(content.as_buffer())) for _, kind, content in group)
        yield from map(batch_of, replayed_partition(work, told, partition, blobs))


def replayed_partition(
    work: Work, told: Told[Any], partition: int, rows: "Iterator[tuple[str, pa.Table]] | Sequence[tuple[str, pa.Table]]"
) -> Iterator[Blob]:
    with tempfile.TemporaryDirectory(prefix="groupscope-") as folder:
        files: dict[str, TableFile] = {}
        for name, part in rows:
            if name not in files:
                files[name] = TableFile(Path(folder) / "held" / name, TABLES[name], told.run_id)
            files[name].write(part, partition)
        found = {
            name: [LogFile(file.folder / file.name, partition, partition)]
            for name, file in files.items()
            if file.close() is not None
        }
        decoded = {name: found[name] for name in DECODED if name in found}
        held = {name: some for name, some in found.items() if name not in decoded}
        whole = replace(told, root=Path(folder) / "made", files=decoded, held=held)
        done = answer(work, whole, [Share(partition)])
        for name, file in done.files:
            with pq.ParquetFile(Path(folder) / "made" / TABLES[name].folder / file.name) as made:
                for group in range(made.num_row_groups):
                    found_rows = made.read_row_group(group).cast(table_schema(TABLES[name]))
                    yield Blob(name, serialized(found_rows), partition)
        yield Blob(ANSWER, pickle.dumps(replace(done, files=[])), partition)
