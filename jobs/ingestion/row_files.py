"""Where the rows go that a task makes: into files of the tables."""

from dataclasses import dataclass, field

import pyarrow as pa

from jobs.storage.stored_path import Place
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES


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
        found = []
        for name, file in self.files.items():
            if (done := file.close()) is not None:
                found.append((name, done))
                failpoint("file_written", name)
        return found

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()
