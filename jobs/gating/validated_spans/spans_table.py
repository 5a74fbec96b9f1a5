"""Adds rows to `gate_spans` while other runs change the warehouse: without a lock, each commit completely or not at
all.

A commit writes the version after the one that was read. If another process has written that version, the commit fails
and the table is read again. So no row is added twice, even if another process added it.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import CommitProperties

from jobs.output.failure import Failure
from jobs.storage.places.place import Place
from jobs.warehouses.delta_commits import actions_of, create, is_written
from jobs.warehouses.delta_tables import (
    UNREADABLE,
    Change,
    DataFile,
    RemovedFile,
    files_of,
    one_line,
    open_table,
    rows_of,
)
from jobs.warehouses.table_files import TableFile
from schemas.tables.gate import GATE_SPANS
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema

Row = Mapping[str, Any]

SCHEMA = table_schema(GATE_SPANS)
# Not a run's id: leftover files of killed runs are recognized by their ids and deleted.
WRITER = "span"
# Columns that make two rows the same, apart from when they were recorded.
IDENTITY = tuple(column.name for column in GATE_SPANS.columns if column.name not in ("recorded_time", "suite"))
# One file per commit would be thousands after some days. So rows are merged into one file while it is small.
MOST_SMALL_FILES = 16
SMALL_ROWS = 20_000
PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.2


def add_rows(folder: Place, rows: Sequence[Row]) -> list[Row]:
    """Adds all rows that are not there yet, in one commit; returns these."""
    with reword_failures(folder):
        return append_rows(folder, rows)


@contextmanager
def reword_failures(folder: Place) -> Iterator[None]:
    try:
        yield
    except OSError:
        # An OSError already names the file.
        raise
    except UNREADABLE as error:
        line = f"{folder}: cannot be read: {one_line(error)}; run `groupscope doctor`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None


def append_rows(folder: Place, rows: Sequence[Row]) -> list[Row]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    written: tuple[list[Row], DataFile] | None = None
    while True:
        delta = open_table(folder) or created_table(folder)
        known = stored_identities(delta, folder, rows)
        new = [row for row in rows if identity(row) not in known]
        if not new:
            return []
        if written is None or written[0] != new:
            written = (new, written_file(folder, pa.Table.from_pylist(new, SCHEMA)))
        if is_committed(delta, folder, with_few_small_files(delta, folder, written[1])):
            return new
        if time.monotonic() >= deadline:
            line = (
                f"{folder}: other processes made Delta commits to this table before this one for {PATIENCE_SECONDS} s"
            )
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{line}; nothing was recorded, run the command again")
        # Random, so that processes do not retry at the same time.
        time.sleep(random.uniform(0, PAUSE_SECONDS))


def created_table(folder: Place) -> DeltaTable:
    try:
        return create(folder, GATE_SPANS, Change(), 0, time.time_ns() // 1_000_000)
    except (OSError, DeltaError):
        # Another process may just have created it.
        if (table := open_table(folder)) is not None:
            return table
        raise


def identity(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in IDENTITY)


def stored_identities(delta: DeltaTable, folder: Place, rows: Sequence[Row]) -> set[tuple[Any, ...]]:
    """Rows in the table that may equal one of these."""

    def may_hold(file: Row) -> bool:
        return any(
            all(is_within(file, name, row[name]) for name in ("group_id", "topic", "from_offset")) for row in rows
        )

    stored = rows_of(delta, folder, GATE_SPANS, IDENTITY, rows[0]["cluster"], may_hold)
    return {identity(row) for row in stored.to_pylist()}


def is_within(file: Row, name: str, value: Any) -> bool:
    """By the Delta log's statistics of the file."""
    least, most = ((file[side] or {}).get(name) for side in ("min", "max"))
    return (least is None or least <= value) and (most is None or value <= most)


def written_file(folder: Place, rows: pa.Table) -> DataFile:
    file = TableFile(folder, GATE_SPANS, WRITER)
    file.write(rows.sort_by([(name, "ascending") for name in GATE_SPANS.order]))
    done = file.close()
    assert done is not None
    return done


def with_few_small_files(delta: DeltaTable, folder: Place, new: DataFile) -> Change:
    def is_small(file: Row) -> bool:
        return bool(file["num_records"] < SMALL_ROWS)

    small = [file["path"] for file in files_of(delta).to_pylist() if is_small(file)]
    if len(small) < MOST_SMALL_FILES:
        return Change((new,))
    merged = written_file(folder, rows_of(delta, folder, GATE_SPANS, may_hold=is_small))
    removed = tuple(RemovedFile(path, is_data_change=False) for path in small)
    return Change((replace(merged, is_data_change=False), new), removed)


def is_committed(delta: DeltaTable, folder: Place, change: Change) -> bool:
    """False: another process has changed the table since it was read. Files that no version names are left for vacuum:
    the commit may have succeeded and only its answer was lost, and then the file must stay."""
    now_ms = time.time_ns() // 1_000_000
    if is_written(folder, GATE_SPANS, change, None, now_ms, delta):
        return True
    return folder.by_delta(lambda *_: is_next_version(delta, folder, change, now_ms))


def is_next_version(delta: DeltaTable, folder: Place, change: Change, now_ms: int) -> bool:
    try:
        delta.create_write_transaction(
            actions_of(change, now_ms),
            "append",
            Schema.from_arrow(SCHEMA),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except CommitFailedError:
        newest = open_table(folder)
        if newest is None or newest.version() <= delta.version():
            raise
        return False
    return True
