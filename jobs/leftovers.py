"""Files that attempts left which never came to an end: no table's log names them, so they only take room."""

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from jobs.manifest import RUNS, RUNS_FOLDER
from jobs.warehouse import STAGING, Warehouse
from schemas.tables import TABLES

NAME = re.compile(r"part-(?P<run>\d{8}-\d{8}T\d{6}Z)-.+\.parquet")


def leftovers(warehouse: Warehouse, run_id: str | None = None, named: Collection[Path] = ()) -> list[Path]:
    """Files of runs that `runs` does not know, and those of the run just ended that it did not name: a task that was
    tried again has written its files twice."""
    finished = {row["run_id"] for row in warehouse.run_rows(["run_id"])}
    found = []
    for table in TABLES:
        for path in sorted(warehouse.path(table).glob("part-*.parquet")):
            match = NAME.fullmatch(path.name)
            is_unnamed = match is not None and match["run"] == run_id and table != RUNS and path not in named
            if is_unnamed or (match is not None and match["run"] not in finished):
                found.append(path)
    for folder in (warehouse.root, warehouse.root / RUNS_FOLDER):
        found += sorted(folder.glob("*.begun"))
    return found


def remove_leftovers(warehouse: Warehouse, run_id: str, named: Collection[Path]) -> int:
    found = leftovers(warehouse, run_id, named)
    for path in found:
        path.unlink(missing_ok=True)
    shutil.rmtree(warehouse.root / STAGING, ignore_errors=True)
    return len(found)
