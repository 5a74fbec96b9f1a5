"""What a year of hourly runs leaves with a `maintain` a day: files, bytes and seconds to open it, day by day.

    python -m benchmarks.year_of_runs FOLDER DAYS RUNS_A_DAY KEEP_DAYS

Each run reads the newest records and replays them. The runs' clock is simulated; all else is the real jobs.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from deltalake import DeltaTable

from jobs.configuration.read_settings import load_settings
from jobs.engine.local import LocalEngine
from jobs.ingestion.run import Ingest, IngestOptions
from jobs.maintaining.run import Maintain
from jobs.replaying.run import Replay
from jobs.runs.run import Job, RunOptions, run_jobs
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.contract.tables import folder_of
from tests.builders.generated.log import T0, Kept, LoggedBatch, write
from tests.builders.generated.topics import KeyValue, written
from tests.builders.logs.by_hand import generation

DAY = 86_400
GROUPS, PARTITIONS = 3, 4


@dataclass(frozen=True)
class Size:
    """After a day's runs. `history`: rows of the history of offsets."""

    day: int
    files: int
    log_files: int
    log_bytes: int
    bytes: int
    history: int
    # Of a processor: other work hardly changes it.
    open_seconds: float


@dataclass
class Year:
    folder: Path
    runs_a_day: int
    keep: timedelta
    offset: int = 0
    now_ms: int = T0

    @property
    def warehouse(self) -> Path:
        return self.folder / "w"

    def day(self, number: int) -> None:
        for run in range(self.runs_a_day):
            seconds = number * DAY + run * DAY // self.runs_a_day
            self.now_ms = T0 + (seconds + 60) * 1000
            self.run(self.write(seconds, is_new_generation=run == 0), seconds)

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

    def size(self, day: int) -> Size:
        files = [path for path in self.warehouse.rglob("*") if path.is_file()]
        logs = [path for path in files if path.parent.name == "_delta_log"]
        begun = time.process_time()
        warehouse = reading(LocalPlace(self.warehouse))
        versions = warehouse.versions()
        history = sum(warehouse.num_rows().values())
        for name, version in versions.items():
            DeltaTable(self.warehouse / folder_of(name), version=version)
        return Size(
            day=day,
            files=len(files),
            log_files=len(logs),
            log_bytes=sum(path.stat().st_size for path in logs),
            bytes=sum(path.stat().st_size for path in files),
            history=history,
            open_seconds=round(time.process_time() - begun, 4),
        )


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


def sizes(folder: Path, days: int, runs_a_day: int, keep_days: int) -> Iterator[Size]:
    year = Year(folder, runs_a_day, timedelta(days=keep_days))
    for day in range(days):
        year.day(day)
        year.maintain()
        yield year.size(day)


def main(folder: str, days: str, runs_a_day: str, keep_days: str) -> None:
    for size in sizes(Path(folder), int(days), int(runs_a_day), int(keep_days)):
        sys.stdout.write(json.dumps(asdict(size)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
