"""Files are closed while their run goes on: whoever ends waits, and what fails is said once."""

import subprocess
import sys
import threading
from functools import partial

import pytest

from jobs.engine.local import LocalEngine
from jobs.engine.task import PlanRow, Step, TaskSpec
from jobs.output.failure import Failure
from jobs.storage import closes
from jobs.storage.closes import Close, begin_close, wait_for_closes
from schemas.words.exit_codes import ExitCode
from tests.processes.odd_tasks import Done, closed_later
from tests.runs.ingested import ROOT

# Of an event that must come.
PATIENCE_SECONDS = 60


@pytest.fixture(autouse=True)
def none_left():
    wait_for_closes()
    yield
    wait_for_closes()


def refused():
    raise OSError(5, "the lease is gone", "hdfs://host/f")


def test_a_file_that_is_readable_is_not_waited_for():
    may_end, looks = threading.Event(), iter([False, False, True])
    close = begin_close(may_end.wait)
    close.wait_until(lambda: next(looks))
    assert not close.ended.is_set()
    assert list(looks) == []
    threading.Timer(0.1, may_end.set).start()
    wait_for_closes()
    assert close.ended.is_set()


def test_a_close_that_fails_before_anything_is_readable_is_said_at_once_and_once():
    close = begin_close(refused)
    with pytest.raises(OSError, match="the lease is gone"):
        close.wait_until(lambda: False)
    wait_for_closes()


def test_a_close_that_fails_later_is_said_at_the_end_also_when_others_have_begun_meanwhile():
    may_end = threading.Event()

    def refused_later():
        may_end.wait()
        refused()

    begin_close(refused_later).wait_until(lambda: True)
    may_end.set()
    for _ in range(3):
        begin_close(lambda: None).wait_until(lambda: False)
    with pytest.raises(OSError, match="the lease is gone"):
        wait_for_closes()
    wait_for_closes()


class AwaitedEnd(threading.Event):
    """The end of a close that says when somebody waits for it."""

    def __init__(self):
        super().__init__()
        self.is_awaited = threading.Event()

    def wait(self, timeout=None):
        self.is_awaited.set()
        return super().wait(timeout)


def test_no_more_than_so_many_are_closed_at_once(monkeypatch):
    """Each close ends only when somebody waits for it."""
    running, most = 0, 0
    is_counting, has_begun = threading.Lock(), threading.Semaphore(0)

    def close(end):
        nonlocal running, most
        with is_counting:
            running += 1
            most = max(most, running)
        has_begun.release()
        assert end.is_awaited.wait(PATIENCE_SECONDS)
        with is_counting:
            running -= 1

    def awaited(_):
        end = AwaitedEnd()
        return Close(partial(close, end), end)

    monkeypatch.setattr(closes, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(closes, "Close", awaited)
    for _ in range(10):
        begin_close(lambda: None)
        assert has_begun.acquire(timeout=PATIENCE_SECONDS)
    wait_for_closes()
    assert (running, most) == (0, 2)


# Its file is closed only after the rest of it has ended.
ENDS = """
import sys, threading, time
from pathlib import Path
from jobs.storage.closes import begin_close

def close():
    threading.main_thread().join()
    # A process that does not wait has ended long before.
    time.sleep(0.5)
    Path(sys.argv[1]).touch()

begin_close(close).wait_until(lambda: True)
sys.exit(3)
"""


def test_a_process_that_ends_waits(tmp_path):
    ended = subprocess.run([sys.executable, "-c", ENDS, str(tmp_path / "closed")], cwd=ROOT, timeout=60, check=False)
    assert ended.returncode == 3
    assert (tmp_path / "closed").exists()


def test_workers_are_waited_for_and_say_what_failed(tmp_path, tmp_path_factory):
    may_close = tmp_path_factory.mktemp("closes") / "may_close"
    with LocalEngine("test", 2, is_debug=False) as engine:
        names = [str(tmp_path / name) for name in ("a", "b")]
        specs = [TaskSpec((name, str(may_close)), (PlanRow(number),)) for number, name in enumerate(names)]
        engine.run(Step(closed_later, Done), specs)
        assert list(tmp_path.iterdir()) == []
        may_close.touch()
        engine.wait_for_closes()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
        may_close.unlink()
        nowhere = (str(tmp_path / "none" / "f"), str(may_close))
        engine.run(Step(closed_later, Done), [TaskSpec(nowhere, (PlanRow(number),)) for number in range(2)])
        may_close.touch()
        with pytest.raises(Failure, match="No such file or directory") as failed:
            engine.wait_for_closes()
        assert failed.value.code == ExitCode.UNUSABLE_WAREHOUSE
        assert str(failed.value).startswith(f"{tmp_path}/none/f: ")
        engine.wait_for_closes()
