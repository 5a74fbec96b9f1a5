"""An audit on a standalone cluster: a master and two workers in processes of their own, with executors that come and
go, and a second copy of each task, or with executors that are killed in the middle of tasks, on purpose. Every table is
what one process writes."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.standalone import cluster_of
from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.cluster.killed_executors import MOST_KILLS, files_of, orders
from tests.cluster.zip_alone import SETTINGS, Elsewhere, elsewhere
from tests.runs.ingested import ROOT, TABLES_OF_INGEST, history
from tests.runs.replayed_logs import ASSIGNMENTS, GATED, HISTORY, MEASURED, assert_same, row_texts

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

SAMPLE = ROOT / "data" / "sample"
# With groups of each type, and the partition that stopped.
SOURCE = ("--source", f"segments:{SAMPLE / '__consumer_offsets-[37]'}", "--snapshots", SAMPLE / "snapshots.jsonl")
# Its rules say nothing of the age of the sample.
WORDS = (*SOURCE, "--config", ROOT / "conf" / "sample.toml")
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
MANY_AUDITS = 8
# With what ingest counted of each file.
OF_AUDITS = ("source_files", *HISTORY, *ASSIGNMENTS, *MEASURED, *GATED)
Check = Callable[[Elsewhere, str, Path, Path, random.Random], None]


@pytest.fixture(scope="module")
def master(elsewhere, tmp_path_factory):
    """The address of a master that has two workers of one core each."""
    spark_class = elsewhere.folder / "packages" / "pyspark" / "bin" / "spark-class"
    folder = tmp_path_factory.mktemp("standalone") / "cluster"
    # Spark gives a second copy of a task to another host only: both of these are this one.
    hosts = ("127.0.0.2", "127.0.0.3")
    with cluster_of(str(spark_class), elsewhere.environment, folder, hosts, "1536m") as address:
        yield address


def audit(elsewhere, settings, warehouse, folder):
    """Of a part of the sample, whose story has findings. Returns how often Spark tells of what; `folder`: a new one."""
    done = submitted(elsewhere, settings, warehouse, folder)
    assert done.returncode == ExitCode.FINDINGS, done.stdout + done.stderr
    return events_in(folder)


def submitted(elsewhere, settings, warehouse, folder):
    folder.mkdir()
    event_log = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}",
    }
    flags = ("--py-files", elsewhere.archive, "--properties-file", ROOT / "conf" / "spark-defaults.conf")
    chosen = {**SETTINGS, **COMING_AND_GOING, **event_log, **settings}
    return elsewhere.submit_with(
        chosen, flags, "audit.py", *WORDS, "--warehouse", warehouse, "--report", folder / "report"
    )


def events_in(folder):
    found = Counter()
    for path in folder.rglob("events_*"):
        if path.is_file():
            for line in path.read_text().splitlines():
                event = json.loads(line)
                found[event["Event"].removeprefix("SparkListener")] += 1
                found["lost tasks"] += event.get("Task End Reason", {}).get("Reason") == "ExecutorLostFailure"
                found["second copies"] += bool(event.get("Task Info", {}).get("Speculative")) and (
                    event["Event"] == "SparkListenerTaskEnd"
                )
    return found


def check_twice(elsewhere, master, folder, here, _):
    """Every task runs twice, on executors that come and go."""
    folder.mkdir()
    warehouse, at_master = folder / "w", {**TWICE, "spark.master": master}
    seen = audit(elsewhere, at_master, warehouse, folder / "first")
    assert seen["second copies"] and seen["ExecutorAdded"] >= 2, seen
    assert_sample(warehouse, here)


def check_killed(elsewhere, master, folder, here, chance):
    """An audit whose executors are killed in the middle of tasks does these again. What they left is in no table."""
    folder.mkdir()
    warehouse, ordered = folder / "w", orders(folder / "module", chance, chance.randint(2, MOST_KILLS))
    settings = {"spark.master": master, **ordered.settings(elsewhere.environment["PYTHONPATH"])}
    seen = audit(elsewhere, settings, warehouse, folder / "killed")
    assert seen["lost tasks"] == len(ordered.left()) == len(ordered.tables), seen
    for file in ordered.left():
        assert file.name not in files_of(file.parent), file
        # The run removes it when it ends.
        assert not file.exists(), file
    assert_sample(warehouse, here)
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


def check_given_up(elsewhere, master, folder, here, chance):
    """Where Spark does not do a lost task again, the audit says in a line that its run wrote nothing, which is true
    of its folder too; the next audit starts from there."""
    folder.mkdir()
    warehouse, ordered = folder / "w", orders(folder / "module", chance, kills=1)
    settings = {"spark.master": master, **ordered.settings(elsewhere.environment["PYTHONPATH"])}
    done = submitted(elsewhere, {**settings, "spark.task.maxFailures": "1"}, warehouse, folder / "killed")
    (left,) = ordered.left()
    assert done.returncode == ExitCode.FAILED, done.stdout + done.stderr
    # On a busy machine others tell how far it is.
    lines = [line for line in done.stdout.splitlines() if not line.endswith(" so far")]
    assert len(lines) == 1 and lines[0].startswith("groupscope: "), done.stdout
    assert "the run wrote nothing to the tables" in lines[0]
    assert left.is_relative_to(warehouse)
    if left.parent.name in TABLES_OF_INGEST:
        # It would have been the first run of its warehouse.
        assert not warehouse.exists()
    else:
        # What ingest wrote is there, and nothing is in the tables of the run after it.
        assert all((warehouse / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
        assert not (left.parent / "_delta_log").exists()
    audit(elsewhere, {"spark.master": master}, warehouse, folder / "next")
    assert not left.exists()
    assert_sample(warehouse, here)
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


# A run of Spark takes most of a minute of a processor.
@pytest.mark.drawn(1)
@pytest.mark.parametrize("check", [check_twice, check_killed, check_given_up])
def test_an_audit_in_trouble_leaves_one_set_of_rows(elsewhere, master, tmp_path, seed, check):
    check(elsewhere, master, tmp_path / "run", tmp_path / "here", random.Random(seed))


@pytest.mark.soak
def test_files_that_a_second_copy_left_are_in_no_table_and_do_not_disturb_the_next_run(
    elsewhere, master, tmp_path, seed
):
    check_twice(elsewhere, master, tmp_path / "run", tmp_path / "here", random.Random(seed))
    audit(elsewhere, {**TWICE, "spark.master": master}, tmp_path / "run" / "w", tmp_path / "second")
    # How groups stand and which rules are broken is said anew by each audit.
    assert_sample(tmp_path / "run" / "w", tmp_path / "here", (*HISTORY, *ASSIGNMENTS))


@pytest.mark.soak
def test_audits_whose_executors_are_killed_in_the_middle_of_tasks_are_made_good(elsewhere, master, tmp_path, seed):
    chance = random.Random(seed)
    for number in range(MANY_AUDITS):
        check = chance.choice((check_killed, check_killed, check_given_up))
        check(elsewhere, master, tmp_path / str(number), tmp_path / "here", chance)


def assert_sample(warehouse, here, tables=OF_AUDITS):
    if not here.exists():
        words = ["audit", *map(str, WORDS), "--warehouse", str(here), "--report", f"{here}.report", "--workers", "1"]
        assert cli.main(words) == ExitCode.FINDINGS
    assert all((warehouse / name / "_delta_log").is_dir() for name in TABLES_OF_INGEST)
    assert history(warehouse) == history(here)
    assert_same(row_texts(here, tables), row_texts(warehouse, tables), "audit")
