"""What it costs to compare what was read with what is known to exist, as a share of the audit that does it.

    python -m benchmarks.coverage_checks FOLDER [--records N]

Of a log of each shape: the seconds of the whole command `groupscope audit`, start-up included, and those that the same
comparison takes on the warehouse that it made, in a process of its own that has loaded what it needs. The share must
not be above 3 %.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.audit import RECORDS, audit_command
from benchmarks.before import hot, shaped
from benchmarks.commands import seconds_of
from benchmarks.run import Run
from benchmarks.shapes import FEW_KEYS, MIX
from jobs.measuring.partition_ends import LogAsRead
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.task.warehouse_state import progress_by_partition
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import file_path, files_of
from jobs.warehouses.open_warehouse import reading

MOST_SHARE = 0.03
ROUNDS = 3


def checks(warehouse: Path) -> float:
    """As the step `lag` makes them."""
    opened = reading(LocalPlace(warehouse))
    (cluster,) = opened.clusters()
    progress = progress_by_partition(opened, cluster)
    delta = opened.open("topic_snapshots")
    rows = [] if delta is None else files_of(delta).to_pylist()
    files = tuple(LogFile(opened.path("topic_snapshots") / file_path(row["path"]), 0, 0) for row in rows)
    newest = max(each.coverage.last_time or 0 for each in progress.values())
    begun = time.perf_counter()
    log = LogAsRead(opened, cluster, progress, files, newest)
    assert log.table().num_rows and log.early_ends is not None
    return time.perf_counter() - begun


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage_checks")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=RECORDS)
    given = parser.parse_args(words)
    given.folder.mkdir(parents=True, exist_ok=True)
    run, shares = Run(given.folder, 1, given.records), []
    logs = {each: partial(shaped, run, each) for each in (MIX, FEW_KEYS)}
    for name, write in {**logs, "hot-partition": partial(hot, given.folder, given.records)}.items():
        warehouse = given.folder / f"{name}-warehouse"
        whole = seconds_of(audit_command(write(), warehouse))
        part = min(checks(warehouse) for _ in range(ROUNDS))
        shares.append(part / whole)
        sys.stdout.write(f"{name}, {given.records:,} records: {part:.2f} of {whole:.1f} s, {shares[-1]:.2%}\n")
        sys.stdout.flush()
    return int(max(shares) > MOST_SHARE)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
