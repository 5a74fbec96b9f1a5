"""One writer at a time where no kernel frees a lock: a file with a beating heart, taken over when it has stopped.

Clocks of machines differ, so nobody compares times: who waits sees for itself that nothing has changed for long.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from jobs.failure import Failure
from jobs.sources.archive_files import is_of_java
from jobs.warehouses.hadoop_files import HadoopFiles
from schemas.exit_codes import ExitCode

LOCK_FILE = "_lock"
BEAT_SECONDS = 10.0
STALE_SECONDS = 120.0
# Who holds it writes into it at once; runs on a local disk, where the kernel keeps the lock, leave an empty file.
STALE_EMPTY_SECONDS = 20.0
PAUSE_SECONDS = 1.0


@dataclass
class HadoopLock:
    files: HadoopFiles
    job: str
    beat_seconds: float = field(default_factory=lambda: BEAT_SECONDS)
    stale_seconds: float = field(default_factory=lambda: STALE_SECONDS)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    beats: int = 0
    is_lost: bool = False
    # While the heart writes there may be nothing to read.
    writing: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def held(self, wait_seconds: float, tell: Callable[[str], None]) -> Iterator[None]:
        self.wait(wait_seconds, tell)
        ended = threading.Event()
        heart = threading.Thread(target=self.beat, args=(ended,), daemon=True)
        heart.start()
        try:
            yield
        finally:
            ended.set()
            heart.join()
            self.release()

    def check(self) -> None:
        """Before anything is done that only the holder may do."""
        if self.is_lost or not self.is_ours():
            told = f"{self.files.root}: another run took the lock over, since this one stood still for too long"
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)

    def wait(self, wait_seconds: float, tell: Callable[[str], None]) -> None:
        deadline = time.monotonic() + wait_seconds
        seen, since, is_told = None, time.monotonic(), False
        while not self.is_taken():
            found = self.files.text(LOCK_FILE)
            if found != seen:
                seen, since = found, time.monotonic()
            elif found is not None and time.monotonic() - since >= self.patience_with(found):
                tell(f"{self.files.root}: {holder_of(found)} has not been heard of, taking its lock over")
                self.take_away(found)
                continue
            if time.monotonic() >= deadline:
                told = f"busy with {holder_of(found)}, not free within {wait_seconds:g} s (--lock-wait)"
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{self.files.root}: {told}")
            if not is_told:
                tell(f"{self.files.root}: waiting for {holder_of(found)}")
                is_told = True
            time.sleep(min(PAUSE_SECONDS, max(deadline - time.monotonic(), 0.01)))

    def patience_with(self, found: str) -> float:
        return self.stale_seconds if found else min(self.stale_seconds, STALE_EMPTY_SECONDS)

    def is_taken(self) -> bool:
        """By us: a file system creates a file once."""
        if self.files.exists(LOCK_FILE):
            return False
        try:
            self.files.create(LOCK_FILE, self.text())
        except Exception as error:
            if is_of_java(error) and self.files.exists(LOCK_FILE):
                return False
            raise
        return self.is_ours()

    def take_away(self, stale: str) -> None:
        """By a rename, in which one of several succeeds; what was not stale after all goes back."""
        aside = f"{LOCK_FILE}.{self.token}"
        if self.files.rename(LOCK_FILE, aside):
            if self.files.text(aside) == stale:
                self.files.remove(aside)
            else:
                self.files.rename(aside, LOCK_FILE)

    def beat(self, ended: threading.Event) -> None:
        while not ended.wait(self.beat_seconds):
            # What fails once may go well the next time; others wait for many beats.
            with suppress(Exception):
                if not self.is_ours():
                    self.is_lost = True
                    return
                self.beats += 1
                with self.writing:
                    self.files.overwrite(LOCK_FILE, self.text())

    def is_ours(self) -> bool:
        with self.writing:
            found = self.files.text(LOCK_FILE)
        return found is not None and self.token in found

    def release(self) -> None:
        with suppress(Exception):
            if self.is_ours():
                self.files.remove(LOCK_FILE)

    def text(self) -> str:
        about = {"job": self.job, "pid": os.getpid(), "host": socket.gethostname()}
        return json.dumps({**about, "token": self.token, "beats": self.beats})


def holder_of(text: str | None) -> str:
    with suppress(ValueError, KeyError, TypeError):
        holder = json.loads(text or "")
        return f"{holder['job']} (process {holder['pid']} on {holder['host']})"
    return "another run"
