"""Row groups of decoded tables, as the offsets partitions of a task read them one after the other. Small row groups
that partitions share are read once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.far_expiry import BEYOND, EXPIRY, may_name_expiry, with_far_expiry
from jobs.replaying.log.most_recent import MostRecent
from jobs.replaying.log.row_groups import (
    PARTITION,
    RUN,
    GroupBounds,
    LogFile,
    RowGroup,
    Wanted,
    bounds_by_row_group,
    piece_of,
)
from jobs.storage.places.place import Place
from schemas.tables import GROUPS
from udfs.arrays.nullable import filled, first_of

# Columns with few distinct values: codes are faster to read and to compare.
REPEATED = ("group_id", "topic", "topic_id", "metadata")
# The wide columns of members of classic groups are left out: other columns have their contents in decoded form.
WIDE = {"subscription_bytes", "payload_json"}
READ_AS = {
    "members": [f"members.list.element.{field.name}" for field in GROUPS["CLASSIC_MEMBER"] if field.name not in WIDE]
}
# Limits per task: for row groups that partitions share, and for the places of each partition's rows in them.
MOST_KEPT_BYTES = 32 << 20
MOST_PLACES_BYTES = 32 << 20
# Shared row groups up to this size, as Parquet counts it before compression, are read once, with all columns that any
# pass reads.
FEW_BYTES = 2 << 20
READ_BY_NO_PASS = {"key_version", BEYOND}
# Whose rows are in shorter row groups decides little about the size of a task.
FEW_ROWS = 4096

# The first row and the number of rows; else each row.
Places = tuple[int, int] | np.ndarray
NOWHERE = (0, 0)
# Of an entry of a dict with two numbers.
ENTRY_BYTES = 200


def num_bytes_of(places: Mapping[int, Places]) -> int:
    return sum(ENTRY_BYTES + (0 if isinstance(each, tuple) else each.nbytes) for each in places.values())


@dataclass
class Opened:
    """Footers of files, each read once. The files are not kept open: there may be a thousand per process."""

    footers: dict[Place, pq.FileMetaData] = field(default_factory=dict)
    known_columns: dict[Place, Sequence[str]] = field(default_factory=dict)
    known_bounds: dict[Place, list[GroupBounds]] = field(default_factory=dict)
    shared: MostRecent[tuple[Place, int, tuple[str, ...]], pa.Table] = field(
        default_factory=lambda: MostRecent(lambda rows: rows.nbytes, MOST_KEPT_BYTES)
    )
    # Where the rows of each offsets partition are in a shared row group.
    places: MostRecent[tuple[Place, int, str, str | None], Mapping[int, Places]] = field(
        default_factory=lambda: MostRecent(num_bytes_of, MOST_PLACES_BYTES)
    )

    def footer(self, path: Place) -> pq.FileMetaData:
        if path not in self.footers:
            self.footers[path] = pq.read_metadata(path.parquet_source())
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
        ours = self.places_of(lambda: rows, row_group, wanted, column)
        return rows.slice(*ours) if isinstance(ours, tuple) else rows.take(ours)

    def places_of(
        self, read: Callable[[], pa.Table], row_group: tuple[Place, int], wanted: Wanted, column: str
    ) -> Places:
        key = (*row_group, wanted.cluster, wanted.after_run)
        return self.places.get(key, lambda: places_by_partition(read(), wanted, column)).get(wanted.partition, NOWHERE)

    def num_rows(self, piece: RowGroup, wanted: Wanted) -> int:
        """Approximately: of a short row group that partitions share, each is given the same number. 0 only if there
        are none."""
        if not piece.is_mixed or piece.num_rows <= FEW_ROWS:
            return -(-piece.num_rows // piece.num_partitions)
        read = partial(self.row_group, piece, [PARTITION])
        ours = self.places_of(read, (piece.path, piece.group), wanted, PARTITION)
        return ours[1] if isinstance(ours, tuple) else len(ours)

    def row_group(self, piece: RowGroup, columns: Sequence[str]) -> pa.Table:
        needed = {path for name in columns for path in READ_AS.get(name, (name,))}
        needed |= {"cluster", PARTITION, RUN} if piece.is_mixed else set()
        repeated = [name for name in REPEATED if name in needed]
        footer = self.footer(piece.path)
        is_asked = EXPIRY in needed and may_name_expiry(footer.row_group(piece.group))
        needed |= {BEYOND} if is_asked else set()
        source = piece.path.row_group_source(footer, piece.group, needed)
        with pq.ParquetFile(source, metadata=footer, read_dictionary=repeated) as file:
            rows = file.read_row_group(piece.group, columns=sorted(needed), use_threads=False)
        return with_far_expiry(rows) if is_asked else rows

    def shared_row_group(self, piece: RowGroup, columns: Sequence[str]) -> pa.Table:
        if piece.num_bytes <= FEW_BYTES:
            columns = self.read_columns(piece.path)
        return self.shared.get((piece.path, piece.group, tuple(columns)), partial(self.row_group, piece, columns))


def pieces(files: Sequence[LogFile], wanted: Wanted, opened: Opened) -> list[RowGroup]:
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
