"""From what tasks answered to what the run changes: new files, and the files whose rows they take the place of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.ingestion.row_sinks import deserialized
from jobs.replaying.commit_pass import TRANSACTIONS
from jobs.replaying.earlier_rows import partition_column
from jobs.replaying.history_files import HistoryFiles
from jobs.replaying.known_state import KnownHistory
from jobs.replaying.log_files import LogFile
from jobs.replaying.told import Answer
from jobs.settings import Tables
from jobs.warehouses.delta_tables import Change, DataFile, Removed, partitioning
from jobs.warehouses.small_files import rewrite, rewrites, small
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from udfs.replay.transactions import merged
from udfs.tables.arrow_schema import table_schema


@dataclass
class Changes:
    warehouse: Warehouse
    run_id: str
    known: KnownHistory
    added: dict[str, list[DataFile]] = field(default_factory=dict)
    removed: dict[str, list[Removed]] = field(default_factory=dict)
    num_removed_rows: dict[str, int] = field(default_factory=dict)

    def take(self, answers: Sequence[Answer[Any]], *, is_full: bool) -> None:
        for each in answers:
            for name, file in each.files:
                self.added.setdefault(name, []).append(file)
        self.add_transactions(answers)
        answered = {progress.partition for each in answers for progress in each.progress}
        whole = {partition for each in answers for partition in each.whole}
        for name in self.known.written.of_partitions:
            # What may still change has been made anew; closed rows only of what was done from its beginning.
            for may_change, gone in ((True, answered), (False, whole)):
                files = self.known.of(name, may_change=may_change)
                self.drop(name, files, None if is_full else gone)

    def add_transactions(self, answers: Sequence[Answer[Any]]) -> None:
        """Those of offsets partitions whose groups were replayed in slices."""
        parts: dict[int, list[pa.Table]] = {}
        for partition, content in (each for answer in answers for each in answer.transactions):
            parts.setdefault(partition, []).append(deserialized(content))
        files = HistoryFiles(self.warehouse.root, self.run_id)
        for partition, tables in sorted(parts.items()):
            files.write(TRANSACTIONS, merged(tables), partition)
        self.added.setdefault(TRANSACTIONS, []).extend(file for _, file in files.close())

    def drop(self, name: str, files: Iterable[LogFile], partitions: Collection[int] | None) -> None:
        """Rows of these offsets partitions; None: of all."""
        column = partition_column(TABLES[name])
        kept = HistoryFiles(self.warehouse.root, self.run_id)
        for file in files:
            span = range(file.first_partition, file.last_partition + 1)
            if partitions is not None and not any(place in span for place in partitions):
                continue
            with pq.ParquetFile(file.path, pre_buffer=False) as parquet:
                num_rows = parquet.metadata.num_rows
                if partitions is not None and not all(place in partitions for place in span):
                    rows = parquet.read(use_threads=False).cast(table_schema(TABLES[name]))
                    mask = pc.is_in(rows.column(column), value_set=pa.array(sorted(partitions), pa.int32()))
                    left = rows.filter(pc.invert(mask))
                    num_rows -= left.num_rows
                    self.keep(kept, name, left)
            self.removed.setdefault(name, []).append(Removed(file.path.name, is_data_change=True))
            self.num_removed_rows[name] = self.num_removed_rows.get(name, 0) + num_rows
        for _, done in kept.close():
            self.added.setdefault(name, []).append(done)

    def keep(self, into: HistoryFiles, name: str, rows: pa.Table) -> None:
        column = partition_column(TABLES[name])
        for partition in sorted(pc.unique(rows.column(column)).to_pylist()):
            into.write(name, rows.filter(pc.equal(rows.column(column), partition)), partition)

    def replace_whole(self, tables: Mapping[str, pa.Table]) -> None:
        """Tables of few rows, all of the cluster at once, where they differ from what is there."""
        for name, rows in tables.items():
            held = [file for may_change in (True, False) for file in self.known.of(name, may_change=may_change)]
            if held and equal(rows, read(held, name), name):
                continue
            self.drop(name, held, None)
            files = HistoryFiles(self.warehouse.root, self.run_id)
            if rows.num_rows:
                files.write(name, rows, 0)
            self.added.setdefault(name, []).extend(done for _, done in files.close())

    def of_tables(self, limits: Tables) -> dict[str, Change]:
        return {name: self.with_small_files_rewritten(name, limits) for name in self.known.written.names}

    def with_small_files_rewritten(self, name: str, limits: Tables) -> Change:
        """Closed rows alone: those that may change are put into new files by each run anyway."""
        added, removed = list(self.added.get(name, ())), list(self.removed.get(name, ()))
        if name in (*self.known.written.renewed, *self.known.written.whole):
            return Change(tuple(added), tuple(removed))
        root, gone = self.warehouse.root, {file.name for file in removed}
        held = self.known.of(name, may_change=False)
        old = [file.path for file in held if file.path.name not in gone]
        new = [root / name / file.name for file in added if not file.is_open]
        files = [small(path, is_new) for is_new, paths in ((False, old), (True, new)) for path in paths]
        work = rewrites(root, name, self.run_id, files, limits, "auto")
        is_open = False if partitioning(TABLES[name]) else None
        made = [replace(rewrite(each), is_open=is_open) for each in work]
        rewritten = {each.name for one in work for each in one.files}
        moved = [Removed(path.name, is_data_change=False) for path in old if path.name in rewritten]
        stays = [file for file in added if file.name not in rewritten]
        return Change((*stays, *made), (*removed, *moved))

    def net_rows(self) -> dict[str, int]:
        """By how many rows each table grows."""
        names = sorted({*self.added, *self.num_removed_rows})
        sums = {name: sum(file.num_rows for file in self.added.get(name, ())) for name in names}
        found = {name: sums[name] - self.num_removed_rows.get(name, 0) for name in names}
        return {name: number for name, number in found.items() if number}


def read(files: Sequence[LogFile], name: str) -> pa.Table:
    schema = table_schema(TABLES[name])
    return pa.concat_tables([pq.read_table(file.path, use_threads=False).cast(schema) for file in files])


def equal(one: pa.Table, other: pa.Table, name: str) -> bool:
    order = [(column, "ascending") for column in TABLES[name].order]
    if one.num_rows != other.num_rows:
        return False
    return bool(one.sort_by(order).to_pylist() == other.sort_by(order).to_pylist())
