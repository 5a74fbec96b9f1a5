"""The order in which a table declares its columns changes no row of a replay: values go by the names of fields."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from schemas.tables import TABLES

ROOT = Path(__file__).parents[2]


def replayed(warehouse: Path, order: str) -> dict[str, pa.Table]:
    # States list tasks of streams groups in the order of a set of texts.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.builders.groups.reversed_columns", str(warehouse), order]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    folders = {name: warehouse / table.folder for name, table in TABLES.items() if table.job == "replay"}
    return {name: DeltaTable(folder).to_pyarrow_table() for name, folder in folders.items()}


def rows_of(table: pa.Table) -> list[str]:
    names = sorted(name for name in table.column_names if not name.endswith("run_id"))
    return sorted(map(repr, table.select(names).to_pylist()))


def test_every_row_of_the_sample_is_the_same_with_all_columns_in_reverse_order(tmp_path: Path) -> None:
    declared, turned = (replayed(tmp_path / order, order) for order in ("declared", "reversed"))
    for name, table in turned.items():
        assert table.column_names != declared[name].column_names
        assert rows_of(table) == rows_of(declared[name]), name
    assert {name for name, table in declared.items() if not table.num_rows} <= {"replay_anomalies"}
