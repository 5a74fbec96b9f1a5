"""Files of a decoded table, and which row groups have rows of an offsets partition: the footers say so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq

from jobs.storage.places.place import Place
from jobs.warehouses.leftovers import NAME

PARTITION, OFFSET, EPOCH, RUN = "offsets_partition", "record_offset", "partition_leader_epoch", "run_id"
WHERE = ("cluster", PARTITION, OFFSET, EPOCH, RUN)
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class LogFile:
    """A file of a decoded table, and the offsets partitions it has rows of."""

    path: Place
    first_partition: int
    last_partition: int

    @property
    def run_id(self) -> str | None:
        """Of the run that wrote it: none of its rows is newer."""
        match = NAME.fullmatch(self.path.name)
        return None if match is None else match["run"]


@dataclass(frozen=True)
class RowGroup:
    """A row group with rows of the partition; `is_mixed`: also with other rows. `num_partitions`: of how many it may
    have rows. `epoch`: of all its rows, if the footer shows that they have one and are all of the partition."""

    path: Place
    group: int
    first: int
    last: int
    num_rows: int
    is_mixed: bool
    epoch: int | None = None
    num_bytes: int = 0
    num_partitions: int = 1


@dataclass(frozen=True)
class Wanted:
    """`after_run`: only rows of later runs."""

    cluster: str
    partition: int
    after_run: str | None = None


Bounds = tuple[object, object] | None


def bounds_of(column: pq.ColumnChunkMetaData) -> Bounds:
    statistics = column.statistics if column.is_stats_set else None
    return (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else None


def column_in(group: pq.RowGroupMetaData, name: str) -> pq.ColumnChunkMetaData | None:
    columns = (group.column(place) for place in range(group.num_columns))
    return next((column for column in columns if column.path_in_schema == name), None)


def is_all_null(column: pq.ColumnChunkMetaData | None) -> bool:
    """Whether the footer shows that a column of a row group has only NULL."""
    if column is None or not column.is_stats_set or column.statistics is None:
        return False
    return bool(column.statistics.null_count >= column.num_values)


@dataclass(frozen=True)
class GroupBounds:
    """A row group, with the bounds of the columns that say where rows are. `epoch`: the leader epoch of all rows."""

    group: int
    num_rows: int
    of: Mapping[str, Bounds]
    epoch: int | None
    num_bytes: int = 0


def bounds_by_row_group(metadata: pq.FileMetaData) -> Iterator[GroupBounds]:
    names = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    places = {name: names.index(name) for name in WHERE}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        columns = {name: row_group.column(place) for name, place in places.items()}
        yield GroupBounds(
            group=group,
            num_rows=row_group.num_rows,
            of={name: bounds_of(column) for name, column in columns.items()},
            epoch=only_epoch(columns),
            num_bytes=row_group.total_byte_size,
        )


def only_epoch(columns: Mapping[str, pq.ColumnChunkMetaData]) -> int | None:
    for name in (OFFSET, EPOCH):
        known = columns[name].statistics
        if known is None or known.null_count or bounds_of(columns[name]) is None:
            return None
    least, most = bounds_of(columns[EPOCH]) or (None, None)
    return int(least) if least == most else None  # type: ignore[call-overload]


def piece_of(path: Place, of_group: GroupBounds, wanted: Wanted) -> RowGroup | None:
    is_mixed, bounds = False, of_group.of
    for name, value in (("cluster", wanted.cluster), (PARTITION, wanted.partition)):
        known = bounds[name]
        if known is not None and not known[0] <= value <= known[1]:  # type: ignore[operator]
            return None
        is_mixed |= known != (value, value)
    runs = bounds[RUN]
    if wanted.after_run is not None and runs is not None:
        if runs[1] <= wanted.after_run:  # type: ignore[operator]
            return None
        is_mixed |= runs[0] <= wanted.after_run  # type: ignore[operator]
    first, last = bounds[OFFSET] or (LEAST, MOST)
    lowest, highest = bounds[PARTITION] or (0, 0)
    return RowGroup(
        path=path,
        group=of_group.group,
        first=int(first),  # type: ignore[call-overload]
        last=int(last),  # type: ignore[call-overload]
        num_rows=of_group.num_rows,
        is_mixed=is_mixed,
        epoch=None if is_mixed else of_group.epoch,
        num_bytes=of_group.num_bytes,
        num_partitions=int(highest) - int(lowest) + 1,  # type: ignore[call-overload]
    )
