"""One run of an ingest, from what was asked to what `runs` says of it."""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from jobs.delta_tables import Change, DataFile, Removed, files_of, open_table
from jobs.failpoints import failpoint
from jobs.failure import Failure, say
from jobs.flags import instant
from jobs.ingest_changes import Outcome, archive_rows, outcome_of, source_rows, written
from jobs.ingest_plan import Unit, readings, task_bytes, tasks, units
from jobs.ingest_state import State, known_files, state_of
from jobs.ingest_summary import Progress, exit_code_of, summary, warnings
from jobs.ingest_tasks import answer
from jobs.known_snapshots import new_snapshots
from jobs.leftovers import remove_leftovers
from jobs.manifest import Manifest
from jobs.rejected_rows import without_rows
from jobs.retried_rows import retried
from jobs.run_result import now_ms, run_id_of
from jobs.segment_source import segment_files
from jobs.settings import Settings, settings_hash
from jobs.small_files import rewrite, rewrites, small
from jobs.snapshot_files import read_snapshots
from jobs.task_answers import Answer, Assignment
from jobs.tasks import Workers, answers_of
from jobs.warehouse import Warehouse, one_cluster
from schemas.exit_codes import ExitCode
from schemas.tables import CONTRACT_VERSION, TABLES
from udfs.known import REJECTED

JOB = "ingest"
WRITTEN = tuple(name for name, table in TABLES.items() if table.job == JOB)
SORTED_BY = ("partition", "offset", "leader_epoch")
Task = tuple[Unit, ...]


class Ingest:
    """One run, from what was asked to what `runs` says of it."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        settings: Settings,
        warehouse: Warehouse,
        workers: Workers,
        started_ms: int,
    ) -> None:
        self.arguments, self.settings, self.warehouse = arguments, settings, warehouse
        self.started_ms = started_ms
        self.sequence = warehouse.next_sequence()
        self.run_id = run_id_of(self.sequence, started_ms)
        self.cluster = one_cluster(warehouse, arguments.cluster)
        self.workers = workers
        self.num_files_read = self.num_files_unchanged = 0

    def run(self, *, is_retry: bool) -> dict[str, Any]:
        if is_retry:
            outcome = self.retry()
        else:
            outcome = self.read_source(self.arguments.source)
            self.add_snapshots(outcome)
        changes = self.changes(outcome)
        failpoint("files_written")
        finished_ms = max(now_ms(), self.started_ms)
        code = exit_code_of(outcome, self.settings.ingest.max_rejected_share)
        found = summary(outcome, self.about(), code, self.started_ms, finished_ms)
        run_row = self.run_row(outcome, found, finished_ms)
        self.warehouse.write(Manifest(self.run_id, self.sequence, finished_ms, changes, (run_row,)))
        named = {self.warehouse.path(name) / file.name for name, change in changes.items() for file in change.added}
        remove_leftovers(self.warehouse, self.run_id, named)
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
        raise Failure(ExitCode.USAGE, f"--source {source!r}: segments:DIR or records:PATH was expected")

    def retry(self) -> Outcome:
        """Decodes again what was rejected; ranges of bytes come with their files."""
        files = [each.path for each in known_files(self.warehouse, (REJECTED,)).get(REJECTED, ())]
        assignment = Assignment(self.warehouse.root, self.cluster, self.run_id, {}, {})
        return outcome_of([retried(assignment, files)] if files else [])

    def read_archive(self, path: str) -> Outcome:
        # Here, since they load Spark, which most runs on segments do without.
        from pyspark.sql import Observation

        from jobs.archive_source import NUM_OTHER_TOPICS, archive_files, archive_frame, unreadable_told
        from jobs.ingest_archives import archive_answer

        state, spark = state_of(self.warehouse, self.cluster), self.workers.spark
        found = archive_files(spark, path)
        changed = [file for file in found if state.archives.get(file.path) != (file.size_bytes, file.modified_ms)]
        self.num_files_read, self.num_files_unchanged = len(changed), len(found) - len(changed)
        if not changed:
            return Outcome()
        seen = Observation()
        frame = archive_frame(spark, path, [file.path for file in changed], seen)
        by_partition = frame.repartition(2 * self.workers.num_cores, "partition").sortWithinPartitions(*SORTED_BY)
        files = known_files(self.warehouse) if state.ranges else {}
        assignment = Assignment(self.warehouse.root, self.cluster, self.run_id, files, {})
        with unreadable_told(path):
            answers = answers_of(by_partition, partial(archive_answer, assignment))
        outcome = outcome_of(answers)
        outcome.source_rows = archive_rows(changed, answers, self.cluster, self.run_id)
        # What a file that is read again has of broken lines it brings again.
        outcome.retracted_ranges += [(file.path, None) for file in changed if file.path in state.archives]
        outcome.num_other_topics = seen.get[NUM_OTHER_TOPICS]
        return outcome

    def add_snapshots(self, outcome: Outcome) -> None:
        """Those that the warehouse does not have."""
        if not self.arguments.snapshots:
            return
        captured = self.arguments.captured_at
        captured_ms = None if captured is None else instant(captured, self.started_ms, "--captured-at")
        tables = read_snapshots(self.arguments.snapshots, self.cluster, self.run_id, captured_ms)
        for name, found in tables.items():
            new = new_snapshots(self.warehouse, name, found, self.cluster)
            outcome.files[name] = written(self.warehouse.root, name, new, self.run_id)

    def read_segments(self, pattern: str) -> Outcome:
        state = state_of(self.warehouse, self.cluster)
        if self.arguments.retry_rejected:
            state = without_marks_of_damaged(state)
        files = segment_files(pattern, self.arguments.offsets_partition)
        found, self.num_files_unchanged = readings(files, state.marks)
        self.num_files_read = len(found)
        if not found:
            return Outcome()
        is_little = sum(reading.size for reading in found) < self.settings.ingest.spark_from_bytes
        size = task_bytes(found, 1 if is_little else self.workers.num_cores)
        planned = tasks(units(found, state.ranges, size), size)
        assignment = self.assignment(planned, state)
        if is_little:
            answers = [answer(assignment, task) for task in planned]
        else:
            answers = self.read_by_spark(assignment, planned)
        outcome = outcome_of(answers)
        outcome.source_rows = source_rows(found, answers, self.cluster, self.run_id)
        return outcome

    def assignment(self, planned: Sequence[Task], state: State) -> Assignment:
        is_known = any(unit.may_be_known for task in planned for unit in task)
        files = known_files(self.warehouse) if is_known else {}
        return Assignment(self.warehouse.root, self.cluster, self.run_id, files, state.rejected)

    def read_by_spark(self, assignment: Assignment, planned: Sequence[Task]) -> list[Answer]:
        sizes = [sum(unit.size for unit in task) for task in planned]
        progress = Progress(sizes, self.num_files_read, time.monotonic())
        return self.workers.run(
            partial(answer, assignment),
            planned,
            seen=lambda done: sum(counts.read for counts in done.counts),
            tell=lambda done, records: progress.tell(time.monotonic(), done, records),
        )

    def changes(self, outcome: Outcome) -> dict[str, Change]:
        root = self.warehouse.root
        if outcome.source_rows:
            outcome.files["source_files"] = written(root, "source_files", outcome.source_rows, self.run_id)
        kept, removed = without_rows(
            self.warehouse, self.cluster, outcome.retracted_records, outcome.retracted_ranges, self.run_id
        )
        found = {}
        for name in WRITTEN:
            added = list(outcome.files.get(name, ()))
            gone = removed if name == REJECTED else []
            found[name] = self.optimized(name, added + (kept if name == REJECTED else []), gone)
        return found

    def optimized(self, name: str, added: list[DataFile], removed: list[Removed]) -> Change:
        """The change with small files rewritten, those that the run itself wrote before anyone has seen them."""
        root, limits = self.warehouse.root, self.settings.tables
        gone = {file.name for file in removed}
        # As the table is, not as `runs` names it: files that others have rewritten since must not come back.
        delta = open_table(root / name)
        held = [] if delta is None else files_of(delta).select(["path", "size_bytes"]).to_pylist()
        old = [row["path"] for row in held if row["path"] not in gone and row["size_bytes"] < limits.small_file_bytes]
        new = [file.name for file in added if file.size < limits.small_file_bytes]
        files = [small(root / name / path, is_new) for is_new, paths in ((False, old), (True, new)) for path in paths]
        work = rewrites(root, name, self.run_id, files, limits, self.arguments.optimize)
        made = [rewrite(each) for each in work]
        rewritten = {each.name for one in work for each in one.files}
        stays = [file for file in added if file.name not in rewritten]
        moved = [Removed(path, is_data_change=False) for path in old if path in rewritten]
        return Change((*stays, *made), (*removed, *moved))

    def about(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "job": JOB,
            "cluster": self.cluster,
            "num_files_read": self.num_files_read,
            "num_files_unchanged": self.num_files_unchanged,
        }

    def run_row(self, outcome: Outcome, found: Mapping[str, Any], finished_ms: int) -> dict[str, Any]:
        return {
            "cluster": self.cluster,
            "run_id": self.run_id,
            "job": JOB,
            "started_time": self.started_ms,
            "finished_time": finished_ms,
            "as_of_time": None,
            "verdict": found["verdict"],
            "exit_code": found["exit_code"],
            "contract_version": CONTRACT_VERSION,
            "config_hash": settings_hash(self.settings),
            "num_offsets_partitions": len(outcome.counts),
            "num_files_unchanged": self.num_files_unchanged,
            "ingest_counts": outcome.counts,
        }


def without_marks_of_damaged(state: State) -> State:
    """So that files with rejected ranges are read again, changed or not."""
    damaged = {each.source_file for ranges in state.rejected.values() for each in ranges}
    return replace(state, marks={name: marks for name, marks in state.marks.items() if name not in damaged})
