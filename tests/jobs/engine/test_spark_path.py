"""Tasks of Spark leave the tables that one process leaves, also where their workers are killed."""

import json
import os
import random
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from deltalake import DeltaTable

from benchmarks.segments import Plan, write_segments
from jobs.storage.failpoints import VARIABLE
from jobs.warehouses.manifest import RUNS_FOLDER
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import compacted, random_log, write_copy
from tests.faults.forked_runs import ForkedRuns, forked_runs
from tests.runs.ingested import RECORD_TABLES, TABLES_OF_INGEST, history, ingest, rows
from tests.runs.progress_lines import beside_progress

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds workers in /proc"),
]

DAEMON = b"pyspark.daemon"

BY_SPARK = ("--engine", "spark")
ALONE = ("--workers", "1")


def test_copies_of_a_random_log_by_spark_and_without(tmp_path, rng, spark):
    logs = {partition: random_log(rng, 60) for partition in (0, 7)}
    for number, share in enumerate((0.0, 0.5)):
        for partition, log in logs.items():
            write_copy(tmp_path / "copies" / str(number), partition, compacted(log, rng, share), rng)
    for order in ("01", "10"):
        for name, choice in {"by_spark": BY_SPARK, "alone": ALONE}.items():
            for number in order:
                ingest(tmp_path / f"{name}-{order}", "--source", f"segments:{tmp_path / 'copies' / number}", *choice)
    ingest(tmp_path / "at_once", "--source", f"segments:{tmp_path / 'copies'}", *BY_SPARK)
    expected = history(tmp_path / "alone-01")
    assert sum(map(len, expected.values())) > 100
    for name in ("alone-10", "by_spark-01", "by_spark-10", "at_once"):
        assert history(tmp_path / name) == expected


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Of more than one task, each of which takes a while."""
    folder = tmp_path_factory.mktemp("log")
    write_segments(folder, Plan(60_000, seed=9, partitions=3))
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, log):
    root = tmp_path_factory.mktemp("undisturbed") / "w"
    ingest(root, "--source", f"segments:{log}", *ALONE)
    return root


def check_like(root, expected):
    for name in RECORD_TABLES:
        assert in_order(root, name).equals(in_order(expected, name)), name
    counted = [row["ingest_counts"] for row in rows(root, "runs")]
    assert counted == [row["ingest_counts"] for row in rows(expected, "runs")]
    check_no_leftovers(root)


def in_order(root, name):
    found = DeltaTable(root / name).to_pyarrow_table().drop_columns("run_id")
    return found.sort_by([("offsets_partition", "ascending"), ("record_offset", "ascending")])


def check_no_leftovers(root):
    """Each file is one that Delta's log has named, and nothing is left of the run beside its result."""
    assert {path.name for path in root.iterdir()} == {*TABLES_OF_INGEST, "_lock", RUNS_FOLDER, "_warehouse.json"}
    for name in TABLES_OF_INGEST:
        log = [line for path in (root / name / "_delta_log").glob("*.json") for line in path.read_text().splitlines()]
        named = {action["add"]["path"] for action in map(json.loads, log) if "add" in action}
        assert {path.name for path in (root / name).iterdir()} == {*named, "_delta_log"}
    finished = {f"{row['run_id']}.json" for row in rows(root, "runs")}
    assert {path.name for path in (root / RUNS_FOLDER).iterdir()} == finished


@dataclass
class Ingests:
    """Ingests of one Spark, whose workers may be killed meanwhile."""

    runs: ForkedRuns
    killed: list[int] = field(default_factory=list)

    def run(self, arguments, chance=None, longest=0):
        """The exit code. With `chance` one worker is killed at a random instant, if the run lasts that long."""
        done = threading.Event()
        killer = threading.Thread(target=self.kill_one, args=(chance, longest, done))
        if chance is not None:
            killer.start()
        code = self.runs.run(["ingest", *arguments], {VARIABLE: ""})
        done.set()
        if chance is not None:
            killer.join()
        return code

    def kill_one(self, chance, longest, done):
        done.wait(chance.uniform(0, longest))
        while not done.is_set():
            if found := self.busy_workers():
                self.kill(chance.choice(found))
                return
            time.sleep(0.005)

    def kill_all(self, done):
        while not done.wait(0.005):
            for worker in self.workers():
                self.kill(worker)

    def kill(self, worker):
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.killed.append(worker)

    def workers(self):
        """Processes that Spark's daemon has forked, below the process of this one alone."""
        parents = dict(processes())
        below, found = {self.runs.process.pid}, True
        while found:
            found = {pid for pid, parent in parents.items() if parent in below} - below
            below |= found
        return [pid for pid in below if is_daemon(pid) and is_daemon(parents.get(pid, 0))]

    def busy_workers(self):
        """Those that have taken up work: what a task writes is open."""
        return [pid for pid in self.workers() if any(name.endswith((".parquet", ".log")) for name in open_files(pid))]


def processes():
    """Every process and its parent."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield int(path.parent.name), int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue


def is_daemon(pid):
    try:
        return DAEMON in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def open_files(pid):
    try:
        return [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """What ingests print about what went wrong."""
    return tmp_path_factory.mktemp("errors") / "errors.txt"


@pytest.fixture(scope="module")
def ingests(errors):
    with errors.open("w") as file, forked_runs(errors=file) as runs:
        yield Ingests(runs)


def check_killed_workers(ingests, log, undisturbed, tmp_path, seed, kills):
    choice = (*BY_SPARK, "--source", f"segments:{log}")
    assert ingests.run(["--warehouse", tmp_path / "first", *choice]) == ExitCode.CLEAN
    begun = time.monotonic()
    assert ingests.run(["--warehouse", tmp_path / "timed", *choice]) == ExitCode.CLEAN
    longest = time.monotonic() - begun
    check_like(tmp_path / "timed", undisturbed)
    chance, before = random.Random(seed), len(ingests.killed)
    for number in range(kills * 10):
        root = tmp_path / f"killed-{number}"
        # A task has a second chance, so that one worker more or less does not end a run.
        assert ingests.run(["--warehouse", root, *choice], chance, longest) == ExitCode.CLEAN
        check_like(root, undisturbed)
        if len(ingests.killed) - before == kills:
            return
    pytest.fail(f"only {len(ingests.killed) - before} of {kills} runs had a worker to kill")


def test_a_killed_worker_leaves_the_same_tables(ingests, log, undisturbed, tmp_path, seed):
    check_killed_workers(ingests, log, undisturbed, tmp_path, seed, kills=1)


@pytest.mark.soak
def test_killed_workers_leave_the_same_tables_many_times(ingests, log, undisturbed, tmp_path, seed):
    check_killed_workers(ingests, log, undisturbed, tmp_path, seed, kills=30)


def test_a_run_whose_workers_all_die_fails_and_can_be_repeated(ingests, log, undisturbed, tmp_path):
    choice = ("--warehouse", tmp_path / "w", *BY_SPARK, "--source", f"segments:{log}")
    done = threading.Event()
    killer = threading.Thread(target=ingests.kill_all, args=(done,))
    killer.start()
    try:
        assert ingests.run(choice) == ExitCode.FAILED
    finally:
        done.set()
        killer.join()
    assert not (tmp_path / "w" / "runs").exists()
    assert ingests.run(choice) == ExitCode.CLEAN
    check_like(tmp_path / "w", undisturbed)


@pytest.fixture(scope="module")
def failed(tmp_path_factory, ingests, log, errors):
    """A run whose workers end themselves when they have written a file and not told so, again and again; what it
    printed."""
    root, before = tmp_path_factory.mktemp("failed") / "w", errors.stat().st_size
    words = ["ingest", "--warehouse", root, *BY_SPARK, "--source", f"segments:{log}"]
    assert ingests.runs.run(words, {VARIABLE: "file_written:offset_commits"}) == ExitCode.FAILED
    return root, errors.read_bytes()[before:].decode()


def test_files_of_tasks_that_died_go_with_the_first_run(failed, ingests, log, undisturbed):
    root, _ = failed
    assert not root.exists()
    assert ingests.run(["--warehouse", root, *BY_SPARK, "--source", f"segments:{log}"]) == ExitCode.CLEAN
    check_like(root, undisturbed)


def test_tasks_that_died_are_told_in_a_line(failed):
    _, said = failed
    assert all(line.startswith("groupscope: ") for line in said.splitlines())
    (line,) = (line for line in beside_progress(said) if " files, " not in line)
    assert line.startswith("groupscope: offsets partition")
    assert ": the worker process on " in line
    assert line.endswith("; the run wrote nothing to the tables")
