"""`groupscope report` over many groups and a month, and the browser that opens it: whole, as users start them."""

import json
import statistics
import subprocess
import sys

from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.month_of_groups import DAYS, write_month
from benchmarks.run import Run

GROUPS = 1_000
WRITTEN, READY, TYPED = Bound(20, 10), Bound(1.5, 1.0), Bound(0.1, 0.05)


def measure(run: Run) -> list[Duration]:
    """`--records` is the number of groups here."""
    groups = run.records or GROUPS
    warehouse = new_warehouse(run.folder)
    rows = write_month(warehouse, groups)
    report = run.folder / "report"
    command = groupscope("report", "--warehouse", warehouse, "--report", report)
    rounds = min(run.rounds, 3)
    written = statistics.median(seconds_of(command) for _ in range(rounds))
    bare = seconds_of(groupscope("--help"))
    opened = subprocess.run(
        [sys.executable, "-m", "benchmarks.opened_report", str(report / "index.html"), str(rounds)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds = json.loads(opened.stdout)
    log = f"{groups:,} groups, {DAYS} days, {rows:,} rows"
    return [
        Duration(f"report of {log}; rival: --help", written, WRITTEN, bare),
        Duration(f"Chromium opens it, until all is loaded; rival: an empty page ({log})", seconds["ready"], READY,
                 seconds["empty"]),
        Duration(f"a key in its search is answered; rival: its writing ({log})", seconds["typed"], TYPED, written),
    ]  # fmt: skip
