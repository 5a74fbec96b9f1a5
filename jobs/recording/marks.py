"""Adds and removes rows of `marks`."""

from datetime import datetime
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from jobs.answers.marks import numbered
from jobs.recording.commits import commit_beside_runs, with_few_small_files, written_file
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import Change, RemovedFile, files_of, open_table, rows_of
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

Row = dict[str, Any]
WRITER = "mark"


def add_mark(folder: Place, row: Row) -> Row:
    """The mark as `--list` shows it. One that is there is not added again."""
    added: Row = {}

    def change_of(delta: DeltaTable) -> Change | None:
        nonlocal added
        rows = rows_of(delta, folder, TABLES["marks"], cluster=row["cluster"])
        same = (each for each in numbered(rows) if is_same(each, row))
        if known := next(same, None):
            added = known
            return None
        new = pa.Table.from_pylist([row], table_schema(TABLES["marks"]))
        added = next(each for each in numbered(pa.concat_tables([rows, new])) if is_same(each, row))
        return with_few_small_files(
            delta, folder, TABLES["marks"], WRITER, written_file(folder, TABLES["marks"], WRITER, new)
        )

    commit_beside_runs(folder, TABLES["marks"], change_of)
    return added


def is_same(known: Row, row: Row) -> bool:
    return all(known[name] == row[name] for name in ("mark_time", "text", "group_pattern", "removed_time"))


def remove_mark(folder: Place, cluster: str, number: int, now: datetime) -> Row | None:
    """The mark that was removed; None: no mark has that number, or it was removed before."""
    if open_table(folder) is None:
        return None
    removed: Row | None = None

    def change_of(delta: DeltaTable) -> Change | None:
        nonlocal removed
        # All of the table, which becomes one file: it has a row for each deployment.
        others = [row for row in rows_of(delta, folder, TABLES["marks"]).to_pylist() if row["cluster"] != cluster]
        own = numbered(rows_of(delta, folder, TABLES["marks"], cluster=cluster))
        removed = next((row for row in own if row["number"] == number and row["removed_time"] is None), None)
        if removed is None:
            return None
        removed["removed_time"] = now
        rows = [*others, *({name: row[name] for name in table_schema(TABLES["marks"]).names} for row in own)]
        file = written_file(folder, TABLES["marks"], WRITER, pa.Table.from_pylist(rows, table_schema(TABLES["marks"])))
        old = (RemovedFile(row["path"], is_data_change=True) for row in files_of(delta).to_pylist())
        return Change((file,), tuple(old))

    commit_beside_runs(folder, TABLES["marks"], change_of)
    return removed
