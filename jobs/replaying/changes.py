"""Turns the results of tasks into the changes of the run: new files, and the files whose rows they replace."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.configuration.settings import Tables
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.partition.commit_pass import TRANSACTIONS
from jobs.replaying.tables.earlier_rows import partition_column
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, deserialize
from jobs.replaying.task.warehouse_state import KnownFile, KnownHistory
from jobs.storage.refusals import is_refusal
from jobs.warehouses.delta_tables import UNREADABLE, Change, DataFile, RemovedFile
from jobs.warehouses.older_tables import with_missing_columns
from jobs.warehouses.small_files import Rewriting, with_small_files_rewritten
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.transactions import merged


@dataclass
class Changes:
    warehouse: Warehouse
    run_id: str
    known: KnownHistory
    added: dict[str, list[DataFile]] = field(default_factory=dict)
    removed: dict[str, list[RemovedFile]] = field(default_factory=dict)
    num_removed_rows: dict[str, int] = field(default_factory=dict)
    begun: list[HistoryFiles] = field(default_factory=list)

    def new_files(self) -> HistoryFiles:
        """Files that the driver itself writes. `close` closes all of them together, since on remote storage each is
        mostly waiting."""
        self.begun.append(HistoryFiles(self.warehouse.root, self.run_id))
        return self.begun[-1]

    def close(self) -> None:
        for each in self.begun:
            files, wait = each.closing()
            self.warehouse.closings.append(wait)
            for name, file in files:
                self.added.setdefault(name, []).append(file)
        self.begun = []

    def take(self, answers: Sequence[LogTaskResult[Any]]) -> None:
        for each in answers:
            for name, file in each.files:
                self.added.setdefault(name, []).append(file)
        self.add_transactions(answers)
        answered = {progress.partition for each in answers for progress in each.progress}
        whole = {partition for each in answers for partition in each.whole}
        for name in self.known.written.of_partitions:
            # Rows that may still change were written again. Closed rows were written again only for partitions replayed
            # from the beginning.
            for may_change, gone in ((True, answered), (False, whole)):
                files = self.known.of(name, may_change=may_change)
                self.drop(name, files, None if self.known.is_full else gone)

    def add_transactions(self, answers: Sequence[LogTaskResult[Any]]) -> None:
        """Transactions of offsets partitions whose groups were replayed in slices."""
        parts: dict[int, list[pa.Table]] = {}
        for partition, content in (each for answer in answers for each in answer.transactions):
            parts.setdefault(partition, []).append(deserialize(content))
        files = self.new_files()
        for partition, tables in sorted(parts.items()):
            files.write(TRANSACTIONS, merged(tables), partition)

    def drop(self, name: str, files: Iterable[KnownFile], partitions: Collection[int] | None) -> None:
        """Removes rows of the cluster in these offsets partitions; None: in all."""
        kept: dict[str, HistoryFiles] = {}
        for file in files:
            span = range(file.first_partition, file.last_partition + 1)
            if partitions is not None and not any(place in span for place in partitions):
                continue
            is_mixed = file.is_mixed or (partitions is not None and not all(place in partitions for place in span))
            self.take_out(kept, name, file, self.rows_left(file, name, partitions) if is_mixed else None)

    def drop_rows_at(self, name: str, column: str, time: Any) -> None:
        """Removes rows of the cluster with this time, which the run writes again."""
        kept: dict[str, HistoryFiles] = {}
        for file in self.known.of(name, may_change=False):
            rows = read_files([file], name)
            ours = pc.equal(rows.column("cluster"), self.known.cluster)
            goes = pc.fill_null(pc.and_(ours, pc.equal(rows.column(column), time)), False)
            left = rows.filter(pc.invert(goes))
            if left.num_rows < rows.num_rows:
                self.take_out(kept, name, file, left)

    def take_out(self, kept: dict[str, HistoryFiles], name: str, file: KnownFile, left: pa.Table | None) -> None:
        """Removes a file. Its remaining rows go to a new file, and count as added there."""
        if left is not None:
            self.keep(kept, name, left)
        self.removed.setdefault(name, []).append(RemovedFile(file.path.name, is_data_change=True))
        self.num_removed_rows[name] = self.num_removed_rows.get(name, 0) + file.num_rows

    def rows_left(self, file: KnownFile, name: str, partitions: Collection[int] | None) -> pa.Table:
        """Rows that remain of a file: those of other offsets partitions, and of clusters that lose nothing."""
        try:
            rows = read_files([file], name)
        except UNREADABLE as error:
            if not self.known.is_full or is_refusal(error):
                raise
            # Only rows of other clusters could remain.
            self.known.lost |= self.known.other_clusters
            return table_schema(TABLES[name]).empty_table()
        gone = {self.known.cluster, *(self.known.lost if name == self.known.written.progress else ())}
        goes = pc.is_in(rows.column("cluster"), value_set=pa.array(sorted(gone), pa.string()))
        if partitions is not None:
            places = rows.column(partition_column(TABLES[name]))
            goes = pc.and_(goes, pc.is_in(places, value_set=pa.array(sorted(partitions), pa.int32())))
        return rows.filter(pc.invert(goes))

    def keep(self, into: dict[str, HistoryFiles], name: str, rows: pa.Table) -> None:
        """Writes rows to files of one cluster each."""
        column = partition_column(TABLES[name])
        for cluster in sorted(pc.unique(rows.column("cluster")).to_pylist()):
            if cluster not in into:
                into[cluster] = self.new_files()
            ours = rows.filter(pc.equal(rows.column("cluster"), cluster))
            places = ours.column(column) if column in rows.column_names else pa.array([0] * ours.num_rows)
            for partition in sorted(pc.unique(places).to_pylist()):
                into[cluster].write(name, ours.filter(pc.equal(places, partition)), partition)

    def replace_whole(self, tables: Mapping[str, pa.Table]) -> None:
        """Replaces small tables, all rows of the cluster at once, if they differ. Progress comes last: clusters that
        lose rows also lose their progress, so that they start from the beginning."""
        progress = self.known.written.progress
        for name, rows in sorted(tables.items(), key=lambda each: each[0] == progress):
            held = [file for may_change in (True, False) for file in self.known.of(name, may_change=may_change)]
            if held and not self.known.is_full and equal(rows, self.own_rows(held, name), name):
                continue
            self.drop(name, held, None)
            if name == progress:
                self.drop(name, self.known.files_of_others(name), None)
            if rows.num_rows:
                self.new_files().write(name, rows, 0)

    def own_rows(self, files: Sequence[KnownFile], name: str) -> pa.Table:
        rows = read_files(files, name)
        return rows.filter(pc.equal(rows.column("cluster"), self.known.cluster))

    def of_tables(self, limits: Tables) -> dict[str, Change]:
        return {name: self.merge_small_files(name, limits) for name in self.known.written.names}

    def merge_small_files(self, name: str, limits: Tables) -> Change:
        """Merges files of closed rows only: rows that may still change get new files in each run anyway."""
        change = Change(tuple(self.added.get(name, ())), tuple(self.removed.get(name, ())))
        if name in (*self.known.written.renewed, *self.known.written.whole):
            return change
        held = [file.path.name for file in self.known.of(name, may_change=False)]
        wait = self.warehouse.wait_for_files
        of = Rewriting(self.warehouse.root, name, self.run_id, limits, wait_for_files=wait)
        return with_small_files_rewritten(of, change, held)

    def net_rows(self) -> dict[str, int]:
        """By how many rows each table grows."""
        names = sorted({*self.added, *self.num_removed_rows})
        sums = {name: sum(file.num_rows for file in self.added.get(name, ())) for name in names}
        numbers = {name: sums[name] - self.num_removed_rows.get(name, 0) for name in names}
        return {name: number for name, number in numbers.items() if number}


def read_files(files: Sequence[LogFile], name: str) -> pa.Table:
    schema = table_schema(TABLES[name])
    return pa.concat_tables(
        [
            with_missing_columns(pq.read_table(file.path.parquet_source(), use_threads=False), schema, file.path)
            for file in files
        ]
    )


def equal(one: pa.Table, other: pa.Table, name: str) -> bool:
    order = [(column, "ascending") for column in TABLES[name].order]
    if one.num_rows != other.num_rows:
        return False
    return bool(one.sort_by(order).to_pylist() == other.sort_by(order).to_pylist())
