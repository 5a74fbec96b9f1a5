"""Commits to tables that no run writes, while other runs change the warehouse: without a lock, each commit completely
or not at all.

A commit writes the version after the one that was read. If another process has written that version, the commit fails
and the table is read again. So nothing is lost, and nothing is added twice, even if another process added it.
"""

import random
import time
from collections.abc import Callable, Mapping
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
from schemas.tables import Table
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema

Row = Mapping[str, Any]

# One file per commit would be thousands after some days. So rows are merged into one file while it is small.
MOST_SMALL_FILES = 16
SMALL_ROWS = 20_000
PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.2


def commit_beside_runs(folder: Place, table: Table, change_of: Callable[[DeltaTable], Change | None]) -> None:
    """`change_of`: what to change in the table as it was just read; None: nothing."""
    try:
        commit_until_done(folder, table, change_of)
    except OSError:
        # An OSError already names the file.
        raise
    except UNREADABLE as error:
        line = f"{folder}: cannot be read: {one_line(error)}; run `groupscope doctor`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None


def commit_until_done(folder: Place, table: Table, change_of: Callable[[DeltaTable], Change | None]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        delta = open_table(folder) or created_table(folder, table)
        change = change_of(delta)
        if change is None or is_committed(delta, folder, table, change):
            return
        if time.monotonic() >= deadline:
            line = (
                f"{folder}: other processes made Delta commits to this table before this one for {PATIENCE_SECONDS} s"
            )
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{line}; nothing was recorded, run the command again")
        # Random, so that processes do not retry at the same time.
        time.sleep(random.uniform(0, PAUSE_SECONDS))


def created_table(folder: Place, table: Table) -> DeltaTable:
    try:
        return create(folder, table, Change(), 0, time.time_ns() // 1_000_000)
    except (OSError, DeltaError):
        # Another process may just have created it.
        if (created := open_table(folder)) is not None:
            return created
        raise


def written_file(folder: Place, table: Table, writer: str, rows: pa.Table) -> DataFile:
    """`writer`: no run's id, since leftover files of killed runs are recognized by their ids and deleted."""
    file = TableFile(folder, table, writer)
    file.write(rows.sort_by([(name, "ascending") for name in table.order]))
    done = file.close()
    assert done is not None
    return done


def with_few_small_files(delta: DeltaTable, folder: Place, table: Table, writer: str, new: DataFile) -> Change:
    def is_small(file: Row) -> bool:
        return bool(file["num_records"] < SMALL_ROWS)

    small = [file["path"] for file in files_of(delta).to_pylist() if is_small(file)]
    if len(small) < MOST_SMALL_FILES:
        return Change((new,))
    merged = written_file(folder, table, writer, rows_of(delta, folder, table, may_hold=is_small))
    removed = tuple(RemovedFile(path, is_data_change=False) for path in small)
    return Change((replace(merged, is_data_change=False), new), removed)


def is_committed(delta: DeltaTable, folder: Place, table: Table, change: Change) -> bool:
    """False: another process has changed the table since it was read. Files that no version names are left for vacuum:
    the commit may have succeeded and only its answer was lost, and then the file must stay."""
    now_ms = time.time_ns() // 1_000_000
    if is_written(folder, table, change, None, now_ms, delta):
        return True
    return folder.by_delta(lambda *_: is_next_version(delta, folder, table, change, now_ms))


def is_next_version(delta: DeltaTable, folder: Place, table: Table, change: Change, now_ms: int) -> bool:
    try:
        delta.create_write_transaction(
            actions_of(change, now_ms),
            "append",
            Schema.from_arrow(table_schema(table)),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except CommitFailedError:
        newest = open_table(folder)
        if newest is None or newest.version() <= delta.version():
            raise
        return False
    return True
