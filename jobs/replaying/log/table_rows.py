"""Reads the decoded tables of one offsets partition in log order, a window of offsets at a time.

Several files may contain the same span of the log: copies, merged small files, files of later runs. So each row group
is read when the window reaches it, and its rows after the window wait.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jobs.replaying.log.opened import REPEATED, Opened
from jobs.replaying.log.row_groups import EPOCH, LEAST, MOST, OFFSET, RowGroup, Wanted
from udfs.arrays.nullable import filled

# Of a window, as Parquet counts them before compression. A million rows of commits have fewer.
MOST_WINDOW_BYTES = 64_000_000


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
