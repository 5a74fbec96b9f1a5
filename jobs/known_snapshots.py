"""Which snapshots the warehouse has already."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.any_warehouse import AnyWarehouse
from jobs.failure import Failure
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES

Row = dict[str, Any]


def new_snapshots(warehouse: AnyWarehouse, name: str, found: pa.Table, cluster: str) -> pa.Table:
    """The rows that the warehouse lacks; those that it has must not say anything else there."""
    held = warehouse.rows(name) if found.num_rows else None
    if held is None:
        return found
    is_of_them = pc.is_in(held.column("captured_time"), pc.unique(found.column("captured_time")))
    held = held.filter(pc.and_(is_of_them, pc.equal(held.column("cluster"), cluster)))
    key = TABLES[name].key
    known = {key_of(row, key): row for row in held.to_pylist()}
    rows = found.to_pylist()
    for row in rows:
        check_same(name, known.get(key_of(row, key)), row)
    return found.filter(pa.array([key_of(row, key) not in known for row in rows], pa.bool_()))


def key_of(row: Row, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key)


def check_same(name: str, held: Row | None, row: Row) -> None:
    for column, value in row.items():
        theirs = None if held is None else held[column]
        if column != "run_id" and None not in (value, theirs) and value != theirs:
            subject = ", ".join(str(row[each]) for each in TABLES[name].key)
            told = f"{column} {value} of {subject}: the warehouse holds {theirs}"
            raise Failure(ExitCode.UNREADABLE_INPUT, f"--snapshots: {told}, use another --cluster")
