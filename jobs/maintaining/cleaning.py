"""Finds and deletes what no run within the term needs: data files, Delta logs and results of runs.

All of it is found before the run commits, and deleted after. If the run is killed in between, the next `maintain` finds
the same files again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from urllib.parse import unquote

from jobs.maintaining.term import KeptRuns
from jobs.output.progress import counting
from jobs.storage.failpoints import failpoint
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_tables import files_of, open_table
from jobs.warehouses.files.delta_log_files import (
    LOG,
    LogFile,
    checkpoint_before,
    log_files,
    removed_files,
    since_checkpoint,
    write_checkpoint,
)
from jobs.warehouses.leftovers import NAME
from jobs.warehouses.manifest import RUNS, RUNS_FOLDER
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import BESIDE_RUNS, TABLES

# Opening a table reads the newest checkpoint and each commit after it.
MOST_COMMITS = 10
# No run names versions of these tables; readers take the newest one.
BESIDE_RUNS_VERSIONS, BESIDE_RUNS_MS = 100, 7 * 24 * 3_600_000
DELETED_TOGETHER = 200


@dataclass
class Cleaning:
    """`data` and `logs`: what to delete of each table, logs oldest first, so that what is left of a killed run can be
    read. `may_write`: False to find what a run would delete."""

    warehouse: Warehouse
    kept: KeptRuns
    started_ms: int
    may_write: bool = True
    data: dict[str, list[Place]] = field(default_factory=dict)
    logs: dict[str, list[Place]] = field(default_factory=dict)
    results: list[Place] = field(default_factory=list)

    def find(self) -> None:
        root = self.warehouse.root
        folders = [folder for table in TABLES.values() for folder in (table.folder, f"{table.folder}/{LOG}")]
        listed = root.files_by_folder([RUNS_FOLDER, *folders])
        with counting(len(TABLES), "tables") as activity:
            for name, table in TABLES.items():
                self.find_in(name, listed[table.folder], log_files(listed[f"{table.folder}/{LOG}"]))
                activity.done += 1
        self.results = [path for path in listed[RUNS_FOLDER] if is_old_result(path.name, self.kept.first_run_id)]

    def find_in(self, name: str, listed: Sequence[Place], log: list[LogFile]) -> None:
        folder = self.warehouse.path(name)
        delta = open_table(folder) if log else None
        if delta is None:
            return
        version = delta.version()
        removed = removed_files(log, version)
        there = {path.name for path in listed}
        since_ms = self.since_ms(name)
        if len(since_checkpoint(log, version)[1]) > MOST_COMMITS:
            if self.may_write:
                write_checkpoint(folder, log, version, partial(is_gone, there, removed, since_ms))
            checkpoint = folder / LOG / f"{version:020}.checkpoint.parquet"
            log = [*log, LogFile(version, "checkpoint.parquet", checkpoint)]
            failpoint("checkpoint_written", name)
        active = {unquote(path) for path in files_of(delta).column("path").to_pylist()}
        kept = active | {path for path, removed_ms in removed.items() if removed_ms >= since_ms}
        self.data[name] = [path for path in listed if path.name not in kept and is_ours(name, path.name, removed)]
        start = checkpoint_before(log, self.oldest_version(name, version))
        if start is not None:
            self.logs[name] = [file.place for file in log if file.version < start]

    def since_ms(self, name: str) -> int:
        return self.started_ms - BESIDE_RUNS_MS if name in BESIDE_RUNS else self.kept.since_ms

    def oldest_version(self, name: str, newest: int) -> int:
        """Readers may go back to this version."""
        if name in BESIDE_RUNS:
            return newest - BESIDE_RUNS_VERSIONS
        # Each run commits to it once.
        return newest - self.kept.number if name == RUNS else self.kept.versions.get(name, newest)

    def delete(self) -> None:
        data, logs = ([*chain.from_iterable(places.values())] for places in (self.data, self.logs))
        with counting(len(data) + len(logs) + len(self.results), "files") as activity:
            for kind, places in (("data", data), ("log", logs), ("result", self.results)):
                for start in range(0, len(places), DELETED_TOGETHER):
                    some = places[start : start + DELETED_TOGETHER]
                    self.warehouse.check_lock()
                    done_together(self.warehouse.root, lambda place: place.delete(), some)
                    activity.done += len(some)
                    failpoint(f"{kind}_deleted")


def is_gone(there: set[str], removed: Mapping[str, int], since_ms: int, name: str) -> bool:
    return name not in there and removed.get(name, 0) < since_ms


def is_ours(table: str, name: str, removed: Mapping[str, int]) -> bool:
    """A file that no log names may be another program's, or, in a table that changes outside of runs, one that is being
    written."""
    return name in removed or (table not in BESIDE_RUNS and NAME.fullmatch(name) is not None)


def is_old_result(name: str, first_run_id: str) -> bool:
    run_id = name.removesuffix(".json")
    return run_id != name and "." not in run_id and run_id < first_run_id
