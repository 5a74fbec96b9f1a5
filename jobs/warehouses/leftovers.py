"""Files that attempts left which never came to an end: no table's log names them, so they only take room."""

import re
from collections.abc import Collection

from jobs.storage.stored_path import Place, delete, files_by_folder
from jobs.warehouses.manifest import RUNS, RUNS_FOLDER, Manifest
from schemas.tables import TABLES

NAME = re.compile(r"part-(?P<run>\d{8}-\d{8}T\d{6}Z)-.+\.parquet")


def leftovers(root: Place, finished: Collection[str], manifest: Manifest | None = None) -> list[Place]:
    """Files of runs other than the finished ones, and those of the manifest's run that it does not name: a task that
    was tried again has written its files twice."""
    by_folder = files_by_folder(root, ["", RUNS_FOLDER, *(table.folder for table in TABLES.values())])
    found = [path for files in by_folder.values() for path in files if path.name.endswith(".begun")]
    for name, table in TABLES.items():
        for path in by_folder[table.folder]:
            match = NAME.fullmatch(path.name)
            if match and (match["run"] not in finished or is_unnamed(match["run"], name, path.name, manifest)):
                found.append(path)
    return found


def is_unnamed(run_id: str, table: str, name: str, manifest: Manifest | None) -> bool:
    # The file of `runs` is written when all else is committed, so no manifest names it.
    if manifest is None or run_id != manifest.run_id or table == RUNS:
        return False
    return table not in manifest.changes or name not in {file.name for file in manifest.changes[table].added}


def remove_leftovers(root: Place, finished: Collection[str], manifest: Manifest) -> None:
    for path in leftovers(root, finished, manifest):
        delete(path)
