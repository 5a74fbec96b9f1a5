"""One writer at a time, where one kernel sees all writers: it frees the lock when the holder dies for any reason."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from jobs.output.failure import Failure
from jobs.storage.stored_files import nothing
from schemas.words.exit_codes import ExitCode

LOCK_FILE = "_lock"
PAUSE_SECONDS = 0.2


@dataclass
class KernelLock:
    """Of the warehouse in the folder."""

    folder: Path
    job: str
    # Whether the holder's file goes with its lock.
    is_removed: bool = False

    @property
    def path(self) -> Path:
        return self.folder / LOCK_FILE

    @contextmanager
    def hold(
        self, wait_seconds: float, notify: Callable[[str], None], prepare: Callable[[], None] = nothing
    ) -> Iterator[None]:
        """Waits for another holder, then gives up with a line that names it."""
        descriptor = self.locked_file(time.monotonic() + wait_seconds, wait_seconds, notify, prepare)
        try:
            # Information for those who wait. Only the kernel's lock counts, also on a full disk.
            holder = {"job": self.job, "pid": os.getpid(), "host": socket.gethostname()}
            os.ftruncate(descriptor, 0)
            with suppress(OSError):
                os.pwrite(descriptor, json.dumps(holder).encode(), 0)
            yield
            os.ftruncate(descriptor, 0)
        finally:
            # While it is locked: whoever waits for it sees that it is gone, and looks for another one.
            if self.is_removed and is_at(descriptor, self.path):
                self.path.unlink()
            os.close(descriptor)

    def locked_file(
        self, deadline: float, wait_seconds: float, notify: Callable[[str], None], prepare: Callable[[], None]
    ) -> int:
        """Locked under its name. The holder before may have removed it: then another process may hold a new one."""
        while True:
            prepare()
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except FileNotFoundError:
                if self.path.is_symlink():
                    raise
                # Removed together with its folder, after `prepare` had seen or made that.
                continue
            try:
                wait_for(descriptor, self.path, deadline, wait_seconds, notify)
                if is_at(descriptor, self.path):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def remove_at_end(self) -> None:
        self.is_removed = True

    def check(self) -> None:
        """No other process can take it from a holder that lives."""

    def live_holder(self, notify: Callable[[str], None]) -> str | None:
        """Asks by a shared lock, which several processes may hold."""
        try:
            with self.path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return holder_of(file.fileno())
        except OSError:
            return None
        return None


def is_at(descriptor: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


def wait_for(descriptor: int, path: Path, deadline: float, wait_seconds: float, notify: Callable[[str], None]) -> None:
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
