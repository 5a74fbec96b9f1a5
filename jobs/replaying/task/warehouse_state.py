"""What a replay reads from the warehouse before it begins: where records are, and what earlier runs wrote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow.parquet as pq

from jobs.command_line.values import EPOCH
from jobs.ingestion.driver.state import DECODED, known_files
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.tables.earlier_rows import partition_column
from jobs.replaying.tables.lost_rows import clusters_with, usable
from jobs.replaying.tables.written_tables import WrittenTables
from jobs.replaying.task.replay_messages import Progress, progress_of
from jobs.warehouses.delta_tables import IS_PROVISIONAL, clusters_of, file_path, files_of, partitioning
from jobs.warehouses.manifest import versions_of
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES

JOB = "replay"
PROGRESS = "replayed_partitions"
WRITTEN = WrittenTables(
    JOB,
    whole=("topics", "coordinator_epochs", "history_coverage", PROGRESS),
    renewed=("replayed_groups", "replayed_moves", "replayed_offsets"),
)
ANY_PARTITION = 0, 2**31 - 1
INPUTS = (*DECODED, "source_files", "cluster_snapshots", "topic_snapshots")


def decoded_files(warehouse: Warehouse) -> dict[str, list[LogFile]]:
    by_table = known_files(warehouse)
    return {
        name: [LogFile(file.path, file.first_partition, file.last_partition) for file in files]
        for name, files in by_table.items()
    }


@dataclass(frozen=True)
class KnownFile(LogFile):
    """`is_mixed`: the file may also have rows of other clusters, as after Spark merged several files."""

    num_rows: int
    is_mixed: bool


@dataclass
class KnownHistory:
    """Files of the job's tables with rows of the cluster, as the newest run left them. A full run reads none of them,
    so they need not exist."""

    warehouse: Warehouse
    cluster: str
    written: WrittenTables
    is_full: bool
    versions: Mapping[str, int] = field(init=False)
    # By table; whether rows of the file may still change.
    known: dict[str, list[tuple[KnownFile, bool]]] = field(default_factory=dict)
    # Tables whose logs a full run cannot read, and other clusters that lose rows with them.
    anew: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.versions = self.warehouse.versions()

    def of(self, name: str, *, may_change: bool) -> list[KnownFile]:
        if name not in self.known:
            self.known[name] = list(self.read(name))
        return [file for file, may in self.known[name] if may is may_change]

    @cached_property
    def other_clusters(self) -> set[str]:
        """Other clusters with rows in the job's tables."""
        runs = self.warehouse.run_rows(["cluster", "job", "num_offsets_partitions"], self.written.job)
        return clusters_with(runs, self.written.job) - {self.cluster}

    def read(self, name: str) -> Iterator[tuple[KnownFile, bool]]:
        if name not in self.versions:
            return
        delta = usable(self.warehouse, name, self.versions[name])
        if isinstance(delta, str):
            assert self.is_full, f"{name} {delta}"
            self.anew.add(name)
            self.lost |= self.other_clusters
            return
        for row in files_of(delta).to_pylist():
            if clusters_of(row, [self.cluster]):
                yield self.known_file(name, row), self.may_change(name, row)

    def known_file(self, name: str, row: Mapping[str, Any]) -> KnownFile:
        path = self.warehouse.path(name) / file_path(row["path"])
        span = ANY_PARTITION if self.is_full else partitions_in(path, partition_column(TABLES[name]))
        return KnownFile(path, *span, row["num_records"] or 0, bool(clusters_of(row, self.other_clusters)))

    def files_of_others(self, name: str) -> Iterator[KnownFile]:
        """Files of clusters that lose rows, without rows of this cluster."""
        delta = None if name in self.anew else self.warehouse.open(name)
        for row in [] if delta is None else files_of(delta).to_pylist():
            if clusters_of(row, self.lost) and not clusters_of(row, [self.cluster]):
                yield self.known_file(name, row)

    def may_change(self, name: str, file: Mapping[str, Any]) -> bool:
        return bool(file["partition"][IS_PROVISIONAL]) if partitioning(TABLES[name]) else name in self.written.renewed


def partitions_in(path: Any, column: str) -> tuple[int, int]:
    """The lowest and the highest offsets partition; for tables without partitions, all."""
    metadata = pq.read_metadata(path.parquet_source())
    names = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    if column not in names:
        return ANY_PARTITION
    place = names.index(column)
    statistics = [metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)]
    return min(each.min for each in statistics), max(each.max for each in statistics)


def progress_by_partition(warehouse: Warehouse, cluster: str) -> dict[int, Progress]:
    return {row["offsets_partition"]: progress_of(row) for row in rows_of(warehouse, PROGRESS, cluster)}


def rows_of(
    warehouse: Warehouse, table: str, cluster: str, columns: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """With times as microseconds."""
    rows = warehouse.rows(table, columns, cluster)
    return [] if rows is None else [with_micros(row) for row in rows.to_pylist()]


def with_micros(value: Any) -> Any:
    """Times as microseconds, also in nested columns."""
    match value:
        case datetime():
            return (value - EPOCH) // timedelta(microseconds=1)
        case dict():
            return {key: with_micros(each) for key, each in value.items()}
        case list():
            return [with_micros(each) for each in value]
        case _:
            return value


def last_run(runs: Iterable[Mapping[str, Any]], job: str, cluster: str) -> Mapping[str, Any] | None:
    ours = [row for row in runs if row["job"] == job and row["cluster"] == cluster]
    return max(ours, key=lambda row: str(row["run_id"]), default=None)


def has_seen(run: Mapping[str, Any] | None, tables: Iterable[str], versions: Mapping[str, int]) -> bool:
    """Whether the run has read everything there is."""
    if run is None:
        return False
    seen = versions_of(run)
    return all(seen.get(name) == versions.get(name) for name in tables)


def is_of_run(files: Sequence[LogFile], after_run: str | None) -> list[LogFile]:
    """Files that may have rows of later runs."""
    return [file for file in files if after_run is None or file.run_id is None or file.run_id > after_run]
