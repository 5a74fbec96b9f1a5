"""An audit on a standalone cluster: a master and two workers in processes of their own, with executors that come and
go, and a second copy of each task, on purpose. Every table is what one process writes."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.standalone import cluster_of
from schemas.words.exit_codes import ExitCode
from tests.cluster.zip_alone import SETTINGS, Elsewhere, elsewhere
from tests.runs.ingested import ROOT, TABLES_OF_INGEST, history, ingest
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, recompute, replay, told

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# With groups of each type, and the partition that stopped.
SOURCE = ("--source", f"segments:{SAMPLE / '__consumer_offsets-[37]'}", "--snapshots", SAMPLE / "snapshots.jsonl")
# Beside the product's own settings, for executors that start when there are tasks and end when there are none.
COMING_AND_GOING = {
    "spark.executor.cores": "1",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
}
# Every task that takes longer than the threshold gets a second copy, as a slow host would make it get.
TWICE = {
    "spark.speculation.interval": "10ms",
    "spark.speculation.minTaskRuntime": "10ms",
    "spark.speculation.task.duration.threshold": "10ms",
}


@pytest.fixture(scope="module")
def master(elsewhere: Elsewhere, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master that has two workers of one core each."""
    spark_class = elsewhere.folder / "packages" / "pyspark" / "bin" / "spark-class"
    folder = tmp_path_factory.mktemp("standalone") / "cluster"
    # Spark gives a second copy of a task to another host only: both of these are this one.
    hosts = ("127.0.0.2", "127.0.0.3")
    with cluster_of(str(spark_class), elsewhere.environment, folder, hosts, "1536m") as address:
        yield address


def audit(elsewhere: Elsewhere, settings: dict[str, str], warehouse: Path, folder: Path) -> Counter[str]:
    """Of a part of the sample, whose story has findings. Returns how often Spark tells of what; `folder`: a new one."""
    folder.mkdir()
    event_log = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}",
    }
    flags = ("--py-files", elsewhere.archive, "--properties-file", ROOT / "conf" / "spark-defaults.conf")
    chosen = {**SETTINGS, **COMING_AND_GOING, **TWICE, **event_log, **settings}
    done = elsewhere.submit_with(
        chosen, flags, "audit.py", *SOURCE, "--warehouse", warehouse, "--report", folder / "report"
    )
    assert done.returncode == ExitCode.FINDINGS, done.stdout + done.stderr
    return events_in(folder)


def events_in(folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in folder.rglob("events_*"):
        if path.is_file():
            for line in path.read_text().splitlines():
                event = json.loads(line)
                found[event["Event"].removeprefix("SparkListener")] += 1
                found["second copies"] += bool(event.get("Task Info", {}).get("Speculative")) and (
                    event["Event"] == "SparkListenerTaskEnd"
                )
    return found


@pytest.mark.parametrize("is_followed", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_tasks_that_run_twice_on_executors_that_come_and_go_leave_one_set_of_rows(
    elsewhere: Elsewhere, master: str, tmp_path: Path, is_followed: bool
) -> None:
    warehouse, at_master = tmp_path / "w", {"spark.master": master}
    seen = audit(elsewhere, at_master, warehouse, tmp_path / "first")
    assert seen["second copies"] and seen["ExecutorAdded"] >= 2, seen
    assert_sample(warehouse, tmp_path / "here")
    if is_followed:
        # Files that a second copy left are in no table, and do not disturb the next run.
        audit(elsewhere, at_master, warehouse, tmp_path / "second")
        assert_sample(warehouse, tmp_path / "here")


def assert_sample(warehouse: Path, here: Path) -> None:
    if not here.exists():
        ingest(here, *SOURCE)
        replay(here)
        recompute(here)
    assert all((warehouse / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
    assert history(warehouse) == history(here)
    tables = (*HISTORY, *ASSIGNMENTS)
    assert_same(told(here, tables), told(warehouse, tables), "audit")
