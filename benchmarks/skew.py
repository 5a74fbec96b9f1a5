"""Logs that are hard to split: for each step the slowest task against the median, and the memory of a worker."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.audit_memory import MOST_BYTES
from benchmarks.commands import new_warehouse
from benchmarks.durations import Bound, Ratio
from benchmarks.memory import WORKER, by_program, peak_by_program
from benchmarks.rounds import Limit
from benchmarks.run import Run
from benchmarks.segments import SNAPSHOTS
from benchmarks.skewed_logs import ASSIGNMENTS, INGEST, LAG, REPLAY, SKEWS, Skew
from benchmarks.task_times import slowest_and_median, times_of, waits_and_median

# `--records` is compared with this: with a tenth of it, everything is a tenth.
RECORDS = 10_000_000
# More workers than processors: so a step has enough tasks for a median. Processor seconds do not count the waiting.
WORKERS = 4
AT_MOST = Bound(3.0)
# A stage waits for no task that is shorter.
LEAST_SECONDS = 1.0


def measure(run: Run) -> list[Ratio | Limit]:
    scale = (run.records or RECORDS) / RECORDS
    names = [run.skew] if run.skew else list(SKEWS)
    return [figure for name in names for figure in measure_skew(run, name, SKEWS[name], scale)]


def measure_skew(run: Run, name: str, skew: Skew, scale: float) -> Iterator[Ratio | Limit]:
    folder = run.folder / f"skew-{name}"
    folder.mkdir()
    skew.write(folder, scale)
    log = f"{name} ({skew.what}{'' if scale == 1 else f', times {scale:g}'})"
    warehouse = new_warehouse(run.folder)
    for step, words in commands(folder).items():
        times = run.folder / "task-times"
        command = [sys.executable, "-m", "benchmarks.timed_command", str(times), step, *words]
        peaks = peak_by_program([*command, "--warehouse", str(warehouse), "--workers", str(WORKERS)])
        is_split = step in skew.steps_to_split
        yield from spread_of(times, f"{step} of {log}", is_split=is_split, is_even=is_split and step != INGEST)
        # A step that has one task does it in the driver.
        yield Limit(f"memory of {step} of {log}", by_program(peaks), largest(peaks), MOST_BYTES)
    shutil.rmtree(folder)


def commands(folder: Path) -> dict[str, list[str]]:
    source = ["--source", f"segments:{folder}", "--snapshots", str(folder / SNAPSHOTS)]
    return {INGEST: source, REPLAY: [], ASSIGNMENTS: [], LAG: []}


def spread_of(times: Path, step: str, *, is_split: bool, is_even: bool) -> Iterator[Ratio]:
    """For the slowest step of the engine: others are short. Tasks of an ingest are not even: the last ones are small on
    purpose, so that no worker waits long for another."""
    by_step = times_of(times)
    if not by_step:
        return
    tasks = max(by_step.values(), key=lambda some: sum(each.processor_seconds for each in some))
    slowest, middle = slowest_and_median(tasks)
    goal = AT_MOST if is_even and slowest >= LEAST_SECONDS else None
    yield Ratio(f"slowest task of {step}; rival: the median of {len(tasks)} tasks", slowest, middle, goal)
    if len(tasks) > 1:
        waits, middle = waits_and_median(tasks, WORKERS)
        goal = AT_MOST if is_split else None
        yield Ratio(f"time that {step} waits for its last task; rival: the median by the clock", waits, middle, goal)


def largest(peaks: dict[str, int]) -> int:
    return peaks.get(WORKER, 0) or peaks["driver"]
