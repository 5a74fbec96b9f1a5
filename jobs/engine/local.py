"""The local engine: worker processes on this machine, without Java. They start once per run, if there is more than one
task.

Each worker does one task after the other. The driver knows which, so it can say what a dead worker was doing. Workers
are forked from a server process that has imported what tasks need and done no work. A fork of the driver itself could
inherit locks of Arrow's threads that nobody releases.
"""

import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from jobs.engine.engine import Engine, FinishedTasks
from jobs.engine.task import Closing, Result, Step, TaskSpec, Work, result_of
from jobs.engine.worker import (
    ClosingResult,
    Free,
    Function,
    NumberedTask,
    Outcome,
    WaitForCloses,
    serve_driver,
    start_server,
)
from jobs.output.failure import Failure, os_error_line
from schemas.words.exit_codes import ExitCode

LAST_WORDS_SECONDS = 5.0


@dataclass
class Worker:
    process: BaseProcess
    pipe: Connection
    # Numbers of the tasks without a result yet: the one that it does now, and those whose files are being closed.
    tasks: set[int] = field(default_factory=set)


class LocalEngine(Engine):
    """`job`: the only job whose tasks its workers do; None: any job."""

    def __init__(self, name: str, num_workers: int, *, is_debug: bool, job: str | None = None) -> None:
        super().__init__(name, is_debug=is_debug)
        self.job = job
        self.most_workers = num_workers
        self.workers: list[Worker] = []

    @property
    def num_workers(self) -> int:
        return self.most_workers

    @property
    def num_local_workers(self) -> int:
        return self.most_workers

    def run_all(self, step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], done: FinishedTasks) -> list[Result]:
        if min(self.most_workers, len(specs)) <= 1:
            # A separate process would cost more than it saves.
            return run_here(step, specs, done)
        try:
            return self.run_in_workers(step, specs, done)
        except BaseException:
            self.close()
            raise

    def run_in_workers(
        self, step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], done: FinishedTasks
    ) -> list[Result]:
        self.start(min(self.most_workers, len(specs)))
        function = Function(pickle.dumps(step.run))
        waiting = iter(enumerate(specs))
        by_number: dict[int, Result] = {}
        for worker in self.workers:
            send(worker, function)
            hand_out(worker, waiting)
        while any(worker.tasks for worker in self.workers):
            for worker in self.ready():
                message = receive(worker, specs, step.unfinished)
                if isinstance(message, Free):
                    hand_out(worker, waiting)
                    continue
                by_number[message.number] = message.result
                worker.tasks.remove(message.number)
                done.add(message.number)
        return [by_number[number] for number in range(len(specs))]

    def start(self, number: int) -> None:
        if len(self.workers) >= number:
            return
        start_server(self.job)
        context = get_context("forkserver")
        for _ in range(number - len(self.workers)):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve_driver, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self.workers.append(Worker(process, ours))

    def ready(self) -> list[Worker]:
        """Workers that sent something or died."""
        busy = {worker.pipe: worker for worker in self.workers if worker.tasks}
        return [busy[pipe] for pipe in wait(list(busy)) if isinstance(pipe, Connection)]

    def wait_for_closes(self) -> None:
        for worker in self.workers:
            send(worker, WaitForCloses())
        # Of a worker that died since its last task the name node closes what is open.
        for error in [closing_error(worker) for worker in self.workers]:
            if error is not None:
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, "the warehouse"))

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
            worker.pipe.close()
        self.workers = []


def hand_out(worker: Worker, waiting: Iterator[tuple[int, TaskSpec[Any]]]) -> None:
    """Sends the next task, if there is one."""
    for number, spec in waiting:
        worker.tasks.add(number)
        send(worker, NumberedTask(number, spec.work))
        return


def send(worker: Worker, message: Any) -> None:
    """If the worker has died, that is noticed at the next receive."""
    with suppress(BrokenPipeError):
        worker.pipe.send(message)


def run_here(step: Step[Work, Result], specs: Sequence[TaskSpec[Work]], done: FinishedTasks) -> list[Result]:
    """Runs tasks in this process. The files of a task are closed while the next one runs."""
    results: list[Result] = []
    last: Result | Closing[Result] | None = None
    for number, spec in enumerate(specs):
        now = step.run(spec.work)
        results += [] if last is None else [result_of(last)]
        done.add(number)
        last = now
    return results if last is None else [*results, result_of(last)]


def receive(worker: Worker, specs: Sequence[TaskSpec[Any]], unfinished: str) -> Free | Outcome:
    try:
        message: Free | Outcome = worker.pipe.recv()
    except (EOFError, OSError):
        raise worker_failure(worker, name_of(specs, worker.tasks), unfinished) from None
    if isinstance(message, Outcome) and message.error is not None:
        name = specs[message.number].name
        line = f"{name}: a task failed, please report it: {message.error} (--debug shows where)"
        raise Failure(ExitCode.FAILED, line) from RuntimeError(message.trace)
    return message


def closing_error(worker: Worker) -> OSError | None:
    with suppress(EOFError, OSError):
        message: ClosingResult = worker.pipe.recv()
        return message.error
    return None


def name_of(specs: Sequence[TaskSpec[Any]], numbers: Iterable[int]) -> str:
    """Which offsets partitions these tasks read, or what else they are about."""
    about = dict.fromkeys(text for number in numbers if (text := specs[number].about) is not None)
    if about:
        return ", ".join(about)
    return TaskSpec(None, tuple(row for number in numbers for row in specs[number].reads)).name


def worker_failure(worker: Worker, name: str, unfinished: str) -> Failure:
    worker.process.join(LAST_WORDS_SECONDS)
    code = worker.process.exitcode
    if code is not None and code < 0:
        why = f"was ended by {signal.Signals(-code).name}"
        if -code == signal.SIGKILL:
            why += ": somebody killed it, or memory ran out; fewer --workers need less memory"
    else:
        why = f"ended with exit code {code}"
    return Failure(ExitCode.FAILED, f"{name}: the worker process {why}; {unfinished}")
