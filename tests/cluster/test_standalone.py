"""An audit on a standalone cluster: a master and two workers in processes of their own, with executors that come and
go, and a second copy of each task, on purpose. Every table is what one process writes."""

import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from schemas.words.exit_codes import ExitCode
from tests.cluster.zip_alone import SETTINGS, Elsewhere, elsewhere
from tests.jobs.ingested import ROOT, TABLES_OF_INGEST, history, ingest
from tests.jobs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, recompute, replay, told

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
START_SECONDS = 120
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


@contextmanager
def daemon(elsewhere: Elsewhere, name: str, host: str, log: Path, *arguments: str) -> Iterator[None]:
    """`name`: of a class of Spark; its own script forks and returns."""
    spark_class = elsewhere.folder / "packages" / "pyspark" / "bin" / "spark-class"
    environment = {**elsewhere.environment, "SPARK_LOCAL_IP": host, "SPARK_WORKER_DIR": str(log.parent / "work")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [spark_class, f"org.apache.spark.deploy.{name}", "--host", host, "--webui-port", "0", *arguments],
            env=environment,
            stdout=output,
            stderr=output,
            cwd=log.parent,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def awaited(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text()):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"no {pattern!r} in\n{log.read_text()}")


@pytest.fixture(scope="module")
def master(elsewhere: Elsewhere, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master that has two workers of one core each."""
    folder = tmp_path_factory.mktemp("standalone")
    with ExitStack() as running:
        running.enter_context(daemon(elsewhere, "master.Master", "127.0.0.1", folder / "master.log", "--port", "0"))
        address = awaited(folder / "master.log", r"spark://127\.0\.0\.1:\d+")
        # Spark gives a second copy of a task to another host only: both of these are this one.
        for host in ("127.0.0.2", "127.0.0.3"):
            log = folder / f"{host}.log"
            worker = daemon(elsewhere, "worker.Worker", host, log, "--cores", "1", "--memory", "1536m", address)
            running.enter_context(worker)
            awaited(log, "Successfully registered with master")
        yield address


def audit(elsewhere: Elsewhere, settings: dict[str, str], warehouse: Path, folder: Path) -> Counter[str]:
    """Of the sample, whose story has findings. Returns how often Spark tells of what; `folder`: a new one."""
    folder.mkdir()
    event_log = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}",
    }
    flags = ("--py-files", elsewhere.archive, "--properties-file", ROOT / "conf" / "spark-defaults.conf")
    source = ("--source", f"segments:{SAMPLE}", "--snapshots", SAMPLE / "snapshots.jsonl")
    chosen = {**SETTINGS, **COMING_AND_GOING, **TWICE, **event_log, **settings}
    done = elsewhere.submit_with(
        chosen, flags, "audit.py", *source, "--warehouse", warehouse, "--report", folder / "report"
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
        ingest(here, "--source", f"segments:{SAMPLE}", "--snapshots", SAMPLE / "snapshots.jsonl")
        replay(here)
        recompute(here)
    assert all((warehouse / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
    assert history(warehouse) == history(here)
    tables = (*HISTORY, *ASSIGNMENTS)
    assert_same(told(here, tables), told(warehouse, tables), "audit")
