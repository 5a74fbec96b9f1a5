"""A year of hourly audits with a `maintain` a day: what is left of them and how long each takes, day by day.

    python -m benchmarks.year_of_audits FOLDER [--runs N] [--runs-a-day N] [--keep-days N] [--keep]

Each run is `groupscope audit` with its report, of the newest records and a snapshot; the last one of a day is followed
by `groupscope maintain`. The clock of the runs is simulated; all else is real. A folder of fewer runs is continued,
if it was not ended within a day. --keep keeps the figures in benchmarks/figures.json, for docs/performance.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from statistics import median
from types import SimpleNamespace
from unittest.mock import patch

from deltalake import DeltaTable

from benchmarks.kept_figures import conditions, keep
from benchmarks.year_of_runs import PARTITIONS, Year
from benchmarks.year_page import YEAR, shown
from jobs import cli
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.contract.tables import TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from tests.builders.generated.log import T0

RUNS_OF_A_YEAR = 365 * 24
# How far the simulated year has come, and what was measured after each of its days.
STATE, DAYS = "state.json", "days.jsonl"
# What an ingest reads stays, and so do the rows of `runs`.
KEPT_FOLDERS = {table.folder for table in TABLES.values() if table.job == "ingest" or table.name == "runs"}


@dataclass(frozen=True)
class AfterDay:
    """`kept_bytes`: of files of the tables that `maintain` drops no row of; `rows`: of all tables but `runs`. Seconds
    are of a processor: other work hardly changes them. Those of an audit are the median of the day."""

    day: int
    runs: int
    files: int
    log_files: int
    log_bytes: int
    kept_bytes: int
    other_bytes: int
    report_bytes: int
    rows: int
    open_seconds: float
    audit_seconds: float
    maintain_seconds: float


@dataclass
class AuditedYear(Year):
    num_runs: int = 0
    seconds: list[float] = field(default_factory=list)

    def run(self, source: Path, seconds: int) -> None:
        flags = ["--source", f"segments:{source}", "--snapshots", str(self.snapshot(source, seconds))]
        flags += ["--report", str(self.report), "--fail-on", "never", "--workers", "1"]
        self.seconds.append(self.command("audit", *flags))
        self.num_runs += 1
        rmtree(source)

    @property
    def report(self) -> Path:
        return self.folder / "report"

    def snapshot(self, folder: Path, seconds: int) -> Path:
        """A message a second comes to each partition, and groups commit at once."""
        ends = {"t": [seconds + 60] * PARTITIONS, OFFSETS_TOPIC: [self.offset]}
        topics = [
            {
                "topic": name,
                "topic_id": None,
                "partitions": [
                    {"partition": place, "log_end_offset": end, "racks": []} for place, end in enumerate(found)
                ],
            }
            for name, found in ends.items()
        ]
        path = folder / "snapshot.jsonl"
        path.write_text(json.dumps({"captured_at": T0 + (seconds + 60) * 1000, "topics": topics}) + "\n")
        return path

    def command(self, name: str, *flags: str) -> float:
        """How long it took."""
        clock = SimpleNamespace(time_ns=lambda: self.now_ms * 1_000_000)
        begun = time.process_time()
        with patch("jobs.runs.result.time", clock):
            code = cli.main([name, "--warehouse", str(self.warehouse), *flags, "--quiet"])
        if code != ExitCode.CLEAN:
            raise SystemExit(f"{name} ended with exit code {code}")
        return time.process_time() - begun

    def audited_day(self, number: int) -> AfterDay:
        self.seconds = []
        self.day(number)
        self.now_ms += 1000
        maintain_seconds = self.command("maintain", "--keep", f"{self.keep.days}d")
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
            report_bytes=sum(sizes_of(self.report).values()),
            rows=rows,
            open_seconds=round(open_seconds, 4),
            audit_seconds=round(median(self.seconds), 3),
            maintain_seconds=round(maintain_seconds, 3),
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


def audited_days(folder: Path, runs: int, runs_a_day: int, keep_days: int) -> Iterator[AfterDay]:
    """Of those days that the folder does not have yet."""
    state, days = folder / STATE, folder / DAYS
    begun = json.loads(state.read_text()) if state.exists() else {}
    year = AuditedYear(folder, runs_a_day, timedelta(days=keep_days), **begun)
    while year.num_runs < runs:
        found = year.audited_day(year.num_runs // runs_a_day)
        with days.open("a") as file:
            file.write(json.dumps(asdict(found)) + "\n")
        state.write_text(json.dumps(year.state()))
        yield found


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year_of_audits")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS_OF_A_YEAR)
    parser.add_argument("--runs-a-day", type=int, default=24)
    parser.add_argument("--keep-days", type=int, default=7)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args(words)
    given.folder.mkdir(parents=True, exist_ok=True)
    # The audits print too.
    with os.fdopen(os.dup(1), "w") as ours:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for found in audited_days(given.folder, given.runs, given.runs_a_day, given.keep_days):
            ours.write(json.dumps(asdict(found)) + "\n")
            ours.flush()
    if given.keep:
        days = [json.loads(line) for line in (given.folder / DAYS).read_text().splitlines()]
        keep(YEAR, conditions(), [{**day, "keep_days": given.keep_days} for day in shown(days)])


if __name__ == "__main__":
    main(sys.argv[1:])
