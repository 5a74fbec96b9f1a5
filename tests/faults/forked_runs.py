"""Runs commands, each in a fork of its own, which a test may kill; all use the one Spark that was started before them.

A line in is a `Command` as JSON; a line out is its exit code, or minus the signal that ended it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from types import SimpleNamespace

from jobs import cli
from jobs.storage import failpoints, storage_lock
from tests.runs.ingested import ROOT

# What ends a command that takes longer than it may.
IN_TIME = signal.SIGALRM
BEAT_SECONDS = 0.1
WITHOUT_SPARK = "--without-spark"


@dataclass(frozen=True)
class Command:
    """`seconds`: after which it is killed. `many_tasks`: also of a small log. `ends`: the process that gets the
    signal `by` at the failpoint, in place of the run."""

    words: list[str]
    environment: dict[str, str]
    seconds: float | None = None
    many_tasks: bool = False
    ends: int | None = None
    by: int = signal.SIGKILL

    def run(self):
        os.environ.update(self.environment)
        # The lock of a dead run is taken over after a few of them.
        storage_lock.BEAT_SECONDS = BEAT_SECONDS
        if self.many_tasks:
            make_tasks_small()
        if self.ends is not None:
            kill = partial(end, self.by)
            vars(failpoints)["os"] = SimpleNamespace(environ=os.environ, getpid=lambda: self.ends, kill=kill)
        if self.seconds is not None:
            # Nobody handles it, so it ends the process at once, as SIGKILL does.
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return cli.main(self.words)


def end(by, process, number):
    # A run may pass a failpoint again.
    with suppress(ProcessLookupError):
        os.kill(process, by)


def make_tasks_small():
    # Here, since NumPy and Arrow start threads when they are loaded, and threads do not live on in a fork.
    from jobs.ingestion.task import plan
    from jobs.measuring.run import Measurement
    from jobs.recomputing.run import Recomputation
    from jobs.replaying.run import Replay

    plan.SMALLEST_TASK = 1 << 10
    for job, least_records in ((Replay, 100), (Recomputation, 10), (Measurement, 10)):
        job.least_records, job.records_per_partition = least_records, 0


def main():
    # No storage is reached here: threads that do it would not live on in a fork.
    context = None if WITHOUT_SPARK in sys.argv else spark_context()
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as codes:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            command = Command(**json.loads(line))
            child = os.fork()
            if child == 0:
                if context is not None:
                    make_own(context, command)
                os._exit(command.run())
            _, status = os.waitpid(child, 0)
            if context is not None and os.WIFSIGNALED(status):
                end_tasks(context)
            codes.write(f"{os.waitstatus_to_exitcode(status)}\n")
            codes.flush()


def spark_context():
    from jobs.spark.session import quiet_session

    return quiet_session("tests", 2, is_debug=False).sparkContext


def make_own(context, command):
    """In a fork: a connection to Java that is killed with it is no other's."""
    # Of workers: Java has started before.
    context.environment.update(command.environment)
    context._gateway._gateway_client.thread_connection = threading.local()


def end_tasks(context):
    """As they end with Spark, which usually dies with its driver."""
    context.cancelAllJobs()
    tracker = context._jsc.sc().statusTracker()
    while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
        time.sleep(0.02)


class ForkedRuns:
    def __init__(self, process):
        self.process = process

    def run(self, words, environment, seconds=None, *, many_tasks=False, ends=None, by=signal.SIGKILL):
        assert self.process.stdin is not None and self.process.stdout is not None
        command = Command(list(map(str, words)), dict(environment), seconds, many_tasks, ends, by)
        self.process.stdin.write(json.dumps(asdict(command)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def forked_runs(*flags, errors=None):
    """`errors`: where commands print what went wrong."""
    command, pipe = [sys.executable, "-m", "tests.faults.forked_runs", *flags], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=errors, text=True) as process:
        yield ForkedRuns(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(120)


if __name__ == "__main__":
    main()
