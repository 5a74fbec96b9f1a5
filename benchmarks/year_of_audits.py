"""A year of hourly audits with a `maintain` a day: what is left of them and how long each takes, day by day.

    python -m benchmarks.year_of_audits FOLDER [--runs N] [--runs-a-day N] [--keep-days N] [--keep]

Each run is `groupscope audit` with its report, of the newest records and a snapshot; the last one of a day is followed
by `groupscope maintain`. The clock of the runs is simulated; all else is real. A folder of fewer runs is continued,
if it was not ended within a day. --keep keeps the figures in benchmarks/figures.json, for docs/performance.md.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import rmtree
from statistics import median
from types import SimpleNamespace
from unittest.mock import patch

from benchmarks.year_of_runs import PARTITIONS, AfterDay, Year, main, sizes_of
from benchmarks.year_page import OF_AUDITS
from jobs import cli
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from tests.make.log import T0


@dataclass(frozen=True)
class AfterDayOfAudits(AfterDay):
    """`audit_seconds`: the median of the day."""

    report_bytes: int
    audit_seconds: float
    maintain_seconds: float


@dataclass
class AuditedYear(Year):
    seconds: list[float] = field(default_factory=list)
    maintain_seconds: float = 0.0

    def run(self, source: Path, seconds: int) -> None:
        flags = ["--source", f"segments:{source}", "--snapshots", str(self.snapshot(source, seconds))]
        flags += ["--report", str(self.report), "--fail-on", "never", "--workers", "1"]
        self.seconds.append(self.command("audit", *flags))
        rmtree(source)

    def maintain(self) -> None:
        self.now_ms += 1000
        self.maintain_seconds = self.command("maintain", "--keep", f"{self.keep.days}d")

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

    def measured_day(self, number: int) -> AfterDayOfAudits:
        self.seconds = []
        day = super().measured_day(number)
        return AfterDayOfAudits(
            **asdict(day),
            report_bytes=sum(sizes_of(self.report).values()),
            audit_seconds=round(median(self.seconds), 3),
            maintain_seconds=round(self.maintain_seconds, 3),
        )


if __name__ == "__main__":
    main(sys.argv[1:], "benchmarks.year_of_audits", OF_AUDITS, AuditedYear)
