"""When owners stopped reading, rule by rule. Seconds; the stop is second 100, of sessions of 6 s and rebalance timeouts
of 30 s unless a case says otherwise."""

from typing import Final

import pytest

from schemas.words.history import LeaveKind
from udfs.groups.history.reading_ends import (
    ASSUMED,
    RECORD,
    SNAPSHOT,
    Begin,
    ReadingEnd,
    Setting,
    Timeouts,
    given_up,
    grown,
    known_end,
    left_or_timed_out,
    overdue,
    session_expired,
    timeouts_of_record,
    timeouts_of_setting,
    unbounded,
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


def seconds(end: ReadingEnd) -> tuple[float | None, float | None]:
    first, last = (None if time is None else time / S for time in (end.first_time, end.last_time))
    return first, last


def since(second: float | None) -> Begin:
    return Begin(None if second is None else round(second * S))


GONE: Final = "m", 9


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(given_up(STOP, CLASSIC, since(None)), (70, 100), id="given up"),
        pytest.param(given_up(STOP, CLASSIC, since(71)), (71, 100), id="given up soon after it got it"),
        pytest.param(given_up(STOP, CLASSIC, since(69)), (70, 100), id="given up long after it got it"),
        pytest.param(given_up(None, CLASSIC, since(None)), (None, None), id="without a time"),
        pytest.param(unbounded(STOP), (None, 100), id="records may be missing"),
        pytest.param(session_expired(STOP, CLASSIC, since(None)), (94, 96), id="expired, nobody else there"),
        pytest.param(session_expired(STOP, BESIDE_OTHERS, since(None)), (92, 96), id="others had to join again"),
        pytest.param(session_expired(STOP, SET, since(None)), (94, 95), id="expired, heartbeats as set"),
        pytest.param(session_expired(STOP, CLASSIC, since(95)), (95, 96), id="expired between the bounds of its stay"),
        pytest.param(session_expired(STOP, CLASSIC, since(99)), (99, 99), id="expired before it can have read"),
        pytest.param(
            session_expired(STOP, SET._replace(is_restarted=True), since(None)), (None, 95),
            id="expired after a failover",
        ),
        pytest.param(left_or_timed_out(STOP, CLASSIC, since(None), *GONE), (70, 100), id="left, as far as known"),
        pytest.param(left_or_timed_out(STOP, HASTY, since(None), *GONE), (55, 100), id="a session may be over too"),
        pytest.param(went_away(STOP, SET, 94 * S, since(None)), (64, 94), id="away for a session"),
        pytest.param(went_away(STOP, SET, 20 * S, since(9)), (9, 20), id="away for longer than its session"),
        pytest.param(went_away(STOP, SET, None, since(None)), (94, 95), id="away, not known since when"),
        pytest.param(went_away(STOP, ASSUMED_SET, 95 * S, since(90)), (90, 95), id="away soon after it joined"),
        pytest.param(overdue(STOP, CLASSIC, since(None)), (70, 72), id="overdue"),
        pytest.param(overdue(STOP, SET, since(None)), (70, 71), id="overdue, heartbeats as set"),
        pytest.param(
            overdue(STOP, timeouts_of_setting(Setting().with_own(None, 2_000), 30_000), since(None)), (70, 72),
            id="overdue, heartbeats as the group sets them",
        ),
        pytest.param(session_expired(STOP, OWN, since(None)), (94, 95), id="expired, by a timeout of the group"),
        pytest.param(known_end(STOP), (100, 100), id="known"),
        pytest.param(grown(STOP, 98 * S, 99 * S), (98, 99), id="new, and seen by then"),
        pytest.param(grown(STOP, 98 * S, None), (98, 100), id="new, not seen yet"),
    ],
)  # fmt: skip
def test_reading_ended_between(result: ReadingEnd, expected: tuple[float | None, float | None]) -> None:
    assert seconds(result) == expected


def test_where_nothing_was_committed_the_records_say_it() -> None:
    """Who stays is taken to read until the record; of one that is gone others hear within a heartbeat interval."""
    assert given_up(STOP, CLASSIC, since(None)).alone_time == STOP
    assert went_away(STOP, SET, 94 * S, since(None)).alone_time == 94 * S
    gone = left_or_timed_out(STOP, SET, since(None), *GONE)
    assert (gone.alone_time, gone.left_time) == (93 * S, 99 * S)
    assert (gone.settle(LeaveKind.LEFT).alone_time, gone.settle(None).alone_time) == (99 * S, 93 * S)
    assert gone.settle(LeaveKind.SESSION_TIMEOUT_LIKELY) == session_expired(STOP, SET, since(None))


def test_who_was_asked_to_give_a_partition_up_read_no_longer_than_that() -> None:
    told = Begin(99 * S, is_told=True)
    assert given_up(STOP, CLASSIC, told).is_told
    assert session_expired(STOP, CLASSIC, told).is_told
    assert overdue(STOP, CLASSIC, told).is_told
    assert went_away(STOP, SET, 94 * S, told).is_told
    assert left_or_timed_out(STOP, SET, told, *GONE).settle(LeaveKind.SESSION_TIMEOUT_LIKELY).is_told
    assert not given_up(STOP, CLASSIC, since(99)).is_told


def test_who_may_have_timed_out_has_both_bounds() -> None:
    result = left_or_timed_out(STOP, BESIDE_OTHERS, since(93), *GONE)
    expired = session_expired(STOP, BESIDE_OTHERS, since(93))
    assert result.basis is None
    assert (result.silent_id, result.silent_offset) == GONE
    assert result[5:8] == expired[1:4]


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
        (timeouts_of_setting(Setting(), None), "session timeout 45.0 s assumed, heartbeat interval 5.0 s assumed"),
    ],
)
def test_what_was_assumed_is_named(of: Timeouts, basis: str) -> None:
    expired = session_expired(STOP, of, since(None))
    assert expired.basis == basis


def test_a_rebalance_timeout_names_itself() -> None:
    result = overdue(STOP, CLASSIC, since(None))
    assert result.basis == "rebalance timeout 30.0 s from the record, heartbeat interval 2.0 s assumed"


@pytest.mark.parametrize("expected", [None, -1])
def test_without_a_rebalance_timeout_the_session_timeout_stands_for_it(expected: int | None) -> None:
    assert timeouts_of_record(6_000, expected) == Timeouts(6_000, RECORD, 2_000, ASSUMED, 6_000)
    # Clients of classic groups send their heartbeats every three seconds, unless that is rarer than they should.
    assert timeouts_of_record(45_000, expected).heartbeat_ms == 3_000
    assert timeouts_of_setting(Setting(9_000, None), expected) == Timeouts(9_000, SNAPSHOT, 5_000, ASSUMED, 9_000)
