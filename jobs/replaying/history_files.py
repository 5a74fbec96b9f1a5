"""Files of the replay's tables that one task writes: for each table one of closed rows and one of what may change."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from jobs.warehouses.delta_tables import IS_OPEN, DataFile, partitioning
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.table_files import MOST_ROWS, TableFile
from schemas.columns import Table
from schemas.tables import TABLES


@dataclass
class HistoryFiles:
    root: Path
    run_id: str
    files: dict[tuple[str, bool | None], TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        table = TABLES[name]
        for is_open, part in by_openness(table, rows):
            key = (name, is_open)
            if key not in self.files:
                self.files[key] = TableFile(self.root / name, table, self.run_id)
            ordered = part.take(pc.sort_indices(part, sort_keys=[(column, "ascending") for column in table.order]))
            for start in range(0, ordered.num_rows, MOST_ROWS):
                self.files[key].write(ordered.slice(start, MOST_ROWS), partition)

    def close(self) -> list[tuple[str, DataFile]]:
        found = []
        for (name, is_open), file in self.files.items():
            if (done := file.close()) is not None:
                found.append((name, replace(done, is_open=is_open)))
                failpoint("file_written", name)
        return found

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()


def by_openness(table: Table, rows: pa.Table) -> Iterator[tuple[bool | None, pa.Table]]:
    if not partitioning(table):
        if rows.num_rows:
            yield None, rows
        return
    mask = rows.column(IS_OPEN)
    for is_open, part in ((False, rows.filter(pc.invert(mask))), (True, rows.filter(mask))):
        if part.num_rows:
            yield is_open, part
