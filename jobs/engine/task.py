"""The input and output of an engine: a plain function of one argument, its tasks, and their results."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    # Nothing slow may be imported here: the server of workers starts before that.
    from jobs.warehouses.delta_tables import DataFile


class PlanRow(NamedTuple):
    """A range of the log that a task reads, as far as the plan knows it: one row of the plan."""

    offsets_partition: int | None
    slice: int = 0
    path: str | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    num_records: int | None = None
    num_bytes: int | None = None


# Units of task sizes, the best first.
SIZES = {"num_records": "records", "num_bytes": "bytes"}


class TaskResult(Protocol):
    """A dataclass. Its other fields are facts about the task: numbers, text, and lists of them."""

    files: "list[tuple[str, DataFile]]"


Work = TypeVar("Work")
Result = TypeVar("Result", bound=TaskResult)


@dataclass(frozen=True)
class TaskSpec(Generic[Work]):
    """`work`: what the task's function takes. `reads`: the same for people, and for Spark's plan. `about`: what it is
    about, where that is no part of the log."""

    work: Work
    reads: tuple[PlanRow, ...] = ()
    about: str | None = None

    @property
    def name(self) -> str:
        """Which offsets partitions it reads."""
        return self.about or partitions_text(
            {row.offsets_partition for row in self.reads if row.offsets_partition is not None}
        )

    def size(self, unit: str) -> int:
        return sum(getattr(row, unit) or 0 for row in self.reads)


def partitions_text(partitions: Iterable[int]) -> str:
    """Text such as `offsets partitions 3, 5-7`."""
    ranges = []
    for _, group in groupby(enumerate(sorted(partitions)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        ranges.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    is_one = len(ranges) == 1 and "-" not in ranges[0]
    return f"offsets partition{'' if is_one else 's'} {', '.join(ranges) or 'not known'}"


@dataclass(frozen=True)
class Closing(Generic[Result]):
    """A task whose work is done but whose files are still being closed. That continues in the background, so its worker
    may do another task. `result` waits for it."""

    result: Callable[[], Result]


def result_of(outcome: Result | Closing[Result]) -> Result:
    return outcome.result() if isinstance(outcome, Closing) else outcome


@dataclass(frozen=True)
class Step(Generic[Work, Result]):
    """`run` does one task; `result`: the type of what comes of it, type arguments included. `unfinished`: what is
    there when a worker is lost."""

    run: Callable[[Work], Result | Closing[Result]]
    result: type[Result]
    unfinished: str = "the run wrote nothing to the tables"
