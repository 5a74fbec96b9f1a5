"""Shows the progress of a command after three seconds of silence: a live line on a terminal, a line now and then in a
log.

A command names its current step by `with doing("replay")`, and the engine adds how much of it is done. A separate
thread prints, so that the time advances even during one long task.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass

from jobs.output.failure import say
from jobs.output.rows import cut_to
from jobs.output.terminal import LIVE, STANDARD_OUTPUT, error_width, is_answer_piped, is_terminal
from udfs.sentences.counts import counted

SILENT_SECONDS = 3.0
# On a terminal, and in a log.
LIVE_SECONDS, LOG_SECONDS = 0.5, 30.0
# If the reader of an answer takes longer than this, a person is reading.
STALLED_SECONDS = 2.0
# Before this, an estimate would jump.
LEAST_SHARE = 0.02
MINUTE, HOUR = 60, 3_600


@dataclass
class Activity:
    """`total`: the amount of work once it is known, in units such as `records`."""

    name: str
    started: float
    total: int = 0
    unit: str = ""
    done: float = 0
    is_logged: bool = True
    # Brings `total` and `done` up to date, for work that does not do so itself.
    measure: "Callable[[Activity], None] | None" = None
    # When more was last seen to be done, and how much that was.
    advanced: float = 0.0
    seen: float = 0

    def look(self, now: float) -> None:
        if self.measure is not None:
            self.measure(self)
        if self.done != self.seen:
            self.advanced, self.seen = now, self.done

    def line(self, now: float) -> str:
        seconds = now - self.started
        if not self.total:
            return f"{self.name}: {length(seconds)} so far"
        share = min(self.done / self.total, 1.0)
        left = f", about {length(seconds / share - seconds)} left" if LEAST_SHARE <= share < 1 else ""
        of = f" of {amount(self.total, self.unit)}" if self.unit else ""
        return f"{self.name}: {share:.0%}{of}, {length(seconds)} so far{left}"


class Display:
    def __init__(self, *, is_quiet: bool) -> None:
        self.activities: list[Activity] = []
        self.is_quiet = is_quiet
        self.is_paged = False
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        if self.thread is None and not self.is_quiet:
            # Here: by the time that the thread looks, a Java that starts may have taken standard error.
            is_live = is_terminal(LIVE.descriptor)
            self.thread = threading.Thread(target=self.watch, args=[is_live], daemon=True)
            self.thread.start()

    def end(self) -> None:
        """Nothing is printed after this."""
        self.ended.set()
        if self.thread is not None:
            self.thread.join()

    def watch(self, is_live: bool) -> None:
        last = time.monotonic()
        while not self.ended.wait(LIVE_SECONDS):
            # Only a running activity is shown.
            with self.lock:
                now, activity = time.monotonic(), self.current()
                # A step of many short ones is not short.
                if activity is None or now - self.activities[0].started < SILENT_SECONDS:
                    continue
                activity.look(now)
                if is_live:
                    with LIVE.lock:
                        if self.is_free(activity, now):
                            LIVE.draw(cut_to(activity.line(now), error_width(LIVE.descriptor) - 1))
                elif activity.is_logged and now - last >= LOG_SECONDS:
                    last = now
                    say(activity.line(now))

    def is_free(self, activity: Activity, now: float) -> bool:
        """Whether the terminal is ours: an answer that is shown there is its own progress. If nothing advances, a
        person reads what goes into the pipe at their own pace."""
        if not LIVE.has_answered:
            return True
        self.is_paged |= is_answer_piped() and now - activity.advanced > STALLED_SECONDS
        # Nothing may be drawn between the lines of an answer.
        return not self.is_paged and not is_terminal(STANDARD_OUTPUT)

    def current(self) -> Activity | None:
        with suppress(IndexError):
            return self.activities[-1]
        return None


# Outside of a command nobody reads it.
display = Display(is_quiet=True)


@contextmanager
def show_progress(*, is_quiet: bool, step: str | None = None) -> Iterator[None]:
    """Shows the progress of the command in this block. `step`: its only one, if it names none itself."""
    global display  # noqa: PLW0603
    display = Display(is_quiet=is_quiet)
    try:
        with nullcontext() if step is None else doing(step):
            yield
    finally:
        display.end()
        display = Display(is_quiet=True)


@contextmanager
def doing(name: str, *, is_logged: bool = True) -> Iterator[Activity]:
    """The current activity until the block ends. An activity inside it is shown instead."""
    activity = Activity(name, time.monotonic(), is_logged=is_logged)
    LIVE.begin()
    display.activities.append(activity)
    display.start()
    try:
        yield activity
    finally:
        with display.lock:
            display.activities.pop()
            LIVE.clear()


@contextmanager
def counting(total: int, unit: str) -> Iterator[Activity]:
    """The amount of work of the current activity. Time before this does not count."""
    current = display.current()
    with doing(current.name if current is not None else "working") as activity:
        activity.total, activity.unit = total, unit
        yield activity


def measure(how: Callable[[Activity], None]) -> None:
    """What is done of the current activity is asked for whenever it is shown."""
    if (activity := display.current()) is not None:
        activity.measure = how


def amount(number: int, unit: str) -> str:
    if unit == "bytes":
        return f"{number / 1e6:,.0f} MB" if number >= 1e6 else f"{number / 1e3:,.0f} kB"
    return counted(number, unit.removesuffix("s"))


def length(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * MINUTE:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h"
