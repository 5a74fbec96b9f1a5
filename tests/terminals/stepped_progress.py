"""Shows progress by a clock that this program sets: a step at a time, each only after the display has seen it.

python -m tests.terminals.stepped_progress [--quiet]
"""

import sys
import threading

from jobs.output import progress
from jobs.output.failure import say
from jobs.output.progress import counting, doing, show_progress

PATIENCE_SECONDS = 60


class Clock:
    def __init__(self) -> None:
        self.now, self.num_looks, self.looked = 0.0, 0, threading.Condition()

    def monotonic(self) -> float:
        if threading.current_thread() is progress.display.thread:
            with self.looked:
                self.num_looks += 1
                self.looked.notify_all()
        return self.now

    def set(self, seconds: float) -> None:
        """Two looks later, what the first one showed is on the terminal."""
        self.now = seconds
        if progress.display.thread is not None:
            with self.looked:
                expected = self.num_looks + 2
                assert self.looked.wait_for(lambda: self.num_looks >= expected, PATIENCE_SECONDS)


def work(clock: Clock) -> None:
    with doing("replay"), counting(1_000, "records") as activity:
        activity.done = 100
        clock.set(2.9)
        activity.done = 250
        clock.set(3.0)
        say("a partition was not seen")
        activity.done = 500
        clock.set(4.0)
    with doing("gate"):
        clock.set(6.9)


def main(*words: str) -> None:
    clock = Clock()
    progress.time = clock  # type: ignore[assignment]
    progress.LIVE_SECONDS = 0.01
    with show_progress(is_quiet="--quiet" in words):
        work(clock)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
