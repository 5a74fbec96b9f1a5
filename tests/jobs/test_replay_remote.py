"""A warehouse on a file system that only Hadoop knows holds the history that one on a local disk holds."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from schemas.exit_codes import ExitCode
from tests.jobs.ingested import ROOT, ingest
from tests.jobs.replayed_logs import assert_same, growing, replay, run_replay, told, write_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# With classic groups and their commits alone: each further kind of record is a table more, and Spark takes seconds for
# each. What the tables hold does not depend on where they lie.
FOLDERS = ("__consumer_offsets-2",)


@pytest.fixture
def mounted(spark: "SparkSession", tmp_path: Path) -> str:
    """A URI under which the test's folder is seen, by a mount table of its own."""
    cluster = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{cluster}.link./data", tmp_path.as_uri())
    return f"viewfs://{cluster}/data"


def test_a_remote_history_is_that_of_a_local_one_also_when_runs_go_on(
    tmp_path: Path, mounted: str, rng: np.random.Generator
) -> None:
    whole, source = tmp_path / "whole", tmp_path / "log"
    for folder in FOLDERS:
        shutil.copytree(SAMPLE / folder, whole / folder)
    flags = ["--source", f"segments:{source}"]
    for share in growing(whole, rng, 2):
        # A log without a batch is none.
        write_part(whole, source, {name: max(1, number) for name, number in share.items()})
        ingest(tmp_path / "local", *flags)
        replay(tmp_path / "local")
        ingest(tmp_path / "w", "--warehouse", f"{mounted}/w", *flags)
        found = replay(tmp_path / "w", "--warehouse", f"{mounted}/w")
        assert found["num_partitions"]
    assert_same(told(tmp_path / "local"), told(tmp_path / "w"), "remote")
    again = replay(tmp_path / "w", "--warehouse", f"{mounted}/w")
    assert again["num_partitions"] == 0
    assert_same(told(tmp_path / "local"), told(tmp_path / "w"), "again")


def test_what_is_lost_is_made_anew(tmp_path: Path, mounted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables and logs are lost to both clusters, a file to one of them. Where rows lie does not depend on who wrote
    them, so that runs on the local disk make them, which are quicker."""
    root, place = tmp_path / "w", ("--warehouse", f"{mounted}/w")
    shutil.copytree(SAMPLE / "__consumer_offsets-5", tmp_path / "log" / "__consumer_offsets-5")
    for cluster in ("one", "two"):
        ingest(root, "--source", f"segments:{tmp_path / 'log'}", "--cluster", cluster)
        replay(root, "--cluster", cluster)
    whole = told(root)
    shutil.rmtree(root / "rebalances")
    shutil.rmtree(root / "_state" / "replayed_groups" / "_delta_log")
    lost = [path for path in files_of(root / "offset_history", "one") if path.unlink() is None]
    assert lost
    capsys.readouterr()
    assert run_replay(root, *place, "--cluster", "one") == ExitCode.UNUSABLE_WAREHOUSE
    command = f"groupscope replay --full --warehouse {mounted}/w --cluster"
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("groupscope: ")]
    assert lines[-1].endswith(f"w/rebalances: is not there. Rebuild it: {command} one")
    replay(root, *place, "--cluster", "one", "--full")
    assert f"{command} two" in capsys.readouterr().err
    # Its progress went with its rows, so it begins anew by itself.
    replay(root, *place, "--cluster", "two")
    assert_same(whole, told(root), "made anew")


def files_of(table: Path, cluster: str) -> list[Path]:
    actions = pa.table(DeltaTable(table).get_add_actions(flatten=False)).to_pylist()
    return [table / row["path"] for row in actions if row["min"]["cluster"] == row["max"]["cluster"] == cluster]
