"""Decodes rejected records again that this release understands and an earlier release did not."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.task import result_of
from jobs.ingestion.task.messages import Counts, IngestInput, IngestResult
from jobs.ingestion.task.stored_rows import rows_without_epochs
from jobs.ingestion.task.task import Task, guarded_answer, other_log
from jobs.ingestion.task.windows import runs_of
from jobs.storage.places.place import Place
from jobs.warehouses.older_tables import of_this_release
from schemas.tables import TABLES
from schemas.words.records import Part
from udfs.decoding.decode import decode
from udfs.rows.merge_copies import REJECTED, Contradiction, merge
from udfs.rows.rejected_again import records_of_rejected

BATCH_ROWS = 32_768


def retry_file(assignment: IngestInput, path: Place) -> IngestResult:
    """Rows of the cluster in a file of `rejected_records`. Rows that are decoded now are retracted there. The output of
    one file is in log order, that of files of several runs together would not be."""
    return result_of(guarded_answer(assignment, partial(retry_steps, path)))


def pieces_of(path: Place) -> Iterator[pa.Table]:
    with pq.ParquetFile(path.parquet_source()) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            yield of_this_release(pa.Table.from_batches([batch]), TABLES[REJECTED], path)


def retry_steps(path: Place, task: Task) -> Iterator[None]:
    """Rows of `rejected_records`, of any cluster."""
    for partition, rows in rejected_rows(pieces_of(path), task.input.cluster):
        counts = Counts(partition)
        sides = []
        for has_producers in (True, False):
            is_side = pc.equal(rows.column("is_transactional").is_valid(), has_producers)
            if (side := rows.filter(is_side)).num_rows:
                sides.append(decoded_rows(task, counts, side, has_producers))
        # Without offsets, since no part of the log was read.
        task.answer.counts += [counts] if counts.read else []
        try:
            merged = merge(held_beside(task, partition, sides), sides)
        except Contradiction as contradiction:
            raise other_log([str(path)], partition, contradiction) from None
        counts.known += merged.num_known
        task.write_merged(merged, merged.new, counts)
        # Of the rows between them nothing is known here.
        task.answer.replaced += [(partition, *each) for each in runs_of(merged.replaced)]
        yield


def held_beside(task: Task, partition: int, sides: Sequence[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """Rows of the warehouse whose place the decoded ones may take: those of an archive without leader epochs."""
    held = {}
    for name in {name for side in sides for name in side}:
        offsets = pa.concat_tables([side[name].select(["record_offset"]) for side in sides if name in side]).column(0)
        files = task.input.known_files.get(name, ())
        held[name] = rows_without_epochs(files, TABLES[name], task.input.cluster, partition, pc.unique(offsets))
    return held


def rejected_rows(pieces: Iterator[pa.Table], cluster: str) -> Iterator[tuple[int, pa.Table]]:
    """Only records, by partition: a byte range is read again with its file."""
    for rows in pieces:
        is_ours = pc.equal(rows.column("cluster"), cluster)
        ours = rows.filter(pc.and_(is_ours, pc.not_equal(rows.column("part"), Part.BATCH.value)))
        for partition in pc.unique(ours.column("offsets_partition")).to_pylist():
            of_partition = ours.filter(pc.equal(ours.column("offsets_partition"), partition))
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
