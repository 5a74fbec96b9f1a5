"""Whoever does the work, the recomputed assignments are the same."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.runs.ingested import ROOT, ingest
from tests.runs.replayed_logs import ASSIGNMENTS, assert_same, growing, recompute, told, write_part
from tests.sample.part import sample_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

__all__ = ["sample_part"]

SNAPSHOTS = ("--snapshots", ROOT / "data" / "sample" / "snapshots.jsonl")


def test_tasks_of_spark_make_what_one_process_makes_also_when_runs_go_on(
    spark: "SparkSession", sample_part: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    source = tmp_path / "log"
    for share in growing(sample_part, rng, 2):
        write_part(sample_part, source, {name: max(1, number) for name, number in share.items()})
        for name in ("alone", "by_spark"):
            ingest(tmp_path / name, "--source", f"segments:{source}", *SNAPSHOTS)
        recompute(tmp_path / "alone")
        assert recompute(tmp_path / "by_spark", "--engine", "spark")["num_assignments"]
        assert_same(told(tmp_path / "alone", ASSIGNMENTS), told(tmp_path / "by_spark", ASSIGNMENTS), "by Spark")
