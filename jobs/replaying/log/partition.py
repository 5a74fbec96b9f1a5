"""The log of one offsets partition from the decoded tables: the records that count, in log order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.opened import Opened, pieces
from jobs.replaying.log.row_groups import EPOCH, MOST, OFFSET, LogFile, RowGroup, Wanted
from jobs.replaying.log.slices import Slice
from jobs.replaying.log.table_rows import TableRows, ends_of_windows, epochs_of, offsets_of, times_of
from schemas.tables.decoded_records import REJECTED_RECORDS, TABLES
from udfs.log.coverage import NO_TIME, Coverage
from udfs.log.leader_epochs import NO_EPOCH, LeaderEpochs

COMMITS, MARKERS, REJECTED = "offset_commits", "transaction_markers", REJECTED_RECORDS.name
GROUP_TABLES = tuple(table.name for table in TABLES if table.name not in (COMMITS, MARKERS, REJECTED))
# Tables whose tombstones delete a group.
DELETING = ("classic_group_metadata", "group_metadata")
# Records that no replay reads.
LEFT_OUT = frozenset({"cluster", "offsets_partition", "key_version", "record_bytes", "run_id", "out_of_range"})
# Of commits in addition: they are most of the log.
LEFT_OUT_OF_COMMITS = LEFT_OUT | {"value_version", "batch_first_offset"}
COLUMNS = {
    table.name: [
        column.name
        for column in table.columns
        if column.name not in (LEFT_OUT_OF_COMMITS if table.name == COMMITS else LEFT_OUT)
    ]
    for table in TABLES
    if table.name != REJECTED
}
REJECTED_COLUMNS = [
    OFFSET, "record_time", EPOCH, "record_type", "reason", "part", "field", "key_bytes", "batch_first_offset",
]  # fmt: skip
SURVEYED = {
    COMMITS: ["is_transactional", "is_tombstone", "group_id", "topic"],
    REJECTED: ["reason"],
    **{name: ["group_id"] for name in GROUP_TABLES},
}
# Records of types unknown to this replay: they contain no history of groups.
FOREIGN = "unknown_record_type"
WINDOW_ROWS = 1 << 18
TOMBSTONES = pa.schema([("group_id", pa.string()), ("topic", pa.string()), ("record_time", pa.timestamp("us", "UTC"))])


@dataclass
class Survey:
    """`first_records`: by group of the slice, offset and time of its first record. `tombstones`: of offsets of all
    groups."""

    slice: Slice
    first_records: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    tombstones: list[pa.Table] = field(default_factory=list)
    num_records: int = 0

    def add(self, parts: Mapping[str, pa.Table]) -> None:
        self.num_records += sum(rows.num_rows for rows in parts.values())
        for name, rows in parts.items():
            if name == COMMITS or name in GROUP_TABLES:
                self.add_groups(rows)
            if name == COMMITS:
                gone = rows.select(TOMBSTONES.names).filter(rows.column("is_tombstone"))
                self.tombstones.append(gone.cast(TOMBSTONES))

    def add_groups(self, rows: pa.Table) -> None:
        ours = self.slice.rows(rows)
        codes, names = codes_and_values(ours.column("group_id"))
        # The first row of each code. Rows are in log order: of equal places the last write wins, so they are written
        # from the end.
        first = np.full(len(names), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        places = first[first >= 0]
        offsets, times = offsets_of(ours)[places].tolist(), times_of(ours)[places].tolist()
        for code, offset, time in zip(codes[places].tolist(), offsets, times, strict=True):
            before = self.first_records.get(names[code])
            if before is None or offset < before[0]:
                self.first_records[names[code]] = (offset, None if time == NO_TIME else time)

    def all_tombstones(self) -> pa.Table:
        return pa.concat_tables([TOMBSTONES.empty_table(), *self.tombstones])


def codes_and_values(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Codes, and the value of each code."""
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        return np.empty(0, np.int32), []
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False)), encoded.dictionary.to_pylist()


@dataclass
class PartitionLog:
    """`doubled`: offsets of records that exist with and without a leader epoch."""

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
        without, with_epoch = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        unread = []
        for piece in self.all_pieces(list(self.row_groups)):
            if piece.epoch is not None:
                self.epochs.begin(piece.epoch, piece.first)
                unread.append(piece)
                continue
            offsets, epochs = self.offsets_and_epochs(piece)
            has_epoch = epochs != NO_EPOCH
            without.append(offsets[~has_epoch])
            with_epoch.append(offsets[has_epoch])
            for epoch in np.unique(epochs[has_epoch]).tolist():
                self.epochs.begin(epoch, int(offsets[epochs == epoch].min()))
        missing = np.concatenate(without)
        if len(missing):
            with_epoch += [self.offsets_and_epochs(piece)[0] for piece in unread]
            self.doubled = np.intersect1d(missing, np.concatenate(with_epoch))

    def offsets_and_epochs(self, piece: RowGroup) -> tuple[np.ndarray, np.ndarray]:
        rows = self.opened.read(piece, [OFFSET, EPOCH], self.wanted)
        placed = rows.filter(pc.is_valid(rows.column(OFFSET)))
        return offsets_of(placed), epochs_of(placed)

    def counting(self, rows: pa.Table) -> np.ndarray:
        offsets, epochs = offsets_of(rows), epochs_of(rows)
        mask = self.epochs.counting(offsets, epochs)
        if len(self.doubled):
            mask &= ~((epochs == NO_EPOCH) & np.isin(offsets, self.doubled))
        return mask

    def that_count(self, rows: pa.Table) -> pa.Table:
        mask = self.counting(rows)
        return rows if mask.all() else rows.filter(pa.array(mask))

    def survey(self, coverage: Coverage, of: Slice) -> "Survey":
        """Reads only the offset and the group of every record."""
        survey = Survey(of)
        tables = {
            name: self.rows(name, [OFFSET, EPOCH, "record_time", *SURVEYED.get(name, ())]) for name in self.row_groups
        }
        stops = [stretch.last_offset for stretch in coverage.stretches]
        for end in ends_of_windows(self.all_pieces(list(self.row_groups)), WINDOW_ROWS, stops):
            parts = {name: rows for name, table in tables.items() if (rows := table.take_until(end)) is not None}
            parts = {
                name: self.that_count(rows.filter(pc.is_valid(rows.column(OFFSET)))) for name, rows in parts.items()
            }
            if parts:
                self.survey_window(parts, coverage)
                survey.add(parts)
        return survey

    def survey_window(self, parts: Mapping[str, pa.Table], coverage: Coverage) -> None:
        is_plain = COMMITS in parts and parts[COMMITS].column("is_transactional").null_count > 0
        offsets = np.concatenate([offsets_of(rows) for rows in parts.values()])
        order = np.argsort(offsets, kind="stable")
        times = np.concatenate([times_of(rows) for rows in parts.values()])[order]
        epochs = np.concatenate([epochs_of(rows) for rows in parts.values()])[order]
        is_replayable = np.concatenate([replayable(name, rows) for name, rows in parts.items()])[order]
        coverage.add(offsets[order], times, is_replayable, is_plain)
        self.epochs.add(offsets[order], epochs, times)

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
        joined = pa.concat_tables(parts)
        joined = joined.filter(pc.is_valid(joined.column(OFFSET)))
        return self.that_count(joined).sort_by(OFFSET)


def replayable(name: str, rows: pa.Table) -> np.ndarray:
    if name != REJECTED:
        return np.ones(rows.num_rows, np.bool_)
    return np.asarray(pc.equal(rows.column("reason"), FOREIGN).to_numpy(zero_copy_only=False)).astype(np.bool_)
