"""Tables made by hand, in warehouses as a run leaves them. Rows are dictionaries, or a few words as `worded` reads
them; a column that is not named is NULL, or a plain value if it is never NULL.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import Change, partitioning
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from jobs.warehouses.warehouse_marker import MARKER, marker_text
from schemas.tables import CONTRACT_VERSION, TABLES, Column, ColumnType, ListOf, MapOf, StructOf, Table, Type
from udfs.arrays.arrow_schema import table_schema

Row = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]
# Ids of runs of commands sort before those that `make` gives, and after these.
BY_HAND = "{:08}-by-hand"

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
# A time is `now`, or so long before or after it: -31d, +1h, -5.5m; *i: times the number of the row.
LENGTH = re.compile(r"([+-][\d.]+)(d|h|ms|m|s)(\*i)?")
UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds"}
RANGE = re.compile(r"(\d+)\.\.(\d+)")
EVIDENCE = ("evidence_partition", "evidence_first_offset", "evidence_last_offset")


def make(root: Path, *runs: Mapping[str, Rows], run_id: str = "run-{:04}") -> Warehouse:
    """One warehouse, written by as many runs, in order."""
    warehouse = without_runs(root)
    for number, rows in enumerate(runs, 1):
        write_run(warehouse, run_id.format(number), rows)
    return warehouse


def without_runs(root: Path) -> Warehouse:
    """As a run makes it before anything else, and as a killed one leaves it."""
    root.mkdir(parents=True, exist_ok=True)
    (root / MARKER).write_text(marker_text())
    return Warehouse(LocalPlace(root))


def write_run(
    warehouse: Warehouse,
    run_id: str,
    rows: Mapping[str, Rows],
    claimed: list[dict[str, Any]] | None = None,
    absent: frozenset[str] = frozenset(),
    about: Mapping[str, Any] | None = None,
) -> None:
    """`claimed`: counts that the run claims, if they are not those of its rows. It makes no `absent` tables.
    `about`: columns of its row of `runs`, if they differ from those of an ingest; `rows` of `runs`: other runs."""
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
    others = ({**run, "ingest_counts": [], **in_ms(row)} for row in rows.get("runs", ()))
    warehouse.write(Manifest(run_id, warehouse.next_sequence(), NOW_MS, changes, (run, *others)))


def in_ms(row: Mapping[str, Any]) -> Row:
    """As a run gives its row of `runs`."""
    return {name: round(value.timestamp() * 1000) if isinstance(value, datetime) else value
            for name, value in row.items()}  # fmt: skip


def written(warehouse: Warehouse, table: Table, run_id: str, rows: Rows) -> tuple[Any, ...]:
    if not partitioning(table):
        return one_file(warehouse, table, run_id, rows, None)
    parts = {
        is_provisional: [row for row in rows if row.get("is_provisional", False) is is_provisional]
        for is_provisional in (False, True)
    }
    return tuple(
        file
        for is_provisional in parts
        for file in one_file(warehouse, table, run_id, parts[is_provisional], is_provisional)
    )


def one_file(
    warehouse: Warehouse, table: Table, run_id: str, rows: Rows, is_provisional: bool | None
) -> tuple[Any, ...]:
    file = TableFile(warehouse.path(table.name), table, run_id)
    if rows:
        file.write(filled(table, rows))
    done = file.close()
    return () if done is None else (replace(done, is_provisional=is_provisional),)


def filled(table: Table, rows: Rows) -> pa.Table:
    whole = [{column.name: row.get(column.name, plain(column)) for column in table.columns} for row in rows]
    return pa.Table.from_pylist(whole, table_schema(table))


def plain(column: Column) -> Any:
    if column.is_nullable:
        return None
    if column.name == "confidence":
        return "certain"
    return PLAIN[column.type] if isinstance(column.type, Type) else []


def worded(table: str, values: Mapping[str, str]) -> Iterator[Row]:
    """The row, or with a number such as 0..3 as many rows. Beside columns `evidence` is PARTITION:FIRST-LAST."""
    values = dict(values)
    if (place := values.pop("evidence", None)) is not None:
        values |= zip(EVIDENCE, "---" if place == "-" else re.split("[:-]", place), strict=True)
    kinds = {column.name: column.type for column in TABLES[table].columns}
    spans = {name: range(int(span[1]), int(span[2]) + 1) for name, text in values.items()
             if kinds[name] in (Type.INT, Type.BIGINT) and (span := RANGE.fullmatch(text))}  # fmt: skip
    for place in range(max(map(len, spans.values()), default=1)):
        numbers = {name: span[place] for name, span in spans.items()}
        yield {name: typed(kinds[name], text, place) for name, text in values.items() if name not in spans} | numbers


def typed(kind: ColumnType, text: str, place: int = 0) -> Any:
    """`-` is NULL. Elements of a list end with `;`, fields of a struct with a space, except the last one."""
    if text == "-":
        return None
    match kind:
        case ListOf(item):
            return [typed(item, each.strip(), place) for each in text.strip("[]").split(";") if each.strip()]
        case StructOf(fields):
            parts = text.split(" ", len(fields) - 1)
            return {each.name: typed(each.type, part, place) for each, part in zip(fields, parts, strict=False)}
        case MapOf(key, value):
            pairs = (each.split(":") for each in text.split(";"))
            return [(typed(key, name, place), typed(value, each, place)) for name, each in pairs]
        case Type.TIMESTAMP:
            return time_of(text, place)
        case Type.BOOLEAN:
            return {"yes": True, "no": False}[text]
        case Type.INT | Type.BIGINT:
            return int(text)
        case Type.DOUBLE:
            return float(text)
    return text


def time_of(text: str, place: int = 0) -> datetime:
    assert text == "now" or (text and LENGTH.sub("", text) == ""), text
    return NOW + sum((timedelta(**{UNITS[unit]: float(number) * (place if each else 1)})
                      for number, unit, each in LENGTH.findall(text)), timedelta())  # fmt: skip


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
