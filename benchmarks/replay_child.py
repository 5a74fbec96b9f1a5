"""Seconds of an ingest and of a replay after it, in a Spark session that is warm.

python -m benchmarks.replay_child SOURCE WAREHOUSE
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.ingest_child import ingest_seconds, warm_up
from jobs import replay


def main(source: str, warehouse: Path) -> int:
    warm_up(warehouse.with_name("warm_up"))
    sys.stdout.write(f"{ingest_seconds(source, warehouse)} {replay_seconds(warehouse)}\n")
    return 0


def replay_seconds(warehouse: Path) -> float:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    replay.add_arguments(parser)
    start = time.perf_counter()
    replay.replayed(parser.parse_args(["--warehouse", str(warehouse)]))
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
