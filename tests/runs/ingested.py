"""Runs `groupscope ingest` and looks at what it left, without Spark: the tables as another Delta reader sees them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from jobs import cli
from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from schemas.tables import SUBJECTS, TABLES

ROOT = Path(__file__).parents[2]
# What differs from run to run and from copy to copy.
OF_THE_RUN = {"run_id", "batch_first_offset", "batch_bytes"}
# Later steps make the others.
TABLES_OF_INGEST = [name for name, table in TABLES.items() if table.job in ("ingest", "each")]
RECORD_TABLES = [table.name for table in SUBJECTS["decoded"]]


def ingest(warehouse: Path, *arguments: str | Path) -> dict[str, Any]:
    """The run's result; it must not fail, though records may have been rejected."""
    result = warehouse.with_suffix(".result.json")
    code = run_ingest(warehouse, "--result-file", result, *arguments)
    document: dict[str, Any] = json.loads(result.read_text())
    assert code == document["exit_code"], document
    return document


def run_ingest(warehouse: Path, *arguments: str | Path) -> int:
    return cli.main(["ingest", "--warehouse", str(warehouse), *map(str, arguments)])


def spawned(
    warehouse: str | Path, *arguments: str | Path, environment: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.cli", "ingest", "--warehouse", str(warehouse), *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def rows(warehouse: Path, table: str, at: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    """As the newest run left them; `at` are its versions, which whoever asks for many tables finds out once."""
    folder = TABLES[table].folder
    version = (versions(warehouse) if at is None else at).get(folder)
    result = DeltaTable(warehouse / folder, version=version).to_pyarrow_table()
    return [dict(row) for row in result.to_pylist()]


def versions(warehouse: Path) -> dict[str, int]:
    """By the table's folder."""
    runs = DeltaTable(warehouse / "runs").to_pyarrow_table(columns=["run_id", "table_versions"]).to_pylist()
    return dict(max(runs, key=lambda row: str(row["run_id"]))["table_versions"])


def history(warehouse: Path) -> dict[str, list[str]]:
    """Every record that the warehouse holds, in one order, without what is of the run alone."""
    result, at = {}, versions(warehouse)
    for name in RECORD_TABLES:
        kept = (
            {key: value for key, value in row.items() if key not in OF_THE_RUN} for row in rows(warehouse, name, at)
        )
        result[name] = sorted(repr(row) for row in kept)
    return result


def keys(warehouse: Path) -> list[tuple[int, int, int]]:
    """Offsets partition, offset and leader epoch of each record, as often as it is there."""
    at = versions(warehouse)
    return sorted(
        (row["offsets_partition"], row["record_offset"], row["partition_leader_epoch"])
        for name in RECORD_TABLES
        for row in rows(warehouse, name, at)
        if row["record_offset"] is not None
    )


def is_healthy(warehouse: Path) -> bool:
    return {finding.status for finding in run_checks(LocalPlace(warehouse))} == {"ok"}
