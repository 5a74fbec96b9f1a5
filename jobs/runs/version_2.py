"""Brings a warehouse of contract version 2 up to version 3: the first run that writes does it, before its own work.

Version 3 has other names for some columns, tables and views; the rows are the same. So every row stays, and nothing is
computed anew: what `maintain` dropped stays dropped, what findings were is what they are, and the next replay goes on
where the last one ended. Decoded tables and snapshots keep their files. Files with a column that has another name are
written again, row group by row group, and so are those of the gate, in which names are also values. Delta could rename
columns only by a protocol that other readers lack, and `is_provisional` is a column that tables are partitioned by.

All of it is one run of the warehouse, with a manifest and rows in `runs`:

1. The files are written. No log names them: a run that is killed here has changed nothing, and the next begins anew.
2. The manifest is written. From here on the next run completes what is left.
3. Each table gets one version: the declaration of version 3, the new files instead of those before. `runs` is last.
4. Tables that change outside of runs get their declaration. The folder of a table that has another name is deleted.
5. The marker of the warehouse says version 3. Until then all that reads refuses it, and names the command to run.

Files of version 2 stay until `maintain` deletes what is beyond its term; until then each table can be read at the
versions before. Of a run of version 2 that was killed while it wrote, the manifest is completed in the same step.

What is damaged in a table that a job makes again from the decoded ones stays so: `doctor` and the job name the command,
as for a warehouse of version 3. Damage in a table that is made only once ends the run before it changes anything.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.output.progress import Activity, amount, counting, doing, length
from jobs.runs.result import run_id_of, run_row
from jobs.storage.failpoints import failpoint
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_commits import CONTRACT_PROPERTY, renew
from jobs.warehouses.delta_tables import (
    IS_PROVISIONAL,
    UNREADABLE,
    Change,
    DataFile,
    RemovedFile,
    file_path,
    files_of,
    is_done,
    open_table,
    sequence_of,
)
from jobs.warehouses.files.damaged_tables import Damaged, damage_of_file
from jobs.warehouses.leftovers import leftovers
from jobs.warehouses.manifest import RUNS, Manifest, read_manifest, unfinished_manifests
from jobs.warehouses.older_tables import of_this_release
from jobs.warehouses.open_warehouse import marker_of
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from jobs.warehouses.warehouse_marker import MARKER, VERSION_BEFORE, marker_text, version_in
from schemas.renames import RENAMES, Named, old_name, renamed_columns
from schemas.tables import BESIDE_RUNS, CONTRACT_VERSION, TABLES, Table
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

JOB = "upgrade"
FORMER = {table: former for table in TABLES if (former := old_name(table)) != table}
# Of tables, views and suites, which are called as their tables.
NAMES = {each.old: each.new for each in RENAMES if each.kind is not Named.COLUMN and each.new}
# What one idle core reads and writes again in a second: 140,000 rows with subscriptions of members, 700,000 committed
# offsets, 250 files of a few rows. Bytes say little of it: 2 to 19 MB, as repetitive as the rows are.
ROWS_PER_SECOND, FILES_PER_SECOND = 250_000, 250
# Commits, and the declarations of tables whose rows stay.
FIXED_SECONDS = 1
FORMER_PARTITION = "is_open"
# Jobs that make their tables again from the decoded ones with --full; but not verdicts of earlier as-of times.
JOBS_WITH_FULL, MADE_ONCE = {"replay", "assignments", "lag"}, "group_verdicts"
REPAIR = "repair it by the release that wrote it, whose `groupscope doctor` says how, and run again"
MOST_NAMED = 3
# Columns of texts in which such names are values.
TEXTS = {
    "gate_metrics": ("table_name",),
    "gate_runs": ("suite",),
    "gate_results": ("suite", "query"),
    "findings": ("subject", "message", "query"),
}
# The subject and the message of a finding about a suite begin with its name.
OF_SUITE = re.compile(rf"\A((?:suite |checks of )?)({'|'.join(NAMES)})(?=: |$)")
# Of a text in SQL: what it is compared with.
OF_NAME = re.compile(r"(?:suite|table_name) (?:=|<>) $")
# Parts of SQL: texts and comments, which may have any word; and words.
SQL = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|\w+")


def bring_up_to_date(warehouse: Warehouse, clock: Callable[[], int], notify: Callable[[str], None]) -> None:
    """Of a warehouse of version 3 it only reads the marker. The caller holds the lock."""
    root = warehouse.root
    if version_in(marker_of(root) or "") != VERSION_BEFORE:
        return
    paths = unfinished_manifests(root)
    runs = warehouse.newest(RUNS)
    done = 0 if runs is None else sequence_of(warehouse.path(RUNS), runs)
    killed = [each for each in map(read_manifest, paths) if each.sequence > done]
    if killed or not (runs is None or is_declared(runs)):
        write(warehouse, killed, clock, notify)
    remove(paths)
    declare_beside_runs(warehouse, clock())
    failpoint("declared_beside_runs")
    for former in FORMER.values():
        (root / former).delete_folder()
    failpoint("former_deleted")
    (root / MARKER).write_whole(marker_text())
    failpoint("marker_written")
    notify(f"{root}: has the names of contract version {CONTRACT_VERSION} now")


def is_declared(delta: DeltaTable) -> bool:
    return delta.metadata().configuration.get(CONTRACT_PROPERTY) == str(CONTRACT_VERSION)


def write(
    warehouse: Warehouse, killed: Sequence[Manifest], clock: Callable[[], int], notify: Callable[[str], None]
) -> None:
    """`killed`: what runs of version 2 had begun to commit."""
    root, started_ms = warehouse.root, clock()
    finished = warehouse.run_ids() | {each.run_id for each in killed}
    remove(leftovers(root, finished))
    sequence = max([warehouse.next_sequence(), *(each.sequence + 1 for each in killed)])
    run_id = run_id_of(sequence, started_ms)
    names = dict.fromkeys([*warehouse.versions(), *(name for each in killed for name in each.changes)])
    tables = [Former.of(warehouse, name, killed) for name in names if name != RUNS and name not in BESIDE_RUNS]
    files = [file for each in tables if each.is_rewritten for _, file in each.files]
    num_bytes, num_rows = sum(file.size for file in files), sum(file.num_rows for file in files)
    seconds = FIXED_SECONDS + len(files) / FILES_PER_SECOND + num_rows / ROWS_PER_SECOND
    notify(
        f"{root}: has table format {VERSION_BEFORE}; writes what has other names in format {CONTRACT_VERSION}: "
        f"{counted(len(files), 'file')}, {amount(num_bytes, 'bytes')}, in about {length(seconds)}"
    )
    with doing("new names"), counting(num_bytes, "bytes") as activity:
        try:
            changes = {each.table.name: each.change(run_id, activity) for each in tables if each.is_open}
        except Exception:
            with suppress(OSError):
                remove(leftovers(root, finished))
            raise
    failpoint("files_written")
    finished_ms = max(clock(), started_ms)
    about = {"run_id": run_id, "job": JOB, "verdict": "clean", "exit_code": int(ExitCode.CLEAN)}
    clusters = {*warehouse.clusters(), *(row["cluster"] for each in killed for row in each.runs)}
    rows = [run_row({**about, "cluster": name}, started_ms, finished_ms, None) for name in sorted(clusters)]
    manifest = Manifest(
        run_id=run_id,
        sequence=sequence,
        time_ms=finished_ms,
        changes=changes,
        runs=(*(row for each in killed for row in each.runs), *rows),
        anew=tuple(name for each in killed for name in each.anew),
        forget_versions_before=max((each.forget_versions_before for each in killed), key=str, default=None),
        renewed={RUNS: RUNS, **{each.table.name: each.name for each in tables if each.is_open or each.has_former_name}},
    )
    warehouse.write(manifest)


def remove(paths: Iterable[Place]) -> None:
    for path in paths:
        path.delete()


@dataclass(frozen=True)
class Former:
    """A table by its name in version 2. `files`: all of them, those too that a killed run had still to add; `held`:
    those that the Delta log has; `pending`: the change of that run. `is_open`: no, if its log is damaged."""

    warehouse: Warehouse
    name: str
    table: Table
    files: Sequence[tuple[Place, DataFile]]
    held: Sequence[str]
    pending: Change
    is_open: bool = True

    @classmethod
    def of(cls, warehouse: Warehouse, name: str, killed: Sequence[Manifest]) -> "Former":
        folder, table = warehouse.path(name), TABLES[NAMES.get(name, name)]
        delta, is_anew = None, any(name in each.anew for each in killed)
        try:
            with suppress(*UNREADABLE) if is_anew else repaired_before(folder, table):
                delta = open_table(folder)
        except Damaged:
            return cls(warehouse, name, table, [], [], Change(), is_open=False)
        entries = [] if delta is None else files_of(delta).to_pylist()
        if delta is not None and (lacked := lacking_now(delta, table)):
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{folder}: lacks {list_names(lacked, MOST_NAMED)}; {REPAIR}")
        pending = [
            each.changes[name]
            for each in killed
            if name in each.changes and (delta is None or not is_done(folder, delta, each.sequence))
        ]
        change = Change(
            tuple(file for each in pending for file in each.added),
            tuple(file for each in pending for file in each.removed),
        )
        gone = {file.name for file in change.removed}
        files = [*(entry_of(row, table) for row in entries if row["path"] not in gone), *change.added]
        places = [(folder / file_path(file.name), file) for file in files]
        return cls(warehouse, name, table, places, [row["path"] for row in entries], change)

    @property
    def is_rewritten(self) -> bool:
        return bool(columns_now(self.table)) or self.table.name in TEXTS or self.has_former_name

    @property
    def has_former_name(self) -> bool:
        return self.name != self.table.name

    def change(self, run_id: str, activity: Activity) -> Change:
        if not self.is_rewritten:
            return self.pending

        def rewrite(file: tuple[Place, DataFile]) -> DataFile | None:
            place, before = file
            new = TableFile(self.warehouse.path(self.table.name), self.table, run_id)
            try:
                with repaired_before(self.warehouse.path(self.name), self.table):
                    for rows in row_groups(self.warehouse.path(self.name), place):
                        new.write(with_names_now(rows, self.table, place, before.is_provisional))
                        new.flush()
                done = new.close()
            except BaseException as error:
                new.abandon()
                if isinstance(error, Damaged):
                    return before
                raise
            activity.done += before.size
            failpoint("file_written", self.table.name)
            return done and replace(done, is_data_change=False, is_provisional=before.is_provisional)

        added = done_together(self.warehouse.root, rewrite, self.files)
        # What a killed run had still to add is in no log: as removed, `maintain` finds it.
        held = [*self.held, *(file.name for file in self.pending.added)] if not self.has_former_name else []
        gone = {*held} - {file.name for file in added if file is not None}
        removed = (RemovedFile(name, is_data_change=False) for name in held if name in gone)
        return Change(tuple(file for file in added if file is not None), tuple(removed))


def entry_of(row: Mapping[str, Any], table: Table) -> DataFile:
    """Of a file that the Delta log has. Of its bounds it keeps those of clusters: whose rows are lost if it is."""
    columns = columns_now(table)
    sides = {"minValues": row.get("min"), "maxValues": row.get("max")}
    stats = {name: {"cluster": side["cluster"]} for name, side in sides.items() if side and side.get("cluster")}
    nulls = {columns.get(name, name): number for name, number in (row.get("null_count") or {}).items()}
    # NULL in files that another program has merged.
    num_rows = row["num_records"] or 0
    return DataFile(
        name=row["path"],
        size=row["size_bytes"],
        num_rows=num_rows,
        stats=json.dumps({"numRecords": num_rows, **stats, "nullCount": {**nulls, IS_PROVISIONAL: 0}}),
        is_data_change=False,
        is_provisional=(row.get("partition") or {}).get(FORMER_PARTITION),
    )


def row_groups(folder: Place, place: Place) -> Iterator[pa.Table]:
    try:
        with pq.ParquetFile(place.parquet_source(), pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, use_threads=False)
    except MemoryError:
        # Arrow's is one of its exceptions too, and the file has nothing.
        raise
    except (OSError, pa.ArrowException) as error:
        raise damage_of_file(folder, place, error) from error


@contextmanager
def repaired_before(folder: Place, table: Table) -> Iterator[None]:
    """What is damaged, and no job makes again, is repaired by the release that wrote it."""
    try:
        yield
    except Damaged as error:
        if table.job in JOBS_WITH_FULL and table.name != MADE_ONCE:
            raise
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{folder}: {error.what}; {REPAIR}") from None


def lacking_now(delta: DeltaTable, table: Table) -> list[str]:
    """Columns that must have a value, and that an early release of version 2 did not write."""
    columns = columns_now(table)
    there = {columns.get(field.name, field.name) for field in delta.schema().fields}
    return [column.name for column in table.columns if not column.is_nullable and column.name not in there]


def columns_now(table: Table) -> dict[str, str | None]:
    """Columns that have another name, by their names before; None: it is gone. Of tables that only the next run reads,
    those that it would look for."""
    if not table.is_state:
        return renamed_columns(table.name)
    names = {column.name for column in table.columns}
    return {each.old: each.new for each in RENAMES if each.kind is Named.COLUMN and each.new in names - {each.old}}


def with_names_now(rows: pa.Table, table: Table, place: Place, is_provisional: bool | None) -> pa.Table:
    columns = columns_now(table)
    rows = rows.select([name for name in rows.column_names if columns.get(name, name) is not None])
    rows = rows.rename_columns([columns.get(name, name) for name in rows.column_names])
    for name in set(TEXTS.get(table.name, ())) & set(rows.column_names):
        texts = rows.column(name).combine_chunks().dictionary_encode()
        now = pa.array([TEXT_NOW[name](text) for text in texts.dictionary.to_pylist()], pa.string())
        rows = rows.set_column(rows.column_names.index(name), name, now.take(texts.indices))
    if is_provisional is not None and IS_PROVISIONAL not in rows.column_names:
        # Other programs leave out columns by which a table is partitioned.
        rows = rows.append_column(IS_PROVISIONAL, pa.repeat(is_provisional, rows.num_rows))
    return of_this_release(rows, table, place)


def name_now(text: str) -> str:
    return NAMES.get(text, text)


def about_suite_now(text: str) -> str:
    return OF_SUITE.sub(lambda found: found[1] + NAMES[found[2]], text, count=1)


def query_now(sql: str) -> str:
    """Words of the query that are names. A column keeps its name if some table of the query has one of that name
    still."""
    # Here, since few runs need them.
    from schemas.views import VIEWS

    words = {name_now(word) for word in SQL.findall(sql)}
    read = [*(TABLES[word].columns for word in words if word in TABLES)]
    read += [VIEWS[word].columns for word in words if word in VIEWS]
    kept = {column.name for columns in read for column in columns}
    names = {
        each.old: each.new
        for each in RENAMES
        if each.new and (each.kind is not Named.COLUMN or (not words.isdisjoint(each.where) and each.old not in kept))
    }

    def now(found: re.Match[str]) -> str:
        word = found[0]
        if OF_NAME.search(sql[max(found.start() - 20, 0) : found.start()]):
            return f"'{name_now(word[1:-1])}'"
        return names.get(word, word)

    return SQL.sub(now, sql)


TEXT_NOW: Mapping[str, Callable[[str], str]] = {
    "table_name": name_now,
    "suite": name_now,
    "subject": about_suite_now,
    "message": about_suite_now,
    "query": query_now,
}


def declare_beside_runs(warehouse: Warehouse, now_ms: int) -> None:
    """Their columns have the names that they had. Others may write to them at the same time."""
    for name in sorted(BESIDE_RUNS):
        folder = warehouse.path(name)
        while (delta := open_table(folder)) is not None and not is_declared(delta):
            warehouse.check_lock()
            renew(folder, TABLES[name], Change(), None, now_ms, delta)
