"""Files left by runs that did not finish. No Delta log names them, so they only use space; and a warehouse in which no
run has finished is itself only left."""

import re
from collections.abc import Collection

from jobs.storage.places.place import Place
from jobs.warehouses.manifest import RUNS, RUNS_FOLDER, Manifest, unfinished_manifests
from schemas.tables import BESIDE_RUNS, TABLES

NAME = re.compile(r"part-(?P<run>\d{8}-\d{8}T\d{6}Z)-.+\.parquet")


def leftovers(
    root: Place, finished: Collection[str], manifest: Manifest | None = None, runs_files: Collection[str] = ()
) -> list[Place]:
    """Files of runs other than the finished ones, and files of the manifest's run that the manifest does not name: a
    task that was retried has written its files twice."""
    # Files of tables that change outside of runs may be in the middle of being written.
    tables = {name: table for name, table in TABLES.items() if name not in BESIDE_RUNS}
    folders = [table.folder for table in tables.values()]
    by_folder = root.files_by_folder(["", RUNS_FOLDER, *folders, *(f"{folder}/_delta_log" for folder in folders)])
    left = [path for files in by_folder.values() for path in files if path.name.endswith(".begun")]
    for name, table in tables.items():
        for path in by_folder[table.folder]:
            match = NAME.fullmatch(path.name)
            if match and (
                match["run"] not in finished or is_unnamed(match["run"], name, path.name, manifest, runs_files)
            ):
                left.append(path)
    return left


def is_unnamed(run_id: str, table: str, name: str, manifest: Manifest | None, runs_files: Collection[str]) -> bool:
    if manifest is None or run_id != manifest.run_id:
        return False
    if table == RUNS:
        # It names the versions that the commits make, so it is written after the manifest.
        return name not in runs_files
    return table not in manifest.changes or name not in {file.name for file in manifest.changes[table].added}


def has_commits(root: Place) -> bool:
    """A manifest will be committed by the next run. Tables that change outside of runs may have rows before the first
    run has ended."""
    return not {RUNS, *BESIDE_RUNS}.isdisjoint(root.names_in()) or bool(unfinished_manifests(root))


def remove_tables(root: Place) -> None:
    """Of a warehouse without commits. Files that are not ours stay, and so do their folders."""
    for path in leftovers(root, ()):
        path.delete()
    folders = {table.folder for name, table in TABLES.items() if name not in BESIDE_RUNS}
    above = {folder.rpartition("/")[0] for folder in folders} - {""}
    for folder in (*sorted(folders), *sorted(above), RUNS_FOLDER):
        (root / folder).delete_empty_folder()


def remove_leftovers(root: Place, finished: Collection[str], manifest: Manifest, runs_files: Collection[str]) -> None:
    """`runs_files`: the files of the table `runs`."""
    for path in leftovers(root, finished, manifest, runs_files):
        path.delete()
