"""What is left of a failing log after operations were taken away one by one."""

import time
from collections.abc import Callable, Sequence

import pytest

from tests.make.history import History, histories
from tests.make.log import Log

SECONDS = 30.0
Check = Callable[[History], None]


def check_all(logs: Sequence[Log], check: Check, about: str) -> None:
    """Of the first log that fails, what is left of it while it still fails is in the message."""
    for each in histories({str(place): log for place, log in enumerate(logs)}).values():
        if error_of(each, check) is not None:
            small = shrunk(each.log, lambda log: error_of(history_of(log), check) is not None)
            error = error_of(history_of(small), check) or error_of(each, check)
            pytest.fail(f"{about}: {error}\nof what is left of the log\n{small.text()}", pytrace=False)


def history_of(log: Log) -> History:
    return histories({"": log})[""]


def error_of(history: History, check: Check) -> str | None:
    try:
        assert history.differing == [], "several runs make other rows than one"
        check(history)
    except AssertionError as error:
        return str(error) or "assertion failed"
    return None


def shrunk(log: Log, fails: Callable[[Log], bool], seconds: float = SECONDS) -> Log:
    """First halves of it are taken away, then ever smaller parts, and single operations last."""
    until, size = time.monotonic() + seconds, len(log.batches)
    while size:
        place = 0
        while place < len(log.batches):
            if time.monotonic() > until:
                return log
            smaller = log.without({*range(place, place + size)})
            if smaller.batches and fails(smaller):
                log = smaller
            else:
                place += size
        size //= 2
    return log
