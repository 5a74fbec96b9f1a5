"""Rewrites small files of a table as few large ones, rows in the table's order: runs that add little leave many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.settings import Tables
from jobs.storage.stored_path import Place, parquet_source, size_of
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.table_files import TableFile
from schemas.columns import Table
from schemas.tables import TABLES
from udfs.tables.arrow_schema import table_schema

# Of all files that are rewritten together, as their values are written before compression: they lie in memory, where
# they take up to ten times as much.
MOST_RAW_BYTES = {"auto": 16 << 20, "full": 64 << 20}
# Fewer are not worth the work.
FEWEST_TOGETHER = {"auto": 4, "full": 2}


@dataclass(frozen=True)
class Small:
    name: str
    size: int
    raw_bytes: int
    # Whether the run itself wrote it, so that nobody has seen it yet.
    is_new: bool


@dataclass(frozen=True)
class Rewrite:
    """Files of one table that become one."""

    root: Place
    table: str
    run_id: str
    files: tuple[Small, ...]


def rewrites(root: Place, table: str, run_id: str, files: Iterable[Small], limits: Tables, mode: str) -> list[Rewrite]:
    """Old and new files apart, since only new ones bring rows that followers of the table have not seen."""
    if mode == "never":
        return []
    found = []
    for is_new in (False, True):
        alike = (file for file in files if file.size < limits.small_file_bytes and file.is_new is is_new)
        few = sorted(alike, key=lambda file: file.name)
        if mode == "full" or len(few) >= limits.small_files:
            together = bins(few, limits.file_bytes, MOST_RAW_BYTES[mode])
            found += [Rewrite(root, table, run_id, each) for each in together if len(each) >= FEWEST_TOGETHER[mode]]
    return found


def bins(files: Sequence[Small], most_bytes: int, most_raw_bytes: int) -> list[tuple[Small, ...]]:
    found: list[list[Small]] = [[]]
    for file in files:
        size, raw = sum(each.size for each in found[-1]), sum(each.raw_bytes for each in found[-1])
        if found[-1] and (size + file.size > most_bytes or raw + file.raw_bytes > most_raw_bytes):
            found.append([])
        found[-1].append(file)
    return [tuple(each) for each in found]


def small(path: Place, is_new: bool) -> Small:
    metadata = pq.read_metadata(parquet_source(path))
    raw_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return Small(path.name, size_of(path), raw_bytes, is_new)


def rewrite(work: Rewrite) -> DataFile:
    table = TABLES[work.table]
    names = [column.name for column in table.columns]
    folder = work.root / table.folder
    file = TableFile(folder, table, work.run_id)
    rows = ordered(pa.concat_tables([read(folder / each.name, table) for each in work.files]), table)
    if "offsets_partition" not in names or not rows.num_rows:
        file.write(rows)
    else:
        for partition, part in by_partition(rows):
            file.write(part, partition)
    done = file.close()
    assert done is not None
    is_new = all(each.is_new for each in work.files)
    return DataFile(done.name, done.size, done.num_rows, done.stats, is_data_change=is_new)


def read(path: Place, table: Table) -> pa.Table:
    with pq.ParquetFile(parquet_source(path)) as file:
        return file.read().cast(table_schema(table))


def ordered(rows: pa.Table, table: Table) -> pa.Table:
    keys = [(name, "ascending") for name in table.order]
    return rows.take(pc.sort_indices(rows.select(table.order), sort_keys=keys))


def by_partition(rows: pa.Table) -> Iterable[tuple[int | None, pa.Table]]:
    """Rows of each offsets partition, which stand together."""
    ends = pc.run_end_encode(rows.column("offsets_partition").combine_chunks())
    start = 0
    for end, partition in zip(ends.run_ends.to_pylist(), ends.values.to_pylist(), strict=True):
        yield partition, rows.slice(start, end - start)
        start = end
