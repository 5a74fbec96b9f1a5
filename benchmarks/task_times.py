"""How long each task of a command took, in the order in which tasks ended."""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from jobs.engine.engine import FinishedTasks
from jobs.engine.local import LocalEngine
from jobs.engine.task import Step, TaskSpec


class TaskTime(NamedTuple):
    """`processor_seconds`: of the process that did the task, all threads. Other programs on the machine do not change
    them much."""

    step: int
    seconds: float
    processor_seconds: float
    # By the clock of the machine.
    ended: float


def timed(run: Callable[[Any], Any], path: Path, step: int, work: Any) -> Any:
    clock, processor = time.perf_counter(), time.process_time()
    outcome = run(work)
    taken = TaskTime(step, time.perf_counter() - clock, time.process_time() - processor, time.time())
    # One short write at the end of the file: tasks of several processes do not mix.
    with path.open("ab", buffering=0) as file:
        file.write((json.dumps(taken) + "\n").encode())
    return outcome


def time_tasks(path: Path) -> None:
    """From now on, the local engine adds the times of its tasks to this file."""
    run_all, number = LocalEngine.run_all, 0

    def run_timed(
        self: LocalEngine, step: Step[Any, Any], specs: Sequence[TaskSpec[Any]], done: FinishedTasks
    ) -> list[Any]:
        nonlocal number
        number += 1
        run = partial(timed, step.run, path, number)
        return run_all(self, Step(run, step.result, step.unfinished), specs, done)

    path.write_bytes(b"")
    LocalEngine.run_all = run_timed  # type: ignore[method-assign]


def times_of(path: Path) -> dict[int, list[TaskTime]]:
    """By step."""
    by_step: dict[int, list[TaskTime]] = {}
    for line in path.read_text().splitlines():
        task = TaskTime(*json.loads(line))
        by_step.setdefault(task.step, []).append(task)
    return by_step


def slowest_and_median(tasks: Sequence[TaskTime]) -> tuple[float, float]:
    """Processor seconds."""
    seconds = [task.processor_seconds for task in tasks]
    return max(seconds), median(seconds)


def waits_and_median(tasks: Sequence[TaskTime], workers: int) -> tuple[float, float]:
    """Seconds by the clock: from when a worker found no task left until the last task ended."""
    ends = sorted(task.ended for task in tasks)
    return ends[-1] - ends[-min(workers, len(ends))], median(task.seconds for task in tasks)
