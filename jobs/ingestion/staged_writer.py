"""Tasks hand their rows on to Spark, which writes the tables by its own Delta writer: for any file system of Hadoop."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from jobs.engine.engine import Engine
from jobs.engine.task import Progress
from jobs.ingestion.changes import Outcome, Rows, arrow_rows
from jobs.ingestion.held_rows import brought_together, comparison, comparison_steps, known_blobs
from jobs.ingestion.plan import Unit
from jobs.ingestion.retried_rows import retry_steps
from jobs.ingestion.row_sinks import HELD, Blobs
from jobs.ingestion.staging import Staging
from jobs.ingestion.state import DECODED
from jobs.ingestion.task_answers import Answer, Assignment, Counts, Held
from jobs.ingestion.tasks import Task
from jobs.ingestion.writer import WRITTEN, About, FrameSteps, Told, UnitSteps
from jobs.spark.session_settings import with_settings
from jobs.warehouses.any_warehouse import AnyWarehouse
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import Staged
from jobs.warehouses.spark_tables import frame_at, prepare_session
from jobs.warehouses.warehouse import STAGING
from udfs.known import REJECTED


@dataclass
class StagedWriter:
    warehouse: AnyWarehouse
    engine: Engine
    about: About
    # Rows that the driver has.
    blobs: Blobs = field(default_factory=Blobs)

    @property
    def spark(self) -> SparkSession:
        prepare_session(self.engine.spark)
        return self.engine.spark

    @property
    def staging(self) -> Staging:
        return Staging(self.spark, f"{self.warehouse.place(STAGING)}/{self.about.run_id}")

    def assignment(self, told: Told) -> Assignment:
        root, cluster, run_id = self.warehouse.local_root, self.about.cluster, self.about.run_id
        held = told.known_partitions
        return Assignment(
            root, cluster, run_id, {}, told.known_ranges, is_staged=True, intact=told.intact, held_partitions=held
        )

    def read_units(
        self,
        planned: Sequence[tuple[Unit, ...]],
        assignment: Assignment,
        progress: Progress[Answer],
        steps: UnitSteps,
    ) -> list[Answer]:
        frame = self.spark.range(0, len(planned), 1, len(planned)).toDF("number")
        return self.read_frames([frame], partial(planned_steps, planned, steps), assignment)

    def read_frames(
        self,
        frames: Sequence[DataFrame],
        steps: FrameSteps,
        assignment: Assignment,
        settings: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        with with_settings(self.spark, settings):
            answers = [
                found
                for number, frame in enumerate(frames)
                for found in self.staging.run(f"read-{number}", frame, steps, assignment)
            ]
        if not is_failed(answers):
            answers += self.compared(answers, assignment)
        if is_failed(answers):
            self.staging.remove()
        return answers

    def compared(self, answers: Sequence[Answer], assignment: Assignment) -> list[Answer]:
        """What of the rows that the warehouse may have is new."""
        held = [each for answer in answers for each in answer.held]
        if not held:
            return []
        sides = [
            known_blobs(name, frame_at(self.spark, self.warehouse.place(name), version), self.about.cluster, held)
            for name, version in self.warehouse.versions().items()
            # The first version of a table is an empty one.
            if name in DECODED and version > 0
        ]
        sides += [frame for kind, frame in self.staging.blobs().items() if kind.startswith(HELD)]
        told = comparison(answers, assignment.known_ranges)
        frame = brought_together(sides, 2 * self.engine.num_workers)
        found = self.staging.run("compared", frame, partial(comparison_steps, told), assignment)
        if is_failed(found):
            return found
        return [*found, self.with_ranges_sorted_out(held, found, assignment)]

    def with_ranges_sorted_out(self, held: Sequence[Held], found: Sequence[Answer], assignment: Assignment) -> Answer:
        decoded: dict[int, list[tuple[int, int]]] = {}
        for answer in found:
            for partition, stretches in answer.decoded.items():
                decoded.setdefault(partition, []).extend(stretches)
        task = Task(assignment, self.blobs)
        for each in held:
            # The ranges are counted as read by the task that met them.
            counts = Counts(each.partition)
            task.answer.counts.append(counts)
            unknown = task.sort_out_ranges(
                each.ranges, each.read, [*decoded.get(each.partition, []), *each.intact], counts
            )
            task.write_ranges(unknown, counts)
        return task.answer

    def retry(self) -> list[Answer]:
        version = self.warehouse.versions().get(REJECTED)
        if version is None:
            return []
        frame = frame_at(self.spark, self.warehouse.place(REJECTED), version)
        return self.read_frames([frame], retry_steps, self.assignment(Told({}, may_be_known=False)))

    def add(self, outcome: Outcome, table: str, rows: Rows) -> None:
        outcome.num_rows[table] += len(rows)
        if len(rows):
            self.blobs.write(table, arrow_rows(table, rows), 0)

    def changes(self, outcome: Outcome) -> tuple[dict[str, Change], Staged | None]:
        self.blobs.close()
        self.staging.add("driver", self.blobs.taken())
        staged = Staged(
            self.staging.folder,
            tuple(sorted(name for name, number in outcome.num_rows.items() if number)),
            self.about.cluster,
            tuple(outcome.retracted_records),
            tuple(outcome.retracted_ranges),
            self.about.limits,
            self.about.optimize,
        )
        return {name: Change() for name in WRITTEN}, staged

    def clean_up(self) -> None:
        Staging(self.spark, self.warehouse.place(STAGING)).remove()


def is_failed(answers: Sequence[Answer]) -> bool:
    return any(each.failure is not None for each in answers)


def planned_steps(
    planned: Sequence[tuple[Unit, ...]], steps: UnitSteps, batches: Iterator[pa.RecordBatch], task: Task
) -> Iterator[None]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from steps(planned[number], task)
