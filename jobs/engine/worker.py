"""A worker process of the local engine: does one task after the other while the driver lives. While the files of a task
are being closed, which on remote storage is mostly waiting, it does the next task."""

import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import forkserver, parent_process
from multiprocessing.connection import Connection
from typing import Any

from jobs.engine.task import Closing
from jobs.spark.compiled_loops import keep_compiled_loops
from jobs.storage.closes import wait_for_closes

# Modules that the tasks of each job need. The server that workers are forked from imports them once.
TASKS = {
    "ingest": "jobs.ingestion.task.task",
    "replay": "jobs.replaying.partition.replay_task",
    "assignments": "jobs.recomputing.task",
    "lag": "jobs.measuring.task",
}
# Loaded ahead where the report is the job itself; the workers of an audit load it when there are many pages.
OF_REPORT = {"report": "jobs.reporting.write_report"}
SERVER = ("jobs.engine.worker_server", "jobs.engine.worker")
# The last, when the loops of all modules are known.
LOOPS = "jobs.engine.loops_ahead"
# Number of tasks whose files may be closing at once. What is not written yet is in memory.
MOST_CLOSING = 2
PRELOADED = (*SERVER, *TASKS.values())


def start_server(job: str | None = None) -> None:
    """Returns at once, and does nothing where the server runs. Without the name of one job it loads the tasks of
    all."""
    own = {**TASKS, **OF_REPORT}.get(job or "")
    forkserver.set_forkserver_preload([*(PRELOADED if own is None else (*SERVER, own)), LOOPS])
    forkserver.ensure_running()


@dataclass(frozen=True)
class Function:
    """The function for all tasks that follow."""

    pickled: bytes


@dataclass(frozen=True)
class NumberedTask:
    """A task for the worker."""

    number: int
    work: Any


@dataclass(frozen=True)
class Free:
    """The worker can do another task. The result of the last one follows."""


@dataclass(frozen=True)
class Outcome:
    number: int
    result: Any = None
    # A failure outside of the task's own result.
    error: str | None = None
    trace: str | None = None


@dataclass(frozen=True)
class WaitForCloses:
    """No task follows. What the worker has written is there already; its storage may still be at it."""


@dataclass(frozen=True)
class ClosingResult:
    # What went wrong.
    error: OSError | None


def serve_driver(pipe: Connection) -> None:
    # The driver ends its workers; a message from each would only repeat the driver's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_driver, daemon=True).start()
    keep_compiled_loops()
    # The driver is gone, so nobody reads the pipe.
    with suppress(EOFError, OSError):
        serve(pipe)


def serve(pipe: Connection) -> None:
    run: Callable[[Any], Any] | None = None
    is_sending = threading.Lock()
    closing: deque[threading.Thread] = deque()

    def send(message: Free | Outcome | ClosingResult) -> None:
        with is_sending:
            pipe.send(message)

    def send_closed(number: int, outcome: Closing[Any]) -> None:
        # Nobody reads the pipe any more.
        with suppress(OSError):
            send(outcome_of(number, outcome.result))

    while True:
        message = pipe.recv()
        if isinstance(message, Function):
            run = pickle.loads(message.pickled)
        elif isinstance(message, WaitForCloses):
            send(ClosingResult(close_error()))
        elif run is not None:
            outcome = outcome_of(message.number, partial(run, message.work))
            if len(closing) >= MOST_CLOSING:
                closing.popleft().join()
            send(Free())
            if isinstance(outcome.result, Closing):
                closing.append(threading.Thread(target=send_closed, args=(outcome.number, outcome.result), daemon=True))
                closing[-1].start()
            else:
                send(outcome)


def close_error() -> OSError | None:
    try:
        wait_for_closes()
    except OSError as error:
        return error
    return None


def outcome_of(number: int, call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(number, call())
    except Exception as error:
        return Outcome(number, error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def end_with_driver() -> None:
    """Ends this process when the driver ends. Otherwise a task would continue to write after its run."""
    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
