"""What a worker process of the local engine does: one task after the other, as long as the driver lives."""

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver, parent_process
from multiprocessing.connection import Connection
from typing import Any

# What the tasks of each job need. The process that workers are forks of loads it once.
TASKS = {
    "ingest": "jobs.ingestion.tasks",
    "replay": "jobs.replaying.share_replay",
    "assignments": "jobs.recomputing.share_recomputing",
}
SERVER = ("jobs.engine.worker_server", "jobs.engine.worker")
PRELOADED = (*SERVER, *TASKS.values())


def start_server(job: str | None = None) -> None:
    """Returns at once, and does nothing where the server runs. Without the name of one job it loads the tasks of
    all."""
    forkserver.set_forkserver_preload([*SERVER, TASKS[job]] if job in TASKS else list(PRELOADED))
    forkserver.ensure_running()


@dataclass(frozen=True)
class Function:
    """What is done with all that follows."""

    pickled: bytes


@dataclass(frozen=True)
class Outcome:
    result: Any = None
    # What went wrong, where that is no answer of the task itself.
    error: str | None = None
    trace: str | None = None


def work(pipe: Connection) -> None:
    # The driver ends its workers; a line of each would say the same.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_driver, daemon=True).start()
    # Nobody listens any more: the driver has gone.
    with suppress(EOFError, OSError):
        serve(pipe)


def serve(pipe: Connection) -> None:
    run: Callable[[Any], Any] | None = None
    while True:
        given = pipe.recv()
        if isinstance(given, Function):
            run = pickle.loads(given.pickled)
        elif run is not None:
            pipe.send(outcome_of(run, given))


def outcome_of(run: Callable[[Any], Any], given: Any) -> Outcome:
    try:
        return Outcome(run(given))
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def end_with_driver() -> None:
    """Else a task would go on writing after its run."""
    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
