"""How soon a command answers that has little to do, on the warehouse of the sample."""

import statistics
import sys
from collections.abc import Sequence

from benchmarks.audit import SAMPLE, audit_command
from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.run import Run

HELP, READER = Bound(0.2, 0.1), Bound(0.7, 0.4)
# Beside each other they read most tables of the history.
READERS = (("groups",), ("describe", "modern-uniform"), ("rebalances", "modern-uniform"))


def measure(run: Run) -> list[Duration]:
    warehouse = new_warehouse(run.folder)
    seconds_of(audit_command(SAMPLE, warehouse))
    bare = median_seconds(run, [sys.executable, "-c", "pass"])
    rival = "rival: Python that does nothing"
    return [
        Duration(f"groupscope --help; {rival}", median_seconds(run, groupscope("--help")), HELP, bare),
        *(
            Duration(f"groupscope {' '.join(words)} on the sample; {rival}", median_seconds(run, command), READER, bare)
            for words in READERS
            for command in [groupscope(*words, "--warehouse", warehouse)]
        ),
    ]


def median_seconds(run: Run, command: Sequence[str]) -> float:
    seconds_of(command)  # files of the machine are in its memory afterwards
    return statistics.median(seconds_of(command) for _ in range(run.rounds))
