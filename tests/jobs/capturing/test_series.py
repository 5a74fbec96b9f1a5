"""When a series takes its snapshots, and what it says of those that repeat themselves."""

import pytest

from jobs import capture
from jobs.capture import NewMessages, ticks


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
