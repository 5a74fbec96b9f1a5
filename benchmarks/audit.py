"""`groupscope audit`, the scheduled job, as users start it: on the local engine and on Spark, over the same log."""

import os
import statistics
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.rounds import Goal, Measured, run_in_turns, take_turns
from benchmarks.run import Run
from benchmarks.segments import SNAPSHOTS
from benchmarks.shapes import FEW_KEYS
from benchmarks.step_times import step_times
from jobs.processes.processors import cores
from jobs.spark.java import java_home

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "sample"
RECORDS = 10_000_000
SEGMENT_BYTES = 100 << 20
# What an audit did when its bounds were set. Lag, gate and the report came later.
FIRST_STEPS = ("ingest", "replay", "assignments")
# Of two idle cores, by the log's shape and records: on the local engine, and on Spark.
BOUNDS = {
    (FEW_KEYS, RECORDS): (Bound(26, 20), Bound(36, 30)),
    (FEW_KEYS, 10 * RECORDS): (Bound(200, 150), None),
}
PARTS = ("", f" until {', '.join(FIRST_STEPS)} are done")
# Enough for a log of 10 million records beside what a session needs; the default is 1 GiB.
DRIVER_MEMORY = "2g"


def source(run: Run, records: int = RECORDS, shape: str | None = None) -> tuple[Path, str]:
    """The folder, and what log it is."""
    shape = shape or run.shape or FEW_KEYS
    files = run.segments(records, partitions=8, segment_bytes=SEGMENT_BYTES, follow_up=True, shape=shape)
    return files[0].parent.parent, f"{run.records or records:,} records, {shape}"


def audit_command(folder: Path, warehouse: Path | str, *words: str) -> list[str]:
    return groupscope("audit", *audit_words(folder, warehouse), *words)


def audit_words(folder: Path, warehouse: Path | str) -> list[str]:
    words = ["--source", f"segments:{folder}", "--warehouse", str(warehouse), "--fail-on", "never"]
    words += ["--report", f"{warehouse}-report"]
    snapshots = folder / SNAPSHOTS
    return [*words, "--snapshots", str(snapshots)] if snapshots.exists() else words


def audit_seconds(run: Run, folder: Path, *words: str) -> float:
    return seconds_of(audit_command(folder, new_warehouse(run.folder), *words))


class Audited(NamedTuple):
    """Seconds of a whole audit, and until its first three steps were done."""

    whole: float
    first_steps: float


def audited(run: Run, folder: Path, *words: str) -> Audited:
    warehouse, begin = new_warehouse(run.folder), datetime.now(UTC)
    seconds = seconds_of(audit_command(folder, warehouse, *words))
    done = max(step.finished for step in step_times(warehouse) if step.job in FIRST_STEPS)
    return Audited(seconds, (done - begin).total_seconds())


def audited_in_turn(run: Run, folder: Path, option: str, values: Sequence[str]) -> list[Audited]:
    """The medians of each value of the option."""
    calls = [partial(audited, run, folder, option, value) for value in values]
    results = run_in_turns(calls, min(run.rounds, 3))
    return [Audited(*map(statistics.median, zip(*each, strict=True))) for each in results]


def measure(run: Run) -> list[Duration]:
    folder, log = source(run)
    local, spark = audited_in_turn(run, folder, "--engine", ("local", "spark"))
    bounds = BOUNDS.get((run.shape or FEW_KEYS, run.records or RECORDS), (None, None))
    by_spark = f"Spark local[{cores()}]"
    figures = []
    for ours, theirs, part in zip(local, spark, PARTS, strict=True):
        figures += [
            Duration(f"audit of {log}{part}; rival: {by_spark}", ours, bounds[0], theirs),
            Duration(f"audit of {log} on {by_spark}{part}; rival: the local engine", theirs, bounds[1], ours),
        ]
    return figures


def measure_workers(run: Run) -> list[Measured]:
    folder, log = source(run)
    records, rounds = run.records or RECORDS, min(run.rounds, 3)
    two, one = audited_in_turn(run, folder, "--workers", ("2", "1"))
    return [
        Measured(
            f"audit of {log}, two workers{part}", "one worker", "records/s", records / ours, records / theirs,
            Goal(1.6, 1.8), rounds,
        )
        for ours, theirs, part in zip(two, one, PARTS, strict=True)
    ]  # fmt: skip


def measure_again(run: Run) -> Duration:
    folder, log = source(run)
    warehouse = new_warehouse(run.folder)
    first = seconds_of(audit_command(folder, warehouse))
    again = statistics.median(seconds_of(audit_command(folder, warehouse)) for _ in range(run.rounds))
    return Duration(f"audit with nothing new after {log}; rival: the first", again, Bound(2, 0.8), first)


def measure_sample(run: Run) -> list[Duration]:
    ours, theirs = take_turns(
        lambda: audit_seconds(run, SAMPLE), lambda: submitted_seconds(run, SAMPLE), min(run.rounds, 3), warm_up=0
    )
    return [
        Duration("audit of the sample; rival: spark-submit", ours, Bound(6), theirs),
        Duration("audit of the sample through spark-submit; rival: the command line", theirs, Bound(60), ours),
    ]


def submitted_seconds(run: Run, folder: Path) -> float:
    """By the spark-submit that comes with pyspark, on as many cores as there are."""
    submit = Path(sys.executable).with_name("spark-submit")
    settings = ["--master", "local[*]", "--driver-memory", DRIVER_MEMORY, "--conf", "spark.driver.host=127.0.0.1"]
    script = [str(ROOT / "jobs" / "audit.py"), *audit_words(folder, new_warehouse(run.folder))]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
    return seconds_of([str(submit), *settings, *script], environment)
