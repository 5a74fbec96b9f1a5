"""What a run of an ingest asks of whoever writes its rows: the tasks themselves, or Spark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from jobs.engine.task import Progress
from jobs.ingestion.changes import Outcome, Rows
from jobs.ingestion.plan import Unit
from jobs.ingestion.task_answers import Answer, Assignment, KnownRange
from jobs.ingestion.tasks import Task
from jobs.settings import Tables
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import Staged
from schemas.tables import TABLES
from udfs.offset_ranges import Range

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

JOB = "ingest"
WRITTEN = tuple(name for name, table in TABLES.items() if table.job == JOB)

# What a task does with the rows of a frame that are its share.
FrameSteps = Callable[[Iterator[pa.RecordBatch], Task], Iterator[None]]
# And with units that it reads by itself.
UnitSteps = Callable[[Sequence[Unit], Task], Iterator[None]]


@dataclass(frozen=True)
class About:
    """The run, as far as its writer must know it."""

    cluster: str
    run_id: str
    sequence: int
    limits: Tables
    optimize: str


@dataclass(frozen=True)
class Told:
    """What the warehouse knows of the input: ranges of bytes that were rejected, and whether it may hold records of it,
    for archives in which offsets partitions."""

    known_ranges: Mapping[int, Sequence[KnownRange]]
    may_be_known: bool
    known_partitions: frozenset[int] = frozenset()
    # Offsets that some copy holds undamaged.
    intact: Mapping[int, Sequence[Range]] = field(default_factory=dict)


class IngestWriter(Protocol):
    def assignment(self, told: Told) -> Assignment: ...

    def read_units(
        self,
        planned: Sequence[tuple[Unit, ...]],
        assignment: Assignment,
        progress: Progress[Answer],
        steps: UnitSteps,
    ) -> list[Answer]:
        """Units that tasks read by themselves, a task for each of the tuples."""
        ...

    def read_frames(
        self,
        frames: Sequence["DataFrame"],
        steps: FrameSteps,
        assignment: Assignment,
        settings: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        """What comes through Spark; `settings` are the session's meanwhile."""
        ...

    def retry(self) -> list[Answer]:
        """Decodes again what was rejected; ranges of bytes come with their files."""
        ...

    def add(self, outcome: Outcome, table: str, rows: Rows) -> None:
        """Few rows that the driver has."""
        ...

    def changes(self, outcome: Outcome) -> tuple[dict[str, Change], Staged | None]:
        """Everything that the run changes, but for its rows of `runs`."""
        ...

    def clean_up(self) -> None:
        """Takes away what was staged, by this run or by an attempt that came to nothing."""
        ...
