"""Ingest, replay and assignments on a standalone cluster of Spark: one worker of one core, then two of them."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks import audit, replay
from benchmarks.audit import ROOT
from benchmarks.commands import seconds_of
from benchmarks.rounds import Goal, Measured
from benchmarks.run import Run
from benchmarks.shapes import MIX
from benchmarks.standalone import cluster, environment, submit_command

# The cluster takes half a minute to start. A record takes so little of an ingest that only many of them show what a
# second worker does.
INGESTED, REPLAYED = 100_000_000, 10_000_000
STEPS = ("ingest", "replay", "assignments")
GOAL = Goal(1.6, 1.8)
ONE, TWO = 1, 2


class StepTime(NamedTuple):
    """`jobs`: seconds in which Spark had a job. The rest starts Java, Spark and executors, and commits."""

    whole: float
    jobs: float


class Work(NamedTuple):
    """A log, and the steps that are measured with it."""

    folder: Path
    log: str
    records: int
    steps: tuple[str, ...]


def works(run: Run) -> Iterator[Work]:
    folder, log = audit.source(run, INGESTED)
    yield Work(folder, log, run.records or INGESTED, STEPS[:1])
    folder, records = replay.source(run, REPLAYED)
    yield Work(folder, f"{records:,} records, {run.shape or MIX}", records, STEPS[1:])


def measure(run: Run) -> list[Measured]:
    rounds = min(run.rounds, 3)
    with cluster(run.folder / "one", ONE) as one, cluster(run.folder / "two", TWO) as two:
        return [
            figure
            for work in works(run)
            for figure in figures(work, times_of(work, run.folder, {TWO: two, ONE: one}, rounds), rounds)
        ]


def times_of(
    work: Work, place: Path, clusters: Mapping[int, str], rounds: int
) -> dict[tuple[int, str], list[StepTime]]:
    """By the number of workers and the step."""
    times: dict[tuple[int, str], list[StepTime]] = {}
    for _ in range(rounds):
        for workers, address in clusters.items():
            for step, seconds in run_steps(place, work, address):
                times.setdefault((workers, step), []).append(seconds)
    return times


def figures(work: Work, times: Mapping[tuple[int, str], list[StepTime]], rounds: int) -> Iterator[Measured]:
    for step in work.steps:
        for field, what in (("whole", "whole command"), ("jobs", "Spark's jobs, start-up not counted")):
            two, one = (median(getattr(each, field) for each in times[workers, step]) for workers in (TWO, ONE))
            name = f"{step} of {work.log} on Spark, two workers of one core: {what}"
            yield Measured(name, "one worker", "records/s", work.records / two, work.records / one, GOAL, rounds)


def run_steps(place: Path, work: Work, address: str) -> Iterator[tuple[str, StepTime]]:
    """Into a new warehouse, up to the last step of the work."""
    warehouse = place / "cluster-warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    words = {"ingest": ["--source", f"segments:{work.folder}"]}
    for step in STEPS[: STEPS.index(work.steps[-1]) + 1]:
        events = place / "events"
        shutil.rmtree(events, ignore_errors=True)
        events.mkdir()
        script = ROOT / "jobs" / f"{step}.py"
        command = submit_command(address, events, script, *words.get(step, []), "--warehouse", warehouse)
        whole = seconds_of(command, environment())
        yield step, StepTime(whole, job_seconds(events))


def job_seconds(events: Path) -> float:
    """Jobs of our commands follow each other: no two run at the same time."""
    started: dict[int, int] = {}
    milliseconds = 0
    for path in events.rglob("events_*"):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                started[event["Job ID"]] = event["Submission Time"]
            elif event["Event"] == "SparkListenerJobEnd":
                milliseconds += event["Completion Time"] - started[event["Job ID"]]
    return milliseconds / 1000
