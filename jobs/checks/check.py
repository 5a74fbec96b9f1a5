"""What all checks of a warehouse use: the list of problems, the tables that can be opened, the footers of their
files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.output.failure import Failure
from jobs.replaying.tables.lost_rows import PROGRESS, clusters_with, rebuilding
from jobs.storage.stored_path import Place, parquet_source
from jobs.warehouses.delta_tables import UNREADABLE, file_path, files_of, one_line
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import TABLES

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
class Checked:
    warehouse: Warehouse
    # By the newest run.
    versions: dict[str, int]
    runs: list[dict[str, Any]]
    # Tables that can be opened, at these versions.
    tables: dict[str, DeltaTable]
    unopened: dict[str, str]
    # The holder of the lock; None: there is none.
    holder: str | None

    @property
    def is_busy(self) -> bool:
        return self.holder is not None

    def files(self, table: str) -> list[tuple[Place, dict[str, Any]]]:
        """Every file in the table's log, with its entry there."""
        folder = self.warehouse.path(table)
        return [(folder / file_path(row["path"]), row) for row in files_of(self.tables[table]).to_pylist()]

    @property
    def num_files(self) -> int:
        return sum(len(files_of(delta)) for delta in self.tables.values())

    @property
    def num_rows(self) -> int:
        """As their logs say."""
        logs = (files_of(delta)["num_records"] for delta in self.tables.values())
        return sum(pc.sum(numbers).as_py() or 0 for numbers in logs)

    def footers(self, table: str) -> Iterator[tuple[Place, pq.FileMetaData]]:
        """Footers of the files that can be read. Unreadable files are a separate finding."""
        for path, _ in self.files(table):
            try:
                yield path, footer(path)
            except UNREADABLE:
                continue

    def repair(self, table: str, clusters: Collection[str] | None = None) -> str:
        """Tables that a job can rebuild from the decoded ones need no sources. `clusters`: those that lose rows; None:
        all."""
        job = TABLES[table].job
        if job not in PROGRESS:
            return REBUILD
        return rebuilding(self.warehouse, job, clusters_with(self.runs, job) if clusters is None else clusters)

    def repair_table(self, table: str) -> str:
        """How to repair a table that is wrong in itself, whatever its rows."""
        repair = self.repair(table)
        return repair if repair == REBUILD else f"delete the folder {self.warehouse.path(table)}, then: {repair}"


def footer(path: Place) -> pq.FileMetaData:
    return pq.read_metadata(parquet_source(path))


class Check(NamedTuple):
    name: str
    # What is true if it finds nothing.
    good: str
    find: Callable[[Checked], Iterable[Finding]]


def findings(check: Check, checked: Checked) -> list[Finding]:
    """What it found, or that everything is in order. A check that cannot run is a finding too."""
    try:
        found = list(check.find(checked))
    except (*UNREADABLE, Failure) as error:
        return [Finding(Status.BROKEN, check.name, None, f"could not be checked: {one_line(error)}", REBUILD)]
    return found or [Finding(Status.OK, check.name, None, check.good)]
