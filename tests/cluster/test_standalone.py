"""An audit on a standalone cluster: a master and two workers in processes of their own, with executors that come and
go, and a second copy of each task, or with executors that are killed at random, on purpose. Every table is what one
process writes."""

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.standalone import cluster_of
from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.cluster.killed_executors import killing_executors
from tests.cluster.zip_alone import SETTINGS, Elsewhere, elsewhere
from tests.runs.ingested import ROOT, TABLES_OF_INGEST, history, ingest
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, recompute, replay, row_texts

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
MANY_AUDITS = 10
Check = Callable[[Elsewhere, str, Path, Path, random.Random], None]


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
    done = submitted(elsewhere, settings, warehouse, folder)
    assert done.returncode == ExitCode.FINDINGS, done.stdout + done.stderr
    return events_in(folder)


def submitted(
    elsewhere: Elsewhere, settings: dict[str, str], warehouse: Path, folder: Path
) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    event_log = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}",
    }
    flags = ("--py-files", elsewhere.archive, "--properties-file", ROOT / "conf" / "spark-defaults.conf")
    chosen = {**SETTINGS, **COMING_AND_GOING, **event_log, **settings}
    return elsewhere.submit_with(
        chosen, flags, "audit.py", *SOURCE, "--warehouse", warehouse, "--report", folder / "report"
    )


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


def check_twice(elsewhere: Elsewhere, master: str, folder: Path, here: Path, _: random.Random) -> None:
    """Every task runs twice, on executors that come and go."""
    folder.mkdir()
    warehouse, at_master = folder / "w", {**TWICE, "spark.master": master}
    seen = audit(elsewhere, at_master, warehouse, folder / "first")
    assert seen["second copies"] and seen["ExecutorAdded"] >= 2, seen
    assert_sample(warehouse, here)


def check_killed(elsewhere: Elsewhere, master: str, folder: Path, here: Path, chance: random.Random) -> None:
    """An audit whose executors are killed ends well, or says in a line that it did not; then the next one does."""
    folder.mkdir()
    warehouse, at_master = folder / "w", {"spark.master": master}
    with killing_executors(chance) as killed:
        done = submitted(elsewhere, at_master, warehouse, folder / "killed")
    assert killed
    assert "Traceback" not in done.stdout, done.stdout
    if done.returncode != ExitCode.FINDINGS:
        assert done.returncode == ExitCode.FAILED, done.stdout + done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith("groupscope: ")]
        assert len(lines) == 1 and "the run wrote nothing to the tables" in lines[0], done.stdout
        audit(elsewhere, at_master, warehouse, folder / "next")
    assert_sample(warehouse, here)
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


# A run of Spark takes most of a minute of a processor.
@pytest.mark.drawn(1)
@pytest.mark.parametrize("check", [check_twice, check_killed])
def test_an_audit_in_trouble_leaves_one_set_of_rows(
    elsewhere: Elsewhere, master: str, tmp_path: Path, seed: int, check: Check
) -> None:
    check(elsewhere, master, tmp_path / "run", tmp_path / "here", random.Random(seed))


@pytest.mark.soak
def test_files_that_a_second_copy_left_are_in_no_table_and_do_not_disturb_the_next_run(
    elsewhere: Elsewhere, master: str, tmp_path: Path, seed: int
) -> None:
    check_twice(elsewhere, master, tmp_path / "run", tmp_path / "here", random.Random(seed))
    audit(elsewhere, {**TWICE, "spark.master": master}, tmp_path / "run" / "w", tmp_path / "second")
    assert_sample(tmp_path / "run" / "w", tmp_path / "here")


@pytest.mark.soak
def test_audits_whose_executors_are_killed_at_random_are_made_good(
    elsewhere: Elsewhere, master: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    for number in range(MANY_AUDITS):
        check_killed(elsewhere, master, tmp_path / str(number), tmp_path / "here", chance)


def assert_sample(warehouse: Path, here: Path) -> None:
    if not here.exists():
        ingest(here, *SOURCE)
        replay(here)
        recompute(here)
    assert all((warehouse / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
    assert history(warehouse) == history(here)
    tables = (*HISTORY, *ASSIGNMENTS)
    assert_same(row_texts(here, tables), row_texts(warehouse, tables), "audit")
