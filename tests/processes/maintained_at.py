"""`maintain` as of a time of the simulated clock, in a process that a test may kill: WAREHOUSE KEEP_DAYS NOW_MS."""

import sys
from datetime import timedelta

from benchmarks.year_of_runs import run_at
from jobs.maintaining.run import Maintain
from jobs.storage import storage_lock

# The lock of a dead run is taken over after a few of them.
BEAT_SECONDS = 0.1


def main(warehouse: str, keep_days: str, now_ms: str) -> None:
    storage_lock.BEAT_SECONDS = BEAT_SECONDS
    run_at(warehouse, int(now_ms), Maintain(timedelta(days=int(keep_days))), is_about_all=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
