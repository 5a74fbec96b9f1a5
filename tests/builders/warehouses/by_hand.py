"""Warehouses made by hand, as a run leaves them: rows as dictionaries, what is not named is NULL or a plain value."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import Change, partitioning
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.open_warehouse import prepare
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import CONTRACT_VERSION, TABLES
from schemas.declarations.columns import Column, Table, Type
from udfs.arrays.arrow_schema import table_schema

Rows = Sequence[Mapping[str, Any]]

NOW_MS = 1_795_230_000_000
NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)
PLAIN: dict[Type, Any] = {
    Type.STRING: "a",
    Type.BINARY: b"",
    Type.BOOLEAN: False,
    Type.INT: 0,
    Type.BIGINT: 0,
    Type.DOUBLE: 0.0,
    Type.TIMESTAMP: NOW,
}


def make(root: Path, *runs: Mapping[str, Rows]) -> Warehouse:
    """One warehouse, written by as many runs, in order."""
    prepare(LocalPlace(root))
    warehouse = Warehouse(LocalPlace(root))
    for number, rows in enumerate(runs, 1):
        write_run(warehouse, f"run-{number:04}", rows)
    return warehouse


def write_run(
    warehouse: Warehouse,
    run_id: str,
    rows: Mapping[str, Rows],
    claimed: list[dict[str, Any]] | None = None,
    absent: frozenset[str] = frozenset(),
    about: Mapping[str, Any] | None = None,
) -> None:
    """`claimed`: counts that the run claims, if they are not those of its rows. It makes no `absent` tables.
    `about`: columns of its row of `runs`, if they differ from those of an ingest."""
    # As a run's own, which reads `runs` once: otherwise all of it is read again for each table.
    warehouse = replace(warehouse, seen=[])
    changes = {
        name: Change(written(warehouse, TABLES[name], run_id, rows.get(name, ())))
        for name in TABLES
        if name != "runs" and name not in absent
    }
    run = {
        "cluster": "a",
        "run_id": run_id,
        "job": "ingest",
        "started_time": NOW_MS,
        "finished_time": NOW_MS,
        "as_of_time": None,
        "verdict": "clean",
        "exit_code": 0,
        "contract_version": CONTRACT_VERSION,
        "config_hash": "0",
        "num_offsets_partitions": 1,
        "num_files_unchanged": 0,
        "ingest_counts": counts(rows) if claimed is None else claimed,
        **(about or {}),
    }
    warehouse.write(Manifest(run_id, warehouse.next_sequence(), NOW_MS, changes, (run,)))


def written(warehouse: Warehouse, table: Table, run_id: str, rows: Rows) -> tuple[Any, ...]:
    if not partitioning(table):
        return one_file(warehouse, table, run_id, rows, None)
    parts = {is_open: [row for row in rows if row.get("is_open", False) is is_open] for is_open in (False, True)}
    return tuple(file for is_open in parts for file in one_file(warehouse, table, run_id, parts[is_open], is_open))


def one_file(warehouse: Warehouse, table: Table, run_id: str, rows: Rows, is_open: bool | None) -> tuple[Any, ...]:
    file = TableFile(warehouse.path(table.name), table, run_id)
    if rows:
        file.write(filled(table, rows))
    done = file.close()
    return () if done is None else (replace(done, is_open=is_open),)


def filled(table: Table, rows: Rows) -> pa.Table:
    whole = [{column.name: row.get(column.name, plain(column)) for column in table.columns} for row in rows]
    return pa.Table.from_pylist(whole, table_schema(table))


def plain(column: Column) -> Any:
    return None if column.is_nullable or not isinstance(column.type, Type) else PLAIN[column.type]


def counts(rows: Mapping[str, Rows]) -> list[dict[str, Any]]:
    """What became of the rows' records; each was read once."""
    result: dict[int, dict[str, Any]] = {}
    for name, some in rows.items():
        columns = {column.name: column for column in TABLES[name].columns}
        if not {"record_offset", "offsets_partition"} <= columns.keys():
            continue
        for row in some:
            partition = row.get("offsets_partition", plain(columns["offsets_partition"]))
            new = {"read": 0, "decoded": 0, "rejected": 0, "already_known": 0, "gaps": 0}
            count = result.setdefault(partition, {"offsets_partition": partition, **new})
            count["read"] += 1
            count["rejected" if name == "rejected_records" else "decoded"] += 1
    return list(result.values())
