"""What is left of a failing log after operations were taken away one by one."""

import time
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from tests.make.history import History, histories, history
from tests.make.log import Log

SECONDS = 30.0
Check = Callable[[History], None]


class Failure(NamedTuple):
    """`line`: which assertion failed, so that what is left of a log fails by the same one."""

    line: int
    text: str


def check_all(logs: Sequence[Log], check: Check, about: str) -> None:
    """Of the first log that fails, what is left of it while it still fails is in the message."""
    for each in histories({str(place): log for place, log in enumerate(logs)}).values():
        if (first := failure_of(each, check)) is not None:
            small = shrunk(each.log, lambda log, line=first.line: line == line_of(failure_of(history(log), check)))
            last = failure_of(history(small), check) or first
            pytest.fail(f"{about}: {last.text}\nof what is left of the log\n{small.text()}", pytrace=False)


def line_of(failure: Failure | None) -> int | None:
    return None if failure is None else failure.line


def failure_of(replayed: History, check: Check) -> Failure | None:
    if replayed.differing:
        return Failure(-1, f"several runs make other rows than one: {replayed.differing}")
    try:
        check(replayed)
    except AssertionError as error:
        *_, (_, line) = traceback.walk_tb(error.__traceback__)
        return Failure(line, str(error))
    return None


def shrunk(log: Log, fails: Callable[[Log], bool], seconds: float = SECONDS) -> Log:
    """Halves of it are taken away, then ever smaller parts, and single operations last; each time the end first, since
    what follows a failure seldom matters."""
    until, size = time.monotonic() + seconds, len(log.batches) // 2
    while size:
        place = len(log.batches)
        while place > 0:
            if time.monotonic() > until:
                return log
            smaller = log.without({*range(max(place - size, 0), place)})
            if smaller.batches and fails(smaller):
                log = smaller
            place -= size
        size //= 2
    return log
