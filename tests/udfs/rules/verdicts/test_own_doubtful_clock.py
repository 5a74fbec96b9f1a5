"""Our own verdict while it is in doubt which clock wrote the log."""

from typing import Any

import pytest

from tests.builders.tables.own_verdicts import EMPTY, RISING, every, judged
from tests.builders.tables.verdict_history import committed
from udfs.lag.doubtful_times import Doubt


def doubt(begin: int, end: int) -> tuple[Doubt]:
    return (Doubt(begin * 1_000_000, end * 1_000_000, 0),)


STOPPED = committed(*every(2, 2000, 2990, 1500, 1))


@pytest.mark.parametrize(
    ("begin", "end", "rule"),
    [
        (2980, 3100, "clock_went_back"),
        # Its last commit came when the doubt was over, or before it began.
        (1000, 2000, "group_silent"),
        (2990, 3100, "group_silent"),
        (2989, 2991, "clock_went_back"),
    ],
)
def test_who_committed_last_while_the_clock_was_in_doubt_is_not_judged_by_times(
    begin: int, end: int, rule: str
) -> None:
    row = judged(**STOPPED, ends=RISING, doubts=doubt(begin, end))
    assert (row["rule"], row["own_verdict"]) == (rule, "STOP" if rule == "group_silent" else "UNKNOWN")


@pytest.mark.parametrize(("end", "rule"), [(400, "stands_still"), (401, "clock_went_back")])
def test_a_doubt_that_was_over_before_the_window_counts_no_more(end: int, rule: str) -> None:
    given = committed((200, 100), *every(10, 410, 3990, 1000))
    assert judged(**given, ends=RISING, doubts=doubt(150, end))["rule"] == rule


def test_equal_commits_while_the_clock_is_in_doubt_show_no_silence() -> None:
    """The value began before the doubt; it was committed again within it."""
    given = committed(*every(100, 1000, 2900, 1500))
    assert judged(**given, ends=RISING, doubts=doubt(2800, 3000))["rule"] == "clock_went_back"


def test_an_owner_since_a_time_in_doubt_has_perhaps_just_begun() -> None:
    given: dict[str, Any] = {"ownership_intervals": [{"from_time": 1000}], "ends": RISING}
    assert judged(**given)["rule"] == "never_committed"
    assert judged(**given, doubts=doubt(900, 1100))["rule"] == "clock_went_back"
    assert judged(**given, doubts=doubt(1000, 1100))["rule"] == "never_committed"


@pytest.mark.parametrize(("end", "expected"), [(4000, ("caught_up", 0)), (4001, ("clock_went_back", None))])
def test_while_the_clock_is_behind_the_newest_commit_may_be_younger_than_the_newest_end(
    end: int, expected: tuple[str, int | None]
) -> None:
    row = judged(**committed((3000, 4990)), ends=RISING, doubts=doubt(2900, end))
    assert (row["rule"], row["lag"]) == expected
    assert (row["time_lag_ms"] is None) == (expected[1] is None)


def test_a_doubt_that_begins_after_the_time_says_nothing_of_it() -> None:
    assert judged(**STOPPED, ends=RISING, doubts=doubt(4000, 5000))["rule"] == "group_silent"


def test_a_step_back_is_one_by_the_order_of_the_log() -> None:
    given = committed((3000, 900), (3500, 400), (3990, 500))
    assert judged(**given, ends=RISING, doubts=doubt(2900, 3999))["rule"] == "rewound"


def test_a_group_is_not_out_of_use_for_what_a_clock_says() -> None:
    given = {**committed((300, 5)), "ends": RISING, "group_state_intervals": EMPTY}
    assert judged(**given, doubts=doubt(200, 5000))["rule"] == "clock_went_back"
