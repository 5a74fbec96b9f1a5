"""One writer at a time where no kernel frees a lock: numbered files in `_lock/`, of which the highest holds it.

A process takes the lock by writing the next number. Only one of several can, since a file is written once. The holder
rewrites its own file again and again, and no other process does. If the file has not changed for long, a waiting
process takes the next number. So a holder that was paused sees a higher number than its own, even if its clock is
wrong, and stops before it commits.
"""

import json
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from jobs.output.failure import Failure
from jobs.storage.stored_files import Storage, nothing, read_whole, write_once
from schemas.words.exit_codes import ExitCode

FOLDER = "_lock"
NAME = re.compile(rf"{FOLDER}/(\d{{12}})\.json")
BEAT_SECONDS = 10.0
# So many beats that are missing end it.
MISSED_BEATS = 12
PAUSE_SECONDS = 1.0
FREE = b"{}"
FIRST = 1


@dataclass
class StorageLock:
    storage: Storage
    job: str
    beat_seconds: float = field(default_factory=lambda: BEAT_SECONDS)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    # Of the file that we hold; 0: none.
    number: int = 0
    beats: int = 0
    # Whether our file goes with our lock.
    is_removed: bool = False

    @contextmanager
    def hold(
        self, wait_seconds: float, notify: Callable[[str], None], prepare: Callable[[], None] = nothing
    ) -> Iterator["StorageLock"]:
        prepare()
        self.wait(wait_seconds, notify)
        ended = threading.Event()
        heart = threading.Thread(target=self.beat, args=(ended,), daemon=True)
        heart.start()
        try:
            yield self
        finally:
            ended.set()
            heart.join()
            self.release()

    def remove_at_end(self) -> None:
        self.is_removed = True

    def check(self) -> None:
        """Before anything is done that only the holder may do."""
        if self.numbers()[-1:] != [self.number]:
            line = (
                f"{self.storage.place}: another run took over the lock, because this run did not renew it in "
                "time; run it again"
            )
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)

    def wait(self, wait_seconds: float, notify: Callable[[str], None]) -> None:
        deadline = time.monotonic() + wait_seconds
        seen, since, is_reported = None, time.monotonic(), False
        while True:
            newest = self.newest()
            if newest != seen:
                seen, since = newest, time.monotonic()
            number, text = newest
            is_stale = time.monotonic() - since >= MISSED_BEATS * self.beat_seconds
            if text == FREE or is_stale:
                if text != FREE:
                    notify(
                        f"{self.storage.place}: {holder_of(text)} has stopped renewing its lock; this run takes "
                        "the lock over"
                    )
                if self.is_taken(number + 1):
                    return
                continue
            if time.monotonic() >= deadline:
                line = f"busy with {holder_of(text)}, not free within {wait_seconds:g} s (--lock-wait)"
                raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{self.storage.place}: {line}")
            if not is_reported:
                notify(f"{self.storage.place}: waiting for {holder_of(text)}")
                is_reported = True
            time.sleep(min(PAUSE_SECONDS, self.beat_seconds, max(deadline - time.monotonic(), 0.01)))

    def live_holder(self, notify: Callable[[str], None]) -> str | None:
        """Who holds it; None where nobody does, or where the holder's file does not change for so long that the next
        run would take the lock over."""
        before = self.newest()
        if before[1] == FREE:
            return None
        holder, seconds = holder_of(before[1]), MISSED_BEATS * self.beat_seconds
        notify(
            f"{self.storage.place}: {holder} holds the lock; waiting up to {seconds:g} s for a sign that it is alive"
        )
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(min(PAUSE_SECONDS, self.beat_seconds))
            if (newest := self.newest()) != before:
                return None if newest[1] == FREE else holder_of(newest[1])
        return None

    def numbers(self) -> list[int]:
        matches = (NAME.fullmatch(file.name) for file in self.storage.list(FOLDER))
        return sorted(int(match[1]) for match in matches if match)

    def newest(self) -> tuple[int, bytes]:
        """Its number, and what it says."""
        for number in self.numbers()[-1:]:
            # Its holder may have released it in between.
            with suppress(FileNotFoundError):
                return number, read_whole(self.storage, name_of(number))
            return number, b""
        return FIRST - 1, FREE

    def is_taken(self, number: int) -> bool:
        """By us. The number may have been used and deleted long ago: so this looks twice."""
        try:
            write_once(self.storage, name_of(number), self.text())
        except FileExistsError:
            # Also what a server says that did it, lost its answer on the way, and was asked again.
            if not self.is_ours(number):
                return False
        numbers = self.numbers()
        if numbers[-1:] != [number]:
            self.storage.delete(name_of(number))
            return False
        self.number = number
        for old in numbers[:-1]:
            self.storage.delete(name_of(old))
        return True

    def is_ours(self, number: int) -> bool:
        with suppress(FileNotFoundError):
            return self.token.encode() in read_whole(self.storage, name_of(number))
        return False

    def beat(self, ended: threading.Event) -> None:
        while not ended.wait(self.beat_seconds):
            # What fails once may go well the next time; others wait for many beats.
            with suppress(Exception):
                self.check()
                self.beats += 1
                self.storage.replace(name_of(self.number), self.text())

    def release(self) -> None:
        """By the next number, which says that nobody holds it: a file is never taken from someone else that way. The
        first number may go without a next one: who saw no file writes the same number again, and one of several
        succeeds. After a higher one somebody may still write the number after it, and would hold it beside whoever
        began with the first number again."""
        with suppress(Exception):
            if self.numbers()[-1:] == [self.number]:
                if not (self.is_removed and self.number == FIRST):
                    write_once(self.storage, name_of(self.number + 1), FREE)
                self.storage.delete(name_of(self.number))

    def text(self) -> bytes:
        about = {"job": self.job, "pid": os.getpid(), "host": socket.gethostname(), "time": round(time.time())}
        return json.dumps({**about, "token": self.token, "beats": self.beats}).encode()


def name_of(number: int) -> str:
    return f"{FOLDER}/{number:012}.json"


def holder_of(text: bytes) -> str:
    with suppress(ValueError, KeyError, TypeError):
        holder = json.loads(text)
        return f"{holder['job']} (process {holder['pid']} on {holder['host']})"
    return "another run"
