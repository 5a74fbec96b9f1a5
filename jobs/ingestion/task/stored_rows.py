"""Reads the warehouse's rows of an offsets partition in log order, a span of offsets at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.storage.places.place import Place
from jobs.warehouses.older_tables import of_this_release
from schemas.tables import Table
from udfs.arrays.arrow_schema import table_schema

BATCH_ROWS = 65_536


@dataclass(frozen=True)
class KnownFile:
    """A file of a decoded table, and the offsets partitions it has rows of."""

    path: Place
    first_partition: int
    last_partition: int


@dataclass
class Cursor:
    """Reads one file's rows of one partition, in ascending order of offsets."""

    batches: Iterator[pa.Table]
    waiting: pa.Table | None = None

    def take_until(self, last: int) -> list[pa.Table]:
        taken = []
        while (rows := self.waiting if self.waiting is not None else next(self.batches, None)) is not None:
            offsets = rows.column("record_offset")
            fitting = pc.sum(pc.less_equal(offsets, last)).as_py() or 0
            taken.append(rows.slice(0, fitting))
            self.waiting = rows.slice(fitting) if fitting < rows.num_rows else None
            if self.waiting is not None:
                break
        return taken


@dataclass
class KnownRows:
    """`take_until` must be called with ascending offsets."""

    cursors: dict[str, list[Cursor]] = field(default_factory=dict)

    def take_until(self, last: int) -> dict[str, pa.Table]:
        by_table = {}
        for name, cursors in self.cursors.items():
            parts = [rows for cursor in cursors for rows in cursor.take_until(last)]
            if sum(rows.num_rows for rows in parts):
                by_table[name] = pa.concat_tables(parts)
        return by_table


def known_rows(
    files: Mapping[str, Sequence[KnownFile]], tables: Mapping[str, Table], cluster: str, partition: int, first: int
) -> KnownRows:
    """Rows of a partition of the cluster, from the offset on."""
    return KnownRows(
        {
            name: [
                Cursor(rows_of(file.path, tables[name], cluster, partition, first))
                for file in of_table
                if file.first_partition <= partition <= file.last_partition
            ]
            for name, of_table in files.items()
        }
    )


def rows_without_epochs(
    files: Iterable[KnownFile], table: Table, cluster: str, partition: int, offsets: pa.Array
) -> pa.Table:
    """Rows of these offsets that lack leader epochs. Most files have none, as their footers show."""
    first, parts = pc.min(offsets).as_py(), [table_schema(table).empty_table()]
    for file in files:
        if file.first_partition <= partition <= file.last_partition:
            for rows in rows_of(file.path, table, cluster, partition, first, lack_epochs=True):
                is_wanted = pc.is_in(rows.column("record_offset"), value_set=offsets)
                parts.append(rows.filter(pc.and_(is_wanted, rows.column("partition_leader_epoch").is_null())))
    return pa.concat_tables(parts)


def rows_of(
    path: Place, table: Table, cluster: str, partition: int, first: int, *, lack_epochs: bool = False
) -> Iterator[pa.Table]:
    """`lack_epochs`: row groups of which all rows have one are left out."""
    with pq.ParquetFile(path.parquet_source()) as file:
        groups = [
            group
            for group in range(file.num_row_groups)
            if may_hold(file, group, partition, first) and not (lack_epochs and has_all_epochs(file, group))
        ]
        for batch in file.iter_batches(BATCH_ROWS, groups) if groups else ():
            rows = of_this_release(pa.Table.from_batches([batch]), table, path)
            is_wanted = pc.and_(
                pc.and_(
                    pc.equal(rows.column("cluster"), cluster), pc.equal(rows.column("offsets_partition"), partition)
                ),
                pc.greater_equal(rows.column("record_offset"), first),
            )
            # Ranges of rejected bytes have no offset. Their position in their file identifies them.
            yield rows.filter(is_wanted, null_selection_behavior="drop")


def may_hold(file: pq.ParquetFile, group: int, partition: int, first: int) -> bool:
    names = file.schema_arrow.names
    row_group = file.metadata.row_group(group)
    partitions = row_group.column(names.index("offsets_partition")).statistics
    offsets = row_group.column(names.index("record_offset")).statistics
    if partitions is not None and partitions.has_min_max and not partitions.min <= partition <= partitions.max:
        return False
    return offsets is None or not offsets.has_min_max or bool(offsets.max >= first)


def has_all_epochs(file: pq.ParquetFile, group: int) -> bool:
    place = file.schema_arrow.names.index("partition_leader_epoch")
    epochs = file.metadata.row_group(group).column(place).statistics
    return epochs is not None and epochs.has_null_count and not epochs.null_count
