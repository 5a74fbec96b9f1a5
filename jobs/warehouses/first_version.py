"""The first version of a Delta table on a file system that delta-rs does not know: made on a local disk, then copied.

Spark would take a second or more for each of the tables, and give them other names in their logs than delta-rs does.
"""

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.warehouses.delta_tables import create
from jobs.warehouses.hadoop_files import HadoopFiles
from schemas.columns import Table

FIRST = "_delta_log/00000000000000000000.json"


def create_table(spark: SparkSession, place: str, table: Table) -> None:
    """Nothing happens where there is one."""
    files = HadoopFiles(spark, place)
    if files.exists(FIRST):
        return
    with tempfile.TemporaryDirectory() as folder:
        create(Path(folder), table)
        files.write_whole(FIRST, (Path(folder) / FIRST).read_text())
