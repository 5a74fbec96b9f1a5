"""One run of a job that reads the log in order and continues where its last run ended: from reading the decoded tables
to its row in `runs`."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from jobs.output.failure import Failure, say
from jobs.replaying.tables.lost_rows import clusters_with, has_progress, lost_rows, rebuilding
from jobs.replaying.tables.written_tables import WrittenTables
from jobs.replaying.task.messages import LogTaskResult, PartitionProgress, Work
from jobs.replaying.task.run_facts import About
from jobs.replaying.task.warehouse_state import last_run
from jobs.runs.run import Run, RunOutcome
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import versions_of
from schemas.tables import USER_TABLES
from schemas.words.exit_codes import ExitCode
from udfs.sentences.name_lists import list_names

if TYPE_CHECKING:
    from jobs.replaying.log_tables import LogTables

MOST_NAMED = 3
RUN_COLUMNS = ["run_id", "job", "cluster", "table_versions", "config_hash", "num_offsets_partitions",
               "as_of_time"]  # fmt: skip


class LogRun(ABC):
    """`is_full`: ignores earlier runs."""

    written: WrittenTables
    # The type of the job's progress in an offsets partition.
    progress_type: type[PartitionProgress]
    # With fewer records, a separate task costs more than another worker saves.
    least_records: int
    # What an offsets partition costs in any case, in records.
    records_per_partition: int = 15_000
    # How finely a large offsets partition is cut. Each slice of it is read separately.
    parts_per_worker: int = 1

    def __init__(self, *, is_full: bool) -> None:
        self.is_full = is_full

    @property
    def name(self) -> str:
        return self.written.job

    def begin(self, run: Run) -> None:
        self.warehouse, self.cluster, self.settings, self.engine = run.warehouse, run.cluster, run.settings, run.engine
        self.run_id = run.run_id
        # Of this job.
        self.runs = run.warehouse.run_rows(RUN_COLUMNS, self.name)
        if self.cluster not in run.warehouse.clusters():
            line = f"{self.warehouse.address}: has no records of cluster {self.cluster}; run `groupscope ingest` first"
            raise Failure(ExitCode.USAGE, line)

    @property
    @abstractmethod
    def task_function(self) -> Work:
        """Imported when there is work to do: a run without new records ends before."""

    @abstractmethod
    def is_up_to_date(self) -> bool:
        """Whether the last run has read everything there is."""

    @abstractmethod
    def answers(self, tables: "LogTables") -> list[LogTaskResult[Any]]:
        """Runs the tasks on the log, and passes what they wrote to the tables."""

    @abstractmethod
    def own_result(self, answers: Sequence[LogTaskResult[Any]]) -> dict[str, Any]:
        """The part of the result that only this job has."""

    def make(self, run: Run) -> RunOutcome:
        self.begin(run)
        answers: list[LogTaskResult[Any]] = []
        tables = None
        names = self.tables_never_written()
        self.is_full = self.is_full or bool(names)
        self.check_lost_rows()
        if self.is_full or self.has_lost_progress() or not self.is_up_to_date():
            tables = self.tables()
            answers = self.answers(tables)
        facts = self.facts(answers, {} if tables is None else tables.rows_added())
        counts = {"num_offsets_partitions": facts["num_partitions"], "as_of_time": self.as_of_ms()}
        if tables is None:
            unchanged = {name: Change() for name in self.written.names}
            return RunOutcome(unchanged, lambda _: facts, counts)
        return RunOutcome(
            tables.manifest_changes(),
            lambda _: facts,
            counts,
            anew=tables.anew(),
            finish=partial(self.finish, tables, names),
        )

    def as_of_ms(self) -> int | None:
        """The as-of time of the run; None: it is about the whole log."""
        return None

    def finish(self, tables: "LogTables", new_tables: Sequence[str]) -> None:
        if new_tables:
            what = f"{list_names(new_tables, MOST_NAMED)}; computed all rows of cluster {self.cluster}"
            say(f"{self.warehouse.address}: an older release did not write {what}")
        self.say_whose_rows_went(tables.lost_clusters())

    def tables_never_written(self) -> list[str]:
        """Tables of the job that did not exist yet when it last ran on the cluster. An incremental run would leave out
        the rows of earlier times."""
        last = last_run(self.runs, self.name, self.cluster)
        seen = {} if last is None else versions_of(last)
        return [name for name in self.written.names if seen and name not in seen]

    def check_lost_rows(self) -> None:
        """An incremental run would leave out the lost rows."""
        if self.is_full:
            return
        for each in lost_rows(self.warehouse, self.written.job, clusters_with(self.runs, self.written.job)):
            if self.cluster in each.clusters:
                command = rebuilding(self.warehouse, self.written.job, [self.cluster])
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{each.path}: {each.what}. Rebuild it: {command}")

    def has_lost_progress(self) -> bool:
        job = self.written.job
        return self.cluster in clusters_with(self.runs, job) and not has_progress(self.warehouse, job, self.cluster)

    def say_whose_rows_went(self, clusters: Collection[str]) -> None:
        if clusters:
            command = rebuilding(self.warehouse, self.written.job, clusters)
            line = "lost rows too, since their rows were in the same damaged files. Rebuild them"
            say(f"clusters {', '.join(sorted(clusters))} {line}: {command}")

    def tables(self) -> "LogTables":
        about = About(
            *(self.cluster, self.run_id, self.settings, self.written),
            *(self.task_function, self.progress_type),
            *(self.least_records, self.records_per_partition, self.parts_per_worker),
            is_full=self.is_full,
        )
        # Imported here, like the work: a run without new records ends before.
        from jobs.replaying.log_tables import LogTables

        return LogTables(self.warehouse, self.engine, about)

    def newest_run(self) -> str:
        newest = self.warehouse.newest_run_id()
        assert newest is not None
        return newest

    def without_failures(self, answers: list[LogTaskResult[Any]]) -> list[LogTaskResult[Any]]:
        for each in answers:
            if each.failure is not None:
                raise Failure(*each.failure)
        return answers

    def facts(self, answers: Sequence[LogTaskResult[Any]], rows_added: Mapping[str, int]) -> dict[str, Any]:
        return {
            "num_partitions": len({progress.partition for each in answers for progress in each.progress}),
            **self.own_result(answers),
            "num_records": sum(each.num_records for each in answers),
            "num_groups": sum(each.num_groups for each in answers),
            "rows_added": {name: number for name, number in rows_added.items() if name in USER_TABLES},
        }
