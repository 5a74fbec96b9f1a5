"""Reads what a task needs of one offsets partition: rows of history tables and raw commits from a given time on, and
snapshots."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.opened import Opened, pieces
from jobs.replaying.log.partition import in_log_order
from jobs.replaying.log.row_groups import EPOCH, OFFSET, LogFile, Wanted, bounds_of
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.earlier_rows import bounds_in, may_hold, partition_column
from jobs.replaying.tables.history_files import in_order
from jobs.storage.places.place import Place
from schemas.tables import TABLES
from schemas.words.history import OffsetEnd
from udfs.arrays.arrow_schema import table_schema, with_types
from udfs.arrays.nullable import NONE, Flags, numbers
from udfs.arrays.texts import KIND, encoded, with_codes
from udfs.lag.doubtful_times import ClockWatch, DoubtfulTimes, doubtful_times
from udfs.lag.partition_history import CODED, COMMITS, READ, SUBJECT, only
from udfs.lag.watermarks import COLUMNS as CAPTURED
from udfs.lag.watermarks import Snapshots
from udfs.log.leader_epochs import LeaderEpochs

TO_TIME, ENDED_BY, COMMITTED = "to_time", "ended_by", "committed_offset"
# Of both tables that have a row for each commit: the key, and what decides whether a row is needed.
KEYS_OF_OFFSETS = (*SUBJECT, TO_TIME, ENDED_BY, COMMITTED)
KEYS_OF_COMMITS = (*SUBJECT, OFFSET, "record_time", EPOCH)
# Decoded tables of which only the newest record of each group counts.
NEWEST = ("classic_group_metadata", "streams_group_topologies")


def history_pieces(
    name: str,
    files: Sequence[LogFile],
    wanted: Wanted,
    opened: Opened,
    groups: Slice,
    from_time: int | None,
    columns: Sequence[str] | None = None,
) -> Iterator[pa.Table]:
    """Rows of a history table in any order; of intervals, those that extend past the time. Text stays codes until the
    rows are selected and sorted: that takes a third of the time."""
    names, place = READ[name] if columns is None else columns, partition_column(TABLES[name])
    schema = with_codes(schema_of(name, (*dict.fromkeys([*names, place, "cluster"]),)))
    for file in files:
        if file.first_partition <= wanted.partition <= file.last_partition:
            for group, rows in row_groups(file, schema, place, wanted.partition, opened, from_time):
                ours = opened.part(rows, (file.path, group), wanted, place)
                yield groups.rows(later(ours.select(names), from_time))


def history_rows(name: str, pieces: Iterable[pa.Table]) -> pa.Table:
    """All pieces in the table's order."""
    schema = schema_of(name, READ[name])
    with_rows = [rows for rows in pieces if rows.num_rows]
    if not with_rows:
        return (with_codes(schema) if name in CODED else schema).empty_table()
    joined = pa.concat_tables(with_rows).unify_dictionaries().combine_chunks()
    if name in NEWEST:
        return with_types(newest_records(joined), schema)
    ordered = in_order(joined, TABLES[name])
    return ordered if name in CODED else with_types(ordered, schema)


def newest_records(rows: pa.Table) -> pa.Table:
    """One per group."""
    newest = rows.group_by("group_id").aggregate([(OFFSET, "max")]).column(f"{OFFSET}_max")
    return rows.filter(pc.is_in(rows.column(OFFSET), value_set=newest))


@cache
def schema_of(name: str, columns: tuple[str, ...]) -> pa.Schema:
    """Any column may be NULL: rows of several tables are used together."""
    table = table_schema(TABLES[name])
    return pa.schema([pa.field(each, table.field(each).type) for each in columns])


def row_groups(
    file: LogFile, schema: pa.Schema, place: str, partition: int, opened: Opened, from_time: int | None
) -> Iterator[tuple[int, pa.Table]]:
    """Those that may have rows of the offsets partition, with their numbers. A row group of a small table has rows of
    many partitions, and is read once for all."""
    footer = opened.footer(file.path)
    for group in range(footer.num_row_groups):
        if may_hold(footer, group, place, partition) and not ended_before(footer, group, from_time):
            read = partial(read_row_group, file.path, footer, group, schema)
            is_shared = bounds_in(footer, group, place) != (partition, partition)
            yield group, opened.shared.get((file.path, group, (*schema.names,)), read) if is_shared else read()


def read_row_group(path: Place, footer: pq.FileMetaData, group: int, schema: pa.Schema) -> pa.Table:
    texts = [field.name for field in schema if field.type == KIND]
    columns = sorted({*schema.names})
    source = path.row_group_source(footer, group, columns)
    with pq.ParquetFile(source, metadata=footer, pre_buffer=False, read_dictionary=texts) as parquet:
        rows = parquet.read_row_group(group, columns=columns, use_threads=False)
        return with_types(rows.select(schema.names), schema)


def ended_before(footer: pq.FileMetaData, group: int, from_time: int | None) -> bool:
    """Whether all its rows ended before the time; for offsets, whether another offset followed at once."""
    if from_time is None:
        return False
    row_group = footer.row_group(group)
    columns = {
        row_group.column(place).path_in_schema: row_group.column(place) for place in range(row_group.num_columns)
    }
    if TO_TIME not in columns:
        return False
    statistics, bounds = columns[TO_TIME].statistics, bounds_of(columns[TO_TIME])
    if statistics is None or statistics.null_count or bounds is None:
        return False
    is_over = bool(pa.scalar(bounds[1], pa.timestamp("us", "UTC")).value < from_time)
    is_last = COMMITTED in columns and bounds_of(columns[ENDED_BY]) != (OffsetEnd.COMMIT.value, OffsetEnd.COMMIT.value)
    return is_over and not is_last


def later(rows: pa.Table, from_time: int | None) -> pa.Table:
    """Rows that extend past the time, and the last offsets: the reason why no offset is in force matters at any
    time."""
    if from_time is None or TO_TIME not in rows.column_names:
        return rows
    ended = numbers(rows.column(TO_TIME))
    is_wanted = pa.array((ended == NONE) | (ended >= from_time))
    if COMMITTED in rows.column_names:
        is_wanted = pc.or_(is_wanted, pc.fill_null(pc.not_equal(rows.column(ENDED_BY), OffsetEnd.COMMIT.value), True))
    return rows.filter(is_wanted)


@dataclass(frozen=True)
class Since:
    """From when on raw commits are needed. New ones always are: a broker's clock may have gone back by any amount."""

    time: int
    through_offset: int

    def are_needed(self, rows: pa.Table) -> Flags:
        times = numbers(rows.column("record_time"))
        is_new = numbers(rows.column(OFFSET)) > self.through_offset
        return np.asarray((times >= self.time) | (times == NONE) | is_new, np.bool_)


@dataclass(frozen=True)
class RawCommits:
    """Raw commits that count, including tombstones. `since`: None: from the beginning."""

    files: Sequence[LogFile]
    wanted: Wanted
    opened: Opened
    epochs: LeaderEpochs
    groups: Slice
    since: Since | None

    def pieces(self, clock: ClockWatch | None = None, columns: Sequence[str] = (*COMMITS, EPOCH)) -> Iterator[pa.Table]:
        """In any order, with copies and the epochs that decide which copy counts. `clock` looks at the records of all
        groups."""
        schema = with_codes(schema_of("offset_commits", (*columns,)))
        for rows in counting_rows(schema, self.files, self.wanted, self.opened, self.epochs):
            if clock is not None:
                clock.look_at(numbers(rows.column(OFFSET)), numbers(rows.column("record_time")))
            yield self.groups.rows(rows if self.since is None else only(rows, self.since.are_needed(rows)))

    def doubtful(self, clock: ClockWatch) -> DoubtfulTimes:
        """When the times of all groups' records are in doubt."""
        if not clock.has_gone_back:
            return DoubtfulTimes()
        return doubtful_records(self.files, self.wanted, self.opened, self.epochs)


def commit_rows(pieces: Iterable[pa.Table]) -> pa.Table:
    """All pieces in log order, without copies."""
    schema = with_codes(schema_of("offset_commits", (*COMMITS, EPOCH)))
    commits = in_log_order(pa.concat_tables([schema.empty_table(), *pieces]).unify_dictionaries())
    return last_of_copies(commits).select(list(COMMITS)).combine_chunks()


def doubtful_records(files: Sequence[LogFile], wanted: Wanted, opened: Opened, epochs: LeaderEpochs) -> DoubtfulTimes:
    schema = schema_of("offset_commits", (OFFSET, "record_time", EPOCH))
    parts = [schema.empty_table(), *counting_rows(schema, files, wanted, opened, epochs)]
    records = last_of_copies(in_log_order(pa.concat_tables(parts)))
    return doubtful_times(numbers(records.column(OFFSET)), numbers(records.column("record_time")))


def counting_rows(
    schema: pa.Schema, files: Sequence[LogFile], wanted: Wanted, opened: Opened, epochs: LeaderEpochs
) -> Iterator[pa.Table]:
    """Records that no later leader epoch replaced, in pieces."""
    for piece in pieces(files, wanted, opened):
        rows = opened.read(piece, schema.names, wanted).cast(schema)
        yield only(rows, epochs.counting(numbers(rows.column(OFFSET)), leader_epochs(rows)))


def last_of_copies(rows: pa.Table) -> pa.Table:
    # Archives may have a record with and without its leader epoch.
    offsets = rows.column(OFFSET).to_numpy()
    is_last = np.append(np.diff(offsets) != 0, True)[: len(offsets)]
    return only(rows, is_last)


def leader_epochs(rows: pa.Table) -> np.ndarray:
    return np.asarray(rows.column(EPOCH).fill_null(-1).to_numpy())


@lru_cache(maxsize=1)
def snapshots_of(files: tuple[LogFile, ...], cluster: str) -> Snapshots:
    """All slices of a task look at the same snapshots."""
    schema = with_codes(schema_of("topic_snapshots", CAPTURED))
    parts = [schema.empty_table()]
    repeated = ["topic", "topic_id", "cluster"]
    for file in files:
        with pq.ParquetFile(file.path.parquet_source(), pre_buffer=False, read_dictionary=repeated) as parquet:
            rows = parquet.read([*schema.names, "cluster"], use_threads=False)
        names = encoded(rows.column("cluster"))
        if names.dictionary.to_pylist() != [cluster]:
            rows = rows.filter(pc.equal(rows.column("cluster").cast(pa.string()), cluster))
        parts.append(rows.select(schema.names).cast(schema))
    return Snapshots.of(pa.concat_tables(parts))
