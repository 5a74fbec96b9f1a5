"""Finds lost rows of tables that a job can rebuild from the decoded tables, and names the command that rebuilds them.

If the Delta log of a table is lost, the whole table is lost; if a file is lost, so are its rows. Runs on a local disk
write one cluster per file; Spark may have written rows of several clusters into one.
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from deltalake import DeltaTable

from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.storage.refusals import raise_refusal
from jobs.warehouses.delta_tables import UNREADABLE, clusters_of, file_path, files_of, one_line
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES

# For each job that can rebuild its tables with --full: the table that has its progress.
PROGRESS = {
    "replay": "replayed_partitions",
    "assignments": "recomputed_partitions",
    "lag": "measured_partitions",
}


class LostRows(NamedTuple):
    """`path`: of the table, or of one of its files."""

    path: Place
    what: str
    clusters: frozenset[str]


def lost_rows(warehouse: Warehouse, job: str, clusters: Collection[str]) -> Iterator[LostRows]:
    """`clusters`: those with rows in the job's tables."""
    versions = warehouse.versions()
    names = [name for name, table in TABLES.items() if table.job == job and name in versions]
    opened = done_together(warehouse.root, lambda name: usable(warehouse, name, versions[name]), names)
    files = []
    for name, delta in zip(names, opened, strict=True):
        folder = warehouse.path(name)
        if isinstance(delta, str):
            yield LostRows(folder, delta, frozenset(clusters))
        else:
            files += [(folder / file_path(file["path"]), file) for file in files_of(delta).to_pylist()]
    damages = done_together(warehouse.root, lambda file: file_damage(*file), files)
    for (path, file), what in zip(files, damages, strict=True):
        if what:
            yield LostRows(path, what, clusters_of(file, clusters))


def usable(warehouse: Warehouse, name: str, version: int) -> DeltaTable | str:
    """The table at this version, or why it cannot be read."""
    try:
        return warehouse.open_at(name, version) or "is not there"
    except UNREADABLE as error:
        raise_refusal(error, warehouse.path(name))
        return f"cannot be opened: {one_line(error)}"


def file_damage(path: Place, file: Mapping[str, Any]) -> str | None:
    try:
        size = path.size()
    except FileNotFoundError:
        return "is not there"
    except OSError as error:
        raise_refusal(error, path)
        return f"cannot be read: {one_line(error)}"
    return None if size == file["size_bytes"] else f"has {size} bytes, {file['size_bytes']} were expected"


def clusters_with(runs: Iterable[Mapping[str, Any]], job: str) -> set[str]:
    """Clusters for which the job has written rows."""
    return {row["cluster"] for row in runs if row["job"] == job and row["num_offsets_partitions"]}


def has_progress(warehouse: Warehouse, job: str, cluster: str) -> bool:
    """False if its rows were lost with a table that another cluster's run created again: that run removed the progress
    too, so its next run starts from the beginning."""
    rows = warehouse.rows(PROGRESS[job], ["cluster"], cluster)
    return rows is not None and rows.num_rows > 0


def rebuilding(warehouse: Warehouse, job: str, clusters: Iterable[str]) -> str:
    """The command to type in a shell."""
    is_one = len(warehouse.clusters()) < 2
    flags = f"--full --warehouse {shlex.quote(warehouse.address)}"
    named = [""] if is_one else [f" --cluster {shlex.quote(each)}" for each in sorted(clusters)]
    return " && ".join(f"groupscope {job} {flags}{cluster}" for cluster in named)
