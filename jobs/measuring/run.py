"""The lag job: computes lag, rates, verdicts and events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.configuration.settings import settings_hash
from jobs.measuring.partition_ends import LogAsRead, coverage_facts
from jobs.measuring.task_messages import MeasuringInput, Progress, Replayed
from jobs.replaying.left_out import groups_left_out
from jobs.replaying.log.partition import GROUP_TABLES
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.log_run import LogRun
from jobs.replaying.tables.written_tables import WrittenTables
from jobs.replaying.task.messages import LogTaskResult, Work
from jobs.replaying.task.replay_messages import Progress as ReplayProgress
from jobs.replaying.task.run_facts import Sizes
from jobs.replaying.task.snapshot_rules import newest_setting
from jobs.replaying.task.warehouse_state import PROGRESS as REPLAY_PROGRESS
from jobs.replaying.task.warehouse_state import has_seen, last_run, progress_by_partition, rows_of, with_micros
from jobs.runs.as_of import check_as_of
from jobs.runs.run import Run
from jobs.warehouses.delta_tables import clusters_of, file_path, files_of
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import TIME
from udfs.lag.partition_history import READ, BrokerSettings
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.freshness import Objective
from udfs.rules.verdicts.own_verdict import OwnRules

if TYPE_CHECKING:
    from jobs.replaying.log_tables import LogTables

PROGRESS = "measured_partitions"
COMMITS, SNAPSHOTS = "offset_commits", "topic_snapshots"
WRITTEN = WrittenTables(
    "lag",
    whole=(PROGRESS, "offsets_partitions"),
    renewed=("expiry_forecast",),
    read=(COMMITS, *READ),
    kept=("group_verdicts",),
)
INPUTS = (COMMITS, *READ, SNAPSHOTS, "cluster_snapshots", "source_files", REPLAY_PROGRESS)
RETENTION, CHECK_INTERVAL = "offsets.retention.minutes", "offsets.retention.check.interval.ms"


class Measurement(LogRun):
    """`as_of`: microseconds; None: the newest record or snapshot."""

    written = WRITTEN
    progress_type = Progress
    least_records = 200_000

    def __init__(self, *, is_full: bool, as_of: int | None = None) -> None:
        super().__init__(is_full=is_full)
        self.wanted_as_of = as_of

    def begin(self, run: Run) -> None:
        super().begin(run)
        if self.wanted_as_of is not None:
            check_as_of(self.warehouse, self.cluster, self.wanted_as_of // 1000, run.started_ms)

    @property
    def task_function(self) -> Work:
        from jobs.measuring.task import measure_slice

        return measure_slice

    def is_up_to_date(self) -> bool:
        last = last_run(self.runs, "lag", self.cluster)
        is_same = last is not None and last["config_hash"] == settings_hash(self.settings)
        return is_same and self.as_of in (None, as_of_of(last)) and has_seen(last, INPUTS, self.warehouse.versions())

    @cached_property
    def replay_progress(self) -> dict[int, ReplayProgress]:
        return progress_by_partition(self.warehouse, self.cluster)

    @cached_property
    def replayed_partitions(self) -> dict[int, Replayed]:
        return {
            partition: Replayed(
                each.through_offset,
                each.coverage.last_time,
                each.whole_run_id,
                {number: epoch.first_offset for number, epoch in each.epochs.of.items()},
            )
            for partition, each in self.replay_progress.items()
        }

    @cached_property
    def snapshot_runs(self) -> pa.Table:
        """When snapshots were taken, and which run brought them."""
        # Millions of rows: one text for each would take longer than all else before the first task.
        names = ("captured_time", "run_id", "cluster")
        schema = pa.schema([table_schema(TABLES["topic_snapshots"]).field(name) for name in names])
        parts = [schema.empty_table()]
        for file in self.snapshot_files():
            with pq.ParquetFile(file.path.parquet_source(), pre_buffer=False, read_dictionary=names[1:]) as parquet:
                rows = parquet.read([*names], use_threads=False).select(names).unify_dictionaries()
            parts.append(rows.group_by([*names], use_threads=False).aggregate([]).cast(schema))
        joined = pa.concat_tables(parts)
        return joined.filter(pc.equal(joined.column("cluster"), self.cluster)).select(names[:2])

    @cached_property
    def newest_snapshot(self) -> int | None:
        newest: int | None = pc.max(self.snapshot_runs.column("captured_time").cast(pa.int64())).as_py()
        return newest

    @cached_property
    def as_of(self) -> int | None:
        """None: there is nothing to measure."""
        return self.newest_time if self.wanted_as_of is None else self.wanted_as_of

    @cached_property
    def newest_time(self) -> int | None:
        """Of all records and snapshots."""
        known = [each.through_time for each in self.replayed_partitions.values()] + [self.newest_snapshot]
        return max((each for each in known if each is not None), default=None)

    def measured_to(self, as_of: int) -> int:
        """Up to when earlier runs have measured, if that is later; nothing is known after the newest time."""
        earlier = max(self.earlier_as_of(), default=as_of)
        return max(as_of, earlier if self.newest_time is None else min(earlier, self.newest_time))

    @cached_property
    def known(self) -> dict[int, Progress]:
        """Progress of earlier runs, by offsets partition."""
        rows = rows_of(self.warehouse, PROGRESS, self.cluster)
        return {row["offsets_partition"]: Progress.from_plain(row) for row in rows}

    def answers(self, tables: "LogTables") -> list[LogTaskResult[Any]]:
        run_input = self.run_input()
        if run_input is None:
            return []
        partitions = sorted(self.replayed_partitions)
        after = {place: each.through_run_id for place, each in run_input.earlier.items()}
        commits = tables.rows_of_tables([COMMITS], partitions, after)
        # A partition without new records has new snapshots, or is measured at another time.
        sizes = Sizes(
            {place: number + 1 for place, number in commits.items()},
            tables.rows_of_tables(GROUP_TABLES, partitions, after),
        )
        if run_input.as_of_time in self.earlier_as_of():
            tables.changes.drop_rows_at("group_verdicts", "as_of_time", pa.scalar(run_input.as_of_time, TIME))
        answers = self.without_failures(tables.answers(run_input, sizes) if partitions else [])
        reached = {each.partition: each for answer in answers for each in answer.progress}
        progress = progress_table(self.cluster, reached.values())
        tables.take(answers, {PROGRESS: progress, "offsets_partitions": self.log_as_read.table()})
        return answers

    def earlier_as_of(self) -> set[int]:
        return {time for run in self.runs if self.is_ours(run) and (time := as_of_of(run)) is not None}

    def is_ours(self, run: Mapping[str, Any]) -> bool:
        return bool(run["job"] == "lag" and run["cluster"] == self.cluster)

    def run_input(self) -> MeasuringInput | None:
        if self.as_of is None:
            return None
        run_input = MeasuringInput(
            cluster=self.cluster,
            run_id=self.run_id,
            through_run_id=self.newest_run(),
            earlier={},
            root=self.warehouse.root,
            replayed=self.replayed_partitions,
            as_of_time=self.as_of,
            measured_to=self.measured_to(self.as_of),
            newest_snapshot=self.newest_snapshot,
            snapshots=tuple(self.snapshot_files()),
            broker=self.broker(),
            burrow=BurrowRules(**asdict(self.settings.burrow)),
            verdicts=OwnRules(**asdict(self.settings.verdicts)),
            objectives=tuple(
                Objective(each.pattern, each.freshness_objective_s)
                for each in self.settings.groups
                if each.freshness_objective_s
            ),
            left_out=groups_left_out(self.warehouse, self.cluster),
            early_ends=self.log_as_read.early_ends,
        )
        return replace(run_input, earlier=self.standing(run_input))

    @cached_property
    def log_as_read(self) -> LogAsRead:
        assert self.as_of is not None
        files = tuple(self.snapshot_files())
        return LogAsRead(self.warehouse, self.cluster, self.replay_progress, files, self.as_of)

    def standing(self, run_input: MeasuringInput) -> dict[int, Progress]:
        known = {} if self.is_full else self.known
        return {
            place: each for place, each in known.items() if self.is_still_valid(each, run_input.basis(each.partition))
        }

    def is_still_valid(self, progress: Progress, basis: str) -> bool:
        """Whether settled rows stay valid: the replay only continued, and no snapshot arrived late."""
        now = self.replayed_partitions.get(progress.partition)
        if now is None or now.whole_run_id > progress.through_run_id or progress.basis != basis:
            return False
        late = self.snapshot_runs.filter(pc.greater(self.snapshot_runs.column("run_id"), progress.through_run_id))
        oldest = pc.min(late.column("captured_time").cast(pa.int64())).as_py()
        return progress.settled_time is None or oldest is None or oldest >= progress.settled_time

    def snapshot_files(self) -> Iterable[LogFile]:
        delta = self.warehouse.open(SNAPSHOTS)
        for row in [] if delta is None else files_of(delta).to_pylist():
            if clusters_of(row, [self.cluster]):
                yield LogFile(self.warehouse.path(SNAPSHOTS) / file_path(row["path"]), 0, 0)

    def broker(self) -> BrokerSettings:
        """Each setting from the newest snapshot that has it."""
        captured = sorted(
            rows_of(self.warehouse, "cluster_snapshots", self.cluster, ["cluster", "captured_time", "settings"]),
            key=lambda row: row["captured_time"],
        )
        retention, interval = (newest_setting(captured, name) for name in (RETENTION, CHECK_INTERVAL))
        settings = BrokerSettings()
        if retention is not None:
            settings = replace(settings, offsets_retention_ms=retention * 60_000, retention_source="snapshot")
        return settings if interval is None else replace(settings, check_interval_ms=interval)

    def as_of_ms(self) -> int | None:
        return None if self.as_of is None else self.as_of // 1000

    def own_result(self, answers: Sequence[LogTaskResult[Any]]) -> dict[str, Any]:
        whole = {partition for each in answers for partition in each.whole}
        return {
            "num_partitions_measured_whole": len(whole),
            "num_snapshots": self.num_snapshots,
            "coverage": coverage_facts(self.coverage_rows()),
        }

    def coverage_rows(self) -> list[dict[str, Any]]:
        """Of offsets_partitions, as this run makes them, or as the last one did if nothing is new."""
        if "log_as_read" in vars(self):
            return self.log_as_read.rows
        return sorted(
            rows_of(self.warehouse, "offsets_partitions", self.cluster), key=lambda row: row["offsets_partition"]
        )

    @cached_property
    def num_snapshots(self) -> int:
        return len(self.snapshot_runs.column("captured_time").unique())


def as_of_of(run: Mapping[str, Any] | None) -> int | None:
    """Microseconds."""
    return None if run is None else with_micros(run["as_of_time"])


def progress_table(cluster: str, progress: Iterable[Progress]) -> pa.Table:
    rows = [each.row(cluster) for each in sorted(progress, key=lambda each: each.partition)]
    return pa.Table.from_pylist(rows, table_schema(TABLES["measured_partitions"]))
