"""Seconds of replays in a Spark session that is warm.

python -m benchmarks.replay_child after-ingest SOURCE WAREHOUSE    of the ingest, and of the replay after it
python -m benchmarks.replay_child both-ways SOURCE WAREHOUSE       by Spark, and in one process without it
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.ingest_child import ingest_seconds, warm_up
from jobs import replay
from jobs.arguments import replay as flags

ALWAYS, NEVER = 0, 1 << 40


def main(what: str, source: str, warehouse: Path) -> int:
    warm_up(warehouse.with_name("warm_up"))
    ingest = ingest_seconds(source, warehouse)
    if what == "after-ingest":
        sys.stdout.write(f"{ingest} {replay_seconds(warehouse)}\n")
        return 0
    # Once before, for what the first query of a session takes.
    by_spark = [replay_seconds(warehouse, ALWAYS) for _ in range(2)][-1]
    sys.stdout.write(f"{by_spark} {replay_seconds(warehouse, NEVER)}\n")
    return 0


def replay_seconds(warehouse: Path, spark_from_records: int | None = None) -> float:
    """Of the whole log."""
    words = ["--warehouse", str(warehouse), "--full"]
    if spark_from_records is not None:
        settings = warehouse.with_name("settings.toml")
        settings.write_text(f"[replay]\nspark_from_records = {spark_from_records}\n")
        words += ["--config", str(settings)]
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    flags.add_arguments(parser)
    start = time.perf_counter()
    replay.replayed(parser.parse_args(words))
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
