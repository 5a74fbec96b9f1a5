"""One writer at a time on storages without a kernel's lock: contention, holders that died, holders that stood still."""

import json
import os
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from jobs.output.failure import Failure
from jobs.storage import storage_lock
from jobs.storage.places.addresses import storage_at
from jobs.storage.storage_lock import FREE, MISSED_BEATS, StorageLock, name_of
from jobs.storage.stored_files import read_whole, write_once
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import storage
from tests.builders.storages.s3_server import options_for, proxy

__all__ = ["storage"]

BEAT = 10.0
PATIENCE_SECONDS = 60


def lock_on(storage, job="ingest"):
    """Its heart beats so seldom that a holder on a busy machine misses no beat."""
    return StorageLock(storage, job, beat_seconds=BEAT)


class Clock:
    """Time that goes by only while somebody sleeps. Meanwhile hearts beat."""

    def __init__(self, hearts):
        self.now, self.hearts = 0.0, hearts

    def monotonic(self):
        return self.now

    def time(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        for beat in self.hearts:
            beat()


@contextmanager
def clock(*hearts):
    """That of all locks."""
    with pytest.MonkeyPatch.context() as patch:
        result = Clock(hearts)
        patch.setattr(storage_lock, "time", result)
        yield result


class AfterBeats(threading.Event):
    """Ends a heart after so many beats, without waiting between them."""

    def __init__(self, number):
        super().__init__()
        self.left = number

    def wait(self, timeout=None):
        self.left -= 1
        return self.left < 0


@contextmanager
def standing_still(storage):
    """A holder whose heart does not beat."""
    lock = lock_on(storage, "replay")
    lock.wait(0, print)
    yield lock


def test_a_run_that_may_not_wait_names_the_holder(storage):
    holder = rf"ingest \(process {os.getpid()} on {re.escape(socket.gethostname())}\)"
    with lock_on(storage).hold(0, print) as held:
        held.check()
        reported = []
        expected = rf"{re.escape(storage.place)}: busy with {holder}, not free within 0.3 s \(--lock-wait\)"
        with pytest.raises(Failure, match=expected) as refused, lock_on(storage).hold(0.3, reported.append):
            pass
        assert refused.value.code == ExitCode.UNUSABLE_WAREHOUSE
        (line,) = reported
        assert re.fullmatch(rf"{re.escape(storage.place)}: waiting for {holder}", line)
        held.check()
    with lock_on(storage).hold(0, print):
        pass


def test_one_of_many_holds_it_and_each_gets_its_turn(storage, monkeypatch):
    monkeypatch.setattr(storage_lock, "PAUSE_SECONDS", 0.05)
    inside, most, turns = 0, 0, []
    # The first works until all others wait.
    are_waiting = threading.Barrier(5)

    def wait(_):
        are_waiting.wait(PATIENCE_SECONDS)

    def work(number):
        nonlocal inside, most
        with lock_on(storage).hold(PATIENCE_SECONDS, wait) as lock:
            inside += 1
            most = max(most, inside)
            if not turns:
                are_waiting.wait(PATIENCE_SECONDS)
            lock.check()
            turns.append(number)
            inside -= 1

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(work, range(5)))
    assert most == 1
    assert sorted(turns) == list(range(5))
    (left,) = storage.list("_lock")
    assert read_whole(storage, left.name) == FREE


def test_a_living_holder_keeps_it_however_long_others_wait(storage):
    held, wait = lock_on(storage), 1.5 * MISSED_BEATS * BEAT
    held.wait(0, print)
    with clock(lambda: held.beat(AfterBeats(1))) as passed:
        with pytest.raises(Failure, match="busy with ingest"), lock_on(storage).hold(wait, print):
            pass
        assert passed.now >= wait
    held.check()


def test_the_heart_of_a_holder_beats(storage):
    lock = StorageLock(storage, "ingest", beat_seconds=0.01)
    with lock.hold(0, print):
        texts, deadline = {read_whole(storage, name_of(lock.number))}, time.monotonic() + PATIENCE_SECONDS
        while len(texts) < 3:
            assert time.monotonic() < deadline
            texts.add(read_whole(storage, name_of(lock.number)))


def test_the_lock_of_a_dead_holder_is_taken_over_by_one(storage):
    with standing_still(storage) as dead, clock() as passed:
        reported = []
        with lock_on(storage).hold(2 * MISSED_BEATS * BEAT, reported.append) as held:
            assert MISSED_BEATS * BEAT <= passed.now < (MISSED_BEATS + 1) * BEAT
            held.check()
            assert [line for line in reported if "replay (process" in line and "takes the lock over" in line]
            with pytest.raises(Failure, match="another run took over the lock") as lost:
                dead.check()
            assert lost.value.code == ExitCode.UNUSABLE_WAREHOUSE
            # It stands up again: it neither takes the lock back nor frees it for others.
            dead.release()
            dead.beat(AfterBeats(5))
            held.check()
            assert [file.name for file in storage.list("_lock")] == [name_of(held.number)]
            assert json.loads(read_whole(storage, name_of(held.number)))["token"] == held.token
            with pytest.raises(Failure, match="busy with ingest"), lock_on(storage).hold(0, print):
                pass


def test_of_two_that_write_one_number_the_first_holds_it(storage):
    first, second = lock_on(storage), lock_on(storage)
    assert first.is_taken(1)
    assert not second.is_taken(1)
    first.check()


def test_a_number_that_was_used_long_ago_holds_nothing(storage):
    """Who looked before others took several turns writes a number that was cleared away since."""
    for _ in range(3):
        with lock_on(storage).hold(0, print):
            pass
    late = lock_on(storage)
    with lock_on(storage).hold(0, print) as held:
        assert not late.is_taken(2)
        held.check()
        assert [file.name for file in storage.list("_lock")] == [name_of(held.number)]


def test_a_lock_that_says_nothing_is_reported_all_the_same(storage):
    write_once(storage, name_of(7), b"")
    with pytest.raises(Failure, match="busy with another run"), lock_on(storage).hold(0, print):
        pass
    with clock(), lock_on(storage).hold(2 * MISSED_BEATS * BEAT, print) as held:
        assert held.number == 8


def test_a_lock_that_others_had_before_is_freed_and_not_removed(storage):
    """Whoever looked while they had it may still write the number after theirs."""
    with lock_on(storage).hold(0, print):
        pass
    with lock_on(storage).hold(0, print) as held:
        held.remove_at_end()
    (left,) = storage.list("_lock")
    assert read_whole(storage, left.name) == FREE
    with lock_on(storage).hold(0, print) as held:
        assert left.name < name_of(held.number)


def test_a_lock_whose_answer_was_lost_is_ours(s3):
    with proxy(s3) as (url, behaviour):
        storage = storage_at("s3://bucket/answer-lost", options_for(url))
        assert list(storage.list()) == []
        behaviour.next = ["pass", "lose"]
        with lock_on(storage).hold(0, print) as held:
            assert "PUT" in behaviour.requests[2]
            held.check()
            assert held.number == 1
