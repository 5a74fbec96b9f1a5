"""What all checks of a warehouse use: the list of problems, the tables that can be opened, the footers of their
files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.failure import Failure
from jobs.replaying.lost_rows import PROGRESS, clusters_with, rebuilding
from jobs.storage.stored_path import Place, parquet_source
from jobs.warehouses.delta_tables import UNREADABLE, file_path, files_of, one_line
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES

REBUILD = "ingest its sources into a new warehouse, or put the table's files back from a backup"


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
    # Those that open, at these versions.
    tables: dict[str, DeltaTable]
    unopened: dict[str, str]
    # Who holds the lock; None: nobody.
    holder: str | None

    @property
    def is_busy(self) -> bool:
        return self.holder is not None

    def files(self, table: str) -> list[tuple[Place, dict[str, Any]]]:
        """Every file that the table's log names, with what the log says of it."""
        folder = self.warehouse.path(table)
        return [(folder / file_path(row["path"]), row) for row in files_of(self.tables[table]).to_pylist()]

    def footers(self, table: str) -> Iterator[tuple[Place, pq.FileMetaData]]:
        """Of the files that can be read; those that cannot are a finding of their own."""
        for path, _ in self.files(table):
            try:
                yield path, footer(path)
            except UNREADABLE:
                continue

    def mend(self, table: str, clusters: Collection[str] | None = None) -> str:
        """Tables that a job makes anew from the decoded ones need no sources. `clusters`: whose rows are lost; None:
        those of all."""
        job = TABLES[table].job
        if job not in PROGRESS:
            return REBUILD
        return rebuilding(self.warehouse, job, clusters_with(self.runs, job) if clusters is None else clusters)

    def mend_table(self, table: str) -> str:
        """Where a table is not as it must be, whatever its rows."""
        mend = self.mend(table)
        return mend if mend == REBUILD else f"delete the folder {self.warehouse.path(table)}, then: {mend}"


def footer(path: Place) -> pq.FileMetaData:
    return pq.read_metadata(parquet_source(path))


class Check(NamedTuple):
    name: str
    # What is so when it finds nothing.
    good: str
    find: Callable[[Checked], Iterable[Finding]]


def findings(check: Check, checked: Checked) -> list[Finding]:
    """What it found, or that all is well; a check that cannot be made is a finding too."""
    try:
        found = list(check.find(checked))
    except (*UNREADABLE, Failure) as error:
        return [Finding(Status.BROKEN, check.name, None, f"could not be checked: {one_line(error)}", REBUILD)]
    return found or [Finding(Status.OK, check.name, None, check.good)]
