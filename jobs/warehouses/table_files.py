"""Table files, written by the task that made the rows: sorted Parquet, with statistics for the Delta log.

A task writes the rows of one offsets partition after the other, each in log order. A row group ends where the partition
ends, unless it would be tiny. So a query for one group or one time range reads only a few row groups.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.storage.failpoints import failpoint
from jobs.storage.places.place import BegunParquet, Place
from jobs.storage.places.together import begun_together
from jobs.warehouses.delta_tables import DataFile
from schemas.tables import TABLES, Table
from udfs.arrays.arrow_schema import table_schema

MOST_ROWS = 131_072
FEWEST_ROWS = 16_384
# Groups with thousands of members make rows of a megabyte.
MOST_BYTES = 24 << 20
STATISTICS_COLUMNS = 12
# Values of a column per batch. For dictionary columns Parquet computes the bounds again for each batch, which with its
# usual 1,024 values takes longer than writing them.
VALUES_AT_ONCE = 32_768
RISING = frozenset(
    {
        *("record_offset", "record_time", "batch_first_offset", "commit_time", "committed_offset"),
        *("from_time", "to_time", "from_record_offset", "to_record_offset", "from_offset", "to_offset"),
        *("evidence_first_offset", "evidence_last_offset", "previous_offset", "delta", "log_end_offset"),
        *("last_commit_time", "start_offset", "end_offset"),
        *("assignment_offset", "move_offset", "move_time", "start_time", "end_time"),
        *("snapshot_time", "lag_raw", "lag", "lag_available", "time_lag_ms"),
        # Of the state that the next replay reads.
        *("seen_offset", "first_record_offset", "last_offset", "history_time", "written_time", "first_commit_time"),
        # It rarely changes from one commit of a partition to the next.
        "leader_epoch",
    }
)
# Texts by which no query selects row groups: making bounds of them takes half as long as writing them.
WITHOUT_BOUNDS = frozenset({"metadata", "via", "confidence"})


class TableFile:
    """One task's file of one table. Nothing is created on disk before there is a row."""

    def __init__(self, folder: Place, table: Table, run_id: str) -> None:
        self.folder, self.table = folder, table
        # The schema of its first rows: text columns may be dictionaries, which Parquet writes without looking up each
        # value.
        self.schema: pa.Schema | None = None
        # The run's id shows a later run which files belong to runs that did not finish.
        self.name = f"part-{run_id}-{uuid.uuid4()}.parquet"
        self.waiting: list[pa.Table] = []
        self.num_waiting = self.waiting_bytes = self.num_rows = 0
        self.partition: int | None = None
        self.writer: pq.ParquetWriter | None = None
        self.begun: BegunParquet | None = None
        self.done: DataFile | None = None

    def write(self, rows: pa.Table, partition: int | None = None) -> None:
        """Writes rows of one offsets partition: the same as before, or a later one."""
        if partition != self.partition and self.num_waiting >= FEWEST_ROWS:
            self.flush()
        self.partition = partition
        if self.schema is None:
            self.schema = with_types_of(rows, table_schema(self.table))
        rows = rows if rows.schema.equals(self.schema) else rows.cast(self.schema)
        self.waiting.append(rows)
        self.num_waiting += rows.num_rows
        self.waiting_bytes += rows.nbytes
        if self.num_waiting >= MOST_ROWS or self.waiting_bytes >= MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self.num_waiting or self.schema is None:
            return
        if self.writer is None:
            self.begun = (self.folder / self.name).begin_parquet(self.table.folder.count("/") + 1)
            self.writer = writer_of(self.begun.sink, self.schema)
        # Parquet stops using a dictionary for a row group when a second one follows.
        rows = pa.concat_tables(self.waiting).unify_dictionaries()
        check_required(self.table, rows)
        self.writer.write_table(rows, row_group_size=self.num_waiting)
        self.num_rows += self.num_waiting
        self.waiting, self.num_waiting, self.waiting_bytes = [], 0, 0

    def end(self) -> DataFile | None:
        """Returns the finished file's entry before the file is closed; on remote storage closing is mostly waiting."""
        self.flush()
        if self.done is None and self.writer is not None and self.begun is not None:
            self.writer.close()
            size = self.begun.num_bytes()
            self.done = DataFile(self.name, size, self.num_rows, statistics(self.writer.writer.metadata))
        return self.done

    def close(self) -> DataFile | None:
        done = self.end()
        if self.begun is not None:
            self.begun.finish()
        return done

    def abandon(self) -> None:
        """The files of a failed task are of no use."""
        if self.writer is not None and self.begun is not None:
            # On a full disk closing the file fails too.
            with suppress(OSError):
                self.writer.close()
            self.begun.abandon()


def with_types_of(rows: pa.Table, schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(rows.schema.field(field.name).type) for field in schema])


Waiting = Callable[[], object]


def closing(root: Place, files: Sequence[TableFile]) -> tuple[list[DataFile | None], Waiting]:
    """Closes files while the caller continues: returns their entries (None for those without a row), and a function
    that waits until they are closed."""
    ended = [file.end() for file in files]
    return ended, begun_together(root, close, [file for file in files if file.begun is not None])


def close(file: TableFile) -> None:
    file.close()
    failpoint("file_written", file.table.name)


@dataclass
class RowFiles:
    """One file for each table that has rows."""

    root: Place
    run_id: str
    files: dict[str, TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        if name not in self.files:
            self.files[name] = TableFile(self.root / TABLES[name].folder, TABLES[name], self.run_id)
        self.files[name].write(rows, partition)

    def closing(self) -> tuple[list[tuple[str, DataFile]], Waiting]:
        """The entries of the files, and a function that waits until they are closed."""
        ended, wait = closing(self.root, list(self.files.values()))
        return [(name, file) for name, file in zip(self.files, ended, strict=True) if file is not None], wait

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()


def writer_of(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        # Offsets, times and lags nearly all differ, and little from row to row: a dictionary is larger than their
        # differences, or is built unnecessarily.
        use_dictionary=[leaf for field in schema if field.name not in RISING for leaf in leaves(field)],
        column_encoding={name: "DELTA_BINARY_PACKED" for name in RISING if name in schema.names},
        # No query selects files or row groups by values inside lists either.
        write_statistics=[
            field.name for field in schema if not pa.types.is_nested(field.type) and field.name not in WITHOUT_BOUNDS
        ],
        store_schema=False,
        write_batch_size=VALUES_AT_ONCE,
    )


def leaves(field: pa.Field, above: str = "") -> Iterator[str]:
    """Paths of the columns that Parquet makes of a field."""
    path = above + field.name
    if pa.types.is_list(field.type):
        yield from leaves(field.type.value_field.with_name("element"), f"{path}.list.")
    elif pa.types.is_map(field.type):
        yield from leaves(field.type.key_field.with_name("key"), f"{path}.key_value.")
        yield from leaves(field.type.item_field.with_name("value"), f"{path}.key_value.")
    elif pa.types.is_struct(field.type):
        for child in field.type:
            yield from leaves(child, f"{path}.")
    else:
        yield path


def check_required(table: Table, rows: pa.Table) -> None:
    """Spark refuses to read a table whose NOT NULL column contains a NULL, so none may ever be written."""
    for column in table.columns:
        if not column.is_nullable and rows.column(column.name).null_count:
            raise AssertionError(f"{table.name}.{column.name}: NULL in a column that takes none")


def statistics(metadata: pq.FileMetaData) -> str:
    """Delta's statistics of a file, from those of its row groups. A column without statistics in some row group gets
    none."""
    minimum: dict[str, Any] = {}
    maximum: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place in range(min(metadata.num_columns, STATISTICS_COLUMNS)):
        chunks = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
        if "." in (name := chunks[0].path_in_schema) or not all(column.is_stats_set for column in chunks):
            continue
        each = [column.statistics for column in chunks]
        nulls[name] = sum(one.null_count for one in each)
        bounded = [one for one in each if one.has_min_max]
        # Parquet keeps no bounds of values longer than 4,096 bytes. The bounds of the other row groups would hide such
        # rows.
        if bounded and all(one.has_min_max or not one.num_values for one in each):
            minimum[name] = plain(min(one.min for one in bounded))
            maximum[name] = plain(max(one.max for one in bounded))
    return json.dumps(
        {"numRecords": metadata.num_rows, "minValues": minimum, "maxValues": maximum, "nullCount": nulls},
        ensure_ascii=False,
    )


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    return value
