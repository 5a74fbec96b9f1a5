"""What commands take of the processors, with all processes they start. Other programs on the machine do not change it
much."""

import ctypes
import os
import resource
from collections.abc import Sequence
from contextlib import suppress

from benchmarks.commands import seconds_of


def processor_seconds_of(command: Sequence[str]) -> float:
    adopt_orphans()
    before = processor_seconds()
    seconds_of(command)
    return processor_seconds() - before


def adopt_orphans() -> None:
    """Workers' parent ends after the command does. From now on it is waited for here, so that its time counts."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1)


def processor_seconds() -> float:
    """Of all commands so far, with all of their processes."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
