"""Ingest, replay and assignments on a standalone cluster of Spark: one worker of one core, then two of them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.audit import ROOT
from benchmarks.commands import seconds_of
from benchmarks.replay import source
from benchmarks.rounds import Goal, Measured
from benchmarks.run import Run
from benchmarks.standalone import cluster, environment, submit_command

RECORDS = 10_000_000
STEPS = ("ingest", "replay", "assignments")
GOAL = Goal(1.6, 1.8)
ONE, TWO = 1, 2


class StepTime(NamedTuple):
    """`jobs`: seconds in which Spark had a job. The rest starts Java, Spark and executors, and commits."""

    whole: float
    jobs: float


def measure(run: Run) -> list[Measured]:
    folder, records = source(run, RECORDS)
    rounds = min(run.rounds, 3)
    found: dict[tuple[int, str], list[StepTime]] = {}
    with cluster(run.folder / "one", ONE) as one, cluster(run.folder / "two", TWO) as two:
        for _ in range(rounds):
            for workers, address in ((TWO, two), (ONE, one)):
                for step, seconds in run_steps(run.folder, folder, address):
                    found.setdefault((workers, step), []).append(seconds)
    return [figure for step in STEPS for figure in figures(found, step, records, rounds)]


def figures(found: dict[tuple[int, str], list[StepTime]], step: str, records: int, rounds: int) -> Iterator[Measured]:
    for field, what in (("whole", "whole command"), ("jobs", "Spark's jobs, start-up not counted")):
        two, one = (median(getattr(each, field) for each in found[workers, step]) for workers in (TWO, ONE))
        name = f"{step} of {records:,} records on Spark, two workers of one core: {what}"
        yield Measured(name, "one worker", "records/s", records / two, records / one, GOAL, rounds)


def run_steps(place: Path, folder: Path, address: str) -> Iterator[tuple[str, StepTime]]:
    """Into a new warehouse."""
    warehouse = place / "cluster-warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    words = {"ingest": ["--source", f"segments:{folder}"]}
    for step in STEPS:
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
