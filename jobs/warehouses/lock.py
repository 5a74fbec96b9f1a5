"""One writer at a time: a lock on the warehouse. The kernel frees it when its holder dies for any reason."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

LOCK_FILE = "_lock"
PAUSE_SECONDS = 0.2


@contextmanager
def hold_lock(folder: Path, wait_seconds: float, job: str, notify: Callable[[str], None]) -> Iterator[None]:
    """Holds the lock of the warehouse. Waits for another holder, then gives up with a line that names it."""
    path = folder / LOCK_FILE
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        wait_for(descriptor, path, wait_seconds, notify)
        # Information for those who wait. Only the kernel's lock counts.
        holder = {"job": job, "pid": os.getpid(), "host": socket.gethostname()}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def wait_for(descriptor: int, path: Path, wait_seconds: float, notify: Callable[[str], None]) -> None:
    deadline = time.monotonic() + wait_seconds
    is_reported = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        if time.monotonic() >= deadline:
            about = f"{path.parent}: busy with {holder_of(descriptor)}"
            expected = f"not free within {wait_seconds:g} s (--lock-wait)"
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{about}, {expected}")
        if not is_reported:
            notify(f"{path.parent}: waiting for {holder_of(descriptor)}")
            is_reported = True
        time.sleep(min(PAUSE_SECONDS, max(deadline - time.monotonic(), 0.01)))


def holder_of(descriptor: int) -> str:
    with suppress(ValueError, KeyError):
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"{holder['job']} (process {holder['pid']} on {holder['host']})"
    return "another run"
