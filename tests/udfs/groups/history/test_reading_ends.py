"""When owners stopped reading, rule by rule. Seconds; the stop is second 100, of sessions of 6 s and rebalance timeouts
of 30 s unless a case says otherwise."""

from typing import Final

import pytest

from udfs.groups.history.reading_ends import (
    ASSUMED,
    RECORD,
    SNAPSHOT,
    ReadingEnd,
    Setting,
    Timeouts,
    given_up,
    known_end,
    left_or_timed_out,
    overdue,
    session_expired,
    timeouts_of_record,
    timeouts_of_setting,
    went_away,
)

S: Final = 1_000_000
STOP: Final = 100 * S
CLASSIC: Final = timeouts_of_record(6_000, 30_000)
BESIDE_OTHERS: Final = timeouts_of_record(6_000, 30_000)._replace(join_ms=2_000)
# A group that has a session timeout of its own, and heartbeats as the brokers say.
OWN: Final = timeouts_of_setting(Setting(45_000, 1_000).with_own(6_000, None), 30_000)
SET: Final = timeouts_of_setting(Setting(6_000, 1_000), 30_000)
ASSUMED_SET: Final = timeouts_of_setting(Setting(), 30_000)
# A rebalance timeout below the session timeout.
HASTY: Final = timeouts_of_record(45_000, 10_000)


def seconds(end: ReadingEnd | None) -> tuple[float, float] | None:
    return None if end is None else (end.first_time / S, end.last_time / S)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(given_up(STOP, CLASSIC, None), (70, 100), id="given up"),
        pytest.param(given_up(STOP, CLASSIC, 71 * S), (71, 100), id="given up soon after it got it"),
        pytest.param(given_up(STOP, CLASSIC, 69 * S), (70, 100), id="given up long after it got it"),
        pytest.param(given_up(None, CLASSIC, None), None, id="without a time"),
        pytest.param(session_expired(STOP, CLASSIC, None), (94, 96), id="expired, nobody else there"),
        pytest.param(session_expired(STOP, BESIDE_OTHERS, None), (92, 96), id="expired, others had to learn of it"),
        pytest.param(session_expired(STOP, SET, None), (94, 95), id="expired, heartbeats as set"),
        pytest.param(session_expired(STOP, CLASSIC, 95 * S), (95, 96), id="expired between the bounds of its stay"),
        pytest.param(session_expired(STOP, CLASSIC, 99 * S), (99, 99), id="expired before it can have read"),
        pytest.param(left_or_timed_out(STOP, CLASSIC, None, 9), (70, 100), id="left, as far as known"),
        pytest.param(left_or_timed_out(STOP, HASTY, None, 9), (55, 100), id="a session may have been over too"),
        pytest.param(went_away(STOP, SET, 94 * S, None, None), (94, 94), id="away for a session"),
        pytest.param(went_away(STOP, SET, 95 * S, None, 9 * S), (94, 95), id="away, heard a second before"),
        pytest.param(went_away(STOP, SET, 90 * S, None, 9 * S), (90, 90), id="away for longer than its session"),
        pytest.param(went_away(STOP, SET, 95 * S, 97 * S, 9 * S), (94, 95), id="away, then all were"),
        pytest.param(went_away(STOP, SET, None, None, None), (94, 95), id="away, not known since when"),
        pytest.param(went_away(STOP, ASSUMED_SET, 95 * S, None, 90 * S), (90, 95), id="away soon after it joined"),
        pytest.param(went_away(STOP, ASSUMED_SET, 95 * S, 97 * S, 90 * S), (90, 95), id="all away soon after"),
        pytest.param(overdue(STOP, CLASSIC, None), (70, 80), id="overdue"),
        pytest.param(overdue(STOP, SET, None), (70, 71), id="overdue, heartbeats as set"),
        pytest.param(
            overdue(STOP, timeouts_of_setting(Setting().with_own(None, 2_000), 30_000), None), (70, 72),
            id="overdue, heartbeats as the group sets them",
        ),
        pytest.param(session_expired(STOP, OWN, None), (94, 95), id="expired, by a timeout of the group"),
        pytest.param(known_end(STOP), (100, 100), id="known"),
    ],
)  # fmt: skip
def test_reading_ended_between(result: ReadingEnd | None, expected: tuple[float, float] | None) -> None:
    assert seconds(result) == expected


def test_of_a_group_that_was_stopped_as_a_whole_only_the_time_before_counts() -> None:
    result = went_away(STOP, SET, 95 * S, 97 * S, 9 * S)
    assert result is not None
    assert result.stopped_time == 97 * S


def test_who_may_have_timed_out_has_both_bounds() -> None:
    result, expired = left_or_timed_out(STOP, BESIDE_OTHERS, 93 * S, 9), session_expired(STOP, BESIDE_OTHERS, 93 * S)
    assert result is not None
    assert expired is not None
    assert result.basis is None
    assert (result.silent_offset, *result[-3:]) == (9, expired.first_time, expired.last_time, expired.basis)


@pytest.mark.parametrize(
    ("of", "basis"),
    [
        (CLASSIC, "session timeout 6.0 s from the record, heartbeat interval 2.0 s assumed"),
        (SET, "session timeout 6.0 s from a snapshot, heartbeat interval 1.0 s from a snapshot"),
        (OWN, "session timeout 6.0 s from the group's settings, heartbeat interval 1.0 s from a snapshot"),
        (
            timeouts_of_setting(Setting().with_own(None, 2_000), None),
            "session timeout 45.0 s assumed, heartbeat interval 2.0 s from the group's settings",
        ),
        (timeouts_of_setting(Setting(), None), "session timeout 45.0 s assumed, heartbeat interval 15.0 s assumed"),
    ],
)
def test_what_was_assumed_is_named(of: Timeouts, basis: str) -> None:
    expired = session_expired(STOP, of, None)
    assert expired is not None
    assert expired.basis == basis


def test_a_rebalance_timeout_names_itself() -> None:
    result = overdue(STOP, CLASSIC, None)
    assert result is not None
    assert result.basis == "rebalance timeout 30.0 s from the record, heartbeat interval 10.0 s assumed"


@pytest.mark.parametrize("expected", [None, -1])
def test_without_a_rebalance_timeout_the_session_timeout_stands_for_it(expected: int | None) -> None:
    assert timeouts_of_record(6_000, expected) == Timeouts(6_000, RECORD, 2_000, ASSUMED, 6_000)
    assert timeouts_of_setting(Setting(9_000, None), expected) == Timeouts(9_000, SNAPSHOT, 3_000, ASSUMED, 9_000)
