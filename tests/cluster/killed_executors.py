"""Kills executors of Spark in the middle of tasks: while the file of a table is half written, or when it is whole and
the driver does not know of it yet."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable

from tests.cluster import pyspark_dying_worker
from tests.cluster.pyspark_dying_worker import GOES_ON, HALF, WHOLE

DIES = "dies"
# Of each job whose tasks write files; the driver writes others.
TABLES = ("offset_commits", "group_metadata", "offset_history", "rebalances", "assignment_audit", "lag_points")
# Spark gives up after four of one task.
MOST_KILLS = 3


@dataclass(frozen=True)
class Orders:
    """Each table's task loses its executor once."""

    folder: Path
    tables: list[str]

    def settings(self, python_path):
        return {
            "spark.python.worker.module": pyspark_dying_worker.__name__.rpartition(".")[2],
            "spark.executorEnv.PYTHONPATH": f"{self.folder}:{python_path}",
        }

    def left(self):
        """The files at which it happened: none is to be in a table."""
        return [Path(path.read_text()) for path in (self.folder / "left").iterdir()]


def orders(folder, chance, kills):
    for name in ("orders", "left"):
        (folder / name).mkdir(parents=True)
    shutil.copy(pyspark_dying_worker.__file__, folder)
    tables = chance.sample(TABLES, kills)
    for name in tables:
        # The worker of the task dies with its executor, or writes the rest of its files.
        words = f"{chance.choice((HALF, WHOLE))}, {chance.choice((DIES, GOES_ON))}"
        (folder / "orders" / name).write_text(words)
    return Orders(folder, tables)


def files_of(table):
    """That its newest version names."""
    return {Path(uri).name for uri in DeltaTable(table).file_uris()}
