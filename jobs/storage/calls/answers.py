"""Calls to a server that may never answer. Each runs on another thread and is given up after a time.

Nothing can interrupt a library in Rust that waits for ever. Its thread stays alive. It is a daemon, so a process that
ends does not wait for it.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

# For a server that has just not answered: what cleans up after a failure need not wait as long once more.
SILENT_SECONDS = 2.0


class NoAnswer(TimeoutError):
    """`seconds`: for how long nothing came."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer for {seconds:g} s")
        self.seconds = seconds


@dataclass
class Call:
    work: Callable[[], Iterable[Any]]
    pieces: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        try:
            self.pieces.extend(self.work())
        # Panics of Rust are no Exceptions, and who waits for them must hear of them.
        except BaseException as error:
            self.error = error


Calls = SimpleQueue[Call]
# Threads of this process that have nothing to do.
idle: deque[Calls] = deque()


def make_calls(calls: Calls) -> None:
    while True:
        call = calls.get()
        call.run()
        # First, so that the next call finds this thread.
        idle.append(calls)
        call.ended.set()
        # Else its answer would stay in memory until the next call.
        del call


def begin(call: Call) -> None:
    try:
        calls = idle.pop()
    except IndexError:
        calls = SimpleQueue()
        threading.Thread(target=make_calls, args=(calls,), name="groupscope-call", daemon=True).start()
    calls.put(call)


@dataclass
class Server:
    """`seconds`: how long to wait for each of its answers."""

    seconds: float
    is_silent: bool = False

    def answer(self, work: Callable[[], T]) -> T:
        """What the call returns or raises; NoAnswer if it does neither in time."""
        return self.pieces(lambda: (work(),))[0]

    def pieces(self, work: Callable[[], Iterable[T]]) -> list[T]:
        """Of an answer that comes in pieces. It is given up when no new piece comes in time, however long all of them
        take."""
        call = Call(work)
        begin(call)
        num_before = 0
        while not call.ended.wait(min(self.seconds, SILENT_SECONDS) if self.is_silent else self.seconds):
            if len(call.pieces) == num_before:
                self.is_silent = True
                raise NoAnswer(self.seconds)
            num_before = len(call.pieces)
        self.is_silent = False
        if call.error is not None:
            raise call.error
        return call.pieces
