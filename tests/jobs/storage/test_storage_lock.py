"""One writer at a time on storages without a kernel's lock: contention, holders that died, holders that stood still."""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from jobs.output.failure import Failure
from jobs.storage.places import storage_at
from jobs.storage.storage_lock import FREE, MISSED_BEATS, StorageLock, name_of
from jobs.storage.stored_files import Storage, read_whole, write_once
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import storage
from tests.builders.storages.s3_server import options_for, proxy

__all__ = ["storage"]

BEAT = 0.1


def lock_on(storage: Storage, job: str = "ingest") -> StorageLock:
    return StorageLock(storage, job, beat_seconds=BEAT)


@contextmanager
def standing_still(storage: Storage) -> Iterator[StorageLock]:
    """A holder whose heart does not beat."""
    lock = lock_on(storage, "replay")
    lock.wait(0, print)
    yield lock


def test_who_may_not_wait_is_told_of_the_holder(storage: Storage) -> None:
    holder = rf"ingest \(process {os.getpid()} on {re.escape(socket.gethostname())}\)"
    with lock_on(storage).hold(0, print) as held:
        held.check()
        told: list[str] = []
        expected = rf"{re.escape(storage.place)}: busy with {holder}, not free within 0.3 s \(--lock-wait\)"
        with pytest.raises(Failure, match=expected) as refused, lock_on(storage).hold(0.3, told.append):
            pass
        assert refused.value.code == ExitCode.UNUSABLE_WAREHOUSE
        (line,) = told
        assert re.fullmatch(rf"{re.escape(storage.place)}: waiting for {holder}", line)
        held.check()
    with lock_on(storage).hold(0, print):
        pass


def test_one_of_many_holds_it_and_each_gets_its_turn(storage: Storage) -> None:
    inside, most, turns = 0, 0, []

    def work(number: int) -> None:
        nonlocal inside, most
        # With beats as users have them: on a busy machine a holder may well miss those of the other tests.
        with StorageLock(storage, "ingest").hold(60, lambda _: None) as lock:
            inside += 1
            most = max(most, inside)
            time.sleep(0.05)
            lock.check()
            turns.append(number)
            inside -= 1

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(work, range(5)))
    assert most == 1
    assert sorted(turns) == list(range(5))
    (left,) = storage.list("_lock")
    assert read_whole(storage, left.name) == FREE


def test_a_living_holder_keeps_it_however_long_others_wait(storage: Storage) -> None:
    wait = 1.5 * MISSED_BEATS * BEAT
    with lock_on(storage).hold(0, print) as held:
        with pytest.raises(Failure, match="busy with ingest"), lock_on(storage).hold(wait, print):
            pass
        held.check()


def test_the_lock_of_a_dead_holder_is_taken_over_by_one(storage: Storage) -> None:
    with standing_still(storage) as dead:
        told: list[str] = []
        begun = time.monotonic()
        with lock_on(storage).hold(60, told.append) as held:
            assert time.monotonic() - begun >= MISSED_BEATS * BEAT
            held.check()
            assert [line for line in told if "replay (process" in line and "takes the lock over" in line]
            with pytest.raises(Failure, match="another run took over the lock") as lost:
                dead.check()
            assert lost.value.code == ExitCode.UNUSABLE_WAREHOUSE
            # It stands up again: it neither takes the lock back nor frees it for others.
            dead.release()
            ended = threading.Event()
            heart = threading.Thread(target=dead.beat, args=(ended,))
            heart.start()
            time.sleep(5 * BEAT)
            ended.set()
            heart.join()
            held.check()
            assert json.loads(read_whole(storage, name_of(held.number)))["token"] == held.token
            with pytest.raises(Failure, match="busy with ingest"), lock_on(storage).hold(0, print):
                pass


def test_a_number_that_was_used_long_ago_holds_nothing(storage: Storage) -> None:
    """Who looked before others took several turns writes a number that was cleared away since."""
    for _ in range(3):
        with lock_on(storage).hold(0, print):
            pass
    late = lock_on(storage)
    with lock_on(storage).hold(0, print) as held:
        assert not late.is_taken(2)
        held.check()
        # Its heart may be writing.
        left = [file.name for file in storage.list("_lock") if not file.name.endswith(".begun")]
        assert left == [name_of(held.number)]


def test_a_lock_that_says_nothing_is_told_all_the_same(storage: Storage) -> None:
    write_once(storage, name_of(7), b"")
    with pytest.raises(Failure, match="busy with another run"), lock_on(storage).hold(0, print):
        pass
    with lock_on(storage).hold(60, print) as held:
        assert held.number == 8


def test_a_lock_whose_answer_was_lost_is_ours(s3: str) -> None:
    with proxy(s3) as (url, behaviour):
        storage = storage_at("s3://bucket/answer-lost", options_for(url))
        assert list(storage.list()) == []
        behaviour.next = ["pass", "lose"]
        with lock_on(storage).hold(0, print) as held:
            assert "PUT" in behaviour.requests[2]
            held.check()
            assert held.number == 1
