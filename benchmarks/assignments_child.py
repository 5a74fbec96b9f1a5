"""Seconds of an ingest and of the recomputation of its assignments in a Spark session that is warm, and how many of
these are the same.

python -m benchmarks.assignments_child FOLDER WAREHOUSE
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.ingest_child import ingest_seconds, warm_up
from jobs import assignments
from jobs.arguments import assignments as flags


def main(folder: Path, warehouse: Path) -> int:
    warm_up(warehouse.with_name("warm_up"))
    ingest = ingest_seconds(f"segments:{folder}", warehouse, "--snapshots", str(folder / "snapshots.jsonl"))
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    flags.add_arguments(parser)
    start = time.perf_counter()
    found = assignments.recomputed(parser.parse_args(["--warehouse", str(warehouse)]))
    sys.stdout.write(f"{ingest} {time.perf_counter() - start} {found['verdicts']['same']}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
