"""One way of writing Delta tables, in a process and a Spark session of its own: prints the seconds that it took.

python -m benchmarks.ingest_child ingest SOURCE WAREHOUSE
python -m benchmarks.ingest_child delta READY_WAREHOUSE FOLDER
"""

import argparse
import sys
import time
from pathlib import Path

from deltalake import DeltaTable
from jobs.spark.tasks import Workers

from jobs import ingest
from jobs.arguments import ingest as flags


def main(what: str, place: str, target: Path) -> int:
    workers = warm_up(target.with_name("warm_up"))
    seconds = ingest_seconds(place, target) if what == "ingest" else delta_seconds(workers, Path(place), target)
    sys.stdout.write(f"{seconds}\n")
    return 0


def warm_up(folder: Path) -> Workers:
    """A session that has done what its first tasks and its first commit need beside."""
    workers = Workers("groupscope benchmark", is_debug=False)
    workers.run(len, [[], []])
    workers.spark.range(1000).write.format("delta").save(str(folder), mode="overwrite")
    return workers


def ingest_seconds(source: str, warehouse: Path, *more: str) -> float:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    flags.add_arguments(parser)
    start = time.perf_counter()
    ingest.ingested(parser.parse_args(["--source", source, "--warehouse", str(warehouse), *more]))
    return time.perf_counter() - start


def delta_seconds(workers: Workers, ready: Path, folder: Path) -> float:
    """Rows come from Parquet, whose reading is measured alone and taken off."""
    seconds = 0.0
    for table in sorted(path.parent for path in ready.glob("*/_delta_log")):
        files = DeltaTable(table).file_uris()
        if files:
            frame = workers.spark.read.parquet(*files)
            start = time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            read = time.perf_counter()
            frame.write.format("delta").save(str(folder / table.name))
            seconds += (time.perf_counter() - read) - (read - start)
    return seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
