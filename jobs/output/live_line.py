"""The progress line on a terminal: messages and answers take its place."""

import os
import stat
import threading
from contextlib import suppress

from jobs.output.terminal import STANDARD_ERROR, STANDARD_OUTPUT, is_terminal

SHOWN, ANSWERED = 0, 1


class Live:
    def __init__(self) -> None:
        self.flags = memoryview(bytearray(2))
        # Where the line is. Another one while Java starts, which takes standard error for itself.
        self.descriptor = STANDARD_ERROR
        self.renew_lock()

    def renew_lock(self) -> None:
        """The line is drawn by a thread of its own, which must not draw between `clear` and what takes its place."""
        self.lock = threading.RLock()

    def share_with_forks(self) -> None:
        """With the processes that are forked from now on: one of them shows the line, others print answers."""
        import mmap

        self.flags = memoryview(mmap.mmap(-1, 2))

    @property
    def has_answered(self) -> bool:
        """Whether some of an answer has been printed since the last step began."""
        return bool(self.flags[ANSWERED])

    def begin(self) -> None:
        self.flags[ANSWERED] = False

    def before_answer(self) -> None:
        """Before a part of an answer is printed."""
        if not self.flags[ANSWERED]:
            with self.lock:
                self.flags[ANSWERED] = True
                self.clear()

    def draw(self, text: str) -> None:
        with suppress(OSError):
            os.write(self.descriptor, f"\r{text}\x1b[K".encode())
            self.flags[SHOWN] = True

    def clear(self) -> None:
        if self.flags[SHOWN]:
            self.flags[SHOWN] = False
            with suppress(OSError):
                os.write(self.descriptor, b"\r\x1b[K")


LIVE = Live()
# In a fork, the thread that may hold it does not run.
os.register_at_fork(after_in_child=LIVE.renew_lock)


def is_answer_on_terminal() -> bool:
    """Then nothing may be drawn between its lines."""
    return is_terminal(STANDARD_OUTPUT)


def is_answer_piped() -> bool:
    """Then a program such as `less` may show it on this terminal."""
    with suppress(OSError):
        return stat.S_ISFIFO(os.fstat(STANDARD_OUTPUT).st_mode)
    return False
