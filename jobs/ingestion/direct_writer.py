"""Tasks write files of the tables themselves, and the driver names them to Delta's logs: for local disks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.engine import Engine
from jobs.engine.task import Progress, Step
from jobs.ingestion.changes import Outcome, Rows, written
from jobs.ingestion.plan import Unit, task_spec
from jobs.ingestion.rejected_rows import without_rows
from jobs.ingestion.retried_rows import retried
from jobs.ingestion.state import known_files
from jobs.ingestion.task_answers import Answer, Assignment
from jobs.ingestion.tasks import answer, guarded_answer
from jobs.ingestion.writer import WRITTEN, About, FrameSteps, Told, UnitSteps
from jobs.storage.stored_path import delete_folder
from jobs.warehouses.delta_tables import Change, DataFile, Removed, files_of, open_table
from jobs.warehouses.manifest import Staged
from jobs.warehouses.small_files import rewrite, rewrites, small
from jobs.warehouses.warehouse import STAGING, Warehouse
from udfs.known import REJECTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class DirectWriter:
    warehouse: Warehouse
    engine: Engine
    about: About

    def assignment(self, told: Told) -> Assignment:
        files = known_files(self.warehouse) if told.may_be_known else {}
        about = self.about
        return Assignment(
            self.warehouse.root, about.cluster, about.run_id, files, told.known_ranges, intact=told.intact
        )

    def read_units(
        self,
        planned: Sequence[tuple[Unit, ...]],
        assignment: Assignment,
        progress: Progress[Answer],
        steps: UnitSteps,
    ) -> list[Answer]:
        step = Step(partial(answer, assignment, steps), Answer)
        return self.engine.run(step, list(map(task_spec, planned)), progress)

    def read_frames(
        self,
        frames: Sequence["DataFrame"],
        steps: FrameSteps,
        assignment: Assignment,
        settings: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        # Here, since they load Spark.
        from jobs.engine.spark import results_of
        from jobs.spark.session_settings import with_settings

        def work(batches: Iterator[pa.RecordBatch]) -> Answer:
            return guarded_answer(assignment, partial(steps, batches))

        with with_settings(self.engine.spark, settings):
            return [found for frame in frames for found in results_of(frame, work, Answer)]

    def retry(self) -> list[Answer]:
        files = [each.path for each in known_files(self.warehouse, (REJECTED,)).get(REJECTED, ())]
        assignment = self.assignment(Told({}, may_be_known=False))
        return [retried(assignment, path) for path in files]

    def add(self, outcome: Outcome, table: str, rows: Rows) -> None:
        outcome.num_rows[table] += len(rows)
        outcome.files.setdefault(table, []).extend(written(self.warehouse.root, table, rows, self.about.run_id))

    def changes(self, outcome: Outcome) -> tuple[dict[str, Change], Staged | None]:
        cluster, run_id = self.about.cluster, self.about.run_id
        kept, removed = without_rows(
            self.warehouse, cluster, outcome.retracted_records, outcome.retracted_ranges, run_id
        )
        changes = {}
        for name in WRITTEN:
            added = list(outcome.files.get(name, ()))
            gone = removed if name == REJECTED else []
            changes[name] = self.optimized(name, added + (kept if name == REJECTED else []), gone)
        return changes, None

    def optimized(self, name: str, added: list[DataFile], removed: list[Removed]) -> Change:
        """The change with small files rewritten, those that the run itself wrote before anyone has seen them."""
        root, limits = self.warehouse.root, self.about.limits
        gone = {file.name for file in removed}
        # As the table is, not as `runs` names it: files that others have rewritten since must not come back.
        delta = open_table(root / name)
        held = [] if delta is None else files_of(delta).select(["path", "size_bytes"]).to_pylist()
        old = [row["path"] for row in held if row["path"] not in gone and row["size_bytes"] < limits.small_file_bytes]
        new = [file.name for file in added if file.size < limits.small_file_bytes]
        files = [small(root / name / path, is_new) for is_new, paths in ((False, old), (True, new)) for path in paths]
        work = rewrites(root, name, self.about.run_id, files, limits, self.about.optimize)
        made = [rewrite(each) for each in work]
        rewritten = {each.name for one in work for each in one.files}
        stays = [file for file in added if file.name not in rewritten]
        moved = [Removed(path, is_data_change=False) for path in old if path in rewritten]
        return Change((*stays, *made), (*removed, *moved))

    def clean_up(self) -> None:
        delete_folder(self.warehouse.root / STAGING)
