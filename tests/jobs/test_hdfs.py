"""The whole way on a real HDFS: sources, warehouse, lock, a run that is killed, and who reads it afterwards."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jobs import cli
from jobs.sources.archive_files import FileSystem
from jobs.warehouses import hadoop_lock
from jobs.warehouses.failpoints import VARIABLE
from schemas.exit_codes import ExitCode
from tests.jobs.ingested import history, ingest, spawned
from tests.jobs.mini_hdfs import mini_hdfs
from tests.written_copies import compacted, random_log, write_copy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.soak]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mini_hdfs(tmp_path_factory.mktemp("hdfs") / "cluster") as uri:
        yield uri


def test_copies_in_hdfs_make_the_history_that_local_ones_do(
    tmp_path: Path, hdfs: str, spark: "SparkSession", rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hadoop_lock, "STALE_SECONDS", 3.0)
    for partition in (3, 11):
        log = random_log(rng, 60)
        for number in range(3):
            write_copy(tmp_path / "copies" / str(number), partition, compacted(log, rng, 0.4), rng)
    system = FileSystem(spark)
    root = system.path(f"{hdfs}/")
    system.of(root).copyFromLocalFile(system.path(f"file:{tmp_path}/copies"), system.path(f"{hdfs}/copies"))

    ingest(tmp_path / "local", "--source", f"segments:{tmp_path / 'copies'}")
    flags = ["--warehouse", f"{hdfs}/w"]
    assert cli.main(["ingest", *flags, "--source", f"segments:{hdfs}/copies/1"]) == ExitCode.CLEAN
    killed = spawned(f"{hdfs}/w", "--source", f"segments:{hdfs}/copies", environment={VARIABLE: "table_committed"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # The lock of the killed run is taken over, and its work done without any input.
    assert cli.main(["ingest", *flags, "--source", f"segments:{hdfs}/copies"]) == ExitCode.CLEAN
    assert cli.main(["audit", *flags, "--source", f"segments:{hdfs}/copies/*"]) == ExitCode.CLEAN
    assert cli.main(["sql", *flags, "SELECT count(*) FROM offset_commits"]) == ExitCode.CLEAN

    system.of(root).copyToLocalFile(system.path(f"{hdfs}/w"), system.path(f"file:{tmp_path}/fetched"))
    assert history(tmp_path / "fetched") == history(tmp_path / "local")
    left = {name for name in os.listdir(tmp_path / "fetched") if name.startswith("_")}
    assert left == {"_runs", "_warehouse.json"}
