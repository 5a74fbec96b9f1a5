"""Table files, written by the task that made the rows: sorted Parquet, with statistics for the Delta log.

A task brings the rows of one offsets partition after the other, each in log order. A row group ends where the partition
does, unless it would be tiny: who asks for one group or one time range then reads few of them.
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

from jobs.storage.stored_path import BegunParquet, Place
from jobs.storage.together import begun_together
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.failpoints import failpoint
from schemas.columns import Table
from schemas.tables import TABLES
from udfs.tables.arrow_schema import table_schema

MOST_ROWS = 131_072
FEWEST_ROWS = 16_384
# Groups of thousands of members make rows of a megabyte.
MOST_BYTES = 24 << 20
STATISTICS_COLUMNS = 12
# Of a column: bounds of texts that are codes are looked for anew in each batch, which with Parquet's usual 1,024 values
# takes longer than writing them.
VALUES_AT_ONCE = 32_768
RISING = frozenset(
    {
        *("record_offset", "record_time", "batch_first_offset", "commit_time", "committed_offset"),
        *("from_time", "to_time", "from_offset", "to_offset", "evidence_first_offset", "evidence_last_offset"),
        *("previous_offset", "delta", "log_end_offset", "last_commit_time", "start_offset", "end_offset"),
        *("assignment_offset", "move_offset", "move_time", "start_time", "end_time"),
    }
)


class TableFile:
    """One table's file of one task. Nothing is made on disk before there is a row."""

    def __init__(self, folder: Place, table: Table, run_id: str) -> None:
        self.folder, self.table = folder, table
        # Of its first rows: texts of the table may be dictionaries, which Parquet writes without looking each up.
        self.schema: pa.Schema | None = None
        # By the run's id a later run tells the files of attempts that never came to an end.
        self.name = f"part-{run_id}-{uuid.uuid4()}.parquet"
        self.waiting: list[pa.Table] = []
        self.num_waiting = self.waiting_bytes = self.num_rows = 0
        self.partition: int | None = None
        self.writer: pq.ParquetWriter | None = None
        self.begun: BegunParquet | None = None
        self.done: DataFile | None = None

    def write(self, rows: pa.Table, partition: int | None = None) -> None:
        """Rows of one offsets partition, that of the rows before or a later one."""
        check_required(self.table, rows)
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
            self.begun = BegunParquet(self.folder / self.name)
            self.writer = writer_of(self.begun.sink, self.schema)
        # Parquet gives a dictionary up for good when another one follows in a row group.
        rows = pa.concat_tables(self.waiting).unify_dictionaries()
        self.writer.write_table(rows, row_group_size=self.num_waiting)
        self.num_rows += self.num_waiting
        self.waiting, self.num_waiting, self.waiting_bytes = [], 0, 0

    def end(self) -> DataFile | None:
        """What it will be when it is closed, which is only to wait, where it is not on a local disk."""
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
        """What a failed task has begun is of no use to anyone."""
        if self.writer is not None and self.begun is not None:
            # A disk that is full does not take the end of the file either.
            with suppress(OSError):
                self.writer.close()
            self.begun.abandon()


def with_types_of(rows: pa.Table, schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(rows.schema.field(field.name).type) for field in schema])


Waiting = Callable[[], object]


def closing(root: Place, files: Sequence[TableFile]) -> tuple[list[DataFile | None], Waiting]:
    """Closes files while the caller does something else: what they will be, None for those without a row; and what
    waits until they are."""
    ended = [file.end() for file in files]
    return ended, begun_together(root, close, [file for file in files if file.begun is not None])


def close(file: TableFile) -> None:
    file.close()
    failpoint("file_written", file.table.name)


@dataclass
class RowFiles:
    """One file of each table that there are rows for."""

    root: Place
    run_id: str
    files: dict[str, TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        if name not in self.files:
            self.files[name] = TableFile(self.root / TABLES[name].folder, TABLES[name], self.run_id)
        self.files[name].write(rows, partition)

    def closing(self) -> tuple[list[tuple[str, DataFile]], Waiting]:
        """What the files will be, and what waits until they are."""
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
        # Offsets and times nearly all differ: a dictionary of them is built in vain and thrown away.
        use_dictionary=[leaf for field in schema if field.name not in RISING for leaf in leaves(field)],
        column_encoding={name: "DELTA_BINARY_PACKED" for name in RISING if name in schema.names},
        # Nobody looks for files or row groups by what stands inside of a list.
        write_statistics=[field.name for field in schema if not pa.types.is_nested(field.type)],
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
    """Spark refuses to read a table in which a column that says NOT NULL holds one, so none may ever be written."""
    for column in table.columns:
        if not column.is_nullable and rows.column(column.name).null_count:
            raise AssertionError(f"{table.name}.{column.name}: NULL in a column that takes none")


def statistics(metadata: pq.FileMetaData) -> str:
    """Delta's statistics of a file from those of its row groups; a column that some group lacks them for has none."""
    minimum: dict[str, Any] = {}
    maximum: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place in range(min(metadata.num_columns, STATISTICS_COLUMNS)):
        found = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
        if "." in (name := found[0].path_in_schema) or not all(column.is_stats_set for column in found):
            continue
        each = [column.statistics for column in found]
        nulls[name] = sum(one.null_count for one in each)
        bounded = [one for one in each if one.has_min_max]
        # Parquet keeps no bounds of values longer than 4096 bytes: those of the other row groups would hide such rows.
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
