"""A warehouse of which every table holds odd values: names that engines quote or escape, bounds of types, NULL at every
depth, lists and maps that are empty; some tables are empty, and one is not there."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from deltalake import write_deltalake

from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES, USER_TABLES, Column, ColumnType, ListOf, MapOf, StructOf, Table, Type
from tests.builders.tables.random_gate import random_gate
from tests.make.tables import filled, without_runs, write_run
from tests.schemas.views.test_history import random_history

# Views subtract these offsets and add them up, which must not overflow.
WITH_SMALL_OFFSETS = frozenset({"gate_spans", "offset_history", "lag_points", "lag_days"})
SMALL = frozenset(
    {
        "from_record_offset",
        "to_record_offset",
        "from_offset",
        "to_offset",
        "committed_offset",
        "previous_offset",
        "delta",
        "lag",
        "num_minutes_known",
    }
)
EMPTY = frozenset({"topics", "coordinator_epochs"})
ABSENT = frozenset({"replay_anomalies", "cluster_snapshots", "group_regular_expressions"})
TEXTS = ("", "it's", 'x"y', "größe", "😀", "\u202e", "a\x00b", "a\\b", "NULL", "null", "line\nbreak", "%s", "`", "$$")
TIMES = (
    datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2026, 3, 29, 1, 30, 0, 1, UTC),  # where clocks are put forward in much of Europe
    datetime(2026, 11, 21, 3, 0, 0, 123_000, UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
)
# Columns that views add or subtract.
SUMMED = frozenset({
    "unpersisted_rounds", "compacted_records_estimate", "damaged_records", "committed_offset", "log_start_offset",
    "log_end_offset",
})  # fmt: skip
VALUES: Mapping[Type, tuple[Any, ...]] = {
    Type.STRING: TEXTS,
    Type.BINARY: (b"", b"\x00\xff", b"'"),
    Type.BOOLEAN: (True, False),
    Type.INT: (0, -1, 2**31 - 1, -(2**31)),
    Type.BIGINT: (0, -1, 2**63 - 1, -(2**63)),
    Type.DOUBLE: (0.0, -0.0, 1e300, 0.1, float("nan"), float("inf")),
    Type.TIMESTAMP: TIMES,
}


def odd_warehouse(root: Path, rng: np.random.Generator) -> Warehouse:
    """Made by two runs. Between them another writer appends to a partitioned table, as Delta's own do: a folder for
    each value, and no such column in the files."""
    warehouse = without_runs(root)
    write_run(warehouse, "run-0001", rows_of_all(rng), absent=ABSENT)
    name = "ownership_intervals"
    write_deltalake(warehouse.path(name).path, filled(TABLES[name], odd_rows(TABLES[name], rng)), mode="append")
    # In the first run nothing joins with anything.
    write_run(warehouse, "run-0002", random_history(rng, 60) | random_gate(rng, 200), absent=ABSENT)
    # Of no run: nobody may see it.
    write_deltalake(warehouse.path("offset_commits").path, filled(TABLES["offset_commits"], [{}]), mode="append")
    return warehouse


def rows_of_all(rng: np.random.Generator) -> dict[str, list[dict[str, Any]]]:
    names = USER_TABLES.keys() - EMPTY - ABSENT - {"runs"}
    return {name: odd_rows(TABLES[name], rng) for name in sorted(names)}


def odd_rows(table: Table, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Both outcomes of `is_provisional`, which parts the files."""
    rows = [{column.name: odd_value(column, rng) for column in table.columns} for _ in range(12)]
    if table.name in WITH_SMALL_OFFSETS:
        return [{name: small(name, value) for name, value in row.items()} for row in rows]
    return rows


def small(name: str, value: Any) -> Any:
    return value % 1_000 if name in SMALL and value is not None else value


def odd_value(column: Column, rng: np.random.Generator) -> Any:
    if column.is_nullable and rng.integers(5) == 0:
        return None
    # So that a sum of them is still a BIGINT to Spark, and a difference an INT: what overflows is another matter.
    if column.name.startswith("num_") or column.name.endswith(("_ms", "_generation", "moves_made", "moves_needed")):
        return int(rng.integers(9))
    if column.name in SUMMED or column.name.startswith("messages_"):
        return int(rng.integers(9))
    if column.name in ("start_time", "first_time", "from_time", "to_time", "record_time", "captured_time"):
        return TIMES[3] + timedelta(milliseconds=int(rng.integers(-(10**9), 10**9)))
    return odd_of(column.type, rng)


def odd_of(kind: ColumnType, rng: np.random.Generator) -> Any:
    match kind:
        case ListOf(item):
            return [odd_of(item, rng) if rng.integers(4) else None for _ in range(rng.integers(4))]
        case StructOf(fields):
            return {field.name: odd_value(field, rng) for field in fields}
        case MapOf(key, value):
            return [(text, odd_of(value, rng)) for text in rng.permutation(TEXTS[: rng.integers(4)]) if key is not None]
        case Type():
            some = VALUES[kind]
            return some[rng.integers(len(some))]
