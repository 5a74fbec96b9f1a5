"""What progress says, by hand-made numbers, that engines count what is done, and what a real terminal shows of it."""

import re
import sys
import threading

import pytest

from jobs.engine.engine import FinishedTasks, sizes_of
from jobs.engine.task import PlanRow, TaskSpec
from jobs.output import failure, terminal
from jobs.output.progress import Activity
from jobs.output.terminal import Live
from tests.runs.ingested import ROOT
from tests.terminals.terminals import Shown, on_terminal


@pytest.mark.parametrize(
    ("total", "done", "seconds", "line"),
    [
        (0, 0, 12, "replay: 12 s so far"),
        # 25 of 100 in 10 s: 75 more take 30 s.
        (100, 25, 10, "replay: 25% of 100 records, 10 s so far, about 30 s left"),
        # Too little is done to say how long the rest takes.
        (1_000, 1, 10, "replay: 0% of 1,000 records, 10 s so far"),
        (1_000, 500, 1_200, "replay: 50% of 1,000 records, 20 min so far, about 20 min left"),
        (100, 100, 10, "replay: 100% of 100 records, 10 s so far"),
        (1, 0, 4, "replay: 0% of 1 record, 4 s so far"),
    ],
)
def test_the_time_left_is_that_of_what_is_not_done(total: int, done: int, seconds: float, line: str) -> None:
    activity = Activity("replay", started=100.0, total=total, unit="records", done=done)
    assert activity.line(100.0 + seconds) == line


def test_tasks_count_by_their_records_else_their_bytes_else_one_by_one() -> None:
    records = [TaskSpec(None, (PlanRow(1, num_records=n, num_bytes=9), PlanRow(2, num_records=1))) for n in (4, 6)]
    assert sizes_of(records) == ([5, 7], "records")
    assert sizes_of([TaskSpec(None, (PlanRow(1, num_bytes=9),))]) == ([9], "bytes")
    assert sizes_of([TaskSpec(None, (PlanRow(1),))] * 2) == ([1, 1], "tasks")


def test_what_is_done_is_the_sum_of_its_tasks() -> None:
    activity = Activity("replay", started=0.0)
    done = FinishedTasks(activity, [5, 7, 11])
    done.add(0)
    done.add(2)
    assert activity.done == 16
    done.are([1, 2])
    assert activity.done == 18


def working(*words: str, columns: int = 80) -> Shown:
    return on_terminal([sys.executable, "-m", "tests.terminals.stepped_progress", *words], columns, ROOT)


@pytest.fixture(scope="module")
def watched() -> Shown:
    return working()


def live_lines(shown: Shown) -> list[str]:
    return re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", shown.text)


def test_a_live_line_shows_after_three_seconds_how_much_is_done_and_left(watched: Shown) -> None:
    drawn = live_lines(watched)
    # 250 of 1,000 in 3 s: 750 more take three times as long. After 2.9 s it was silent.
    assert drawn[0] == "replay: 25% of 1,000 records, 3 s so far, about 9 s left"
    assert drawn[-1] == "replay: 50% of 1,000 records, 4 s so far, about 4 s left"
    # What took less than three seconds was never shown.
    assert all(line.startswith("replay: ") for line in drawn)


def test_what_is_said_and_printed_takes_the_place_of_the_live_line(watched: Shown) -> None:
    assert watched.screen == ["groupscope: a partition was not seen", "done"]


class AskedLock:
    def __init__(self) -> None:
        self.lock, self.is_asked = threading.RLock(), threading.Event()

    def __enter__(self) -> None:
        self.is_asked.set()
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_a_message_waits_until_a_line_is_drawn_and_then_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events, is_drawing, may_go_on = [], threading.Event(), threading.Event()

    def write(descriptor: int, text: bytes) -> int:
        if b"replay" in text:
            is_drawing.set()
            assert may_go_on.wait(60)
        events.append(text)
        return len(text)

    monkeypatch.setattr(terminal.os, "write", write)
    live = Live()
    live.lock = lock = AskedLock()  # type: ignore[assignment]
    monkeypatch.setattr(failure, "LIVE", live)

    def draw() -> None:
        with live.lock:
            live.draw("replay: 1 s so far")

    drawing = threading.Thread(target=draw)
    saying = threading.Thread(target=failure.say, args=["a partition was not seen"])
    drawing.start()
    assert is_drawing.wait(60)
    lock.is_asked.clear()
    saying.start()
    assert lock.is_asked.wait(60)
    assert capsys.readouterr().err == ""
    may_go_on.set()
    drawing.join()
    saying.join()
    assert events == [b"\rreplay: 1 s so far\x1b[K", b"\r\x1b[K"]
    assert capsys.readouterr().err == "groupscope: a partition was not seen\n"


def test_a_live_line_is_cut_where_the_terminal_is_narrow() -> None:
    drawn = live_lines(working(columns=30))
    assert drawn
    assert {len(line) for line in drawn} == {29}
    assert all(line.startswith("replay: ") and line.endswith("…") for line in drawn)


def test_quiet_shows_no_live_line() -> None:
    quiet = working("--quiet")
    assert "so far" not in quiet.text
    assert quiet.screen == ["groupscope: a partition was not seen", "done"]
