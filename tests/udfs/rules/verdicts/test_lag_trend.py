"""When lag counts as growing, and durations in words."""

import math
import statistics

import numpy as np
import pytest

from udfs.rules.verdicts.lag_trend import Trend, lag_trends
from udfs.sentences.durations import clock_time, in_words


def trend_of(lags: list[int]) -> Trend:
    (result,) = lag_trends(np.array([lags]))
    return result


@pytest.mark.parametrize(
    ("lags", "grows"),
    [
        ([5, 6], True),
        ([5, 5], False),
        ([6, 5], False),
        ([10, 20, 30, 40, 50, 60], True),
        # One dip hides nothing, which silences Burrow's rule.
        ([10, 20, 30, 5, 50, 60], True),
        # One peak says nothing.
        ([10, 10, 10, 10, 10, 900], False),
        ([10, 10, 900, 10, 10, 10], False),
        # A batch reader's saw: large and level.
        ([0, 500, 1000, 0, 500, 1000, 0, 500, 1000], False),
        # It was late and is catching up.
        ([0, 100, 500, 900, 700, 400], False),
        ([0, 0, 100, 200, 600, 900, 800, 600, 500], False),
        ([0, 0, 0, 400, 400, 400, 400, 400, 400], True),
    ],
)
def test_lag_grows_where_its_end_is_above_its_begin_and_it_does_not_fall_again(lags: list[int], grows: bool) -> None:
    assert trend_of(lags).grows(allowed=0) is grows


def test_lags_near_the_largest_number_do_not_fall_because_of_their_sums() -> None:
    largest = 2**63 - 1
    trend = trend_of([0, 0, 0, 0, 3, 3, largest, largest])
    assert not trend.is_falling
    assert trend.grows(allowed=0)


def test_growth_of_no_more_than_the_allowed_lag_is_none() -> None:
    assert trend_of([0, 10]).grows(allowed=9)
    assert not trend_of([0, 10]).grows(allowed=10)


def test_the_parts_of_a_trend() -> None:
    trend = trend_of([0, 10, 20, 30, 40, 50])
    # Through 10 at 0.5 and 40 at 4.5: distances of 6.25, 3.75, 1.25 on either side.
    assert (trend.begin, trend.end, trend.noise, trend.is_falling) == (10, 40, 3.75, False)
    assert trend_of([0, 12, 10]).noise == 0
    assert trend_of([9, 8, 9, 9, 5, 0]).is_falling


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"), (0.04, "0 s"), (2, "2 s"), (2.54, "2.5 s"), (9.7, "9.7 s"), (9.949, "9.9 s"),
        (9.95, "10 s"), (59.4, "59 s"), (60, "1 min"),
        (250, "4 min 10 s"), (3600, "1 h"), (3605, "1 h"), (11_100, "3 h 5 min"), (86_400, "1 d"),
        (190_000, "2 d 4 h"),
    ],
)  # fmt: skip
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(round(seconds * 1_000_000)) == words


def test_clock_times_are_utc() -> None:
    assert clock_time(1_700_000_000_999_999) == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("size", [2, 3, 4, 7, 12, 61])
def test_trends_of_many_partitions_are_those_of_a_loop(rng: np.random.Generator, size: int) -> None:
    lags = rng.integers(0, rng.choice([4, 1000, 2**40]), (40, size))
    assert lag_trends(lags) == [slow_trend(row) for row in lags.tolist()]


def slow_trend(lags: list[int]) -> Trend:
    third = math.ceil(len(lags) / 3)
    begin, end = statistics.median_high(lags[:third]), statistics.median_low(lags[-third:])
    first, last = (third - 1) / 2, len(lags) - 1 - (third - 1) / 2
    line = [begin + (end - begin) * ((place - first) / (last - first)) for place in range(len(lags))]
    noise = statistics.median(abs(lag - at) for lag, at in zip(lags, line, strict=True))
    second = lags[len(lags) // 2 :]
    half = len(second) // 2
    is_falling = half > 0 and statistics.median(second[half:]) < statistics.median(second[:half])
    return Trend(begin, end, noise, is_falling)
