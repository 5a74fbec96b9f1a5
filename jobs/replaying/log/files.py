"""Reads the decoded tables of one offsets partition in log order, a window of offsets at a time.

Several files may contain the same span of the log: copies, merged small files, files of later runs. So each row group
is read when the window reaches it, and its rows after the window wait.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.storage.stored_path import Place, parquet_source
from jobs.warehouses.leftovers import NAME
from schemas.tables.decoded_records import CLASSIC_MEMBER
from udfs.arrays.nullable import filled, first_of

PARTITION, OFFSET, EPOCH, RUN = "offsets_partition", "record_offset", "partition_leader_epoch", "run_id"
WHERE = ("cluster", PARTITION, OFFSET, EPOCH, RUN)
# Columns with few distinct values: codes are faster to read and to compare.
REPEATED = ("group_id", "topic", "topic_id", "metadata")
# The wide columns of members of classic groups are left out: other columns have their contents in decoded form.
WIDE = {"subscription_bytes", "payload_json"}
READ_AS = {
    "members": [f"members.list.element.{field.name}" for field in CLASSIC_MEMBER.fields if field.name not in WIDE]
}
# Limit per task for row groups that partitions share.
MOST_KEPT_BYTES = 32 << 20
# Shared row groups up to this size, as Parquet counts it before compression, are read once, with all columns that any
# pass reads.
FEW_BYTES = 2 << 20
READ_BY_NO_PASS = {"key_version", "out_of_range"}
# Of a window, as Parquet counts them before compression. A million rows of commits have fewer.
MOST_WINDOW_BYTES = 64_000_000
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


def pieces(files: Sequence[LogFile], wanted: Wanted, opened: "Opened") -> list[RowGroup]:
    """Sorted by their first offsets."""
    row_groups = []
    for file in files:
        if not file.first_partition <= wanted.partition <= file.last_partition:
            continue
        if wanted.after_run is not None and file.run_id is not None and file.run_id <= wanted.after_run:
            continue
        for bounds in opened.bounds(file.path):
            if (piece := piece_of(file.path, bounds, wanted)) is not None:
                row_groups.append(piece)
    return sorted(row_groups, key=lambda piece: (piece.first, piece.last, str(piece.path), piece.group))


Bounds = tuple[object, object] | None


def bounds_of(column: pq.ColumnChunkMetaData) -> Bounds:
    statistics = column.statistics if column.is_stats_set else None
    return (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else None


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


# The first row and the number of rows; else each row.
Places = tuple[int, int] | np.ndarray
NOWHERE = (0, 0)


@dataclass
class Opened:
    """Footers of files, each read once. The files are not kept open: there may be a thousand per process. Small row
    groups that several partitions share are kept for the next partition, the most recently used ones."""

    footers: dict[Place, pq.FileMetaData] = field(default_factory=dict)
    kept: dict[tuple[Place, int, tuple[str, ...]], pa.Table] = field(default_factory=dict)
    known_columns: dict[Place, Sequence[str]] = field(default_factory=dict)
    known_bounds: dict[Place, list[GroupBounds]] = field(default_factory=dict)
    kept_bytes: int = 0
    # For row groups that offsets partitions share: where the rows of each are.
    places: dict[tuple[Place, int, str, str | None], Mapping[int, Places]] = field(default_factory=dict)

    def footer(self, path: Place) -> pq.FileMetaData:
        if path not in self.footers:
            self.footers[path] = pq.read_metadata(parquet_source(path))
        return self.footers[path]

    def read_columns(self, path: Place) -> Sequence[str]:
        if path not in self.known_columns:
            names = self.footer(path).schema.to_arrow_schema().names
            self.known_columns[path] = [name for name in names if name not in READ_BY_NO_PASS]
        return self.known_columns[path]

    def bounds(self, path: Place) -> list[GroupBounds]:
        """Each offsets partition asks for those of all files."""
        if path not in self.known_bounds:
            self.known_bounds[path] = list(bounds_by_row_group(self.footer(path)))
        return self.known_bounds[path]

    def read(self, piece: RowGroup, columns: Sequence[str], wanted: Wanted) -> pa.Table:
        if not piece.is_mixed:
            return self.row_group(piece, columns).select(list(columns))
        rows = self.shared_row_group(piece, columns)
        return self.part(rows, (piece.path, piece.group), wanted).select(list(columns))

    def part(self, rows: pa.Table, row_group: tuple[Place, int], wanted: Wanted, column: str = PARTITION) -> pa.Table:
        """The wanted ones of these rows, which offsets partitions share. `column`: has the partition."""
        key = (*row_group, wanted.cluster, wanted.after_run)
        if key not in self.places:
            self.places[key] = places_by_partition(rows, wanted, column)
        places = self.places[key].get(wanted.partition, NOWHERE)
        return rows.slice(*places) if isinstance(places, tuple) else rows.take(places)

    def row_group(self, piece: RowGroup, columns: Sequence[str]) -> pa.Table:
        needed = {path for name in columns for path in READ_AS.get(name, (name,))}
        needed |= {"cluster", PARTITION, RUN} if piece.is_mixed else set()
        repeated = [name for name in REPEATED if name in needed]
        source = parquet_source(piece.path)
        with pq.ParquetFile(source, metadata=self.footer(piece.path), read_dictionary=repeated) as file:
            return file.read_row_group(piece.group, columns=sorted(needed), use_threads=False)

    def shared_row_group(self, piece: RowGroup, columns: Sequence[str]) -> pa.Table:
        if piece.num_bytes <= FEW_BYTES:
            columns = self.read_columns(piece.path)
        return self.kept_rows((piece.path, piece.group, tuple(columns)), partial(self.row_group, piece, columns))

    def kept_rows(self, key: tuple[Place, int, tuple[str, ...]], read: Callable[[], pa.Table]) -> pa.Table:
        """Of a row group that several partitions share."""
        rows = self.kept.pop(key, None)
        if rows is None:
            rows = read()
            if rows.nbytes > MOST_KEPT_BYTES // 4:
                return rows
            self.kept_bytes += rows.nbytes
        self.kept[key] = rows
        while self.kept_bytes > MOST_KEPT_BYTES:
            self.kept_bytes -= self.kept.pop(next(iter(self.kept))).nbytes
        return rows


def places_by_partition(rows: pa.Table, wanted: Wanted, column: str) -> dict[int, Places]:
    """Of the wanted cluster and runs. A task writes one offsets partition after the other, so rows of a partition
    mostly follow each other, and nothing need be copied."""
    mask = pc.equal(rows.column("cluster"), wanted.cluster)
    if wanted.after_run is not None:
        mask = pc.and_(mask, pc.greater(rows.column(RUN), wanted.after_run))
    partitions = np.where(filled(mask, False).to_numpy(), filled(rows.column(column), -1).to_numpy(), -1)
    order = np.argsort(partitions, kind="stable")
    ordered = partitions[order]
    firsts = np.flatnonzero(first_of(ordered))
    places: dict[int, Places] = {}
    for partition, some in zip(ordered[firsts].tolist(), np.split(order, firsts)[1:], strict=True):
        first, size = int(some[0]), len(some)
        places[partition] = (first, size) if some[-1] - first + 1 == size else some
    return places


@dataclass
class TableRows:
    """Rows of one table, read in ascending order of offsets."""

    opened: Opened
    wanted: Wanted
    columns: Sequence[str]
    pieces: list[RowGroup]
    waiting: pa.Table | None = None
    num_read: int = 0

    def take_until(self, last: int) -> pa.Table | None:
        """In log order; None if there are none."""
        parts = [] if self.waiting is None else [self.waiting]
        while self.num_read < len(self.pieces) and self.pieces[self.num_read].first <= last:
            parts.append(self.opened.read(self.pieces[self.num_read], self.columns, self.wanted))
            self.num_read += 1
        self.waiting = None
        if not parts:
            return None
        rows = in_log_order(pa.concat_tables(parts))
        split = int(np.searchsorted(offsets_of(rows), last, "right"))
        self.waiting = rows.slice(split) if split < rows.num_rows else None
        return rows.slice(0, split) if split else None


def as_read(schema: pa.Schema) -> pa.Schema:
    """The types of columns that `Opened` reads: rows of pieces, and none, must go together."""
    codes = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([field.with_type(codes) if field.name in REPEATED else field for field in schema])


def in_log_order(rows: pa.Table) -> pa.Table:
    offsets = offsets_of(rows)
    if (np.diff(offsets) > 0).all():
        return rows
    return rows.take(np.lexsort((epochs_of(rows), offsets)))


def offsets_of(rows: pa.Table) -> np.ndarray:
    return np.asarray(rows.column(OFFSET).to_numpy())


def epochs_of(rows: pa.Table) -> np.ndarray:
    """NULL becomes -1."""
    return np.asarray(filled(rows.column(EPOCH), -1).to_numpy())


def times_of(rows: pa.Table) -> np.ndarray:
    """Microseconds; NULL becomes the lowest number."""
    return np.asarray(filled(rows.column("record_time").cast(pa.int64()), LEAST).to_numpy())


def ends_of_windows(row_groups: Sequence[RowGroup], most_rows: int, stops: Sequence[int] = ()) -> Iterator[int]:
    """Last offsets of windows of about this many rows, fewer if these are large. No window extends past one of the
    stops."""
    ends, rows, size = set(stops), 0, 0
    for piece in sorted(row_groups, key=lambda piece: piece.last):
        rows, size = rows + piece.num_rows, size + piece.num_bytes
        if rows >= most_rows or size >= MOST_WINDOW_BYTES:
            ends.add(piece.last)
            rows = size = 0
    yield from sorted(ends)
    yield MOST
