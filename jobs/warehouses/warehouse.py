"""The warehouse: a folder of Delta tables. One run at a time changes it, each completely or not at all."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.storage.failpoints import failpoint
from jobs.storage.places.place import Lock, Place
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_commits import FIRST_VERSION, clear, commit, renew, write_first_version
from jobs.warehouses.delta_tables import (
    Change,
    DataFile,
    files_of,
    is_done,
    is_newest,
    open_table,
    rows_of,
    sequence_of,
)
from jobs.warehouses.leftovers import remove_leftovers
from jobs.warehouses.manifest import (
    RUNS,
    RUNS_FOLDER,
    Manifest,
    manifest_path,
    run_rows,
    versions_of,
    write_manifest,
)
from jobs.warehouses.older_tables import add_columns, lacking, may_lack, older
from jobs.warehouses.rewritten_files import set_back_if_rewritten
from jobs.warehouses.runs_table import ASKED_OF_RUNS, with_few_files
from jobs.warehouses.table_files import TableFile, Waiting
from schemas.tables import BESIDE_RUNS, TABLES, USER_TABLES, folder_of
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema


@dataclass(frozen=True)
class Warehouse:
    root: Place
    # Checked before each commit. None: nothing is written.
    lock: Lock | None = None
    # The content of `runs` that was read, at most one entry: kept while nobody else may change `runs`, or so that a
    # reader sees one state. None: nothing is kept.
    seen: list[tuple[int, pa.Table]] | None = field(default=None, compare=False, repr=False)
    # On remote storage each opening costs requests, and several steps of a run open the same tables.
    tables: dict[str, DeltaTable] = field(default_factory=dict, compare=False, repr=False)
    # Functions that wait for files of the run's driver, which are closed in the background.
    closings: list[Waiting] = field(default_factory=list, compare=False, repr=False)

    @property
    def address(self) -> str:
        return str(self.root)

    def path(self, table: str) -> Place:
        return self.root / folder_of(table)

    def open(self, table: str) -> DeltaTable | None:
        """The table as the newest finished run left it, or its current state; None if there is none yet."""
        version = self.readable_versions([table]).get(table)
        return None if version is None else self.open_at(table, version)

    def open_at(self, table: str, version: int) -> DeltaTable | None:
        if table not in self.tables or self.tables[table].version() != version:
            self.remember(table, open_table(self.path(table), version))
        return self.tables.get(table)

    def newest(self, table: str) -> DeltaTable | None:
        """The current state, also if others rewrote its files since a run named it; None if no run names it."""
        if table != RUNS and table not in self.versions():
            return None
        if table not in self.tables or not is_newest(self.path(table), self.tables[table].version()):
            self.remember(table, open_table(self.path(table)))
        return self.tables.get(table)

    def remember(self, table: str, delta: DeltaTable | None) -> None:
        self.tables.pop(table, None)
        if delta is not None:
            self.tables[table] = delta

    def versions(self) -> dict[str, int]:
        """Versions of all tables that belong together, by the newest row of `runs`."""
        _, rows = self.runs()
        if not rows.num_rows:
            return {}
        newest = pc.index(rows.column("run_id"), pc.max(rows.column("run_id"))).as_py()
        (run,) = rows.slice(newest, 1).to_pylist()
        return {**versions_of(run), RUNS: self.runs_version()}

    def readable_versions(self, tables: Collection[str] = tuple(USER_TABLES)) -> dict[str, int]:
        """Versions of these tables: by the newest row of `runs`; for tables that change outside of runs, the current
        one."""
        versions = self.versions() if set(tables) - BESIDE_RUNS else {}
        newest = ((name, open_table(self.path(name))) for name in BESIDE_RUNS.intersection(tables))
        now = {name: delta.version() for name, delta in newest if delta is not None}
        return {name: versions[name] for name in tables if name in versions} | now

    def runs_version(self) -> int:
        version, _ = self.runs()
        return version

    def run_rows(self, columns: list[str], job: str | None = None) -> list[dict[str, Any]]:
        """A year of hourly runs has tens of thousands of rows, and to make Python's values of them takes most of a
        second: ask for those of one job where these are enough."""
        _, rows = self.runs()
        if not set(columns) <= set(rows.column_names):
            _, rows = self.read_runs(list(dict.fromkeys([*columns, "job"])))
        if job is not None:
            rows = rows.filter(pc.equal(rows.column("job"), job))
        listed: list[dict[str, Any]] = rows.select(columns).to_pylist()
        return listed

    def runs(self) -> tuple[int, pa.Table]:
        """The version of `runs`, and the columns that every run reads."""
        seen = [] if self.seen is None else self.seen
        if not seen:
            seen.append(self.read_runs(ASKED_OF_RUNS))
        return seen[0]

    def read_runs(self, columns: Sequence[str]) -> tuple[int, pa.Table]:
        delta, table = self.newest(RUNS), TABLES[RUNS]
        if delta is None:
            return -1, table_schema(table).empty_table()
        return delta.version(), rows_of(delta, self.path(RUNS), table, columns)

    def rows(self, table: str, columns: Sequence[str] | None = None, cluster: str | None = None) -> pa.Table | None:
        delta = self.open(table)
        return None if delta is None else rows_of(delta, self.path(table), TABLES[table], columns, cluster)

    def num_rows(self) -> dict[str, int]:
        """Row counts by table, from the Delta logs."""
        versions = self.readable_versions()
        opened = ((name, self.open_at(name, versions[name])) for name in USER_TABLES if name in versions)
        return {name: sum(files_of(delta).column("num_records").to_pylist()) for name, delta in opened if delta}

    def clusters(self) -> list[str]:
        _, rows = self.runs()
        return sorted(pc.unique(rows.column("cluster")).to_pylist())

    def run_ids(self) -> set[str]:
        _, rows = self.runs()
        return set(rows.column("run_id").to_pylist())

    def newest_run_id(self) -> str | None:
        """None: there is no run yet."""
        _, rows = self.runs()
        found: str | None = pc.max(rows.column("run_id")).as_py()
        return found

    def next_sequence(self) -> int:
        runs = self.newest(RUNS)
        return 1 + (0 if runs is None else sequence_of(self.path(RUNS), runs))

    def finish(self, manifest: Manifest, result: str | None = None) -> None:
        """Carries out a manifest, from the point where an earlier attempt stopped. `result`: text for programs to
        read."""
        self.finish_files(manifest, result)
        failpoint("runs_committed")
        # The manifest must still exist, since it shows which files are leftovers.
        remove_leftovers(self.root, self.run_ids(), manifest, self.runs_files())
        manifest_path(self.root, manifest.run_id).delete()
        failpoint("manifest_removed")

    def finish_files(self, manifest: Manifest, result: str | None) -> None:
        runs = self.newest(RUNS)
        if runs is not None and is_done(self.path(RUNS), runs, manifest.sequence):
            return
        before = {name: version for name, version in self.versions().items() if name not in manifest.former}
        expected = before | {name: version_after(manifest, name, before.get(name)) for name in manifest.changes}
        versions, rows = dict(before), TableFile(self.path(RUNS), TABLES[RUNS], manifest.run_id)
        rows.write(run_rows(manifest, expected))

        def commit_table(name: str) -> None:
            versions[name] = self.commit_table(manifest, before, name)

        # Once the manifest is written, the run will complete. So these steps need not wait for the commits.
        steps: list[Callable[[], object]] = [rows.close]
        if result is not None:
            steps.append(partial(self.write_result, manifest.run_id, result))
        steps += [partial(commit_table, name) for name in manifest.changes]
        file, *_ = done_together(self.root, call, steps)
        if versions != expected:
            # Others have rewritten files of a table in the meantime.
            (self.path(RUNS) / rows.name).delete()
            rows = TableFile(self.path(RUNS), TABLES[RUNS], manifest.run_id)
            rows.write(run_rows(manifest, versions))
            file = rows.close()
        assert isinstance(file, DataFile)
        self.commit_runs(manifest, versions, file)

    def runs_files(self) -> frozenset[str]:
        """Names of the files in the newest version of `runs`."""
        delta = self.newest(RUNS)
        return frozenset() if delta is None else frozenset(files_of(delta).column("path").to_pylist())

    def write_result(self, run_id: str, text: str) -> None:
        (self.root / RUNS_FOLDER / f"{run_id}.json").write_whole(text)

    def commit_table(self, manifest: Manifest, before: Mapping[str, int], name: str) -> int:
        path, change = self.path(name), manifest.changes[name]
        is_as_before = change == Change() and name in before and name not in (*manifest.anew, *manifest.renewed)
        if is_as_before and is_newest(path, before[name]):
            version = before[name]
        else:
            version = self.commit_change(manifest, name, change, before.get(name))
        failpoint("table_committed", name)
        return version

    def commit_change(self, manifest: Manifest, name: str, change: Change, before: int | None) -> int:
        """`before`: the version that the run before named, if any."""
        path = self.path(name)
        if name in manifest.anew:
            clear(path, change, manifest.sequence)
            self.remember(name, None)
            delta = None
        elif name in manifest.renewed:
            # It may be of a killed run, and no run names it then.
            delta = open_table(path)
        else:
            delta = self.newest(name)
        if delta is not None and delta.version() != before:
            set_back_if_rewritten(path, TABLES[name], change, delta)
        return self.commit(manifest, name, change, delta)

    def commit(self, manifest: Manifest, name: str, change: Change, delta: DeltaTable | None) -> int:
        """The version of the table with the change."""
        self.check_lock()
        about = (self.path(name), TABLES[name], change, manifest.sequence, manifest.time_ms)
        # The first run creates all tables and needs few of them again: it opens none of them here.
        if delta is None and write_first_version(*about):
            return FIRST_VERSION
        if delta is not None and name in manifest.renewed and not is_done(self.path(name), delta, manifest.sequence):
            delta = renew(*about, delta)
            if delta is None:
                line = f"{self.path(name)}: another program has written to it at the same time; run again"
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
        else:
            delta = commit(*about, delta)
        self.remember(name, delta)
        return delta.version()

    def commit_runs(self, manifest: Manifest, versions: Mapping[str, int], file: DataFile) -> None:
        path, table, delta = self.path(RUNS), TABLES[RUNS], self.newest(RUNS)
        known = self.runs()[1]
        change = Change((file,)) if delta is None else with_few_files(delta, path, table, file, manifest)
        version = self.commit(manifest, RUNS, change, delta)
        if self.seen is not None and manifest.renewed:
            self.seen.clear()
        elif self.seen is not None:
            new = run_rows(manifest, versions).select(known.column_names)
            self.seen[:] = [(version, pa.concat_tables([known, new]))]

    def check_lock(self) -> None:
        if self.lock is not None:
            self.lock.check()

    def write(self, manifest: Manifest, result: str | None = None) -> None:
        """Writes everything that a run changes. When this returns, it is done; if the process is killed, the next run
        completes it."""
        self.check_lock()
        self.check_columns(manifest)
        write_manifest(self.root, manifest, self.wait_for_files)
        failpoint("manifest_written")
        self.finish(manifest, result)

    def check_columns(self, manifest: Manifest) -> None:
        """Before anything says that the rows belong to a table that lacks a column of theirs."""
        for name, change in manifest.changes.items():
            is_fresh = name in manifest.anew or name in manifest.renewed or not change.added
            delta = None if is_fresh else self.newest(name)
            if delta is not None and (names := lacking(delta, TABLES[name])):
                if not may_lack(TABLES[name], names):
                    raise older(self.path(name), names)
                self.path(name).by_delta(partial(add_columns, delta, TABLES[name], names))

    def wait_for_files(self) -> None:
        """Call this before files are read, or before a result names them."""
        while self.closings:
            self.closings.pop()()


def call(step: Callable[[], object]) -> object:
    return step()


def version_after(manifest: Manifest, name: str, before: int | None) -> int:
    """The version that the table will have if nobody else changes it."""
    if before is None or name in manifest.anew:
        return 0
    return before + (manifest.changes[name] != Change() or name in manifest.renewed)
