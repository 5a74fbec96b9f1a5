"""The rows of one slice, a range of keys after the other: so few at once that a worker can hold them, however many
commits a partition or a group has."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

import pyarrow as pa

from jobs.measuring.partition_rows import (
    KEYS_OF_COMMITS,
    KEYS_OF_OFFSETS,
    RawCommits,
    commit_rows,
    history_pieces,
    history_rows,
    snapshots_of,
)
from jobs.measuring.spilled_rows import SpilledRows
from jobs.measuring.task_messages import MeasuringInput
from jobs.replaying.task.messages import PartitionSlice
from udfs.arrays.nullable import NONE, numbers
from udfs.lag.doubtful_times import ClockWatch, DoubtfulTimes
from udfs.lag.key_ranges import EVERY_KEY, KeyRange, parts_by_range, ranges_of, rows_by_key
from udfs.lag.partition_history import READ, RECORD_AND_TIME, PartitionHistory, Reach, named_topics

# The name of a table, and some of its rows.
NamedRows = tuple[str, pa.Table]
Rows = TypeVar("Rows", NamedRows, pa.Table)

OFFSETS, COMMITS = "offset_history", "offset_commits"
# Small tables of which old rows count too: since when the log is known, and how each group lived.
WHOLE = ("history_coverage", "group_state_intervals", "membership_intervals")
# Of both tables at once: a slice with fewer is one range. A range of larger slices has about `RANGE_ROWS`: what was
# read and what is made of it stay near each other in memory, and free memory between them does not join again.
MOST_ROWS, RANGE_ROWS = 900_000, 400_000
# For tables with rows about times: the records that begin and end a row, and their times.
RECORDS_AND_TIMES = (
    ("from_record_offset", "from_time"),
    ("to_record_offset", "to_time"),
    ("assignment_offset", "start_time"),
    ("record_offset", "record_time"),
)


@dataclass(frozen=True)
class Settled:
    """What earlier runs have settled, and the newest record that they knew."""

    time: int | None
    through_offset: int | None

    def is_changed_by(self, rows: pa.Table) -> bool:
        """Whether new records are about a settled time, for example by a rebalance, which begins before its record is
        written, or after a broker's clock went back."""
        if self.time is None or self.through_offset is None:
            return False
        for offset, time in RECORDS_AND_TIMES:
            if {offset, time} <= {*rows.column_names}:
                at = numbers(rows.column(time))
                is_new = numbers(rows.column(offset)) > self.through_offset
                if bool((is_new & (at < self.time) & (at != NONE)).any()):
                    return True
        return False

    def is_doubted_by(self, doubtful: DoubtfulTimes) -> bool:
        """While a clock is wrong, each new record may put more of the earlier times in doubt."""
        if self.time is None or self.through_offset is None:
            return False
        return any(each.begin < self.time and each.last_offset > self.through_offset for each in doubtful.doubts)


@dataclass
class SliceRows:
    """`from_time`: from when on history is read. Of the two tables that have a row for each commit only those of one
    range of keys are held; the others are on the disk. `ranges`: in lists, of which no two share a group. `is_late`:
    whether they change what is settled."""

    run_input: MeasuringInput
    partition_slice: PartitionSlice
    from_time: int | None
    commits: RawCommits
    settled: Settled
    reach: Reach = field(default_factory=Reach)
    spilled: SpilledRows = field(default_factory=SpilledRows)
    newest: PartitionHistory | None = None
    num_commits: int = 0
    is_late: bool = False

    def __post_init__(self) -> None:
        clock = ClockWatch()
        windows = self.note_windows(self.both_tables(clock))
        first, are_all = first_rows(windows, MOST_ROWS)
        self.ranges = [[EVERY_KEY]] if are_all else self.ranges_of_keys()
        if not are_all:
            self.spill(chain(hand_over(first), windows))
        self.doubtful = self.commits.doubtful(clock)
        self.tables = {name: history_rows(name, self.history_pieces(name)) for name in READ if name != OFFSETS}
        for name in {*RECORD_AND_TIME} & {*self.tables}:
            self.reach.add(name, self.tables[name], self.run_input.as_of_time)
        self.is_late |= self.settled.is_doubted_by(self.doubtful)
        self.is_late |= any(map(self.settled.is_changed_by, self.tables.values()))
        if are_all:
            offsets, commits = ([rows for name, rows in first if name == each] for each in (OFFSETS, COMMITS))
            first.clear()
            self.newest = self.history_of(EVERY_KEY, hand_over(offsets), commit_rows(hand_over(commits)))

    def __enter__(self) -> "SliceRows":
        return self

    def __exit__(self, *error: object) -> None:
        self.spilled.close()
        self.forget()

    def forget(self) -> None:
        """Frees a history at once: what was made of it knows it in turn."""
        if self.newest is not None:
            self.newest.made.clear()
        self.newest = None

    def both_tables(self, clock: ClockWatch) -> Iterator[NamedRows]:
        for rows in self.history_pieces(OFFSETS):
            yield OFFSETS, rows
        for rows in self.commits.pieces(clock):
            yield COMMITS, rows

    def note_windows(self, windows: Iterable[NamedRows]) -> Iterator[NamedRows]:
        for name, rows in windows:
            self.reach.add(name, rows, self.run_input.as_of_time)
            self.is_late |= self.settled.is_changed_by(rows)
            self.num_commits += rows.num_rows if name == COMMITS else 0
            yield name, rows

    def history_pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        files, commits = self.run_input.files.get(name, ()), self.commits
        from_time = None if name in WHOLE else self.from_time
        return history_pieces(name, files, commits.wanted, commits.opened, commits.groups, from_time, columns)

    def ranges_of_keys(self) -> list[list[KeyRange]]:
        """Reads a few columns of all rows before most rows are read: rows are written by range, and only counts show
        where ranges end."""
        keys = chain(self.history_pieces(OFFSETS, KEYS_OF_OFFSETS), self.commits.pieces(columns=KEYS_OF_COMMITS))
        return ranges_of(map(rows_by_key, keys), RANGE_ROWS)

    def spill(self, windows: Iterable[NamedRows]) -> None:
        for name, rows in windows:
            for number, part in parts_by_range(self.ranges[0][0].bounds, rows):
                self.spilled.write(name, number, part)

    def history(self, keys: KeyRange) -> PartitionHistory:
        """Of one of the ranges. It must not be kept: its memory is needed for the next one."""
        if self.newest is None or self.newest.keys is not keys:
            self.forget()
            self.newest = self.history_of(keys, self.spilled.read(OFFSETS, keys.number), self.commits_of(keys))
        return self.newest

    def commits_of(self, keys: KeyRange) -> pa.Table:
        if self.newest is not None and self.newest.keys is keys:
            return self.newest.commits
        return commit_rows(self.spilled.read(COMMITS, keys.number))

    def history_of(self, keys: KeyRange, offsets: Iterable[pa.Table], commits: pa.Table) -> PartitionHistory:
        run_input = self.run_input
        tables = {name: keys.groups.rows(rows) for name, rows in self.tables.items()}
        tables[OFFSETS] = history_rows(OFFSETS, offsets)
        return PartitionHistory(
            offsets_partition=self.partition_slice.partition,
            tables=tables,
            commits=commits,
            watermarks=snapshots_of(tuple(run_input.snapshots), run_input.cluster).of_topics(
                named_topics(tables, commits)
            ),
            as_of_time=run_input.as_of_time,
            broker=run_input.broker,
            doubtful=self.doubtful,
            keys=keys,
            reach=self.reach,
            early_end=run_input.early_ends.get(self.partition_slice.partition),
        )


def first_rows(windows: Iterator[NamedRows], most_rows: int) -> tuple[list[NamedRows], bool]:
    """Until they have more rows than that, and whether these are all."""
    first, num_rows = [], 0
    for window in windows:
        first.append(window)
        num_rows += window[1].num_rows
        if num_rows > most_rows:
            return first, False
    return first, True


def hand_over(windows: list[Rows]) -> Iterator[Rows]:
    """One after the other, each free as soon as the reader has done with it."""
    windows.reverse()
    while windows:
        yield windows.pop()
