"""A warehouse on a file system that only Hadoop knows: read and written by Spark alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from jobs.failure import Failure
from jobs.ingestion.staged_tables import finish_staged
from jobs.sources.archive_files import is_of_java, java_message
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.hadoop_files import HadoopFiles
from jobs.warehouses.hadoop_lock import LOCK_FILE, HadoopLock
from jobs.warehouses.manifest import RUNS, RUNS_FOLDER, SUFFIX, Manifest, manifest_text, parse_manifest, versions_of
from jobs.warehouses.spark_tables import arrow_rows, frame_at, prepare_session, version_of
from jobs.warehouses.warehouse_marker import MADE, MARKER, NEW_OR_MADE, check_marker, marker_text
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES, USER_TABLES, folder_of


@dataclass
class HadoopWarehouse:
    told: str
    spark: SparkSession
    lock: HadoopLock | None = None
    # The rows of `runs` and the version that they are of.
    runs: tuple[int, pa.Table] | None = None
    local_root = None

    @property
    def files(self) -> HadoopFiles:
        return HadoopFiles(self.spark, self.told)

    def place(self, table: str) -> str:
        return f"{self.told}/{folder_of(table)}"

    def versions(self) -> dict[str, int]:
        version = self.runs_version()
        newest = max(self.run_rows(["run_id", "table_versions"]), key=lambda row: str(row["run_id"]), default=None)
        return {} if newest is None else {**versions_of(newest), RUNS: version}

    def runs_version(self) -> int:
        has_runs = self.files.exists(f"{RUNS}/_delta_log")
        return version_of(self.spark, self.place(RUNS)) if has_runs else -1

    def run_rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        version = self.runs_version()
        if version < 0:
            return []
        if self.runs is None or self.runs[0] != version:
            self.runs = version, arrow_rows(frame_at(self.spark, self.place(RUNS), version), TABLES[RUNS])
        return [dict(row) for row in self.runs[1].select(columns).to_pylist()]

    def rows(self, table: str, columns: Sequence[str] | None = None, cluster: str | None = None) -> pa.Table | None:
        version = self.versions().get(table)
        if version is None:
            return None
        frame = frame_at(self.spark, self.place(table), version)
        return arrow_rows(
            frame if cluster is None else frame.where(frame["cluster"] == cluster), TABLES[table], columns
        )

    def num_rows(self) -> dict[str, int]:
        return {
            # The first version of a table is an empty one.
            name: frame_at(self.spark, self.place(name), version).count() if version > 0 else 0
            for name, version in self.versions().items()
            if name in USER_TABLES
        }

    def clusters(self) -> list[str]:
        return sorted({row["cluster"] for row in self.run_rows(["cluster"])})

    def next_sequence(self) -> int:
        """Run ids begin with it."""
        return 1 + max((int(row["run_id"].split("-")[0]) for row in self.run_rows(["run_id"])), default=0)

    def write(self, manifest: Manifest) -> None:
        if self.lock is not None:
            self.lock.check()
        self.write_text(manifest_name(manifest.run_id), manifest_text(manifest))
        failpoint("manifest_written")
        self.finish(manifest)

    def finish(self, manifest: Manifest) -> None:
        finish_staged(self.spark, self.place, manifest, self.versions())
        failpoint("runs_committed")
        # Delta skips what another run has written under the same number: the lock was lost then.
        if manifest.run_id not in {row["run_id"] for row in self.run_rows(["run_id"])}:
            told = f"{self.told}: another run has written meanwhile, run {manifest.run_id} is not in it"
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)
        self.files.remove(manifest_name(manifest.run_id))
        failpoint("manifest_removed")

    def write_text(self, name: str, text: str) -> None:
        self.files.write_whole(name, text)


def manifest_name(run_id: str) -> str:
    return f"{RUNS_FOLDER}/{run_id}{SUFFIX}"


@contextmanager
def writing(
    place: str,
    job: str,
    lock_wait: float,
    tell: Callable[[str], None],
    spark: Callable[[], SparkSession],
    *,
    may_be_new: bool = True,
) -> Iterator[HadoopWarehouse]:
    """As warehouse.writing does for local disks."""
    with unusable_when_refused(place):
        warehouse = opened(place, spark)
        if may_be_new:
            prepare(warehouse.files)
        else:
            check_marker(warehouse.files.text(MARKER), place, MADE)
        warehouse.lock = HadoopLock(warehouse.files, job)
        with warehouse.lock.held(lock_wait, tell):
            for name in warehouse.files.names(RUNS_FOLDER):
                if name.endswith(SUFFIX):
                    run_id = name.removesuffix(SUFFIX)
                    tell(f"{place}: finishing run {run_id}, which was ended while it wrote")
                    text = warehouse.files.text(manifest_name(run_id)) or ""
                    warehouse.finish(parse_manifest(text, f"{place}/{manifest_name(run_id)}"))
            yield warehouse


def prepare(files: HadoopFiles) -> None:
    is_new = all(name == LOCK_FILE or name.startswith(MARKER) for name in files.names())
    if is_new and not files.exists(MARKER):
        files.write_whole(MARKER, marker_text())
    check_marker(files.text(MARKER), files.root, NEW_OR_MADE)


def reading(place: str, spark: Callable[[], SparkSession]) -> HadoopWarehouse:
    with unusable_when_refused(place):
        warehouse = opened(place, spark)
        check_marker(warehouse.files.text(MARKER), place, MADE)
    return warehouse


def opened(place: str, spark: Callable[[], SparkSession]) -> HadoopWarehouse:
    session = spark()
    prepare_session(session)
    return HadoopWarehouse(place.rstrip("/"), session)


@contextmanager
def unusable_when_refused(place: str) -> Iterator[None]:
    """Whatever the file system refuses is told as a matter of the warehouse."""
    try:
        yield
    except Exception as error:
        if not is_of_java(error):
            raise
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place}: {java_message(error)}") from error
