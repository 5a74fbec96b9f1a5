"""One run of an ingest, from what was asked to what `runs` says of it."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from jobs.broker.client_properties import client_properties
from jobs.engine.engine import Engine
from jobs.failure import Failure, say
from jobs.flags import instant
from jobs.ingestion.changes import Outcome, archive_rows, outcome_of, source_rows, unchanged_rows
from jobs.ingestion.direct_writer import DirectWriter
from jobs.ingestion.intact_ranges import state_with_intact
from jobs.ingestion.plan import Reading, readings, size_of, task_bytes, tasks, unchanged_beside, units
from jobs.ingestion.state import State
from jobs.ingestion.summary import Pace, exit_code_of, progress, summary, warnings
from jobs.ingestion.task_answers import Answer
from jobs.ingestion.tasks import unit_steps
from jobs.ingestion.writer import JOB, About, IngestWriter, Told
from jobs.run_result import now_ms, run_id_of, run_row
from jobs.settings import Settings, settings_hash
from jobs.sources.known_snapshots import new_snapshots
from jobs.sources.places import is_remote, local_path
from jobs.sources.segment_source import SegmentFile, segment_files
from jobs.sources.snapshot_files import read_snapshots
from jobs.warehouses.any_warehouse import AnyWarehouse, one_cluster
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.warehouse import Warehouse
from schemas.exit_codes import ExitCode

# By the last two, lines that are no records and are there twice come together.
SORTED_BY = ("partition", "offset", "leader_epoch", "source_file", "raw")


class Ingest:
    """One run, from what was asked to what `runs` says of it."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        settings: Settings,
        warehouse: AnyWarehouse,
        engine: Engine,
        started_ms: int,
    ) -> None:
        self.arguments, self.settings, self.warehouse = arguments, settings, warehouse
        self.started_ms = started_ms
        self.sequence = warehouse.next_sequence()
        self.run_id = run_id_of(self.sequence, started_ms)
        self.cluster = one_cluster(warehouse, arguments.cluster)
        self.engine = engine
        about = About(self.cluster, self.run_id, self.sequence, settings.tables, arguments.optimize)
        self.writer = writer_of(settings.ingest.writer, warehouse, engine, about)
        self.num_files_read = self.num_files_unchanged = 0
        self.live_snapshots: dict[str, pa.Table] = {}

    def run(self, *, is_retry: bool) -> dict[str, Any]:
        if is_retry:
            outcome = outcome_of(self.writer.retry(), {})
        else:
            # First, since what is wrong with them is told at once, and reading the source may take long.
            snapshots = self.snapshots()
            outcome = self.read_source(self.arguments.source)
            for name, rows in [*snapshots.items(), *self.live_snapshots.items()]:
                self.writer.add(outcome, name, rows)
        if outcome.source_rows:
            self.writer.add(outcome, "source_files", outcome.source_rows)
        manifest = self.writer.manifest(outcome)
        failpoint("files_written")
        finished_ms = max(now_ms(), self.started_ms)
        code = exit_code_of(outcome, self.settings.ingest.max_rejected_share)
        found = summary(outcome, self.about(), code, self.started_ms, finished_ms)
        row = run_row(found, self.started_ms, finished_ms, settings_hash(self.settings), self.counts(outcome))
        self.warehouse.write(replace(manifest, time_ms=finished_ms, runs=(row,)))
        self.writer.clean_up()
        for line in warnings(outcome, code, self.settings.ingest.max_rejected_share):
            say(line)
        return found

    def read_source(self, source: str | None) -> Outcome:
        if source is None:
            return Outcome()
        match source.partition(":"):
            case "segments", _, place if place:
                return self.read_segments(place)
            case "records", _, place if place:
                return self.read_archive(place)
            case "kafka", _, servers if servers:
                return self.read_live(servers)
        expected = "segments:DIR, kafka:HOST:PORT or records:PATH was expected"
        raise Failure(ExitCode.USAGE, f"--source {source!r}: {expected}")

    def read_live(self, servers: str) -> Outcome:
        # Here, since their library is an extra.
        from jobs.capturing.captured import rows_of_snapshots
        from jobs.capturing.known_topics import known_topics
        from jobs.sources.live_source import LiveSource
        from jobs.sources.live_span import LiveLog

        log = LiveLog(servers, client_properties(self.arguments.command_config))
        state, is_retry = state_with_intact(self.warehouse, self.cluster), self.arguments.retry_rejected
        topics = partial(known_topics, self.warehouse, self.cluster)
        source = LiveSource(log, state, self.writer, self.engine, topics, is_retry)
        read = source.read()
        outcome = outcome_of(read.answers, state.rejected)
        outcome.source_rows = read.source_rows(self.cluster, self.run_id)
        self.live_snapshots = rows_of_snapshots(read.snapshots, self.cluster, self.run_id)
        self.num_files_read = len(read.plan.units)
        return outcome

    def read_archive(self, path: str) -> Outcome:
        # Here, since they load Spark, which most runs on segments do without.
        from pyspark.sql import Observation

        from jobs.ingestion.archives import archive_steps
        from jobs.sources.archive_source import NUM_OTHER_TOPICS, archive_files, archive_frame, unreadable_told

        state, spark = state_with_intact(self.warehouse, self.cluster), self.engine.spark
        found = archive_files(spark, path)
        changed = [file for file in found if state.archives.get(file.path) != (file.size_bytes, file.modified_ms)]
        self.num_files_read, self.num_files_unchanged = len(changed), len(found) - len(changed)
        if not changed:
            return Outcome()
        seen = Observation()
        frame = archive_frame(spark, path, [file.path for file in changed], seen)
        by_partition = frame.repartition(2 * self.engine.num_workers, "partition").sortWithinPartitions(*SORTED_BY)
        told = Told(
            state.rejected,
            may_be_known=bool(state.ranges),
            known_partitions=frozenset(state.ranges),
            intact=state.intact,
        )
        with unreadable_told(path):
            answers = self.writer.read_frames([by_partition], archive_steps, self.writer.assignment(told))
        outcome = outcome_of(answers, state.rejected)
        outcome.source_rows = archive_rows(changed, answers, self.cluster, self.run_id)
        # What a file that is read again has of broken lines it brings again.
        outcome.retracted_ranges += [(file.path, None) for file in changed if file.path in state.archives]
        outcome.num_other_topics = seen.get[NUM_OTHER_TOPICS]
        return outcome

    def snapshots(self) -> dict[str, pa.Table]:
        """Rows that the warehouse does not have."""
        captured, places = self.arguments.captured_at, self.arguments.snapshots
        captured_ms = None if captured is None else instant(captured, self.started_ms, "--captured-at")
        if not places:
            return {}
        spark = self.engine.spark if any(map(is_remote, places)) else None
        tables = read_snapshots(places, self.cluster, self.run_id, captured_ms, spark)
        return {name: new_snapshots(self.warehouse, name, found, self.cluster) for name, found in tables.items()}

    def read_segments(self, place: str) -> Outcome:
        state = state_with_intact(self.warehouse, self.cluster)
        if self.arguments.retry_rejected:
            state = without_marks_of_damaged(state)
        files = self.segment_files(place)
        found, self.num_files_unchanged = readings(files, state.marks)
        self.num_files_read = len(found)
        if not found:
            return Outcome()
        answers = self.read_remote(place, found, state) if is_remote(place) else self.read_local(found, state)
        outcome = outcome_of(answers, state.rejected)
        beside = unchanged_beside(files, found)
        outcome.source_rows = [
            *source_rows(found, answers, self.cluster, self.run_id),
            *unchanged_rows(beside, state.marks, self.cluster, self.run_id),
        ]
        return outcome

    def segment_files(self, place: str) -> list[SegmentFile]:
        partition = self.arguments.offsets_partition
        if not is_remote(place):
            return segment_files(str(local_path(place)), partition)
        from jobs.sources.remote_segments import remote_segment_files

        return remote_segment_files(self.engine.spark, place, partition)

    def read_local(self, found: Sequence[Reading], state: State) -> list[Answer]:
        total = sum(reading.size for reading in found)
        size = task_bytes(total, self.engine.num_workers)
        planned = tasks(units(found, state.ranges, size), size)
        sizes = [size_of(task) for task in planned]
        pace = Pace(sizes, self.num_files_read, time.monotonic())
        told = Told(state.rejected, any(unit.may_be_known for task in planned for unit in task), intact=state.intact)
        assignment = self.writer.assignment(told)
        return self.writer.read_units(planned, assignment, progress(pace), unit_steps)

    def read_remote(self, place: str, found: Sequence[Reading], state: State) -> list[Answer]:
        from jobs.sources.archive_source import unreadable_told
        from jobs.sources.remote_segments import ONE_FILE_A_BATCH, content_frames, content_steps, expected_files

        spark, size = self.engine.spark, task_bytes(sum(reading.size for reading in found), 1)
        planned = list(units(found, state.ranges, size))
        told = Told(state.rejected, any(unit.may_be_known for unit in planned), intact=state.intact)
        steps = partial(content_steps, expected_files(planned, [reading.file for reading in found]))
        frames, assignment = content_frames(spark, planned), self.writer.assignment(told)
        with unreadable_told(f"segments:{place}"):
            return self.writer.read_frames(frames, steps, assignment, ONE_FILE_A_BATCH)

    def about(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "job": JOB,
            "cluster": self.cluster,
            "source": (self.arguments.source or "").partition(":")[0] or None,
            "num_files_read": self.num_files_read,
            "num_files_unchanged": self.num_files_unchanged,
        }

    def counts(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "num_offsets_partitions": len(outcome.counts),
            "num_files_unchanged": self.num_files_unchanged,
            "ingest_counts": outcome.counts,
        }


def writer_of(choice: str, warehouse: AnyWarehouse, engine: Engine, about: About) -> IngestWriter:
    if isinstance(warehouse, Warehouse) and choice != "spark":
        return DirectWriter(warehouse, engine, about)
    from jobs.ingestion.staged_writer import StagedWriter

    return StagedWriter(warehouse, engine, about)


def without_marks_of_damaged(state: State) -> State:
    """So that files with rejected ranges are read again, changed or not."""
    damaged = {each.source_file for ranges in state.rejected.values() for each in ranges}
    return replace(state, marks={name: marks for name, marks in state.marks.items() if name not in damaged})
