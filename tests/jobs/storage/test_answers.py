"""Calls that a server never answers are given up, slow ones are not, and none keeps a process alive."""

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from jobs.storage.calls.answers import NoAnswer, Server, idle
from tests.jobs.ingested import ROOT

PATIENCE_SECONDS = 60.0


class Panic(BaseException):
    """As Rust's, which is no Exception."""


def test_an_answer_is_what_the_call_gives_or_raises() -> None:
    server = Server(PATIENCE_SECONDS)
    assert server.answer(lambda: 7) == 7
    for error in (FileNotFoundError("gone"), Panic("index out of bounds")):

        def refused(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)) as raised:
            server.answer(refused)
        assert raised.value is error


def test_a_call_without_an_answer_is_given_up_and_its_thread_is_used_again_when_it_comes_after_all() -> None:
    server, may_end, answered = Server(0.2), threading.Event(), threading.Event()

    def late() -> None:
        may_end.wait(PATIENCE_SECONDS)
        answered.set()

    with pytest.raises(NoAnswer) as raised:
        server.answer(late)
    assert raised.value.seconds == 0.2
    waiting = len(idle)
    may_end.set()
    assert answered.wait(PATIENCE_SECONDS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(idle) == waiting:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_server_that_did_not_answer_gets_little_time_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.storage.calls.answers.SILENT_SECONDS", 0.1)
    server, never = Server(PATIENCE_SECONDS, is_silent=True), threading.Event()
    begun = time.monotonic()
    with pytest.raises(NoAnswer) as raised:
        server.answer(lambda: never.wait(2 * PATIENCE_SECONDS))
    # What is told is the time that it had before.
    assert raised.value.seconds == PATIENCE_SECONDS
    assert time.monotonic() - begun < PATIENCE_SECONDS / 2
    assert server.answer(lambda: 1) == 1
    assert not server.is_silent
    never.set()


def test_an_answer_that_comes_slowly_but_comes_may_take_longer_than_the_time_for_a_piece() -> None:
    server, seconds = Server(2.0), 0.5

    def pieces() -> Iterator[int]:
        for number in range(7):
            time.sleep(seconds)
            yield number

    begun = time.monotonic()
    assert server.pieces(pieces) == list(range(7))
    assert time.monotonic() - begun > server.seconds


def test_an_answer_that_stops_coming_is_given_up() -> None:
    never = threading.Event()

    def pieces() -> Iterator[int]:
        yield from range(3)
        never.wait(PATIENCE_SECONDS)

    with pytest.raises(NoAnswer):
        Server(0.2).pieces(pieces)
    never.set()


def test_a_call_that_hangs_keeps_no_process_alive() -> None:
    program = (
        "import threading\nfrom jobs.storage.calls.answers import NoAnswer, Server\n"
        "try: Server(0.1).answer(threading.Event().wait)\nexcept NoAnswer as error: print(error)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert (ended.stdout, ended.stderr) == ("no answer for 0.1 s\n", "")


def test_calls_of_many_threads_do_not_wait_for_each_other() -> None:
    server, all_here = Server(PATIENCE_SECONDS), threading.Barrier(8)
    results: list[int] = []
    numbers = itertools.count()

    def ask() -> None:
        results.append(server.answer(lambda: (all_here.wait(), next(numbers))[1]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))
