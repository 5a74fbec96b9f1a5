"""Checks that read only Delta logs and Parquet footers: tables, files, and what interrupted runs left."""

import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.checks.check import Check, CheckedWarehouse, Finding, Status
from jobs.output.failure import say
from jobs.output.progress import counting
from jobs.replaying.tables.lost_rows import PROGRESS, clusters_with, has_progress
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.storage.refusals import raise_refusal
from jobs.warehouses.delta_commits import CONTRACT_PROPERTY
from jobs.warehouses.delta_tables import UNREADABLE, clusters_of, one_line, open_table
from jobs.warehouses.files.delta_log_files import actions_of
from jobs.warehouses.manifest import RUNS, RUNS_FOLDER, read_manifest, unfinished_manifests
from jobs.warehouses.older_tables import may_lack
from jobs.warehouses.open_warehouse import is_redacted
from jobs.warehouses.small_files import has_statistics
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import BESIDE_RUNS, CONTRACT_VERSION, TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

READER_PROTOCOL = 1
ACTIONS = ("add", "remove")
MOST_NAMED = 3
FINISH = "the next run finishes what that run began to write; to do it now: groupscope replay --warehouse"
FIRST_RUN = "run groupscope audit, with the --source that you want to keep"
WRITE_ANEW = "run `groupscope ingest --optimize full`: it rewrites the files"


def open_tables(warehouse: Warehouse) -> CheckedWarehouse:
    # Looked up before the tables: a run that ends during the check has changed them.
    holder = warehouse.root.lock("doctor").live_holder(say)
    versions: dict[str, int] = {}
    runs: list[dict[str, Any]] = []
    unopened: dict[str, str] = {}
    try:
        versions = {name: named for name, named in warehouse.versions().items() if name not in BESIDE_RUNS}
        runs = warehouse.run_rows([column.name for column in TABLES[RUNS].columns])
    except UNREADABLE as error:
        raise_refusal(error, warehouse.path(RUNS))
        unopened[RUNS] = one_line(error)
    opened = done_together(warehouse.root, lambda name: opened_or_problem(warehouse, name, versions.get(name)), TABLES)
    tables = {name: each for name, each in zip(TABLES, opened, strict=True) if isinstance(each, DeltaTable)}
    unopened |= {name: each for name, each in zip(TABLES, opened, strict=True) if isinstance(each, str)}
    for name in tables.keys() & versions.keys():
        # Who reads it by the warehouse need not open it again.
        warehouse.remember(name, tables[name])
    return CheckedWarehouse(
        warehouse=warehouse, versions=versions, runs=runs, tables=tables, unopened=unopened, holder=holder
    )


def opened_or_problem(warehouse: Warehouse, name: str, version: int | None) -> DeltaTable | str | None:
    try:
        return open_table(warehouse.path(name), version)
    except UNREADABLE as error:
        raise_refusal(error, warehouse.path(name))
        return one_line(error)


def check_lock(checked: CheckedWarehouse) -> Iterator[Finding]:
    if checked.is_busy:
        repair = "run doctor again when that run has ended"
        yield Finding(Status.WARN, "lock", LOCK_FILE, f"held by {checked.holder}", repair)


def check_manifests(checked: CheckedWarehouse) -> Iterator[Finding]:
    finish = f"{FINISH} {shlex.quote(checked.warehouse.address)}"
    for path in unfinished_manifests(checked.warehouse.root):
        if not checked.is_busy:
            line = f"run {path.name.split('.')[0]} was killed while it wrote; queries read the state before that run"
            yield Finding(Status.WARN, "manifests", f"{RUNS_FOLDER}/{path.name}", line, finish)
        read_manifest(path)


def check_opens(checked: CheckedWarehouse) -> Iterator[Finding]:
    for name, problem in checked.unopened.items():
        yield Finding(
            Status.BROKEN, "tables", TABLES[name].folder, f"cannot be opened: {problem}", checked.repair(name)
        )
    jobs = {row["job"] for row in checked.runs}
    for name, table in TABLES.items():
        is_due = name in checked.versions or table.job in jobs
        if is_due and name not in checked.tables and name not in checked.unopened:
            yield Finding(Status.BROKEN, "tables", table.folder, "is not there", checked.repair(name))
    if not checked.runs and not checked.unopened:
        yield Finding(Status.WARN, "tables", RUNS, "no run has finished yet", FIRST_RUN)


def check_versions(checked: CheckedWarehouse) -> Iterator[Finding]:
    """Readers use the versions that the newest run names. These must exist and should be the newest."""
    names = [name for name in checked.versions if name in checked.tables]
    root, path = checked.warehouse.root, checked.warehouse.path
    for name, newest in zip(names, done_together(root, lambda name: open_table(path(name)), names), strict=True):
        named = checked.versions[name]
        last = named if newest is None else newest.version()
        is_quiet = not checked.is_busy and not unfinished_manifests(checked.warehouse.root)
        # A version that was restored is a new one, with the same files.
        if newest is not None and last > named and is_quiet and has_other_files(newest, checked.tables[name]):
            line = f"its Delta version is {last}, but the newest run wrote {named}: another program wrote to it"
            undo = f"restore version {named} (Delta's RESTORE); let only groupscope write to this folder"
            yield Finding(Status.BROKEN, "versions", name, line, undo)


def has_other_files(delta: DeltaTable, other: DeltaTable) -> bool:
    return set(delta.file_uris()) != set(other.file_uris())


def check_protocol(checked: CheckedWarehouse) -> Iterator[Finding]:
    for name, delta in checked.tables.items():
        protocol = delta.protocol().min_reader_version
        if protocol != READER_PROTOCOL:
            line = (
                f"needs a reader of Delta protocol {protocol}, groupscope writes {READER_PROTOCOL}: another program "
                "enabled a table feature"
            )
            yield Finding(Status.BROKEN, "protocol", name, line, checked.repair_table(name))


def check_schema(checked: CheckedWarehouse) -> Iterator[Finding]:
    for name, delta in checked.tables.items():
        schema = pa.schema(delta.schema().to_arrow())
        declared = table_schema(TABLES[name])
        older = []
        missing = [column.name for column in declared if column.name not in schema.names]
        if missing and may_lack(TABLES[name], missing):
            lacks = f"an older release wrote it, without {list_names(missing, MOST_NAMED)}"
            mend = f"harmless: the next run of {TABLES[name].job} that writes to it adds them"
            yield Finding(Status.WARN, "schema", name, lacks, mend)
            continue
        for column in declared:
            if problem := difference(schema, column):
                yield Finding(Status.BROKEN, "schema", f"{name}.{column.name}", problem, checked.repair_table(name))
            elif comment_of(schema.field(column.name)) != comment_of(column):
                older.append(column.name)
        if older:
            problem = f"comments are not those of this release: {list_names(older, MOST_NAMED)}"
            yield Finding(Status.WARN, "schema", name, problem, "harmless: other programs show the older comments")
        for extra in set(schema.names) - set(declared.names):
            problem = "is no column of this release"
            yield Finding(Status.WARN, "schema", f"{name}.{extra}", problem, "use the release that wrote it")
        version = delta.metadata().configuration.get(CONTRACT_PROPERTY)
        if version != str(CONTRACT_VERSION):
            problem = f"{CONTRACT_PROPERTY} is {version}, {CONTRACT_VERSION} was expected"
            yield Finding(Status.BROKEN, "schema", name, problem, "use the release that wrote it")


def difference(schema: pa.Schema, column: pa.Field) -> str | None:
    if column.name not in schema.names:
        return "is not there"
    other = schema.field(column.name)
    if not other.type.equals(column.type):
        return f"is {other.type}, {column.type} was expected"
    if other.nullable != column.nullable:
        return "allows NULL, this release does not" if other.nullable else "does not allow NULL, this release does"
    return None


def comment_of(field: pa.Field) -> bytes | None:
    comment: bytes | None = (field.metadata or {}).get(b"comment")
    return comment


def check_files(checked: CheckedWarehouse) -> Iterator[Finding]:
    files = [(name, *file) for name in checked.tables for file in checked.files(name)]
    with counting(checked.num_files, "files") as activity:

        def look_at(file: tuple[str, Place, dict[str, Any]]) -> str | None:
            _, path, row = file
            problem = checked.damage(path, row)
            activity.done += 1
            return problem

        problems = done_together(checked.warehouse.root, look_at, files)
    for (name, path, row), problem in zip(files, problems, strict=True):
        if problem:
            ran = clusters_with(checked.runs, TABLES[name].job)
            repair = checked.repair(name, clusters_of(row, ran))
            yield Finding(Status.BROKEN, "files", f"{TABLES[name].folder}/{path.name}", problem, repair)


def check_progress(checked: CheckedWarehouse) -> Iterator[Finding]:
    """If a table is lost, so are the rows of other clusters: their jobs must start from the beginning too. A redacted
    copy has none of these rows, since no job will ask for them."""
    if is_redacted(checked.warehouse.root):
        return
    for job, table in PROGRESS.items():
        for cluster in sorted(clusters_with(checked.runs, job)) if table in checked.tables else ():
            try:
                is_lost = not has_progress(checked.warehouse, job, cluster)
            except UNREADABLE as error:
                raise_refusal(error, checked.warehouse.path(table))
                continue  # which is a finding about its files
            if is_lost:
                line = f"has lost the rows of cluster {cluster}: a run of another cluster created the table again"
                yield Finding(Status.BROKEN, "progress", TABLES[table].folder, line, checked.repair(table, [cluster]))


def check_statistics(checked: CheckedWarehouse) -> Iterator[Finding]:
    for name in checked.tables:
        lacking = [path.name for path, row in checked.files(name) if not has_statistics(TABLES[name], row)]
        if lacking:
            files = (
                f"{counted(len(lacking), 'file')} without min and max of the table's key columns, such as {lacking[0]}"
            )
            line = f"{files}: every query reads them"
            mend = WRITE_ANEW if TABLES[name].job == "ingest" else checked.repair(name)
            yield Finding(Status.WARN, "statistics", name, line, mend)


def check_orphans(checked: CheckedWarehouse) -> Iterator[Finding]:
    if checked.is_busy:
        return  # files that a run is writing are not in a log yet
    waiting = {
        (name, file.name)
        for path in unfinished_manifests(checked.warehouse.root)
        for name, change in read_manifest(path).changes.items()
        for file in change.added
    }

    def files_left(name: str) -> list[Place]:
        folder = checked.warehouse.path(name)
        named = names_in_log(folder) | {file for table, file in waiting if table == name}
        return [path for path in folder.files_in(".parquet") if path.name not in named]

    for name, left in zip(
        checked.tables, done_together(checked.warehouse.root, files_left, checked.tables), strict=True
    ):
        if left:
            size = sum(each.size() for each in left)
            line = (
                f"{counted(len(left), 'file')} that the Delta log does not list, {size} bytes, such as {left[0].name}"
            )
            yield Finding(
                Status.WARN,
                "orphans",
                name,
                line,
                "failed attempts left them; `groupscope maintain --keep 400d` deletes those of groupscope",
            )


def names_in_log(folder: Place) -> set[str]:
    """Every file that any version of the table has named."""
    named: set[str] = set()
    for log in (folder / "_delta_log").files_in(".json"):
        for action in actions_of(log):
            named |= {unquote(action[kind]["path"]) for kind in ACTIONS if kind in action}
    for checkpoint in (folder / "_delta_log").files_in(".parquet"):
        with pq.ParquetFile(checkpoint.parquet_source(), pre_buffer=False) as file:
            rows = file.read([f"{kind}.path" for kind in ACTIONS], use_threads=False)
        for kind in ACTIONS:
            paths = rows.column(kind).to_pylist()
            named |= {unquote(action["path"]) for action in paths if action and action["path"]}
    return named


CHECKS = (
    Check("lock", "no run is in progress", check_lock),
    Check("manifests", "no run was killed while it wrote", check_manifests),
    Check("tables", "every table opens", check_opens),
    Check("versions", "every table is at the Delta version that the newest run wrote", check_versions),
    Check("protocol", "no table needs more than reader protocol 1 of Delta", check_protocol),
    Check("schema", "columns, types and comments are those of this release", check_schema),
    Check("files", "no file is missing or truncated", check_files),
    Check("progress", "no table has lost the rows of a cluster", check_progress),
    Check("statistics", "every file has min and max of the table's key columns", check_statistics),
    Check("orphans", "the Delta logs list every file", check_orphans),
)
