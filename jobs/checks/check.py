"""What all checks of a warehouse use: the list of problems, the tables that can be opened, the footers of their
files."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.replaying.tables.lost_rows import PROGRESS, clusters_with, file_damage, rebuilding
from jobs.storage.places.place import Place
from jobs.storage.refusals import Refused, raise_refusal
from jobs.warehouses.delta_tables import UNREADABLE, file_path, files_of, one_line
from jobs.warehouses.files.damaged_tables import first_damaged
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from udfs.sentences.counts import counted

REBUILD = "restore the table's folder from a backup, or run groupscope audit on the same input into a new warehouse"


class Status(StrEnum):
    """Worst first."""

    BROKEN = "broken"
    WARN = "warn"
    OK = "ok"


class Finding(NamedTuple):
    status: Status
    check: str
    # The table that it is about, or another part of the warehouse.
    subject: str | None
    message: str
    mend: str | None = None


@dataclass(frozen=True)
class CheckedWarehouse:
    warehouse: Warehouse
    # By the newest run.
    versions: dict[str, int]
    runs: list[dict[str, Any]]
    # Tables that can be opened, at these versions.
    tables: dict[str, DeltaTable]
    unopened: dict[str, str]
    # The holder of the lock; None: there is none.
    holder: str | None
    # By file, for those that were looked at: what is wrong with it. Footers are read once.
    damages: dict[str, str | None] = field(default_factory=dict)
    # By table, for those that were asked about. delta-rs makes them out of its log anew each time.
    logs: dict[str, pa.Table] = field(default_factory=dict)

    @property
    def is_busy(self) -> bool:
        return self.holder is not None

    def log(self, table: str) -> pa.Table:
        """One row per file, as of `files_of`."""
        if table not in self.logs:
            self.logs[table] = files_of(self.tables[table])
        return self.logs[table]

    def files(self, table: str) -> list[tuple[Place, dict[str, Any]]]:
        """Every file in the table's log, with its entry there."""
        folder = self.warehouse.path(table)
        return [(folder / file_path(row["path"]), row) for row in self.log(table).to_pylist()]

    @property
    def num_files(self) -> int:
        return sum(len(self.log(table)) for table in self.tables)

    @property
    def num_rows(self) -> int:
        """As their logs say."""
        return sum(pc.sum(self.log(table)["num_records"]).as_py() or 0 for table in self.tables)

    def footers(self, table: str) -> Iterator[tuple[Place, pq.FileMetaData]]:
        """Footers of the files that can be read. Unreadable files are a separate finding."""
        for path, _ in self.files(table):
            try:
                yield path, footer(path)
            except UNREADABLE as error:
                raise_refusal(error, path)

    def has_damaged_files(self, table: str) -> bool:
        return any(self.damage(path, row) for path, row in self.files(table))

    def damage(self, path: Place, row: dict[str, Any]) -> str | None:
        if str(path) not in self.damages:
            self.damages[str(path)] = damage(path, row)
        return self.damages[str(path)]

    def damaged_file(self) -> tuple[str, str] | None:
        """The first file that is damaged inside, with its table. On local disks only: it reads all files."""
        if self.warehouse.root.is_remote:
            return None
        for table in self.tables:
            damaged = first_damaged(path for path, _ in self.files(table))
            if damaged is not None:
                return table, one_line(damaged)
        return None

    def repair(self, table: str, clusters: Collection[str] | None = None) -> str:
        """Tables that a job can rebuild from the decoded ones need no sources. `clusters`: those that lose rows; None:
        all."""
        job = TABLES[table].job
        if job not in PROGRESS:
            # One that came with this release is not damaged.
            is_new = job == "gate" and table not in self.versions
            return f"groupscope gate --warehouse {shlex.quote(self.warehouse.address)}" if is_new else REBUILD
        return rebuilding(self.warehouse, job, clusters_with(self.runs, job) if clusters is None else clusters)

    def repair_table(self, table: str) -> str:
        """How to repair a table that is wrong itself, not its rows."""
        repair = self.repair(table)
        return repair if repair == REBUILD else f"delete the folder {self.warehouse.path(table)}, then: {repair}"


def footer(path: Place) -> pq.FileMetaData:
    return pq.read_metadata(path.parquet_source())


def damage(path: Place, row: dict[str, Any]) -> str | None:
    if problem := file_damage(path, row):
        return problem
    try:
        rows = footer(path).num_rows
    except UNREADABLE as error:
        raise_refusal(error, path)
        return f"cannot be read: {one_line(error)}"
    return (
        None
        if row["num_records"] in (None, rows)
        else f"has {counted(rows, 'row')}, {row['num_records']} were expected"
    )


class Check(NamedTuple):
    name: str
    # What is true if it finds nothing.
    good: str
    find: Callable[[CheckedWarehouse], Iterable[Finding]]


def findings(check: Check, checked: CheckedWarehouse) -> list[Finding]:
    """What it found, or that everything is in order. A check that cannot run is a finding too, unless the storage does
    not let it."""
    try:
        problems = list(check.find(checked))
    except Refused:
        raise
    except (*UNREADABLE, Failure) as error:
        raise_refusal(error, checked.warehouse.root)
        found = checked.damaged_file()
        if found is None:
            return [Finding(Status.BROKEN, check.name, None, f"could not be checked: {one_line(error)}", REBUILD)]
        table, what = found
        return [Finding(Status.BROKEN, check.name, table, f"could not be checked: {what}", checked.repair(table))]
    return problems or [Finding(Status.OK, check.name, None, check.good)]
