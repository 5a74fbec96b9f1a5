"""Rows of `rejected_records` to remove, because a copy or a newer release gave the records."""

from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile, RemovedFile, files_of
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.rows.merge_copies import REJECTED

SCHEMA = table_schema(TABLES[REJECTED])
BATCH_ROWS = 16_384

# Partition, offset and leader epoch of a record; file and position of a byte range, which lines of an archive do not
# have.
RecordKey = tuple[int, int, int | None]
RangeKey = tuple[str, int | None]


def without_rows(
    warehouse: Warehouse, cluster: str, records: Collection[RecordKey], ranges: Collection[RangeKey], run_id: str
) -> tuple[list[DataFile], list[RemovedFile]]:
    """Files with one of the rows, and the files that replace them."""
    # The table's current version, not that in `runs`: files that others have merged since then must not come back.
    delta = warehouse.newest(REJECTED) if records or ranges else None
    added: list[DataFile] = []
    removed: list[RemovedFile] = []
    if delta is None:
        return added, removed
    for name in files_of(delta).column("path").to_pylist():
        path = warehouse.path(REJECTED) / name
        kept = TableFile(warehouse.path(REJECTED), TABLES[REJECTED], run_id)
        if rewrite(path, kept, cluster, set(records), set(ranges)):
            removed.append(RemovedFile(name, is_data_change=True))
            if (file := kept.close()) is not None:
                added.append(file)
        else:
            kept.abandon()
    return added, removed


def rewrite(path: Place, kept: TableFile, cluster: str, records: set[RecordKey], ranges: set[RangeKey]) -> bool:
    """Writes the remaining rows; returns whether any row is removed."""
    num_gone = 0
    for rows in rows_of(path):
        stays = pa.array(
            [not (of == cluster and is_named(row, records, ranges)) for of, *row in keys(rows)], pa.bool_()
        )
        num_gone += len(stays) - (pc.sum(stays).as_py() or 0)
        kept.write(rows.filter(stays))
    return num_gone > 0


def rows_of(path: Place) -> Iterable[pa.Table]:
    with pq.ParquetFile(path.parquet_source()) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            yield pa.Table.from_batches([batch]).cast(SCHEMA)


def keys(rows: pa.Table) -> Iterable[tuple[object, ...]]:
    names = ("cluster", "offsets_partition", "record_offset", "partition_leader_epoch", "source_file", "byte_position")
    return zip(*(rows.column(name).to_pylist() for name in names), strict=True)


def is_named(row: list[object], records: set[RecordKey], ranges: set[RangeKey]) -> bool:
    return tuple(row[:3]) in records or tuple(row[3:]) in ranges
