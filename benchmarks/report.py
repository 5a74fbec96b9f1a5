"""`groupscope report` of the sample, and of many groups over a month: sizes of its files, its time, and what Chromium
takes to draw the first picture and to follow the cursor. How much of an audit it takes is measured with such groups
over some days: an audit of a month takes too long.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.audit import SAMPLE, audit_command
from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.days_of_groups import write_days
from benchmarks.durations import Bound, Duration, Ratio, Size
from benchmarks.month_of_groups import DAYS, write_month
from benchmarks.run import Run

GROUPS = 1_000
# Of an audit that ends with the report.
SHARE = Bound(0.4)
FRAME = Bound(0.05)
MOST_OF_FILE, MOST_IN_ALL = 15_000_000, 120_000_000
MOST_OF_SAMPLE, FIRST_OF_SAMPLE, FIRST_OF_MONTH = 800_000, Bound(0.4), Bound(2)


def measure(run: Run) -> list[Duration | Ratio | Size]:
    """`--records` is the number of groups here."""
    rounds, report, warehouse = min(run.rounds, 3), run.folder / "report", new_warehouse(run.folder)
    audit = seconds_of(audit_command(SAMPLE, warehouse))
    written = report_seconds(warehouse, report, rounds)
    sample = [
        Ratio("report of the sample; rival: its audit, which ends with one", written, audit, SHARE),
        *drawn("the sample", report, rounds, MOST_OF_SAMPLE, FIRST_OF_SAMPLE),
    ]
    groups, report = run.records or GROUPS, run.folder / "report-of-month"
    warehouse = new_warehouse(run.folder)
    rows = write_month(warehouse, groups)
    log = f"{groups:,} groups, {DAYS} days, {rows:,} rows"
    written, bare = report_seconds(warehouse, report, rounds), seconds_of(groupscope("--help"))
    month = [
        Duration(f"report of {log}; rival: --help", written, None, bare),
        *drawn(f"{groups:,} groups", report, rounds, MOST_OF_FILE, FIRST_OF_MONTH),
    ]
    (days := run.folder / "days").mkdir()
    log = write_days(days, groups)
    audit = seconds_of(audit_command(days, warehouse := new_warehouse(run.folder)))
    written = report_seconds(warehouse, run.folder / "report-of-days", rounds)
    share = Ratio(f"report of {log}; rival: its audit, which ends with one", written, audit, SHARE)
    return [*sample, *month, share]


def report_seconds(warehouse: Path, report: Path, rounds: int) -> float:
    command = groupscope("report", "--warehouse", warehouse, "--report", report)
    return statistics.median(seconds_of(command) for _ in range(rounds))


def drawn(name: str, report: Path, rounds: int, most: int, first: Bound) -> list[Duration | Ratio | Size]:
    """Of files on disk, and of its first page in Chromium."""
    index, siblings = report / "index.html", [file.stat().st_size for file in report.glob("groups/*.html")]
    size = index.stat().st_size
    opened = subprocess.run(
        [sys.executable, "-m", "benchmarks.opened_report", str(index), str(rounds)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds = json.loads(opened.stdout)
    first_name, frame_name = f"Chromium: first picture of {name}", f"Chromium: 95% of frames of {name}, cursor dragged"
    most_beside = max(siblings, default=0)
    return [
        Size(f"report of {name}: index.html", size, most),
        Size(f"report of {name}: the largest of {len(siblings):,} pages beside it", most_beside, MOST_OF_FILE),
        Size(f"report of {name}: all files", size + sum(siblings), MOST_IN_ALL),
        Duration(f"{first_name}; rival: an empty page", seconds["first"], first, seconds["empty"]),
        Duration(f"{frame_name}; rival: an empty page", seconds["frame"], FRAME, seconds["empty"]),
    ]
