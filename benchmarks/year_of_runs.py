"""What a year of hourly runs leaves with a `maintain` a day: files, bytes and seconds to open it, day by day.

    python -m benchmarks.year_of_runs FOLDER [--runs N] [--runs-a-day N] [--keep-days N] [--keep]

Each run reads the newest records and replays them. The runs' clock is simulated; all else is the real jobs. A folder of
fewer runs is continued, if it was not ended within a day. --keep keeps the figures in benchmarks/figures.json, for
docs/performance.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from deltalake import DeltaTable

from benchmarks.kept_figures import conditions, keep
from benchmarks.year_page import OF_RUNS, shown
from jobs.configuration.settings import load_settings
from jobs.engine.local import LocalEngine
from jobs.ingestion.run import Ingest, IngestOptions
from jobs.maintaining.run import Maintain
from jobs.replaying.run import Replay
from jobs.runs.run import Job, RunOptions, run_jobs
from jobs.spark.compiled_loops import keep_compiled_loops
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.tables import TABLES
from tests.builders.generated.topics import KeyValue, written
from tests.builders.logs.by_hand import generation
from tests.make.log import T0, Kept, LoggedBatch, write

DAY = 86_400
RUNS_OF_A_YEAR = 365 * 24
GROUPS, PARTITIONS = 3, 4
# How far the simulated year has come, and what was measured after each of its days.
STATE, DAYS = "state.json", "days.jsonl"
# What an ingest reads stays, and so do the rows of `runs`.
KEPT_FOLDERS = {table.folder for table in TABLES.values() if table.job == "ingest" or table.name == "runs"}


@dataclass(frozen=True)
class AfterDay:
    """What a warehouse has after a day's runs and a `maintain`. `kept_bytes`: of files of the tables that `maintain`
    drops no row of; `rows`: of all tables but `runs`. Seconds are of a processor: other work hardly changes them."""

    day: int
    runs: int
    files: int
    log_files: int
    log_bytes: int
    kept_bytes: int
    other_bytes: int
    rows: int
    open_seconds: float


@dataclass
class Year:
    folder: Path
    runs_a_day: int
    keep: timedelta
    offset: int = 0
    now_ms: int = T0
    num_runs: int = 0

    @property
    def warehouse(self) -> Path:
        return self.folder / "w"

    def day(self, number: int) -> None:
        for run in range(self.runs_a_day):
            seconds = number * DAY + run * DAY // self.runs_a_day
            self.now_ms = T0 + (seconds + 60) * 1000
            self.run(self.write(seconds, is_new_generation=run == 0), seconds)
            self.num_runs += 1

    def run(self, source: Path, seconds: int) -> None:
        """`seconds`: of the log, since its begin."""
        ingest = Ingest(IngestOptions(source=f"segments:{source}"), is_retry=False)
        run_at(str(self.warehouse), self.now_ms, ingest, Replay(is_full=False))

    def maintain(self) -> None:
        self.now_ms += 1000
        run_at(str(self.warehouse), self.now_ms, Maintain(self.keep), is_about_all=True)

    def write(self, seconds: int, *, is_new_generation: bool) -> Path:
        """What groups commit in one interval, as a segment of its own."""
        events = [[commit(f"g{group}", place, seconds)] for group in range(GROUPS) for place in range(PARTITIONS)]
        if is_new_generation:
            _, pairs = generation("g0", seconds // DAY, seconds, {f"m{seconds}": range(PARTITIONS)})
            events.append(list(pairs))
        batches = []
        for pairs in events:
            kept = tuple(Kept(self.offset + place, T0 + seconds * 1000, *pair) for place, pair in enumerate(pairs))
            batches.append(LoggedBatch(self.offset, kept[-1].offset, kept))
            self.offset += len(kept)
        into = self.folder / f"log-{seconds}"
        write(into, 0, batches)
        return into

    def measured_day(self, number: int) -> AfterDay:
        self.day(number)
        self.maintain()
        return self.after_day(number)

    def after_day(self, number: int) -> AfterDay:
        begun = time.process_time()
        rows = rows_of_opened(self.warehouse)
        open_seconds = time.process_time() - begun
        sizes = sizes_of(self.warehouse)
        logs = [size for path, size in sizes.items() if path.parent.name == "_delta_log"]
        kept = sum(size for path, size in sizes.items() if is_kept(path, self.warehouse))
        return AfterDay(
            day=number,
            runs=self.num_runs,
            files=len(sizes),
            log_files=len(logs),
            log_bytes=sum(logs),
            kept_bytes=kept,
            other_bytes=sum(sizes.values()) - sum(logs) - kept,
            rows=rows,
            open_seconds=round(open_seconds, 4),
        )

    def state(self) -> dict[str, int]:
        return {"offset": self.offset, "now_ms": self.now_ms, "num_runs": self.num_runs}


def rows_of_opened(folder: Path) -> int:
    """All tables at the versions that the newest run names, and how many rows they have."""
    warehouse = reading(LocalPlace(folder))
    for name, version in warehouse.versions().items():
        DeltaTable(folder / TABLES[name].folder, version=version)
    return sum(warehouse.num_rows().values())


def sizes_of(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def is_kept(path: Path, warehouse: Path) -> bool:
    return path.suffix == ".parquet" and str(path.parent.relative_to(warehouse)) in KEPT_FOLDERS


def run_at(warehouse: str, now_ms: int, *jobs: Job, is_about_all: bool = False) -> None:
    """By a clock that does not go on by itself."""
    options = RunOptions(
        warehouse=warehouse,
        cluster=None,
        settings=load_settings(None),
        lock_wait=60,
        clock=lambda: now_ms,
        is_about_all=is_about_all,
    )
    with LocalEngine("groupscope year", 1, is_debug=False) as engine:
        run_jobs(jobs, options, engine)


def commit(group: str, partition: int, seconds: int) -> KeyValue:
    """An offset that grows with time."""
    key = {"group": group, "topic": "t", "partition": partition}
    value = {"offset": seconds, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + seconds * 1000}
    return written(1, key, value, 3)


def measured_days(
    folder: Path, runs: int, runs_a_day: int, keep_days: int, year_of: type[Year] = Year
) -> Iterator[AfterDay]:
    """Of those days that the folder does not have yet."""
    state, days = folder / STATE, folder / DAYS
    begun = json.loads(state.read_text()) if state.exists() else {}
    year = year_of(folder, runs_a_day, timedelta(days=keep_days), **begun)
    while year.num_runs < runs:
        measured = year.measured_day(year.num_runs // runs_a_day)
        with days.open("a") as file:
            file.write(json.dumps(asdict(measured)) + "\n")
        state.write_text(json.dumps(year.state()))
        yield measured


def main(words: Sequence[str], name: str, measure: str, year_of: type[Year]) -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {name}")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS_OF_A_YEAR)
    parser.add_argument("--runs-a-day", type=int, default=24)
    parser.add_argument("--keep-days", type=int, default=7)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args(words)
    given.folder.mkdir(parents=True, exist_ok=True)
    keep_compiled_loops()
    # Runs may print too.
    with os.fdopen(os.dup(1), "w") as ours:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for day in measured_days(given.folder, given.runs, given.runs_a_day, given.keep_days, year_of):
            ours.write(json.dumps(asdict(day)) + "\n")
            ours.flush()
    if given.keep:
        days = [json.loads(line) for line in (given.folder / DAYS).read_text().splitlines()]
        keep(measure, conditions(), [{**day, "keep_days": given.keep_days} for day in shown(days)])


if __name__ == "__main__":
    main(sys.argv[1:], "benchmarks.year_of_runs", OF_RUNS, Year)
