"""Reads the keys of a table in slices of limited size. All rows that could have the same key are in one slice.

Slices are offsets partitions; large ones are cut by offset. Parquet footers show which row groups a slice needs. So
files that are sorted, as ours are, are read about once.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.checks.check import CheckedWarehouse
from jobs.command_line.values import EPOCH
from jobs.storage.places.place import Place
from schemas.tables import TABLES, Table
from udfs.arrays.arrow_schema import table_schema

# Memory for half a gigabyte of keys.
MOST_ROWS = 2_000_000
CLUSTER, PARTITION, OFFSET = "cluster", "offsets_partition", "record_offset"
# Byte columns, which are read only if they matter.
CONTENT = "value_bytes"
POSITIONS = (OFFSET, "captured_time")
LEAST, MOST = -(2**63), 2**63 - 1
# Instead of NULL, which rejected batches have for both.
NONE = -1

Span = tuple[int, int]
ClusterPartition = tuple[Any, Any]


class Group(NamedTuple):
    """A row group, and the bounds of its partitions and positions, both ends included."""

    path: Place
    place: int
    rows: int
    partitions: Span
    positions: Span


class Slice(NamedTuple):
    """Both ends included."""

    partitions: Span
    positions: Span

    def meets(self, group: Group) -> bool:
        return meets(self.partitions, group.partitions) and meets(self.positions, group.positions)


def meets(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def slices(checked: CheckedWarehouse, name: str, most_rows: int) -> Iterator[pa.Table]:
    """Key columns of the table, with `part` and `position` if the table has these."""
    position = next((column for column in POSITIONS if column in TABLES[name].key), None)
    groups = [group for path, footer in checked.footers(name) for group in row_groups(path, footer, position)]
    groups.sort(key=lambda group: (group.partitions, group.positions))
    for cut in cuts(groups, rows_by_partition(checked, name), most_rows):
        parts = [read_slice(group, TABLES[name], position, cut) for group in groups if cut.meets(group)]
        if parts:
            yield pa.concat_tables(parts)


def row_groups(path: Place, footer: pq.FileMetaData, position: str | None) -> Iterator[Group]:
    for index in range(footer.num_row_groups):
        columns = leading(footer, index)
        yield Group(
            path,
            index,
            footer.row_group(index).num_rows,
            bounds(columns.get(PARTITION)),
            bounds(columns.get(position)) if position else (NONE, NONE),
        )


def leading(footer: pq.FileMetaData, index: int) -> dict[Any, pq.ColumnChunkMetaData]:
    group = footer.row_group(index)
    columns = [group.column(place) for place in range(group.num_columns)]
    return {column.path_in_schema: column for column in columns}


def bounds(column: pq.ColumnChunkMetaData | None) -> Span:
    """Bounds of the values; everything, if the footer has none."""
    if column is None:
        return NONE, NONE
    statistics = column.statistics if column.is_stats_set else None
    if statistics is None or not statistics.has_null_count:
        return LEAST, MOST
    if not statistics.has_min_max:
        return (NONE, NONE) if statistics.null_count == column.num_values else (LEAST, MOST)
    low, high = number(statistics.min), number(statistics.max)
    return (min(low, NONE), max(high, NONE)) if statistics.null_count else (low, high)


def number(value: Any) -> int:
    return (value - EPOCH) // timedelta(microseconds=1) if isinstance(value, datetime) else int(value)


def cuts(groups: list[Group], rows: Counter[ClusterPartition], most_rows: int) -> Iterator[Slice]:
    """Groups neighboring partitions as long as their rows fit; a large partition is split."""
    by_partition: Counter[int] = Counter()
    for (_, partition), number_of in rows.items():
        by_partition[NONE if partition is None else partition] += number_of
    first, held = LEAST, 0
    for partition in sorted(by_partition):
        if held and held + by_partition[partition] > most_rows:
            yield Slice((first, partition - 1), (LEAST, MOST))
            first, held = partition, 0
        held += by_partition[partition]
        if held > most_rows:
            yield from pieces(groups, (first, partition), most_rows)
            first, held = partition + 1, 0
    yield Slice((first, MOST), (LEAST, MOST))


def pieces(groups: list[Group], partitions: Span, most_rows: int) -> Iterator[Slice]:
    first, held = LEAST, 0
    for group in sorted(groups, key=lambda group: group.positions):
        if not meets(partitions, group.partitions):
            continue
        if held and held + group.rows > most_rows and group.positions[0] > first:
            yield Slice(partitions, (first, group.positions[0] - 1))
            first, held = group.positions[0], 0
        held += group.rows
    yield Slice(partitions, (first, MOST))


def read_slice(group: Group, table: Table, position: str | None, cut: Slice) -> pa.Table:
    key, schema = list(table.key), table_schema(table)
    with pq.ParquetFile(group.path.parquet_source(), pre_buffer=False) as file:
        wanted = key if has_lines(file.metadata, group.place) else [column for column in key if column != CONTENT]
        stored = file.read_row_group(group.place, columns=wanted, use_threads=False)
    # Other writers may have allowed NULL, or have used text with long offsets.
    columns = {column: stored.column(column).cast(schema.field(column).type) for column in wanted}
    rows = pa.table({column: columns.get(column, pa.nulls(stored.num_rows, pa.binary())) for column in key})
    if PARTITION not in key and position is None:
        return rows
    part = plain(rows, PARTITION)
    place = plain(rows, position)
    rows = rows.append_column("part", part).append_column("position", place)
    is_in = pc.and_(between(part, cut.partitions), between(place, cut.positions))
    return rows if pc.all(is_in).as_py() else rows.filter(is_in)


def has_lines(footer: pq.FileMetaData, place: int) -> bool:
    """Whether there may be rows for lines of a file. Only these are distinguished by their contents."""
    column = leading(footer, place).get("source_file")
    if column is None or not column.is_stats_set or not column.statistics.has_null_count:
        return True
    return bool(column.statistics.null_count < column.num_values)


def plain(rows: pa.Table, column: str | None) -> pa.ChunkedArray:
    if column is None or column not in rows.column_names:
        return pa.chunked_array([pa.repeat(pa.scalar(NONE, pa.int64()), rows.num_rows)])
    return rows.column(column).cast(pa.int64()).fill_null(NONE)


def between(values: pa.ChunkedArray, span: Span) -> pa.ChunkedArray:
    return pc.and_(pc.greater_equal(values, span[0]), pc.less_equal(values, span[1]))


def rows_by_partition(checked: CheckedWarehouse, name: str) -> Counter[ClusterPartition]:
    """The number of rows for each cluster and offsets partition; from the footers if these are enough."""
    counts: Counter[ClusterPartition] = Counter()
    if name not in checked.tables:
        return counts
    has_partition = any(column.name == PARTITION for column in TABLES[name].columns)
    for path, footer in checked.footers(name):
        for index in range(footer.num_row_groups):
            columns = leading(footer, index)
            wanted = [CLUSTER, PARTITION] if has_partition else [CLUSTER]
            values = [only_value(columns.get(column)) for column in wanted]
            if None not in values:
                counts[values[0], values[1] if has_partition else None] += footer.row_group(index).num_rows
            else:
                counts.update(num_by_partition(path, index, wanted))
    return counts


def only_value(column: pq.ColumnChunkMetaData | None) -> Any:
    """The value of all rows, if the footer shows that there is only one."""
    statistics = column.statistics if column is not None and column.is_stats_set else None
    if statistics is None or not statistics.has_min_max or statistics.null_count or statistics.min != statistics.max:
        return None
    return statistics.min


def num_by_partition(path: Place, index: int, columns: list[str]) -> Counter[ClusterPartition]:
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        rows = file.read_row_group(index, columns=columns, use_threads=False)
    groups = rows.group_by(columns).aggregate([([], "count_all")]).to_pylist()
    return Counter({(row[CLUSTER], row.get(PARTITION)): row["count_all"] for row in groups})
