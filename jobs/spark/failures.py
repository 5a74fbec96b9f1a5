"""Describes a failed Spark task in one line."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

# How the lines of a trace begin that say where it failed, not why.
NO_CAUSE = ("at ", "File ", "...", "JVM stacktrace", "Driver stacktrace")
LOST_TASK = re.compile(r"Lost task (?P<task>\d+)\.\d+ in stage \S+ \(TID \d+\)(?: \((?P<host>\S+) executor \S+\))?")
# Spark 4.2 says of an error in Python neither which task it met nor where: the task says it.
NOTED = re.compile(r"^at task (?P<task>\d+) on (?P<host>\S+)$", re.MULTILINE)
MISSING = re.compile(r"No module named '?(?P<name>[\w.]+)")
# An executor that is lost takes with it what others were to fetch from it.
LOST = re.compile("ExecutorLostFailure|FetchFailed|Python worker exited unexpectedly")
CRASHED = "most recent call first"
VERSIONS = re.compile(
    r"Python in worker has different version: (?P<worker>\S+) than that in driver: (?P<driver>[\d.]+)"
)
NO_PYTHON = re.compile(r'Cannot run program "(?P<program>[^"]+)"')
OURS = ("jobs", "schemas", "udfs")
SHIP_PYTHON = (
    "Ship one environment to all hosts: PYSPARK_PYTHON=./environment/bin/python spark-submit "
    "--archives environment.tar.gz#environment …"
)
SHIP_PROJECT = "Ship it: make dist, then spark-submit --py-files dist/groupscope-….zip …"


@contextmanager
def reword_spark_failures() -> Iterator[None]:
    """What Spark says of a failed task is pages long."""
    try:
        yield
    except Exception as error:
        # A worker that died comes as an error of py4j, which pyspark does not wrap.
        if not isinstance(error, PySparkException) and not hasattr(error, "java_exception"):
            raise
        raise failure_of(str(error)) from error


def task_in(text: str) -> re.Match[str] | None:
    """Which `task` failed, and on which `host`, where that is known."""
    return NOTED.search(text) or LOST_TASK.search(text)


@contextmanager
def note_task(task: int) -> Iterator[None]:
    """Around the work of a task."""
    try:
        yield
    except Exception as error:
        error.add_note(f"at task {task} on {socket.gethostname()}")
        raise


def failure_of(text: str) -> Failure:
    task = task_in(text)
    where = f"executors on {task['host']}" if task and task["host"] else "executors"
    if match := MISSING.search(text):
        return missing_package(where, match["name"])
    if match := VERSIONS.search(text):
        problem = (
            f"{where} run Python {match['worker']}, the driver {match['driver']}; both must run the same minor version"
        )
        return Failure(ExitCode.USAGE, f"{problem}. {SHIP_PYTHON}")
    if match := NO_PYTHON.search(text):
        return Failure(ExitCode.USAGE, f"{where}: Python cannot be started as {match['program']}. {SHIP_PYTHON}")
    if LOST.search(text) and CRASHED not in text:
        host = f" on {task['host']}" if task and task["host"] else ""
        why = "ended: somebody killed it, or memory ran out; more spark.executor.memoryOverhead may help"
        return Failure(ExitCode.FAILED, f"the worker process{host} {why}; the run wrote nothing to the tables")
    return Failure(ExitCode.FAILED, f"a task failed, please report it: {cause_of(text)} (--debug shows where)")


def missing_package(where: str, name: str | None, broken: str | None = None) -> Failure:
    """`broken`: why a package that is there cannot be loaded."""
    package = (name or "").partition(".")[0]
    if package in OURS:
        problem = f"the package {package} of groupscope is missing or of another release. {SHIP_PROJECT}"
    elif broken is not None:
        problem = f"a Python package cannot be loaded: {' '.join(broken.split())}. {SHIP_PYTHON}"
    else:
        problem = f"the Python package {package} is missing. {SHIP_PYTHON}"
    return Failure(ExitCode.USAGE, f"{where}: {problem}")


def cause_of(text: str) -> str:
    """The line that says why: what a lost task died of, else the last line of a Python trace."""
    lost = re.search(r"Lost task .*?: \S*Exception: (?P<cause>.*)", text)
    if lost and "Traceback" not in text:
        return lost["cause"].strip(" :")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if not line.startswith(NO_CAUSE)), "no reason given")
