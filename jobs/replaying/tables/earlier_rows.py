"""Rows of earlier runs that may still change: open rows of history tables and states of one offsets partition."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.opened import FEW_BYTES, Opened
from jobs.replaying.log.row_groups import Bounds, LogFile, Wanted, bounds_of
from jobs.replaying.log.slices import Slice
from schemas.tables import TABLES, Table
from udfs.arrays.arrow_schema import empty_rows, table_schema

# Instead of the number of a row group.
WHOLE = -1


def partition_column(table: Table) -> str:
    """Inferred rows name the partition of their evidence."""
    names = {column.name for column in table.columns}
    return "offsets_partition" if "offsets_partition" in names else "evidence_partition"


@dataclass
class EarlierRows:
    cluster: str
    partition: int
    slice: Slice
    # None: the partition is replayed from the beginning.
    held: Mapping[str, Sequence[LogFile]] | None
    opened: Opened
    read_rows: dict[str, pa.Table] = field(default_factory=dict)

    def rows(self, name: str) -> pa.Table:
        if name not in self.read_rows:
            self.read_rows[name] = self.read(name)
        return self.read_rows[name]

    def read(self, name: str) -> pa.Table:
        table = TABLES[name]
        parts = []
        for file in (self.held or {}).get(name, ()):
            if file.first_partition <= self.partition <= file.last_partition:
                parts.append(self.slice.rows(self.rows_of_file(file, table)))
        return pa.concat_tables(parts).combine_chunks() if parts else empty_rows(table)

    def rows_of_file(self, file: LogFile, table: Table) -> pa.Table:
        """Small files are read once for all offsets partitions of a task."""
        if num_bytes(self.opened.footer(file.path)) > FEW_BYTES:
            return rows_of(file, table, self.cluster, self.partition)
        rows = self.opened.shared.get((file.path, WHOLE, ()), partial(all_rows, file, table))
        wanted = Wanted(self.cluster, self.partition)
        return self.opened.part(rows, (file.path, WHOLE), wanted, partition_column(table))

    def rows_without(self, name: str, groups: Collection[str]) -> pa.Table:
        return without_groups(self.rows(name), groups)


def num_bytes(footer: pq.FileMetaData) -> int:
    """Before compression."""
    return sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups))


def all_rows(file: LogFile, table: Table) -> pa.Table:
    with pq.ParquetFile(file.path.parquet_source(), pre_buffer=False) as parquet:
        return parquet.read(use_threads=False).cast(table_schema(table))


def rows_of(file: LogFile, table: Table, cluster: str, partition: int) -> pa.Table:
    column = partition_column(table)
    with pq.ParquetFile(file.path.parquet_source(), pre_buffer=False) as parquet:
        groups = [
            group for group in range(parquet.num_row_groups) if may_hold(parquet.metadata, group, column, partition)
        ]
        rows = parquet.read_row_groups(groups, use_threads=False).cast(table_schema(table))
    mask = pc.and_(pc.equal(rows.column(column), partition), pc.equal(rows.column("cluster"), cluster))
    return rows.filter(mask)


def may_hold(footer: pq.FileMetaData, group: int, column: str, partition: int) -> bool:
    bounds = bounds_in(footer, group, column)
    return bounds is None or bool(bounds[0] <= partition <= bounds[1])  # type: ignore[operator]


def bounds_in(footer: pq.FileMetaData, group: int, column: str) -> Bounds:
    """Of a column in a row group; None: not known."""
    row_group = footer.row_group(group)
    for place in range(row_group.num_columns):
        chunk = row_group.column(place)
        if chunk.path_in_schema == column:
            return bounds_of(chunk)
    return None


def in_groups(rows: pa.Table, groups: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(rows.column("group_id"), value_set=pa.array(sorted(groups), pa.string()))


def of_groups(rows: pa.Table, groups: Collection[str]) -> pa.Table:
    return rows.filter(in_groups(rows, groups)) if rows.num_rows else rows


def without_groups(rows: pa.Table, groups: Collection[str]) -> pa.Table:
    return rows.filter(pc.invert(in_groups(rows, groups))) if rows.num_rows else rows
