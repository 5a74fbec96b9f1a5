"""A process beside the driver that loads Great Expectations while earlier steps run, and judges each suite while the
driver computes the metrics of later ones and collects findings. Loading takes longer than judging, and it can start at
once."""

import gc
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from threading import RLock
from typing import TYPE_CHECKING

from jobs.gating.declarations.suites import Suite
from jobs.gating.measuring import Frame
from jobs.output.failure import Failure
from jobs.processes.no_pandas import kept_out, left_empty
from jobs.runs.result import now_ms

if TYPE_CHECKING:
    from jobs.gating.judging import SuiteResult


class JudgeProcess:
    """Used once. If it fails, the driver judges by itself."""

    def __init__(self) -> None:
        # A fork could inherit locks of threads that nobody releases.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        # Ctrl-C is for the driver, which ends it. Python's tracker of resources, once it is started, lets signals in.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def ask(self, suites: Sequence[Suite]) -> None:
        """Their frames follow, in the order of the suites."""
        self.send(suites)

    def send(self, message: Sequence[Suite] | Frame | None) -> None:
        with suppress(OSError):
            self.pipe.send(message)

    def answer(self) -> "list[SuiteResult] | None":
        """None: it failed. A Failure is about the suites, and would happen in the driver too."""
        # No frame follows.
        self.send(None)
        with suppress(EOFError, OSError):
            results: list[SuiteResult] | None
            results, failure = self.pipe.recv()
            if failure is not None:
                raise Failure(*failure)
            return results
        return None

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class ArrivingFrames(dict[str, Frame]):
    """Frames by table. One that is not there yet is waited for."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    def __missing__(self, table: str) -> Frame:
        frame = self.next()
        while frame is not None and frame.table != table:
            frame = self.next()
        if frame is None:
            raise KeyError(table)
        return frame

    def next(self) -> Frame | None:
        frame: Frame | None = self.pipe.recv()
        if frame is not None:
            self[frame.table] = frame
        return frame

    def wait_for_all(self) -> None:
        while self.next() is not None:
            pass


def serve(pipe: Connection) -> None:
    # What it loads stays, and it ends soon: collecting would only look at all of it again and again.
    gc.disable()
    from jobs.gating.judging import judge, load

    # Tables of metrics need no charts and no files of Amazon. A process of a user may need them later.
    with kept_out("boto3", "botocore"), left_empty("altair"):
        load()
        from great_expectations.validator import validation_graph

    # Progress bars have a lock that is a semaphore of the system. Killed, a process leaves it, of which Python warns.
    vars(validation_graph)["tqdm"].set_lock(RLock())
    # Nobody needs the result any more: the driver has ended, or needs no judge.
    with suppress(EOFError, OSError):
        suites, frames = pipe.recv(), ArrivingFrames(pipe)
        answer: tuple[list[SuiteResult] | None, tuple[int, str] | None]
        try:
            answer = judge(suites, frames, now_ms), None
        except Failure as failure:
            answer = None, (failure.code, str(failure))
        # The driver reads no answer before it has sent everything.
        frames.wait_for_all()
        pipe.send(answer)
