"""Decodes rejected records again that this release understands and an earlier release did not."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.task import result_of
from jobs.ingestion.task.messages import Counts, IngestInput, IngestResult
from jobs.ingestion.task.task import Task, guarded_answer
from jobs.storage.places.place import Place
from schemas.contract.tables import TABLES
from schemas.words.records import Part
from udfs.arrays.arrow_schema import table_schema
from udfs.decoding.decode import decode
from udfs.rows.merge_copies import REJECTED
from udfs.rows.rejected_again import records_of_rejected

BATCH_ROWS = 32_768


def retry_file(assignment: IngestInput, path: Place) -> IngestResult:
    """Rows of the cluster in a file of `rejected_records`. Rows that are decoded now are retracted there. The output of
    one file is in log order, that of files of several runs together would not be."""
    return result_of(guarded_answer(assignment, partial(retry_steps, batches_of(path))))


def batches_of(path: Place) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path.parquet_source()) as file:
        yield from file.iter_batches(BATCH_ROWS)


def retry_steps(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[None]:
    """Rows of `rejected_records`, of any cluster."""
    for partition, rows in rejected_rows(batches, task.input.cluster):
        counts = Counts(partition)
        by_table: dict[str, list[pa.Table]] = {}
        for has_producers in (True, False):
            is_side = pc.equal(rows.column("is_transactional").is_valid(), has_producers)
            if (side := rows.filter(is_side)).num_rows:
                for name, taken in decoded_rows(task, counts, side, has_producers).items():
                    by_table.setdefault(name, []).append(taken)
        # Without offsets, since no part of the log was read.
        task.answer.counts += [counts] if counts.read else []
        for name, sides in by_table.items():
            whole = pa.concat_tables(sides)
            task.write(name, whole.sort_by("record_offset") if len(sides) > 1 else whole, counts)
        yield


def rejected_rows(batches: Iterator[pa.RecordBatch], cluster: str) -> Iterator[tuple[int, pa.Table]]:
    """Only records, by partition: a byte range is read again with its file."""
    for batch in batches:
        rows = pa.Table.from_batches([batch]).cast(table_schema(TABLES[REJECTED]))
        is_ours = pc.equal(rows.column("cluster"), cluster)
        rows = rows.filter(pc.and_(is_ours, pc.not_equal(rows.column("part"), Part.BATCH.value)))
        for partition in pc.unique(rows.column("offsets_partition")).to_pylist():
            of_partition = rows.filter(pc.equal(rows.column("offsets_partition"), partition))
            yield partition, of_partition.sort_by("record_offset")


def decoded_rows(task: Task, counts: Counts, rows: pa.Table, has_producers: bool) -> dict[str, pa.Table]:
    """Rows of decoded tables for records that this release can decode."""
    records = records_of_rejected(rows)
    still = {reject.row for reject in decode(records.keys, records.values, records.is_control).rejects}
    chosen = np.array([row for row in range(len(records)) if row not in still], np.int64)
    if not len(chosen):
        return {}
    counts.read += len(chosen)
    keys = rows.select(["record_offset", "partition_leader_epoch"]).take(pa.array(chosen)).to_pylist()
    task.answer.retracted_records += [
        (counts.partition, row["record_offset"], row["partition_leader_epoch"]) for row in keys
    ]
    return task.rows(records.take(chosen), counts.partition, has_producers)
