"""Ends an interrupted Spark run quietly. PySpark and py4j would log a stack trace of what they were doing.

Java ends with the process that started it, and every Spark job with Java. The exception is a Java that is left while it
starts: it fails, but its threads keep it alive for ever. So a first interrupt waits until Java has started.
"""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Signals that ended the run.
ENDED_BY: list[int] = []


@contextmanager
def quiet_interrupts() -> Iterator[None]:
    """Java starts in here; interrupts are quiet from then on."""
    is_main = threading.current_thread() is threading.main_thread()
    # A process that ignores interrupts, such as one in the background of a shell, continues to ignore them.
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    met: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        met.append(number)
        if len(met) > 1:
            raise_interrupt(number, frame)

    level = logging.root.manager.disable
    # Spark has a handler of its own set before it is ready.
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, raise_interrupt)
        if not met:
            logging.disable(level)
    if met:
        raise_interrupt(signal.SIGINT, None)


def raise_interrupt(number: int, frame: FrameType | None) -> None:
    logging.disable(logging.CRITICAL)
    ENDED_BY.append(number)
    raise KeyboardInterrupt


def go_on() -> None:
    """Where an interrupt ends a part of the work alone, what fails later fails by itself."""
    ENDED_BY.clear()
    logging.disable(logging.NOTSET)


def is_interrupted() -> bool:
    """Whatever fails after an interrupt fails by it: calls that it cut short, workers that it reached too."""
    return bool(ENDED_BY)
