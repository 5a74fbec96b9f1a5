"""One run of a job that goes on through the log where its last run ended, from what decoded tables hold to what `runs`
says of it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jobs.engine.engine import Engine
from jobs.failure import Failure, say
from jobs.replaying.local_tables import LocalTables
from jobs.replaying.lost_rows import clusters_with, has_progress, lost_rows, rebuilding
from jobs.replaying.tables import About, LogTables
from jobs.replaying.told import Answer, Reached, Work
from jobs.replaying.written_tables import WrittenTables
from jobs.run_result import iso, now_ms, run_id_of, run_row
from jobs.settings import Settings, settings_hash
from jobs.warehouses.any_warehouse import AnyWarehouse, one_cluster
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.manifest import Manifest, Staged
from jobs.warehouses.warehouse import STAGING, Warehouse
from schemas.exit_codes import ExitCode
from schemas.tables import USER_TABLES

RUN_COLUMNS = ["run_id", "job", "cluster", "table_versions", "config_hash", "num_offsets_partitions"]


class LogRun(ABC):
    """One run. `is_full`: as if there had been none before."""

    written: WrittenTables
    work: Work
    # How far an offsets partition is done.
    progress_type: type[Reached]
    # A task of fewer records would keep another worker from more than it is worth.
    least_records: int

    def __init__(
        self, warehouse: AnyWarehouse, cluster: str | None, settings: Settings, engine: Engine, *, is_full: bool
    ) -> None:
        self.warehouse, self.settings, self.engine, self.is_full = warehouse, settings, engine, is_full
        self.started_ms = now_ms()
        self.sequence = warehouse.next_sequence()
        self.run_id = run_id_of(self.sequence, self.started_ms)
        self.cluster = one_cluster(warehouse, cluster)
        self.runs = warehouse.run_rows(RUN_COLUMNS)
        if not any(row["cluster"] == self.cluster for row in self.runs):
            told = f"{warehouse.told}: nothing of cluster {self.cluster} in it, records of an ingest were expected"
            raise Failure(ExitCode.USAGE, told)

    @abstractmethod
    def is_up_to_date(self) -> bool:
        """Whether the last run has seen all there is."""

    @abstractmethod
    def answers(self, tables: LogTables) -> list[Answer[Any]]:
        """What tasks made of the log, with what is to be written told to the tables."""

    @abstractmethod
    def told(self, answers: Sequence[Answer[Any]]) -> dict[str, Any]:
        """What the result says of this job alone."""

    def run(self) -> dict[str, Any]:
        answers: list[Answer[Any]] = []
        tables = None
        self.check_lost_rows()
        if self.is_full or self.has_lost_progress() or not self.is_up_to_date():
            tables = self.tables()
            answers = self.answers(tables)
        failpoint("files_written")
        changes = {name: Change() for name in self.written.names} if tables is None else tables.manifest_changes()
        found = self.summary(answers, {} if tables is None else tables.rows_added())
        finished_ms = max(now_ms(), self.started_ms)
        found |= {"finished_time": iso(finished_ms), "seconds": round((finished_ms - self.started_ms) / 1000, 3)}
        counts = {"num_offsets_partitions": found["num_partitions"]}
        row = run_row(found, self.started_ms, finished_ms, settings_hash(self.settings), counts)
        staged = self.nothing_staged() if tables is None else tables.staged()
        anew = () if tables is None else tables.anew()
        self.warehouse.write(Manifest(self.run_id, self.sequence, finished_ms, changes, (row,), staged, anew))
        if tables is not None:
            tables.clean_up()
            self.say_whose_rows_went(tables.lost_clusters())
        return found

    def check_lost_rows(self) -> None:
        """A run that goes on would leave the rows out that are lost."""
        if self.is_full:
            return
        if not isinstance(self.warehouse, Warehouse):
            self.check_remote_logs()
            return
        for each in lost_rows(self.warehouse, self.written.job, clusters_with(self.runs, self.written.job)):
            if self.cluster in each.clusters:
                command = rebuilding(self.warehouse, self.written.job, [self.cluster])
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{each.path}: {each.what}. Rebuild it: {command}")

    def check_remote_logs(self) -> None:
        """Each file by itself would take long there: Spark says when it cannot read one."""
        from jobs.warehouses.spark_tables import has_log

        for name in self.written.names:
            place = self.warehouse.place(name)
            if name in self.warehouse.versions() and not has_log(self.engine.spark, place):
                command = rebuilding(self.warehouse, self.written.job, [self.cluster])
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place}: is not there. Rebuild it: {command}")

    def has_lost_progress(self) -> bool:
        job = self.written.job
        return self.cluster in clusters_with(self.runs, job) and not has_progress(self.warehouse, job, self.cluster)

    def say_whose_rows_went(self, clusters: Collection[str]) -> None:
        if clusters:
            command = rebuilding(self.warehouse, self.written.job, clusters)
            say(f"rows of {', '.join(sorted(clusters))} were lost with the same files. Rebuild them too: {command}")

    def tables(self) -> LogTables:
        about = About(
            *(self.cluster, self.run_id, self.settings, self.written),
            *(self.work, self.progress_type, self.least_records, self.is_full),
        )
        if isinstance(self.warehouse, Warehouse):
            return LocalTables(self.warehouse, self.engine, about)
        from jobs.replaying.staged_tables import StagedTables

        return StagedTables(self.warehouse, self.engine, about)

    def nothing_staged(self) -> Staged | None:
        """Where Spark writes it writes the row of `runs` too."""
        if isinstance(self.warehouse, Warehouse):
            return None
        folder = f"{self.warehouse.place(STAGING)}/{self.run_id}"
        return Staged(folder, (), self.cluster, (), (), self.settings.tables, "auto")

    def newest_run(self) -> str:
        return max(str(row["run_id"]) for row in self.runs)

    def without_failures(self, tables: LogTables, answers: list[Answer[Any]]) -> list[Answer[Any]]:
        for each in answers:
            if each.failure is not None:
                tables.clean_up()
                raise Failure(*each.failure)
        return answers

    def summary(self, answers: Sequence[Answer[Any]], rows_added: Mapping[str, int]) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "job": self.written.job,
            "cluster": self.cluster,
            "verdict": "clean",
            "exit_code": int(ExitCode.CLEAN),
            "started_time": iso(self.started_ms),
            "num_partitions": len({progress.partition for each in answers for progress in each.progress}),
            **self.told(answers),
            "num_records": sum(each.num_records for each in answers),
            "num_groups": sum(each.num_groups for each in answers),
            "rows_added": {name: number for name, number in rows_added.items() if name in USER_TABLES},
        }
