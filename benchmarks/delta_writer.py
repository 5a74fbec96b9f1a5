"""Spark's own Delta writer, given the rows of a warehouse ready-made: prints the seconds that it took in a session that
has started and has written something before.

python -m benchmarks.delta_writer READY_WAREHOUSE FOLDER
"""

import sys
import time
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from jobs.processes.processors import cores
from jobs.spark.session import quiet_session


def main(ready: Path, folder: Path) -> int:
    spark = quiet_session("groupscope benchmark", cores(), is_debug=False)
    warm_up(spark, folder.with_name("warm_up"))
    sys.stdout.write(f"{seconds_to_write(spark, ready, folder)}\n")
    return 0


def warm_up(spark: SparkSession, folder: Path) -> None:
    """The first query and the first commit of a session load much of Spark."""
    spark.range(1000).write.format("delta").save(str(folder), mode="overwrite")


def seconds_to_write(spark: SparkSession, ready: Path, folder: Path) -> float:
    """Rows come from Parquet, whose reading is measured alone and taken off."""
    seconds = 0.0
    for table in sorted(path.parent for path in ready.glob("*/_delta_log")):
        files = DeltaTable(table).file_uris()
        if files:
            frame = spark.read.parquet(*files)
            start = time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            read = time.perf_counter()
            frame.write.format("delta").save(str(folder / table.name))
            seconds += (time.perf_counter() - read) - (read - start)
    return seconds


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
