"""What the log of one offsets partition has, before it is replayed: where every record is, which groups have records,
and which offsets are missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import (
    COMMITS,
    GROUP_TABLES,
    REJECTED,
    WINDOW_ROWS,
    PartitionLog,
    codes_and_values,
    ends_of_windows,
    epochs_of,
    offsets_of,
    placed,
    times_of,
)
from jobs.replaying.log.row_groups import EPOCH, OFFSET
from jobs.replaying.log.slices import Slice
from udfs.log.coverage import NO_TIME, Coverage

SURVEYED = {
    COMMITS: ["is_transactional", "is_tombstone", "group_id", "topic"],
    REJECTED: ["reason"],
    **{name: ["group_id"] for name in GROUP_TABLES},
}
# Records of types unknown to this replay: they contain no history of groups.
FOREIGN = "unknown_record_type"
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


def survey_of(log: PartitionLog, coverage: Coverage, of: Slice) -> Survey:
    """Reads only the offset and the group of every record."""
    survey = Survey(of)
    tables = {name: log.rows(name, [OFFSET, EPOCH, "record_time", *SURVEYED.get(name, ())]) for name in log.row_groups}
    stops = [stretch.last_offset for stretch in coverage.stretches]
    for end in ends_of_windows(log.all_pieces(list(log.row_groups)), WINDOW_ROWS, stops):
        parts = {name: rows for name, table in tables.items() if (rows := table.take_until(end)) is not None}
        parts = {name: log.that_count(placed(rows)) for name, rows in parts.items()}
        if parts:
            survey_window(log, parts, coverage)
            survey.add(parts)
    return survey


def survey_window(log: PartitionLog, parts: Mapping[str, pa.Table], coverage: Coverage) -> None:
    is_plain = COMMITS in parts and parts[COMMITS].column("is_transactional").null_count > 0
    offsets = np.concatenate([offsets_of(rows) for rows in parts.values()])
    order = np.argsort(offsets, kind="stable")
    times = np.concatenate([times_of(rows) for rows in parts.values()])[order]
    epochs = np.concatenate([epochs_of(rows) for rows in parts.values()])[order]
    is_replayable = np.concatenate([replayable(name, rows) for name, rows in parts.items()])[order]
    coverage.add(offsets[order], times, is_replayable, is_plain)
    log.epochs.add(offsets[order], epochs, times)


def replayable(name: str, rows: pa.Table) -> np.ndarray:
    if name != REJECTED:
        return np.ones(rows.num_rows, np.bool_)
    return np.asarray(pc.equal(rows.column("reason"), FOREIGN).to_numpy(zero_copy_only=False)).astype(np.bool_)
