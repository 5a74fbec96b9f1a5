"""The terminal that output goes to, if any: its width, whether to use colors, and the progress line on it, whose place
messages and answers take."""

import os
import shutil
import stat
import threading
from contextlib import suppress

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
LEAST_WIDTH = 20
# For a terminal that does not report its width.
DEFAULT_WIDTH = 80

SHOWN, ANSWERED = 0, 1
BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"
# Of the first words of a verdict or a finding.
COLOURS = {"critical": RED, "FINDINGS": RED, "FAILED": RED, "warning": YELLOW, "clean": GREEN, "CLEAN": GREEN}


class Painted(str):
    """A line with colors of ours. All else that a terminal would act on is spelled out in it."""

    __slots__ = ()


def is_terminal(descriptor: int = STANDARD_OUTPUT) -> bool:
    with suppress(OSError):
        return os.isatty(descriptor)
    return False


def terminal_width() -> int | None:
    """Of standard output. None if that is not a terminal, where shorter lines help nobody."""
    if not is_terminal():
        return None
    return max(LEAST_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def error_width(descriptor: int = STANDARD_ERROR) -> int:
    """Of standard error, if that is a terminal."""
    with suppress(OSError):
        return max(LEAST_WIDTH, os.get_terminal_size(descriptor).columns or DEFAULT_WIDTH)
    return DEFAULT_WIDTH


def has_colours(descriptor: int = STANDARD_OUTPUT) -> bool:
    """https://no-color.org: any value except an empty one means no colors."""
    return is_terminal(descriptor) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def paint(text: str, colour: str, descriptor: int = STANDARD_OUTPUT) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if has_colours(descriptor) else text


class Live:
    """The progress line."""

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


def is_answer_piped() -> bool:
    """Then a program such as `less` may show it on this terminal."""
    with suppress(OSError):
        return stat.S_ISFIFO(os.fstat(STANDARD_OUTPUT).st_mode)
    return False
