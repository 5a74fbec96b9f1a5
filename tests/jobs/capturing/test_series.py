"""When a series takes its snapshots, and what it says of those that repeat themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import capture, cli
from jobs.capture import NewMessages, ticks
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

SNAPSHOT: dict[str, Any] = {"captured_at": 1_795_282_587_379, "topics": []}


class Clock:
    """Time that goes by when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    monkeypatch.setattr(capture, "time", result)
    return result


def times(clock: Clock, every: float | None, lasting: float | None, *work: float) -> list[float]:
    """Of each snapshot since the first; `work` is what one takes, the last of it all later ones."""
    begin, result = clock.now, []
    for _ in ticks(every, lasting):
        result.append(clock.now - begin)
        clock.now += work[min(len(result), len(work)) - 1]
    return result


@pytest.mark.parametrize(
    ("every", "lasting", "work", "expected"),
    [
        (None, None, [3], [0]),
        (10, 60, [0], [0, 10, 20, 30, 40, 50]),
        (10, 60, [9], [0, 10, 20, 30, 40, 50]),
        # One that takes longer than its turn leaves out the turns that it missed.
        (10, 60, [25, 1], [0, 30, 40, 50]),
        (10, 60, [10, 1], [0, 10, 20, 30, 40, 50]),
        (10, 5, [0], [0]),
        (10, 60, [99], [0]),
        (10, 10.5, [0], [0, 10]),
    ],
)
def test_a_series_stays_on_its_grid(
    clock: Clock, every: float | None, lasting: float | None, work: list[float], expected: list[float]
) -> None:
    assert times(clock, every, lasting, *work) == expected


def test_what_is_reported_again_and_again_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    reported = NewMessages()
    for lines in (["a", "b", "a"], ["a"], ["b"], [], ["b"]):
        for line in lines:
            reported(line)
        reported.next()
    said = [line.removeprefix("groupscope: ") for line in capsys.readouterr().err.splitlines()]
    assert said == ["a", "b", "b", "b"]


@pytest.mark.parametrize("error", [RuntimeError("odd"), OSError("gone"), Failure(ExitCode.UNREADABLE_INPUT, "away")])
def test_whatever_goes_wrong_with_one_snapshot_a_series_goes_on(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    taken: Iterator[dict[str, Any] | Exception] = iter([SNAPSHOT, error, *[SNAPSHOT] * 99])

    def snapshot_or_error(*_: object) -> dict[str, Any]:
        each = next(taken)
        if isinstance(each, Exception):
            raise each
        return each

    monkeypatch.setattr(capture, "snapshot_of", snapshot_or_error)
    words = ["--source", "kafka:127.0.0.1:1", "--into", str(tmp_path / "s"), "--every", "0.02", "--for", "0.3"]
    code = cli.main(["capture", *words, "--debug"])
    assert code == (ExitCode.FAILED if isinstance(error, RuntimeError) else ExitCode.UNREADABLE_INPUT)
    assert len((tmp_path / "s").read_text().splitlines()) > 1
    said = capfd.readouterr().err
    assert "in snapshot_or_error" in said
    (line,) = (line for line in said.splitlines() if "no snapshot" in line)
    assert str(error) in line
