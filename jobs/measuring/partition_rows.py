"""What a task reads of one offsets partition: rows of history tables and raw commits from a time on, and snapshots."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.earlier_rows import may_hold, partition_column
from jobs.replaying.history_files import in_order
from jobs.replaying.log_files import EPOCH, OFFSET, LogFile, Opened, Wanted, bounds_of, in_log_order, pieces
from jobs.replaying.slices import Slice
from jobs.storage.stored_path import parquet_source
from schemas.history_words import OffsetEnd
from schemas.tables import TABLES
from udfs.lag.partition_history import COMMITS, READ, only
from udfs.lag.texts import KIND, encoded
from udfs.lag.watermarks import COLUMNS as CAPTURED
from udfs.lag.watermarks import Watermarks
from udfs.replay.leader_epochs import LeaderEpochs
from udfs.replay.nullable import NONE, flags, numbers
from udfs.tables.arrow_schema import table_schema

TO_TIME, ENDED_BY, COMMITTED = "to_time", "ended_by", "committed_offset"
# Decoded tables, of which the newest record of each group counts.
NEWEST = ("classic_group_metadata", "streams_group_topologies")


def history_rows(name: str, files: Sequence[LogFile], wanted: Wanted, groups: Slice, from_time: int | None) -> pa.Table:
    """In the order of the table; of intervals those that reach beyond the time."""
    table = TABLES[name]
    place = partition_column(table)
    schema = schema_of(name, READ[name])
    # Texts stay codes until the rows are chosen and in order: that takes a third of the time.
    as_codes = pa.schema([field.with_type(KIND) if field.type == pa.string() else field for field in schema])
    parts = [as_codes.empty_table()]
    for file in files:
        if file.first_partition <= wanted.partition <= file.last_partition:
            for rows in row_groups(file, name, [*READ[name], place, "cluster"], place, wanted.partition, from_time):
                is_ours = pc.and_(
                    pc.equal(rows.column(place), wanted.partition), pc.equal(rows.column("cluster"), wanted.cluster)
                )
                parts.append(
                    groups.rows(later(only(rows, flags(is_ours)), from_time)).select(schema.names).cast(as_codes)
                )
    found = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    if name in NEWEST:
        return newest_records(found).cast(schema)
    return in_order(found, table).cast(schema)


def newest_records(rows: pa.Table) -> pa.Table:
    """One of each group."""
    newest = rows.group_by("group_id").aggregate([(OFFSET, "max")]).column(f"{OFFSET}_max")
    return rows.filter(pc.is_in(rows.column(OFFSET), value_set=newest))


def schema_of(name: str, columns: Sequence[str]) -> pa.Schema:
    """Any column may be NULL: rows of several tables are looked at together."""
    table = table_schema(TABLES[name])
    return pa.schema([pa.field(each, table.field(each).type) for each in columns])


def row_groups(
    file: LogFile, table: str, columns: Sequence[str], place: str, partition: int, from_time: int | None
) -> Iterator[pa.Table]:
    kept = [field.name for field in schema_of(table, columns) if field.type == pa.string()]
    with pq.ParquetFile(parquet_source(file.path), pre_buffer=False, read_dictionary=kept) as parquet:
        for group in range(parquet.num_row_groups):
            if may_hold(parquet, group, place, partition) and not ended_before(parquet, group, from_time):
                yield parquet.read_row_group(group, columns=sorted({*columns}), use_threads=False)


def ended_before(parquet: pq.ParquetFile, group: int, from_time: int | None) -> bool:
    """Whether all its rows ended before the time, those of offsets because another followed at once."""
    row_group = parquet.metadata.row_group(group)
    columns = {
        row_group.column(place).path_in_schema: row_group.column(place) for place in range(row_group.num_columns)
    }
    if from_time is None or TO_TIME not in columns:
        return False
    told, bounds = columns[TO_TIME].statistics, bounds_of(columns[TO_TIME])
    if told is None or told.null_count or bounds is None:
        return False
    is_over = bool(pa.scalar(bounds[1], pa.timestamp("us", "UTC")).value < from_time)
    is_last = COMMITTED in columns and bounds_of(columns[ENDED_BY]) != (OffsetEnd.COMMIT.value, OffsetEnd.COMMIT.value)
    return is_over and not is_last


def later(rows: pa.Table, from_time: int | None) -> pa.Table:
    """Those that reach beyond the time, and of offsets the last ones: why nothing holds is asked at any time."""
    if from_time is None or TO_TIME not in rows.column_names:
        return rows
    ended = numbers(rows.column(TO_TIME))
    is_wanted = pa.array((ended == NONE) | (ended >= from_time))
    if COMMITTED in rows.column_names:
        is_wanted = pc.or_(is_wanted, pc.fill_null(pc.not_equal(rows.column(ENDED_BY), OffsetEnd.COMMIT.value), True))
    return rows.filter(is_wanted)


def raw_commits(
    files: Sequence[LogFile],
    wanted: Wanted,
    opened: Opened,
    epochs: LeaderEpochs,
    groups: Slice,
    from_time: int | None,
) -> pa.Table:
    """That count, tombstones among them, in log order."""
    schema = schema_of("offset_commits", (*COMMITS, EPOCH))
    parts = [schema.empty_table()]
    for piece in pieces(files, wanted, opened):
        rows = opened.read(piece, schema.names, wanted).cast(schema)
        is_chosen = epochs.counting(np.asarray(rows.column(OFFSET).to_numpy()), leader_epochs(rows))
        if from_time is not None:
            is_chosen &= numbers(rows.column("record_time")) >= from_time
        parts.append(groups.rows(only(rows, is_chosen)))
    found = in_log_order(pa.concat_tables(parts))
    # Archives may have a record with and without its leader's epoch.
    offsets = found.column(OFFSET).to_numpy()
    is_last = np.append(np.diff(offsets) != 0, True)[: len(offsets)]
    return only(found, is_last).select(list(COMMITS)).combine_chunks()


def leader_epochs(rows: pa.Table) -> np.ndarray:
    return np.asarray(rows.column(EPOCH).fill_null(-1).to_numpy())


@lru_cache(maxsize=1)
def watermarks_of(files: tuple[LogFile, ...], cluster: str) -> Watermarks:
    """All shares of a task look at the same snapshots."""
    schema = pa.schema([captured_field(name) for name in CAPTURED])
    parts = [schema.empty_table()]
    repeated = ["topic", "topic_id", "cluster"]
    for file in files:
        with pq.ParquetFile(parquet_source(file.path), pre_buffer=False, read_dictionary=repeated) as parquet:
            rows = parquet.read([*schema.names, "cluster"], use_threads=False)
        names = encoded(rows.column("cluster"))
        if names.dictionary.to_pylist() != [cluster]:
            rows = rows.filter(pc.equal(rows.column("cluster").cast(pa.string()), cluster))
        parts.append(rows.select(schema.names).cast(schema))
    return Watermarks.of(pa.concat_tables(parts))


def captured_field(name: str) -> pa.Field:
    field = table_schema(TABLES["topic_snapshots"]).field(name)
    return field.with_type(KIND) if field.type == pa.string() else field
