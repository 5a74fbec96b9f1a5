"""How an ingest run writes: tasks write table files, and the driver adds them to the Delta logs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from jobs.configuration.settings import Tables
from jobs.engine.engine import Engine
from jobs.engine.task import Step, result_of
from jobs.ingestion.driver.changes import Outcome, Rows, arrow_rows
from jobs.ingestion.driver.removed_rows import RemovedRows, by_log_key, without_rows
from jobs.ingestion.driver.state import DECODED, known_files
from jobs.ingestion.task.messages import IngestInput, IngestResult, KnownRange
from jobs.ingestion.task.plan import PartitionSpan, task_spec
from jobs.ingestion.task.retried_rows import retry_file
from jobs.ingestion.task.task import Task, guarded_answer, run_task
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_tables import Change, files_of
from jobs.warehouses.small_files import Rewriting, has_statistics, with_small_files_rewritten
from jobs.warehouses.table_files import RowFiles
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from udfs.log.offset_ranges import Range
from udfs.rows.merge_copies import REJECTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

JOB = "ingest"
WRITTEN = tuple(name for name, table in TABLES.items() if table.job == JOB)

# What a task does with its rows of a frame.
FrameSteps = Callable[[Iterator[pa.RecordBatch], Task], Iterator[None]]
# What a task does with units that it reads itself.
UnitSteps = Callable[[Sequence[PartitionSpan], Task], Iterator[None]]


@dataclass(frozen=True)
class About:
    """What the writer needs to know about the run."""

    cluster: str
    run_id: str
    limits: Tables
    optimize: str


@dataclass(frozen=True)
class EarlierKnowledge:
    """What the warehouse knows of the input: rejected ranges of bytes, and whether it may have its records."""

    known_ranges: Mapping[int, Sequence[KnownRange]]
    may_be_known: bool
    # Offsets that some copy has undamaged.
    intact: Mapping[int, Sequence[Range]] = field(default_factory=dict)


@dataclass
class IngestWriter:
    warehouse: Warehouse
    engine: Engine
    about: About

    def __post_init__(self) -> None:
        self.files = RowFiles(self.warehouse.root, self.about.run_id)

    def task_input(self, earlier: EarlierKnowledge) -> IngestInput:
        files = known_files(self.warehouse) if earlier.may_be_known else {}
        about = self.about
        return IngestInput(
            self.warehouse.root, about.cluster, about.run_id, files, earlier.known_ranges, intact=earlier.intact
        )

    def read_units(
        self,
        planned: Sequence[tuple[PartitionSpan, ...]],
        assignment: IngestInput,
        steps: UnitSteps,
    ) -> list[IngestResult]:
        """Reads units in tasks, one task for each of the tuples."""
        step = Step(partial(run_task, assignment, steps), IngestResult)
        return self.engine.run(step, list(map(task_spec, planned)))

    def read_frame(self, frame: "DataFrame", steps: FrameSteps, assignment: IngestInput) -> list[IngestResult]:
        """Reads rows through Spark."""
        # Imported here, since it loads Spark.
        from jobs.engine.spark import results_of

        def work(batches: Iterator[pa.RecordBatch]) -> IngestResult:
            return result_of(guarded_answer(assignment, partial(steps, batches)))

        self.engine.may_still_write = True
        answers = results_of(frame, work, IngestResult)
        self.engine.may_still_write = False
        return answers

    def retry(self) -> list[IngestResult]:
        """Decodes rejected records again; ranges of bytes are read with their files."""
        files = [each.path for each in known_files(self.warehouse, (REJECTED,)).get(REJECTED, ())]
        assignment = self.task_input(EarlierKnowledge({}, may_be_known=bool(files)))
        return [retry_file(assignment, path) for path in files]

    def add(self, outcome: Outcome, table: str, rows: Rows) -> None:
        """Writes the driver's few rows to files that are closed together, since on remote storage each is mostly
        waiting."""
        outcome.num_rows[table] += len(rows)
        self.files.write(table, arrow_rows(table, rows), 0)

    def changes(self, outcome: Outcome) -> dict[str, Change]:
        """All changes of the run except its row in `runs`."""
        files, wait = self.files.closing()
        self.warehouse.closings.append(wait)
        for name, file in files:
            outcome.files.setdefault(name, []).append(file)
        # The current versions, not those in `runs`: files that others have merged since then must not come back.
        newest = done_together(self.warehouse.root, self.warehouse.newest, WRITTEN)
        changes = {}
        for name, delta in zip(WRITTEN, newest, strict=True):
            removed = removed_rows(name, self.about.cluster, outcome)
            kept = without_rows(delta, self.warehouse.path(name), TABLES[name], removed, self.about.run_id)
            added = (*outcome.files.get(name, ()), *kept.added)
            changes[name] = self.optimize(name, delta, Change(added, kept.removed))
        return changes

    def optimize(self, name: str, delta: DeltaTable | None, change: Change) -> Change:
        about = self.about
        held = [] if delta is None else files_of(delta).select(["path", "size_bytes"]).to_pylist()
        old = [row["path"] for row in held if row["size_bytes"] < about.limits.small_file_bytes]
        bare = without_statistics(name, delta) if about.optimize == "full" and delta is not None else []
        of = Rewriting(
            root=self.warehouse.root,
            table=name,
            run_id=about.run_id,
            limits=about.limits,
            mode=about.optimize,
            wait_for_files=self.warehouse.wait_for_files,
        )
        return with_small_files_rewritten(of, change, old, bare)


def removed_rows(table: str, cluster: str, outcome: Outcome) -> RemovedRows:
    if table == REJECTED:
        of_key = (((partition, epoch), (offset, offset)) for partition, offset, epoch in outcome.retracted_records)
        return RemovedRows(cluster, by_log_key(of_key), frozenset(outcome.retracted_ranges))
    replaced = outcome.replaced if table in DECODED else ()
    return RemovedRows(cluster, by_log_key(((partition, None), (first, last)) for partition, first, last in replaced))


def without_statistics(table: str, delta: DeltaTable) -> list[str]:
    return [row["path"] for row in files_of(delta).to_pylist() if not has_statistics(TABLES[table], row)]
