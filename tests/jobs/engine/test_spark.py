"""Tasks of Spark that fail are told in one line that names their offsets partition, as the local engine does; a Spark
of another release is told before it starts."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from jobs.engine.engine import FinishedTasks
from jobs.engine.spark import Counts, SparkEngine
from jobs.engine.task import PlanRow, Step, TaskSpec
from jobs.output.failure import Failure
from jobs.output.progress import Activity
from jobs.spark.jars import SPARK
from schemas.words.exit_codes import ExitCode
from tests.processes.odd_tasks import Done, obeyed
from tests.runs.ingested import ROOT
from tests.runs.progress_lines import beside_progress

pytestmark = pytest.mark.spark

STEP = Step(obeyed, Done)
PACKAGE = Path(pyspark.__file__).parent
# What Spark reads its own version from, where it comes first on the class path.
JAVA_VERSION = "version=4.1.7\nbranch=\nrevision=\nuser=\nurl=\ndate=\ndocroot=\n"


@pytest.fixture
def engine(spark):
    started = SparkEngine("test", is_debug=False)
    started.session = spark
    return started


def specs(*what):
    return [TaskSpec(each, (PlanRow(partition),)) for partition, each in enumerate(what, 3)]


def failed(engine, what, code):
    with pytest.raises(Failure) as raised:
        engine.run(STEP, specs(("sleep", 1), ("sleep", 1), what, ("sleep", 1)))
    assert raised.value.code == code
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_results_come_in_the_order_of_the_tasks(engine):
    found = engine.run(STEP, specs(*[("sleep", number) for number in (60, 0, 30, 1)]))
    assert [(each.number, each.files[0][1].size) for each in found] == [(60, 60), (0, 0), (30, 30), (1, 1)]


def test_a_fault_of_a_task_reads_as_in_the_local_engine(engine):
    why = "a task failed, please report it: ValueError: number 7 is odd (--debug shows where)"
    assert failed(engine, ("fail", 7), ExitCode.FAILED) == f"offsets partition 5: {why}"


def test_a_worker_that_is_killed_is_reported_with_the_partition_of_its_task(engine):
    line = failed(engine, ("die", signal.SIGKILL), ExitCode.FAILED)
    assert line.startswith("offsets partition 5: the worker process on ")
    why = "ended: somebody killed it, or memory ran out; more spark.executor.memoryOverhead may help"
    assert line.endswith(f" {why}; the run wrote nothing to the tables")


def test_a_worker_that_crashed_is_a_fault_to_report(engine):
    line = failed(engine, ("die", signal.SIGSEGV), ExitCode.FAILED)
    assert line.startswith("offsets partition 5: a task failed, please report it: ")


def test_a_package_that_a_task_lacks_is_named_with_its_host(engine):
    line = failed(engine, ("import", 0), ExitCode.USAGE)
    assert " the Python package nosuchpackage is missing. Ship one environment to all hosts: " in line


def test_a_task_that_is_done_twice_counts_once(spark):
    activity = Activity("test", started=0.0)
    counts = Counts(spark, FinishedTasks(activity, [10] * 70 + [7]))
    for number in (70, 1, 1, 0):
        counts.numbers.add(1 << number)
    assert counts.unfinished_tasks(4) == [2, 3]
    counts.look()
    assert activity.done == 27


def test_the_release_of_spark_is_the_one_that_is_installed():
    assert f'"pyspark=={SPARK}.' in (ROOT / "pyproject.toml").read_text()


def linked(source, target, without):
    target.mkdir()
    for path in source.iterdir():
        if path.name not in (without, "__pycache__"):
            (target / path.name).symlink_to(path)
    return target


def ingest_with(environment, warehouse):
    """The line by which it ends."""
    command = [sys.executable, "-m", "jobs.cli", "ingest", "--engine", "spark", "--warehouse", str(warehouse)]
    command += ["--source", f"segments:{ROOT / 'data' / 'sample'}"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == ExitCode.USAGE, done.stderr
    (line,) = beside_progress(done.stderr)
    return line


def test_another_pyspark_is_refused_before_it_starts(tmp_path):
    package = linked(PACKAGE, tmp_path / "pyspark", "version.py")
    (package / "version.py").write_text('__version__ = "4.1.7"\n')
    line = ingest_with({"PYTHONPATH": str(tmp_path)}, tmp_path / "w")
    told = f"pyspark of {sys.executable} has version 4.1.7, {SPARK} was expected"
    assert line.startswith(f"groupscope: {told}: use the spark-submit of Spark {SPARK}")


def test_another_spark_is_refused_before_its_session_starts(tmp_path):
    home = linked(PACKAGE, tmp_path / "spark", "conf")
    (home / "conf").mkdir()
    (home / "conf" / "spark-version-info.properties").write_text(JAVA_VERSION)
    line = ingest_with({"SPARK_HOME": str(home)}, tmp_path / "w")
    assert line.startswith(f"groupscope: Spark of {home} has version 4.1.7, {SPARK} was expected: ")
    shutil.rmtree(home)
