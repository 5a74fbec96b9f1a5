"""The interface that every engine implements."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from jobs.engine.task import SIZES, Result, Step, TaskSpec, Work
from jobs.output.progress import Activity, counting
from jobs.processes.processors import cores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Of each task, and the unit.
Sizes = tuple[list[int], str]


class Engine(ABC):
    """`name`: of the job, for Spark's pages. Spark starts when something needs it; with the local engine only inputs
    that only Spark can read need it."""

    def __init__(self, name: str, *, is_debug: bool) -> None:
        self.name, self.is_debug = name, is_debug
        self.session: SparkSession | None = None
        # The warehouse of the run, if it is a folder of this machine: executors must see it.
        self.warehouse: Path | None = None
        # After a failure Spark may go on with other tasks for a while.
        self.may_still_write = False

    @property
    @abstractmethod
    def num_workers(self) -> int:
        """How many tasks run at the same time."""

    def run(
        self, step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], known: Sizes | None = None
    ) -> list[Result]:
        """Runs all tasks and returns their results in the order of the specs. If a worker dies, the run ends. `known`:
        their sizes, if they read nothing of the log."""
        sizes, unit = known or sizes_of(specs)
        with counting(sum(sizes), unit) as activity:
            return self.run_all(step, specs, FinishedTasks(activity, sizes))

    @abstractmethod
    def run_all(self, step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], done: "FinishedTasks") -> list[Result]:
        """`done` is notified of each finished task."""

    @property
    def hadoop_settings(self) -> Mapping[str, str]:
        """Settings that users gave to Hadoop's clients: `spark.hadoop.*` of a Spark application."""
        return {}

    def wait_for_closes(self) -> None:  # noqa: B027
        """When the last task is done: files that its workers wrote are there, but some may still be being closed."""

    def close(self) -> None:  # noqa: B027
        """A Spark session stays open: it ends with the process, or is used by its next job."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def spark(self) -> "SparkSession":
        if self.session is None:
            from jobs.engine.executors import check_executors
            from jobs.spark.session import quiet_session

            session = quiet_session(self.name, self.num_local_workers, is_debug=self.is_debug)
            check_executors(session, self.warehouse)
            self.session = session
        return self.session

    @property
    def num_local_workers(self) -> int:
        """Cores for Spark, unless spark-submit decides."""
        return cores()


class FinishedTasks:
    """Finished tasks by number. A task that finishes twice counts once."""

    def __init__(self, activity: Activity, sizes: Sequence[int]) -> None:
        self.activity, self.sizes = activity, sizes

    def add(self, number: int) -> None:
        self.activity.done += self.sizes[number]

    def are(self, numbers: Iterable[int]) -> None:
        self.activity.done = sum(self.sizes[number] for number in numbers)


def sizes_of(specs: Sequence[TaskSpec[Any]]) -> Sizes:
    """The size of each task: in records if known, else in bytes, else 1 per task."""
    for name, unit in SIZES.items():
        sizes = [spec.size(name) for spec in specs]
        if any(sizes):
            return sizes, unit
    return [1] * len(specs), "tasks"
