"""Whoever does the work, and wherever the warehouse lies, the recomputed assignments are the same."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jobs.warehouses.lock import LOCK_FILE
from tests.jobs.ingested import ROOT, ingest
from tests.jobs.replayed_logs import ASSIGNMENTS, assert_same, batch_ends, growing, recompute, told, write_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
SNAPSHOTS = ("--snapshots", SAMPLE / "snapshots.jsonl")
# Each kind of record is a table more, and Spark takes seconds for each of a remote warehouse.
REMOTE_FOLDER = "__consumer_offsets-2"


def test_tasks_of_spark_make_what_one_process_makes_also_when_runs_go_on(
    spark: "SparkSession", tmp_path: Path, rng: np.random.Generator
) -> None:
    source = tmp_path / "log"
    for share in growing(SAMPLE, rng, 2):
        write_part(SAMPLE, source, {name: max(1, number) for name, number in share.items()})
        for name in ("alone", "by_spark"):
            ingest(tmp_path / name, "--source", f"segments:{source}", *SNAPSHOTS)
        recompute(tmp_path / "alone")
        assert recompute(tmp_path / "by_spark", "--engine", "spark")["num_assignments"]
        assert_same(told(tmp_path / "alone", ASSIGNMENTS), told(tmp_path / "by_spark", ASSIGNMENTS), "by Spark")


@pytest.fixture
def mounted(spark: "SparkSession", tmp_path: Path) -> str:
    """A URI under which the test's folder is seen, by a mount table of its own."""
    cluster = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{cluster}.link./data", tmp_path.as_uri())
    return f"viewfs://{cluster}/data"


def test_a_remote_warehouse_holds_what_a_local_one_holds_also_when_runs_go_on(tmp_path: Path, mounted: str) -> None:
    """Its records came to it while it was a local one."""
    whole, source = tmp_path / "whole", tmp_path / "log"
    shutil.copytree(SAMPLE / REMOTE_FOLDER, whole / REMOTE_FOLDER)
    number = sum(len(batch_ends(segment.read_bytes())) for segment in (whole / REMOTE_FOLDER).glob("*.log"))
    for share in (number // 4, number):
        write_part(whole, source, {REMOTE_FOLDER: share})
        for name in ("local", "w"):
            ingest(tmp_path / name, "--source", f"segments:{source}", *SNAPSHOTS)
        # To Hadoop's file systems the file itself is the lock.
        (tmp_path / "w" / LOCK_FILE).unlink()
        told_here = recompute(tmp_path / "local")
        told_there = recompute(tmp_path / "w", "--warehouse", f"{mounted}/w")
        for about in ("num_assignments", "num_partitions_recomputed_whole", "verdicts", "all_verdicts", "num_groups"):
            assert told_there[about] == told_here[about], about
        assert told_here["num_assignments"]
    assert_same(told(tmp_path / "local", ASSIGNMENTS), told(tmp_path / "w", ASSIGNMENTS), "remote")
