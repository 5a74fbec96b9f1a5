"""Rewrites the files of a table: without rows beyond the term, and small ones as a few large ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.configuration.settings import Tables
from jobs.maintaining.old_rows import DROPPED_FROM, Kept, beyond_term, columns_needed, may_have_old_rows
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import (
    Change,
    DataFile,
    RemovedFile,
    clusters_of,
    files_of,
    is_provisional,
    partitioning,
)
from jobs.warehouses.small_files import Rewriting, num_merged, row_groups, with_small_files_rewritten
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES


@dataclass
class Rewriter:
    """`run_id`: None to count what a run would change. `kept`: by cluster; None: all of its rows. What was dropped and
    merged is counted by table."""

    warehouse: Warehouse
    run_id: str | None
    limits: Tables
    kept: Mapping[str, Kept | None]
    dropped_rows: Counter[str] = field(default_factory=Counter)
    merged_files: Counter[str] = field(default_factory=Counter)

    def change(self, table: str, version: int) -> Change:
        """Files of several clusters, which other programs may have made, stay."""
        delta = self.warehouse.open_at(table, version)
        files = [] if delta is None else files_of(delta).to_pylist()
        changes = [self.change_of(table, cluster, files) for cluster in sorted(self.kept)]
        return Change(
            tuple(file for each in changes for file in each.added),
            tuple(file for each in changes for file in each.removed),
        )

    def change_of(self, table: str, cluster: str, files: Sequence[Mapping[str, Any]]) -> Change:
        closed = [
            file
            for file in files
            if not is_provisional(TABLES[table], file) and clusters_of(file, self.kept) == {cluster}
        ]
        kept = self.kept[cluster]
        change = Change() if kept is None or table not in DROPPED_FROM else self.without_old_rows(table, closed, kept)
        of = Rewriting(self.warehouse.root, table, self.run_id or "", self.limits, "full")
        names = [unquote(file["path"]) for file in closed]
        if self.run_id is None:
            self.merged_files[table] += num_merged(of, change, names)
            return change
        merged = with_small_files_rewritten(of, change, names)
        self.merged_files[table] += len(merged.removed) - len(change.removed)
        return merged

    def without_old_rows(self, table: str, files: Sequence[Mapping[str, Any]], kept: Kept) -> Change:
        added, removed = [], []
        for file in files:
            if not may_have_old_rows(table, file, kept):
                continue
            name = unquote(file["path"])
            gone = rows_beyond(self.warehouse.path(table) / name, table, kept)
            number = pc.sum(gone).as_py() or 0
            if not number:
                continue
            self.dropped_rows[table] += number
            removed.append(RemovedFile(name, is_data_change=True))
            if number < len(gone) and self.run_id is not None:
                added.append(self.without(table, name, gone, self.run_id))
        return Change(tuple(added), tuple(removed))

    def without(self, table: str, name: str, gone: pa.Array, run_id: str) -> DataFile:
        """The other rows of the file, in their order."""
        folder = self.warehouse.path(table)
        file = TableFile(folder, TABLES[table], run_id)
        start = 0
        for rows in row_groups(folder / name, TABLES[table]):
            left = rows.filter(pc.invert(gone.slice(start, rows.num_rows)))
            start += rows.num_rows
            if left.num_rows:
                file.write(left)
        done = file.close()
        assert done is not None
        return replace(done, is_provisional=False if partitioning(TABLES[table]) else None)


def rows_beyond(path: Place, table: str, kept: Kept) -> pa.Array:
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        rows = file.read([*columns_needed(table)], use_threads=False)
    is_beyond = beyond_term(table, rows, kept)
    return is_beyond.combine_chunks() if isinstance(is_beyond, pa.ChunkedArray) else is_beyond
