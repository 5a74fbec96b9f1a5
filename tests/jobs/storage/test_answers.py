"""Calls that a server never answers are given up, slow ones are not, and none keeps a process alive."""

import itertools
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from jobs.storage.calls import answers
from jobs.storage.calls.answers import Call, NoAnswer, Server, idle
from tests.runs.ingested import ROOT

PATIENCE_SECONDS = 60.0


class Panic(BaseException):
    """As Rust's, which is no Exception."""


def test_an_answer_is_what_the_call_gives_or_raises():
    server = Server(PATIENCE_SECONDS)
    assert server.answer(lambda: 7) == 7
    for error in (FileNotFoundError("gone"), Panic("index out of bounds")):

        def refused(error=error):
            raise error

        with pytest.raises(type(error)) as raised:
            server.answer(refused)
        assert raised.value is error


def test_a_call_without_an_answer_is_given_up_and_its_thread_is_used_again_when_it_comes_after_all():
    server, may_end, answered = Server(0.2), threading.Event(), threading.Event()

    def late():
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


def test_a_server_that_did_not_answer_gets_little_time_until_it_answers(monkeypatch):
    monkeypatch.setattr(answers, "SILENT_SECONDS", 0.1)
    # With all of its time it would answer.
    server, never = Server(2 * PATIENCE_SECONDS, is_silent=True), threading.Event()
    with pytest.raises(NoAnswer) as raised:
        server.answer(lambda: never.wait(PATIENCE_SECONDS))
    # The message has the time that it had before.
    assert raised.value.seconds == 2 * PATIENCE_SECONDS
    monkeypatch.setattr(answers, "SILENT_SECONDS", PATIENCE_SECONDS)
    assert server.answer(lambda: 1) == 1
    assert not server.is_silent
    never.set()


class SlowEnd(threading.Event):
    """The end of an answer that comes in pieces. Each wait for it is over when one more piece has come."""

    def __init__(self, num_pieces):
        super().__init__()
        self.num_pieces = self.num_left = num_pieces
        self.may_come, self.has_come = threading.Semaphore(0), threading.Semaphore(0)

    def pieces(self):
        for number in range(self.num_pieces):
            assert self.may_come.acquire(timeout=PATIENCE_SECONDS)
            yield number
            self.has_come.release()

    def wait(self, timeout=None):
        if not self.num_left:
            return super().wait(timeout)
        self.num_left -= 1
        self.may_come.release()
        assert self.has_come.acquire(timeout=PATIENCE_SECONDS)
        return False


def test_an_answer_that_comes_slowly_but_comes_may_take_longer_than_the_time_for_a_piece(monkeypatch):
    end = SlowEnd(7)
    monkeypatch.setattr(answers, "Call", partial(Call, ended=end))
    assert Server(PATIENCE_SECONDS).pieces(end.pieces) == list(range(7))


def test_an_answer_that_stops_coming_is_given_up(monkeypatch):
    end, never = SlowEnd(3), threading.Event()

    def pieces():
        yield from end.pieces()
        never.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(answers, "Call", partial(Call, ended=end))
    with pytest.raises(NoAnswer):
        Server(0.2).pieces(pieces)
    assert end.num_left == 0
    never.set()


def test_a_call_that_hangs_keeps_no_process_alive():
    program = (
        "import threading\nfrom jobs.storage.calls.answers import NoAnswer, Server\n"
        "try: Server(0.1).answer(threading.Event().wait)\nexcept NoAnswer as error: print(error)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert (ended.stdout, ended.stderr) == ("no answer for 0.1 s\n", "")


def test_calls_of_many_threads_do_not_wait_for_each_other():
    server, all_here = Server(PATIENCE_SECONDS), threading.Barrier(8)
    results = []
    numbers = itertools.count()

    def ask():
        results.append(server.answer(lambda: (all_here.wait(), next(numbers))[1]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))
