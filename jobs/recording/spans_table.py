"""Adds rows to `gate_spans`: each once, even if another process adds it at the same time."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from jobs.recording.commits import commit_beside_runs, with_few_small_files, written_file
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import Change, DataFile, rows_of
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

Row = Mapping[str, Any]

WRITER = "span"
# Columns that make two rows the same, apart from when they were recorded.
IDENTITY = tuple(
    column.name for column in TABLES["gate_spans"].columns if column.name not in ("recorded_time", "suite")
)


def add_rows(folder: Place, rows: Sequence[Row]) -> list[Row]:
    """Adds all rows that are not there yet, in one commit; returns these."""
    new: list[Row] = []
    written: tuple[list[Row], DataFile] | None = None

    def change_of(delta: DeltaTable) -> Change | None:
        nonlocal new, written
        known = stored_identities(delta, folder, rows)
        new = [row for row in rows if identity(row) not in known]
        if not new:
            return None
        # After a commit of another process, usually the same rows are new.
        if written is None or written[0] != new:
            table = pa.Table.from_pylist(new, table_schema(TABLES["gate_spans"]))
            written = (new, written_file(folder, TABLES["gate_spans"], WRITER, table))
        return with_few_small_files(delta, folder, TABLES["gate_spans"], WRITER, written[1])

    commit_beside_runs(folder, TABLES["gate_spans"], change_of)
    return new


def identity(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in IDENTITY)


def stored_identities(delta: DeltaTable, folder: Place, rows: Sequence[Row]) -> set[tuple[Any, ...]]:
    """Rows in the table that may equal one of these."""

    def may_hold(file: Row) -> bool:
        return any(
            all(is_within(file, name, row[name]) for name in ("group_id", "topic", "from_offset")) for row in rows
        )

    stored = rows_of(delta, folder, TABLES["gate_spans"], IDENTITY, rows[0]["cluster"], may_hold)
    return {identity(row) for row in stored.to_pylist()}


def is_within(file: Row, name: str, value: Any) -> bool:
    """By the Delta log's statistics of the file."""
    least, most = ((file[side] or {}).get(name) for side in ("min", "max"))
    return (least is None or least <= value) and (most is None or value <= most)
