"""The ingest job: what it reads, and how it writes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.broker.client_properties import client_properties
from jobs.command_line.values import instant
from jobs.ingestion.driver.changes import (
    Outcome,
    archive_rows,
    outcome_of,
    skipped_rows,
    source_rows,
    unchanged_rows,
)
from jobs.ingestion.driver.folder_numbers import check_folder_numbers
from jobs.ingestion.driver.intact_ranges import state_with_intact
from jobs.ingestion.driver.state import ARCHIVE, SEGMENTS, State
from jobs.ingestion.driver.writer import JOB, About, EarlierKnowledge, IngestWriter
from jobs.ingestion.summary import VERDICTS, ends_apart, exit_code_of, facts, future_snapshots, swaps, warnings
from jobs.ingestion.task.messages import IngestResult
from jobs.ingestion.task.plan import Reading, readings, span_bytes, tasks, unchanged_beside, units
from jobs.ingestion.task.task import unit_steps
from jobs.output.failure import Failure, say
from jobs.replaying.task.snapshot_rules import CAPTURED, num_offsets_partitions, snapshots_of, topics_of
from jobs.replaying.task.warehouse_state import rows_of, with_micros
from jobs.runs.run import Run, RunOutcome
from jobs.sources.log_ids import NamedId, segment_ids
from jobs.sources.same_cluster import SameCluster
from jobs.sources.segment_source import FoundSegments, find_segments
from jobs.sources.snapshot_files import read_snapshots
from jobs.sources.stored_snapshots import new_snapshots
from jobs.sources.unreadable import WAY_ON, OnUnreadable, Unreadable, refusal
from jobs.storage.places.addresses import is_remote, local_path
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.counts import counted
from udfs.topics.names import Snapshots

COMMITS = "offset_commits"
# The last two columns bring together equal lines that are not records.
SORTED_BY = ("partition", "offset", "leader_epoch", "source_file", "raw")


@dataclass(frozen=True)
class IngestOptions:
    """The options of an ingest."""

    source: str | None = None
    command_config: Path | None = None
    offsets_partition: int | None = None
    snapshots: tuple[str, ...] = ()
    captured_at: str | None = None
    optimize: str = "auto"
    retry_rejected: bool = False


class Ingest:
    """`is_retry`: rejected records are decoded again, and no input is read."""

    name = JOB

    def __init__(self, options: IngestOptions, *, is_retry: bool) -> None:
        self.options, self.is_retry = options, is_retry
        self.num_files_read = self.num_files_unchanged = self.num_files_skipped = 0
        self.snapshots: dict[str, pa.Table] = {}
        self.snapshot_files: dict[datetime, str] = {}
        self.live_snapshots: dict[str, pa.Table] = {}
        # Said when the run is done.
        self.notes: list[str] = []

    def make(self, run: Run) -> RunOutcome:
        self.run, self.warehouse, self.cluster, self.run_id = run, run.warehouse, run.cluster, run.run_id
        self.engine, self.settings = run.engine, run.settings
        about = About(run.cluster, run.run_id, run.settings.tables, self.options.optimize)
        self.writer = IngestWriter(run.warehouse, run.engine, about)
        outcome = outcome_of(self.writer.retry(), {}) if self.is_retry else self.read()
        if outcome.source_rows:
            self.writer.add(outcome, "source_files", outcome.source_rows)
        code = exit_code_of(outcome, self.settings.ingest.max_rejected_share)
        return RunOutcome(
            self.writer.changes(outcome),
            partial(facts, outcome, self.about()),
            self.counts(outcome),
            code,
            VERDICTS[code],
            finish=partial(self.finish, outcome, code),
        )

    def read(self) -> Outcome:
        # Snapshots first: their errors are reported at once, and reading the source may take long.
        self.read_snapshots()
        outcome = self.read_source(self.options.source)
        folder = self.warehouse.path(COMMITS)
        self.same_cluster.check_commits([folder / file.name for file in outcome.files.get(COMMITS, ())])
        for name, rows in [*self.snapshots.items(), *self.live_snapshots.items()]:
            self.writer.add(outcome, name, rows)
        return outcome

    def finish(self, outcome: Outcome, code: ExitCode) -> None:
        for line in (*self.notes, *warnings(outcome, code, self.settings.ingest.max_rejected_share)):
            say(line)

    def read_source(self, source: str | None) -> Outcome:
        if source is None:
            self.check_snapshots([])
            return Outcome()
        match source.partition(":"):
            case "segments", _, place if place:
                return self.with_something(source, self.read_segments(place))
            case "records", _, place if place:
                return self.with_something(source, self.read_archive(place))
            case "kafka", _, servers if servers:
                return self.read_live(servers)
        expected = "give segments:DIR, kafka:HOST:PORT or records:PATH"
        raise Failure(ExitCode.USAGE, f"--source {source!r}; {expected}")

    def with_something(self, source: str, outcome: Outcome) -> Outcome:
        """Not nothing, where nothing is known: that all is well would be said of no record."""
        if outcome.total("read") or self.cluster in self.warehouse.clusters():
            return outcome
        line = f"{source}: there is no record of {OFFSETS_TOPIC} in {counted(self.num_files_read, 'file')}"
        if outcome.num_other_topics:
            line += f", only {counted(outcome.num_other_topics, 'row')} of other topics"
        remedy = "give a log that has some: a whole copy, of a topic in use"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{line}, and nothing is known of cluster {self.cluster}; {remedy}")

    def read_live(self, servers: str) -> Outcome:
        # Imported here, since its library is an optional dependency.
        from jobs.ingestion.live.source import LiveSource
        from jobs.ingestion.live.span import LiveLog
        from jobs.sources.cluster_snapshot import rows_of_snapshots
        from jobs.sources.committed_topics import known_topics

        log = LiveLog(servers, client_properties(self.options.command_config))
        state, is_retry = state_with_intact(self.warehouse, self.cluster), self.options.retry_rejected
        topics = partial(known_topics, self.warehouse, self.cluster)
        source = LiveSource(
            log=log,
            state=state,
            writer=self.writer,
            engine=self.engine,
            known_topics=topics,
            clock=self.run.clock,
            check_log=self.check_snapshots,
            is_retry=is_retry,
        )
        read = source.read()
        outcome = outcome_of(read.answers, state.rejected)
        outcome.source_rows = read.source_rows(self.cluster, self.run_id)
        self.live_snapshots = rows_of_snapshots(read.snapshots, self.cluster, self.run_id)
        self.num_files_read = len(read.plan.units)
        return outcome

    def read_archive(self, path: str) -> Outcome:
        # Imported here, since these load Spark, which most runs on segments do not need.
        from pyspark.sql import Observation

        from jobs.ingestion.task.archives import archive_steps
        from jobs.sources.archive_source import (
            NUM_OTHER_TOPICS,
            archive_files,
            archive_frame,
            unreadable_failure,
            unreadable_files,
        )

        self.check_snapshots([])
        state, spark = state_with_intact(self.warehouse, self.cluster), self.engine.spark
        unreadable: list[Unreadable] | None = None if self.refuses_unreadable else []
        files = archive_files(spark, path, unreadable)
        changed = [file for file in files if state.archives.get(file.path) != (file.size_bytes, file.modified_ms)]
        if unreadable is not None:
            unreadable += unreadable_files(spark, changed)
            left_out = {each.path for each in unreadable}
            files, changed = ([file for file in some if file.path not in left_out] for some in (files, changed))
            self.skip(unreadable, is_all=not files)
        skipped = skipped_rows(unreadable or (), ARCHIVE, self.cluster, self.run_id)
        self.num_files_read, self.num_files_unchanged = len(changed), len(files) - len(changed)
        if not changed:
            return Outcome(source_rows=skipped)

        def culprits() -> Failure | None:
            found = unreadable_files(spark, changed)
            return refusal(found, WAY_ON) if found else None

        seen = Observation()
        with unreadable_failure(path, culprits):
            frame = archive_frame(spark, path, [file.path for file in changed], seen, unreadable)
        by_partition = frame.repartition(2 * self.engine.num_workers, "partition").sortWithinPartitions(*SORTED_BY)
        earlier = EarlierKnowledge(state.rejected, may_be_known=bool(state.ranges), intact=state.intact)
        with unreadable_failure(path, culprits):
            answers = self.writer.read_frame(by_partition, archive_steps, self.writer.task_input(earlier))
        outcome = outcome_of(answers, state.rejected)
        outcome.source_rows = [*archive_rows(changed, answers, self.cluster, self.run_id), *skipped]
        # A file that is read again produces its broken lines again.
        outcome.retracted_ranges += [(file.path, None) for file in changed if file.path in state.archives]
        # Of files without a byte, Spark makes no task and observes nothing.
        outcome.num_other_topics = seen.get[NUM_OTHER_TOPICS] if any(file.size_bytes for file in changed) else 0
        return outcome

    def read_snapshots(self) -> None:
        self.same_cluster = SameCluster(self.warehouse, self.cluster)
        captured, places = self.options.captured_at, self.options.snapshots
        captured_ms = None if captured is None else instant(captured, self.run.started_ms, "--captured-at")
        if places:
            read = read_snapshots(places, self.cluster, self.run_id, captured_ms, self.run.storage_options)
            self.snapshots, self.snapshot_files = read.tables, read.files
            self.same_cluster.add_snapshots(
                read.tables["cluster_snapshots"], read.tables["topic_snapshots"], read.files
            )

    def check_snapshots(self, log: Iterable[NamedId]) -> None:
        """`log`: what names the log. Only rows that the warehouse does not have stay."""
        self.same_cluster.check_ids(log)
        self.snapshots = {
            name: new_snapshots(self.warehouse, name, rows, self.cluster, self.snapshot_files)
            for name, rows in self.snapshots.items()
        }
        if self.snapshots:
            new = self.snapshots["cluster_snapshots"]
            self.notes += future_snapshots(new, self.snapshot_files, self.run.started_ms)

    def read_segments(self, place: str) -> Outcome:
        state = state_with_intact(self.warehouse, self.cluster)
        if self.options.retry_rejected:
            state = without_marks_of_damaged(state)
        found = self.find_segments(place)
        files, skipped = found.files, skipped_rows(found.unreadable, SEGMENTS, self.cluster, self.run_id)
        ids = segment_ids(files)
        self.check_snapshots(ids.named)
        changed, self.num_files_unchanged = readings(files, state.marks, found.unreadable)
        self.num_files_read = len(changed)
        if not changed:
            return Outcome(source_rows=skipped)
        answers = self.read_files(changed, state)
        outcome = outcome_of(answers, state.rejected)
        check_folder_numbers(files, answers, self.num_offsets_partitions)
        beside = unchanged_beside(files, changed)
        read = source_rows(changed, answers, self.cluster, self.run_id)
        unread = unchanged_rows(beside, state.marks, self.cluster, self.run_id)
        by_file = {str(file.path): ids.by_folder[str(file.path.parent)] for file in files}
        outcome.source_rows = [row | by_file[row["source_file"]].columns() for row in (*read, *unread)]
        self.notes += swaps(changed)
        self.notes += ends_apart(files, state.marks, outcome.source_rows)
        outcome.source_rows = [*outcome.source_rows, *skipped]
        return outcome

    def num_offsets_partitions(self, last_seen: int) -> int | None:
        """By the snapshots of this run and earlier ones. Those that have not even the partition `last_seen` list only
        some."""
        captured = rows_of(self.warehouse, "cluster_snapshots", self.cluster, CAPTURED)
        topics = dict(snapshots_of(self.warehouse, self.cluster).topics)
        if self.snapshots:
            captured += [with_micros(row) for row in self.snapshots["cluster_snapshots"].to_pylist()]
            topics |= topics_of(self.snapshots["topic_snapshots"])
        ordered = sorted(captured, key=lambda row: row["captured_time"])
        return num_offsets_partitions(ordered, Snapshots(topics), last_seen)[0]

    def find_segments(self, place: str) -> FoundSegments:
        partition = self.options.offsets_partition
        pattern = place if is_remote(place) else str(local_path(place))
        found = find_segments(pattern, partition, self.run.storage_options)
        self.skip(found.unreadable, is_all=not found.files)
        self.notes += [f"{line}: not looked into for folders of offsets partitions" for line in found.passed_over]
        return found

    @property
    def refuses_unreadable(self) -> bool:
        return self.settings.ingest.unreadable == OnUnreadable.REFUSE

    def skip(self, unreadable: Sequence[Unreadable], *, is_all: bool) -> None:
        """Unless the settings refuse that, or nothing else is there."""
        if unreadable and is_all:
            raise refusal(unreadable)
        if unreadable and self.refuses_unreadable:
            raise refusal(unreadable, WAY_ON)
        self.num_files_skipped = len(unreadable)
        self.notes += [each.skipped_line for each in unreadable]

    def read_files(self, changed: Sequence[Reading], state: State) -> list[IngestResult]:
        total = sum(reading.size for reading in changed)
        cores = self.engine.num_workers
        planned = tasks(units(changed, state.ranges, span_bytes(total, cores)), cores)
        earlier = EarlierKnowledge(
            state.rejected, any(unit.may_be_known for task in planned for unit in task), intact=state.intact
        )
        assignment = self.writer.task_input(earlier)
        return self.writer.read_units(planned, assignment, unit_steps)

    def about(self) -> dict[str, Any]:
        return {
            "source": (self.options.source or "").partition(":")[0] or None,
            "num_files_read": self.num_files_read,
            "num_files_unchanged": self.num_files_unchanged,
            "num_files_skipped": self.num_files_skipped,
        }

    def counts(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "num_offsets_partitions": len(outcome.counts),
            "num_files_unchanged": self.num_files_unchanged,
            "ingest_counts": outcome.counts,
        }


def without_marks_of_damaged(state: State) -> State:
    """So that files with rejected ranges are read again even if they have not changed."""
    damaged = {each.source_file for ranges in state.rejected.values() for each in ranges}
    return replace(state, marks={name: marks for name, marks in state.marks.items() if name not in damaged})
