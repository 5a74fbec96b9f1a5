"""When times are in doubt, against plain loops over the records."""

import numpy as np
import pytest

from tests.builders.tables.lag_histories import SECOND
from tests.oracles.lag.lag_at_snapshots import doubts_of
from udfs.arrays.nullable import NONE
from udfs.lag import doubtful_times as module
from udfs.lag.doubtful_times import STILL, ClockWatch, Doubt, DoubtfulTimes, doubtful_times


def doubts_at(*seconds: float) -> list[tuple[float | None, float | None, int]]:
    times = np.array([round(each * SECOND) for each in seconds])
    return [
        (None if each.begin == NONE else each.begin / SECOND, None if each.end == STILL else each.end / SECOND,
         each.last_offset)
        for each in doubtful_times(np.arange(len(times)), times).doubts
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "doubts"),
    [
        ((10, 20, 30), []),
        # A second is what clocks of brokers may differ by.
        ((10, 20, 19), []),
        ((10, 20, 18.9, 30), [(10, 30, 3)]),
        # Ahead for a while: silent at first, as it looks.
        ((10, 100, 110, 30, 40, 120), [(10, 120, 5)]),
        # Behind all that is known, and still behind.
        ((10, 20, 5, 6), [(None, None, 3)]),
        # Equal to the time to which it goes back is not before it.
        ((10, 20, 40, 20, 50), [(10, 50, 4)]),
        # Back once more before it has caught up: one doubt, from before the deepest step.
        ((10, 20, 30, 25, 28, 15, 29, 31), [(10, 31, 7)]),
        ((10, 30, 20, 40, 50, 45, 60), [(10, 40, 3), (40, 60, 6)]),
        ((10, 30, 20, 40, 50, 35, 60), [(10, 60, 6)]),
    ],
)
def test_times_are_in_doubt_around_a_step_back(seconds: tuple[float, ...], doubts: list[object]) -> None:
    assert doubts_at(*seconds) == doubts


def test_any_record_says_what_a_plain_loop_says(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_LOOK", 2)
    for _ in range(200):
        times = (np.cumsum(rng.choice([0, 1, 2, -3, 9, -8], 25, p=[0.1, 0.4, 0.3, 0.1, 0.05, 0.05])) + 50) * SECOND
        asked = np.arange(0, 120) * SECOND
        slow = doubts_of(times.tolist())
        expected = [any(begin < time < end for begin, end in slow) for time in asked.tolist()]
        fast = doubtful_times(np.arange(len(times)), times)
        assert fast.at(asked).tolist() == expected
        assert [(-np.inf if each.begin == NONE else each.begin, np.inf if each.end == STILL else each.end)
                for each in fast.doubts] == slow  # fmt: skip
        assert bool(fast) == bool(slow)


def test_a_record_without_a_time_says_nothing() -> None:
    times = np.array([10 * SECOND, NONE, 20 * SECOND])
    assert not doubtful_times(np.arange(3), times)
    assert not doubtful_times(np.arange(1), times[1:2])


@pytest.mark.parametrize(
    ("begin", "end", "is_within"),
    [(0, 10, False), (0, 11, True), (11, 12, True), (19, 30, True), (20, 30, False), (0, 30, True)],
)
def test_a_span_is_in_doubt_when_any_time_of_it_is(begin: int, end: int, is_within: bool) -> None:
    doubtful = DoubtfulTimes((Doubt(10, 20, 0),))
    assert doubtful.within(np.array([begin]), np.array([end])).tolist() == [is_within]


def test_times_in_doubt_become_none_and_no_others() -> None:
    doubtful = DoubtfulTimes((Doubt(10, 20, 0), Doubt(NONE, 5, 0)))
    assert doubtful.without(np.array([4, 5, 10, 11, 19, 20, NONE])).tolist() == [NONE, 5, 10, NONE, NONE, 20, NONE]


@pytest.mark.parametrize(
    ("parts", "may_be"),
    [
        ([[(0, 10), (1, 20)], [(2, 30)]], False),
        ([[(0, 10), (1, 20)], [(2, 19)]], False),
        ([[(0, 10), (1, 20)], [(2, 18)]], True),
        ([[(0, 10), (1, 20), (2, 18), (3, 30)]], True),
        # The largest time so far counts, not the one before.
        ([[(0, 10), (1, 20)], [(2, 19)], [(3, 18)]], True),
        # Out of order: another look decides.
        ([[(2, 30)], [(0, 10), (1, 20)]], True),
        ([[(0, 10), (1, 20)], [(1, 20), (2, 30)]], True),
        ([[]], False),
    ],
)
def test_a_watch_over_parts_of_the_log_sees_each_step_back(parts: list[list[tuple[int, int]]], may_be: bool) -> None:
    watch = ClockWatch()
    for part in parts:
        offsets, seconds = np.array(part, np.int64).reshape(-1, 2).T
        watch.look_at(offsets, seconds * SECOND)
    assert watch.has_gone_back == may_be
