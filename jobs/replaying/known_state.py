"""What a replay finds in the warehouse before it begins: where records lie, and what earlier runs left."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.flags import EPOCH
from jobs.ingestion.state import DECODED, known_files
from jobs.replaying.assignment import Progress, progress_of
from jobs.replaying.earlier_rows import partition_column
from jobs.replaying.log_files import LogFile
from jobs.replaying.written_tables import WrittenTables
from jobs.warehouses.any_warehouse import AnyWarehouse
from jobs.warehouses.delta_tables import IS_OPEN, file_path, files_of, open_table, partitioning
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES

JOB = "replay"
PROGRESS = "replayed_partitions"
WRITTEN = WrittenTables(
    JOB,
    whole=("topics", "coordinator_epochs", "history_coverage", PROGRESS),
    renewed=("replayed_groups", "replayed_moves", "replayed_offsets"),
)
INPUTS = (*DECODED, "source_files", "cluster_snapshots", "topic_snapshots")


def decoded_files(warehouse: Warehouse) -> dict[str, list[LogFile]]:
    found = known_files(warehouse)
    return {
        name: [LogFile(file.path, file.first_partition, file.last_partition) for file in files]
        for name, files in found.items()
    }


@dataclass
class KnownHistory:
    """Files of the job's tables that hold rows of the cluster, as the newest run left them: a file holds rows of one
    cluster alone."""

    warehouse: Warehouse
    cluster: str
    written: WrittenTables
    versions: Mapping[str, int] = field(init=False)
    # By table; whether rows of the file may still change.
    known: dict[str, list[tuple[LogFile, bool]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.versions = self.warehouse.versions()

    def of(self, name: str, *, may_change: bool) -> list[LogFile]:
        if name not in self.known:
            self.known[name] = list(self.read(name))
        return [file for file, may in self.known[name] if may is may_change]

    def read(self, name: str) -> Iterator[tuple[LogFile, bool]]:
        version = self.versions.get(name)
        delta = None if version is None else open_table(self.warehouse.path(name), version)
        if delta is None:
            return
        table = TABLES[name]
        for row in files_of(delta).to_pylist():
            if row["min"] is None or row["min"].get("cluster") == self.cluster:
                may_change = self.may_change(name, row)
                path = self.warehouse.path(name) / file_path(row["path"])
                yield LogFile(path, *partitions_in(path, partition_column(table))), may_change

    def may_change(self, name: str, file: Mapping[str, Any]) -> bool:
        return bool(file["partition"][IS_OPEN]) if partitioning(TABLES[name]) else name in self.written.renewed


def partitions_in(path: Any, column: str) -> tuple[int, int]:
    """The lowest and the highest offsets partition; of tables that have none, all."""
    metadata = pq.read_metadata(path)
    names = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    if column not in names:
        return 0, 2**31 - 1
    place = names.index(column)
    found = [metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)]
    return min(each.min for each in found), max(each.max for each in found)


def progress_by_partition(warehouse: AnyWarehouse, cluster: str) -> dict[int, Progress]:
    return {row["offsets_partition"]: progress_of(row) for row in rows_of(warehouse, PROGRESS, cluster)}


def rows_of(warehouse: AnyWarehouse, table: str, cluster: str) -> list[dict[str, Any]]:
    """With times as microseconds."""
    rows = warehouse.rows(table)
    if rows is None:
        return []
    return [with_micros(row) for row in rows.filter(pc.equal(rows.column("cluster"), cluster)).to_pylist()]


def with_micros(value: Any) -> Any:
    """Times as microseconds, wherever they stand."""
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
    """Whether the run has seen all there is."""
    if run is None:
        return False
    seen = dict(run["table_versions"])
    return all(seen.get(name) == versions.get(name) for name in tables)


def is_of_run(files: Sequence[LogFile], after_run: str | None) -> list[LogFile]:
    """Files that may hold rows of later runs."""
    return [file for file in files if after_run is None or file.run_id is None or file.run_id > after_run]
