"""Starts the server process that workers are forked from, before the driver loads its own modules. Both load for about
the same time, so two cores do it in half the time.

At this point nobody knows whether workers will be needed, so this estimates it from file times. A wrong estimate costs
half a second of one core, or fails to save half a second. It never changes a result.
"""

import argparse
import os
from pathlib import Path

from jobs.engine.worker import start_server
from jobs.processes.processors import default_workers
from jobs.storage.calls.answers import NoAnswer, Server

# Bytes of segments that changed since the last run. Less is one task, which the driver does itself.
FEWEST_BYTES = 32 << 20
SOURCE = "segments:"
RUN_RESULTS = "_runs"
# An estimate that takes longer saves nothing.
PATIENCE_SECONDS = 0.5


def start_early(arguments: argparse.Namespace) -> None:
    """`arguments`: of a job on the local engine."""
    source = getattr(arguments, "source", None) or ""
    if not source.startswith(SOURCE) or (arguments.workers or default_workers()) < 2:
        return
    folder = Path(source.removeprefix(SOURCE))
    try:
        size = Server(PATIENCE_SECONDS).answer(lambda: new_bytes(folder, last_run(Path(arguments.warehouse))))
    except NoAnswer:
        # The run finds out whether the disk answers at all.
        return
    if size >= FEWEST_BYTES:
        start_server(arguments.command)


def last_run(warehouse: Path) -> float:
    """When the last run wrote its result, in seconds; 0 if none did."""
    try:
        return (warehouse / RUN_RESULTS).stat().st_mtime
    except OSError:
        return 0.0


def new_bytes(folder: Path, since: float) -> int:
    """Bytes of segments that changed since then; 0 if the folder is a pattern, on another storage, or cannot be
    read."""
    size = 0
    for above, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".log"):
                try:
                    status = os.stat(os.path.join(above, name))
                except OSError:
                    continue
                if status.st_mtime >= since:
                    size += status.st_size
    return size
