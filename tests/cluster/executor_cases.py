"""Run by spark-submit, from the zip alone, on executors that are processes of their own: one case after the other in
one session, each with its own Python on the executors. Prints an exit code and the lines of each case as JSON."""

import contextlib
import io
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

cases, archive, answers = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
# Only of the driver: executors get it when a case says so.
sys.path.insert(0, archive)

from pyspark import SparkContext  # noqa: E402

from jobs import cli  # noqa: E402
from jobs.engine.executors import check_executors  # noqa: E402
from jobs.engine.spark import Counts, SparkEngine  # noqa: E402
from jobs.engine.task import PlanRow, Step, TaskSpec  # noqa: E402
from jobs.output.failure import run_guarded  # noqa: E402

# Of waiting for another task.
MOST_SECONDS = 60


@dataclass
class Done:
    files: list[tuple[str, object]] = field(default_factory=list)


FIRST_DONE = Path(f"{answers}.first_done")


class TellingCounts(Counts):
    """Of tasks that wait until the driver knows that the first of them is done."""

    def look(self):
        super().look()
        if self.numbers.value & 1:
            FIRST_DONE.touch()


def wait_for(path):
    deadline = time.monotonic() + MOST_SECONDS
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.1)


def ends_its_executor(partition):
    """The second of two tasks; above it are Spark's daemon and Java."""
    if partition == 1:
        wait_for(FIRST_DONE)
        daemon = os.getppid()
        with open(f"/proc/{daemon}/stat") as stat:
            java = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(java, signal.SIGKILL)
    return Done()


def tasks_alone():
    """Without the probe before them, as on an executor that starts later."""
    engine = SparkEngine("test", is_debug=False)
    engine.session = session()
    specs = [TaskSpec(partition, (PlanRow(partition),)) for partition in (0, 1)]
    engine.run(Step(ends_its_executor, Done), specs)
    return 0


def lost():
    with mock.patch("jobs.engine.spark.Counts", TellingCounts):
        return tasks_alone()


def frame_after_the_check():
    """0: it ran where the check had imported what tasks need."""
    spark = session()
    check_executors(spark, None)

    def look(batches):
        import sys

        import pyarrow as pa

        yield from (pa.record_batch([pa.array(["jobs.measuring.task" in sys.modules])], ["is_there"]) for _ in batches)

    looks = spark.range(0, 2, 1, 2).mapInArrow(look, "is_there boolean").collect()
    return 0 if len(looks) == 2 and all(each.is_there for each in looks) else 1


def session():
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


WITHOUT_WORDS = {"late_no_numpy": tasks_alone, "lost": lost, "after_the_check": frame_after_the_check}


def outcome(case):
    context = SparkContext._active_spark_context
    if context is not None:
        if case["ships_project"]:
            context.addPyFile(archive)
        context.pythonExec = case["python"] or os.environ["PYSPARK_PYTHON"]
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        code = cli.main(case["words"]) if case["words"] else run_guarded(WITHOUT_WORDS[case["name"]], is_debug=False)
    return {"code": int(code), "lines": told.getvalue().splitlines()}


with open(answers, "w") as file:
    json.dump([outcome(case) for case in cases], file)
