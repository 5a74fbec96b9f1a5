"""Which snapshots the warehouse already has, and what they say of the Kafka cluster that they are of."""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.command_line.values import EPOCH
from jobs.output.failure import Failure
from jobs.runs.result import iso
from jobs.sources.log_ids import TOPIC, WORDS
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import clusters_of, file_path, files_of
from jobs.warehouses.older_tables import with_missing_columns
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.arrow_schema import table_schema

OTHER_CLUSTER = "give this Kafka cluster another name: --cluster NAME"

Row = dict[str, Any]

TIME = "captured_time"
MOST_INTERVALS = 3
MILLISECOND = timedelta(milliseconds=1)
NAMED = (TIME, "topic", "topic_id")
NAMED_SCHEMA = pa.schema([table_schema(TABLES["topic_snapshots"]).field(name) for name in NAMED]).remove_metadata()


def new_snapshots(
    warehouse: Warehouse,
    name: str,
    snapshots: pa.Table,
    cluster: str,
    files: Mapping[datetime, str] = MappingProxyType({}),
) -> pa.Table:
    """The rows that the warehouse lacks; those that it has must not say anything else there. `files`: by time, where a
    snapshot was read."""
    held = held_snapshots(warehouse, name, snapshots.column(TIME)) if snapshots.num_rows else None
    if held is None:
        return snapshots
    held = held.filter(pc.equal(held.column("cluster"), cluster))
    key = TABLES[name].key
    known = {key_of(row, key): row for row in held.to_pylist()}
    rows = snapshots.to_pylist()
    for row in rows:
        check_same(warehouse, name, known.get(key_of(row, key)), row, files.get(row[TIME], "--snapshots"))
    return snapshots.filter(pa.array([key_of(row, key) not in known for row in rows], pa.bool_()))


def held_snapshots(warehouse: Warehouse, name: str, times: pa.ChunkedArray) -> pa.Table | None:
    """Only of these times: years of snapshots do not fit into memory."""
    delta = warehouse.open(name)
    if delta is None:
        return None
    bounds, wanted = pc.min_max(times).as_py(), pc.unique(times)
    parts = [table_schema(TABLES[name]).empty_table()]
    for row in files_of(delta).to_pylist():
        if overlap(row["min"].get(TIME), row["max"].get(TIME), bounds):
            parts += rows_of_times(warehouse.path(name) / row["path"], name, bounds, wanted)
    return pa.concat_tables(parts)


def rows_of_times(path: Place, name: str, bounds: dict[str, datetime], wanted: pa.Array) -> Iterator[pa.Table]:
    schema = table_schema(TABLES[name])
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        column = file.schema_arrow.names.index(TIME)
        for group in range(file.num_row_groups):
            statistics = file.metadata.row_group(group).column(column).statistics
            if statistics is None or not statistics.has_min_max or overlap(statistics.min, statistics.max, bounds):
                # A release without some of the columns may have written it.
                rows = with_missing_columns(file.read_row_group(group, schema.names, use_threads=False), schema, path)
                yield rows.filter(pc.is_in(rows.column(TIME), wanted))


def overlap(low: datetime | None, high: datetime | None, bounds: dict[str, datetime]) -> bool:
    return low is None or high is None or (low <= bounds["max"] and bounds["min"] <= high)


@dataclass(frozen=True)
class StoredSnapshots:
    """The ids in snapshots of a cluster that the warehouse has."""

    warehouse: Warehouse
    cluster: str

    @cached_property
    def rows(self) -> pa.Table:
        """Time, cluster id and id of the offsets topic of each snapshot."""
        columns = [TIME, *WORDS]
        rows = self.warehouse.rows("cluster_snapshots", columns, self.cluster)
        return table_schema(TABLES["cluster_snapshots"]).empty_table().select(columns) if rows is None else rows

    def ids(self, kind: str) -> set[str]:
        """Snapshots that an earlier release stored have the topic's id only in `topic_snapshots`, which may have
        millions of rows: the first one that is found there counts for all."""
        known = set(pc.unique(self.rows.column(kind)).drop_null().to_pylist())
        return known | {each for _, each in islice(self.unlisted(), 1)} if kind == TOPIC else known

    def unlisted(self) -> Iterator[tuple[datetime, str]]:
        """Ids of the offsets topic that only `topic_snapshots` has, with their times."""
        times = self.rows.filter(self.rows.column(TOPIC).is_null()).column(TIME)
        if len(times):
            for rows in self.topics():
                is_it = pc.and_(pc.equal(rows.column("topic"), OFFSETS_TOPIC), pc.is_in(rows.column(TIME), times))
                found = rows.filter(is_it)
                yield from zip(found.column(TIME).to_pylist(), found.column("topic_id").to_pylist(), strict=True)

    def topics(self, most_rows: int | None = None) -> Iterator[pa.Table]:
        """Time, topic and id of each topic in a snapshot, where it has an id; the newest first. `most_rows`: to
        read."""
        delta, num_rows = self.warehouse.open("topic_snapshots"), 0
        folder = self.warehouse.path("topic_snapshots")
        files = [
            row for row in ([] if delta is None else files_of(delta).to_pylist()) if clusters_of(row, [self.cluster])
        ]
        for row in sorted(files, key=lambda row: str((row["max"] or {}).get(TIME)), reverse=True):
            for rows in named_topics(folder / file_path(row["path"]), self.cluster):
                yield rows
                num_rows += rows.num_rows
                if most_rows is not None and num_rows >= most_rows:
                    return

    def ids_by_time(self) -> pa.Table:
        """`rows`, also with what only `topic_snapshots` has."""
        unlisted = dict(self.unlisted())
        topic_ids = [
            unlisted.get(time) if topic_id is None else topic_id
            for time, topic_id in zip(*(self.rows.column(name).to_pylist() for name in (TIME, TOPIC)), strict=True)
        ]
        place = self.rows.column_names.index(TOPIC)
        return self.rows.set_column(place, TOPIC, pa.array(topic_ids, pa.string())).sort_by(TIME)


def named_topics(path: Place, cluster: str) -> Iterator[pa.Table]:
    columns = ["cluster", *NAMED]
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False, read_dictionary=["cluster", *NAMED[1:]]) as file:
        for group in range(file.num_row_groups):
            if has_values(file.metadata.row_group(group), "topic_id"):
                rows = file.read_row_group(group, columns, use_threads=False)
                is_ours = pc.and_(pc.equal(rows.column("cluster"), cluster), rows.column("topic_id").is_valid())
                named = rows.filter(is_ours).unify_dictionaries().group_by([*NAMED], use_threads=False)
                yield named.aggregate([]).select(NAMED).cast(NAMED_SCHEMA)


def has_values(group: pq.RowGroupMetaData, column: str) -> bool:
    """FALSE: the group says that all of them are NULL."""
    each = next(
        group.column(place) for place in range(group.num_columns) if group.column(place).path_in_schema == column
    )
    statistics = each.statistics
    return statistics is None or not statistics.has_null_count or statistics.null_count < group.num_rows


def key_of(row: Row, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key)


def check_same(warehouse: Warehouse, name: str, held: Row | None, row: Row, file: str) -> None:
    for column, value in row.items():
        theirs = None if held is None else held[column]
        if column != "run_id" and None not in (value, theirs) and value != theirs:
            subject = ", ".join(f"{each} {row[each]}" for each in TABLES[name].key if each not in ("cluster", TIME))
            text = f"{column} {value}{subject and f' of {subject}'} at {row[TIME]}"
            stored = f"the warehouse has {theirs} of cluster {row['cluster']} at this time"
            remove = drop_command(warehouse, row["cluster"], [row[TIME]], [row[TIME]])
            line = f"{file}: {text}, but {stored}; if that is wrong, remove it with `{remove}`, else {OTHER_CLUSTER}"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)


# What removes snapshots


def drop_command(warehouse: Warehouse, cluster: str, foreign: Collection[datetime], every: Collection[datetime]) -> str:
    """As few intervals as take out these snapshots and no others. Where others lie between them again and again, one
    interval takes out all: files of the others can be read again."""
    named = f" --cluster {shlex.quote(cluster)}" if len(warehouse.clusters()) > 1 else ""
    words = f"--warehouse {shlex.quote(warehouse.address)}{named}"
    intervals = intervals_of(foreign, every)
    if len(intervals) > MOST_INTERVALS:
        intervals = [(intervals[0][0], intervals[-1][1])]
    return " && ".join(
        f"groupscope maintain --drop-snapshots {iso_of(first)}..{iso_of(last + MILLISECOND)} {words}"
        for first, last in intervals
    )


def intervals_of(foreign: Collection[datetime], every: Collection[datetime]) -> list[tuple[datetime, datetime]]:
    """The first and the last of foreign snapshots that follow each other."""
    chosen = set(foreign)
    runs = [list(some) for is_one, some in groupby(sorted({*every, *chosen}), chosen.__contains__) if is_one]
    return [(some[0], some[-1]) for some in runs]


def iso_of(time: Any) -> str:
    return iso((time - EPOCH) // MILLISECOND)
