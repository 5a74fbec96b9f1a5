"""Where the rows go that a task makes: into files of the tables."""

from dataclasses import dataclass, field

import pyarrow as pa

from jobs.storage.stored_path import Place
from jobs.storage.together import done_together
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES


def closed(named: tuple[str, TableFile]) -> DataFile | None:
    name, file = named
    if (done := file.close()) is not None:
        failpoint("file_written", name)
    return done


@dataclass
class RowFiles:
    """One file of each table that there are rows for."""

    root: Place
    run_id: str
    files: dict[str, TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        if name not in self.files:
            self.files[name] = TableFile(self.root / TABLES[name].folder, TABLES[name], self.run_id)
        self.files[name].write(rows, partition)

    def close(self) -> list[tuple[str, DataFile]]:
        written = zip(self.files, done_together(self.root, closed, self.files.items()), strict=True)
        return [(name, done) for name, done in written if done is not None]

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()
