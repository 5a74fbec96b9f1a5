"""The log of one offsets partition from the decoded tables: the records that count, in log order, a window of offsets
at a time.

Several files may contain the same span of the log: copies, merged small files, files of later runs. So each row group
is read when the window reaches it, and its rows after the window wait.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.opened import REPEATED, Opened, pieces
from jobs.replaying.log.row_groups import EPOCH, LEAST, MOST, OFFSET, LogFile, RowGroup, Wanted
from schemas.tables import SUBJECTS
from udfs.arrays.nullable import filled
from udfs.arrays.texts import KIND
from udfs.log.coverage import NO_TIME
from udfs.log.leader_epochs import NO_EPOCH, LeaderEpochs

COMMITS, MARKERS, REJECTED = "offset_commits", "transaction_markers", "rejected_records"
GROUP_TABLES = tuple(table.name for table in SUBJECTS["decoded"] if table.name not in (COMMITS, MARKERS, REJECTED))
# Tables whose tombstones delete a group.
DELETING = ("classic_group_metadata", "group_metadata")
# Records that no replay reads.
LEFT_OUT = frozenset(
    {"cluster", "offsets_partition", "key_version", "batch_bytes", "record_bytes", "run_id", "out_of_range"}
)
# Of commits in addition: they are most of the log.
LEFT_OUT_OF_COMMITS = LEFT_OUT | {"value_version", "batch_first_offset"}
COLUMNS = {
    table.name: [
        column.name
        for column in table.columns
        if column.name not in (LEFT_OUT_OF_COMMITS if table.name == COMMITS else LEFT_OUT)
    ]
    for table in SUBJECTS["decoded"]
    if table.name != REJECTED
}
REJECTED_COLUMNS = [
    OFFSET, "record_time", EPOCH, "record_type", "reason", "part", "field", "key_bytes", "batch_first_offset",
]  # fmt: skip
WINDOW_ROWS = 1 << 18
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
        # In files that Spark has merged, all columns may be NULL.
        rows = in_log_order(pa.concat_tables(parts, promote_options="default"))
        split = int(np.searchsorted(offsets_of(rows), last, "right"))
        self.waiting = rows.slice(split) if split < rows.num_rows else None
        return rows.slice(0, split) if split else None


@dataclass
class PartitionLog:
    """`doubled`: offsets of records without a leader epoch, beside one that counts."""

    wanted: Wanted
    files: Mapping[str, Sequence[LogFile]]
    opened: Opened = field(default_factory=Opened)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    doubled: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    row_groups: dict[str, list[RowGroup]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.row_groups = {name: pieces(files, self.wanted, self.opened) for name, files in self.files.items()}

    def all_pieces(self, names: Sequence[str]) -> list[RowGroup]:
        return [piece for name in names for piece in self.row_groups.get(name, ())]

    def rows(self, name: str, columns: Sequence[str]) -> TableRows:
        return TableRows(self.opened, self.wanted, columns, self.row_groups.get(name, []))

    def parts(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Rows of one table, in any order."""
        for piece in self.row_groups.get(name, ()):
            yield self.opened.read(piece, columns, self.wanted)

    def is_empty(self) -> bool:
        """Row groups that are shared with other partitions must be read to know this."""
        return all(not rows.num_rows for rows in self.offset_parts())

    def offset_parts(self) -> Iterator[pa.Table]:
        for name in self.row_groups:
            for piece in self.row_groups[name]:
                yield self.opened.read(piece, [OFFSET, EPOCH], self.wanted)

    def offsets_between(self, first: int, last: int) -> np.ndarray:
        """Offsets of known records, each as often as it exists."""
        parts = [np.empty(0, np.int64)]
        for piece in self.all_pieces(list(self.row_groups)):
            if piece.first <= last and piece.last >= first:
                offsets = self.opened.read(piece, [OFFSET], self.wanted).column(OFFSET).drop_null().to_numpy()
                parts.append(offsets[(offsets >= first) & (offsets <= last)])
        return np.concatenate(parts)

    def first_offset(self) -> int | None:
        firsts = [pc.min(part.column(OFFSET)).as_py() for part in self.offset_parts()]
        return min((first for first in firsts if first is not None), default=None)

    def begin_epochs(self) -> None:
        """Must run before anything is read: which records count depends on where higher epochs begin, later in the
        log."""
        without, named = [np.empty(0, np.int64)], []
        unread = []
        for piece in self.all_pieces(list(self.row_groups)):
            if piece.epoch is not None:
                self.epochs.begin(piece.epoch, piece.first)
                unread.append(piece)
                continue
            offsets, epochs = self.offsets_and_epochs(piece)
            has_epoch = epochs != NO_EPOCH
            without.append(offsets[~has_epoch])
            named.append((offsets[has_epoch], epochs[has_epoch]))
            for epoch in np.unique(epochs[has_epoch]).tolist():
                self.epochs.begin(epoch, int(offsets[epochs == epoch].min()))
        missing = np.concatenate(without)
        if len(missing):
            named += [self.offsets_and_epochs(piece) for piece in unread]
            that_count = [offsets[self.epochs.counting(offsets, epochs)] for offsets, epochs in named]
            self.doubled = np.intersect1d(missing, np.concatenate(that_count))

    def offsets_and_epochs(self, piece: RowGroup) -> tuple[np.ndarray, np.ndarray]:
        rows = self.opened.read(piece, [OFFSET, EPOCH], self.wanted)
        rows = placed(rows)
        return offsets_of(rows), epochs_of(rows)

    def counting(self, rows: pa.Table) -> np.ndarray:
        offsets, epochs = offsets_of(rows), epochs_of(rows)
        mask = self.epochs.counting(offsets, epochs)
        if len(self.doubled):
            mask &= ~((epochs == NO_EPOCH) & np.isin(offsets, self.doubled))
        return mask

    def that_count(self, rows: pa.Table) -> pa.Table:
        mask = self.counting(rows)
        return rows if mask.all() else rows.filter(pa.array(mask))

    def windows(
        self, names: Sequence[str], stops: Sequence[int], most_rows: int = WINDOW_ROWS
    ) -> Iterator[tuple[int, dict[str, pa.Table]]]:
        """Records that count, in log order. No window extends past one of the stops."""
        tables = {name: self.rows(name, COLUMNS[name]) for name in names}
        for end in ends_of_windows(self.all_pieces(names), most_rows, stops):
            parts = {name: rows for name, table in tables.items() if (rows := table.take_until(end)) is not None}
            yield end, {name: self.that_count(rows) for name, rows in parts.items()}

    def is_torn(self, through: int, time: int | None) -> bool:
        """Whether the earlier runs ended inside what may be one operation of a group."""
        for name in GROUP_TABLES:
            for piece in self.row_groups.get(name, ()):
                rows = self.opened.read(piece, ["batch_first_offset", "record_time"], self.wanted)
                batch = rows.column("batch_first_offset")
                if (first := pc.min(batch).as_py()) is not None and first <= through:
                    return True
                if batch.null_count and time is not None and time != NO_TIME:
                    times = rows.filter(batch.is_null()).column("record_time").cast(pa.int64())
                    least = pc.min(times).as_py()
                    if least is None or least <= time:
                        return True
        return False

    def deletion_times(self, through: int = MOST) -> pa.Array:
        """Distinct times of tombstones of groups and offsets, in records up to that offset."""
        times = []
        for name in (COMMITS, *DELETING):
            for piece in self.row_groups.get(name, ()):
                rows = self.opened.read(piece, [OFFSET, "is_tombstone", "record_time"], self.wanted)
                is_chosen = pc.and_(rows.column("is_tombstone"), pc.less_equal(rows.column(OFFSET), through))
                times.append(pc.unique(rows.filter(is_chosen).column("record_time").cast(pa.int64())))
        return pc.unique(pa.chunked_array(times, pa.int64())).drop_null()

    def rejected(self) -> pa.Table:
        """Records that cannot be decoded but have an offset in the log."""
        rows = self.rows(REJECTED, REJECTED_COLUMNS)
        parts = [self.opened.read(piece, REJECTED_COLUMNS, self.wanted) for piece in rows.pieces]
        if not parts:
            return None
        return self.that_count(placed(pa.concat_tables(parts))).sort_by(OFFSET)


def as_read(schema: pa.Schema) -> pa.Schema:
    """The types of columns that `Opened` reads: rows of pieces, and none, must go together."""
    return pa.schema([field.with_type(KIND) if field.name in REPEATED else field for field in schema])


def placed(rows: pa.Table) -> pa.Table:
    """Without rejected records that have no offset."""
    offsets = rows.column(OFFSET)
    return rows.filter(pc.is_valid(offsets)) if offsets.null_count else rows


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


def codes_and_values(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Codes, and the value of each code."""
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        return np.empty(0, np.int32), []
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False)), encoded.dictionary.to_pylist()


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
