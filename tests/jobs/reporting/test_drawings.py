"""Drawings against positions worked out by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from jobs.output.zones import in_zone
from jobs.reporting.drawings.assignment_matrix import assignment_matrix
from jobs.reporting.drawings.lag_chart import lag_chart
from jobs.reporting.drawings.member_bar import member_numbers, member_pattern
from jobs.reporting.drawings.member_intervals import member_intervals
from jobs.reporting.drawings.ownership_map import MOST_PARTITIONS, ownership_map
from jobs.reporting.drawings.state_timeline import state_timeline
from jobs.reporting.drawings.svg import element
from jobs.reporting.drawings.time_axis import TimeAxis
from jobs.reporting.rows.listings import moment
from tests.oracles.pages.drawn import AXIS, at, boxes, move, rebalance, stay, texts, x
from tests.oracles.pages.parsed_pages import parsed

NUMBERS = {"a": 1, "b": 2}


def test_texts_and_attributes_of_elements_are_escaped() -> None:
    drawn = element("text", "<b>&", title='"><b>')
    assert drawn == '<text title="&#34;&gt;&lt;b&gt;">&lt;b&gt;&amp;</text>'


def state(word: str, start: float, end: float | None) -> dict[str, Any]:
    return {"state": word, "from_time": at(start), "to_time": None if end is None else at(end), "num_members": 2}


def test_states_lie_where_their_time_is_and_an_open_one_goes_to_the_edge() -> None:
    drawn = state_timeline([state("Stable", 0, 50), state("Empty", 50, None), state("Odd", 60, 61)], [], AXIS)
    assert boxes(drawn, "stable") == [(x(0), 400, 30)]
    assert boxes(drawn, "empty") == [(x(50), 400, 30)]
    assert boxes(drawn, "unknown") == [(x(60), 8, 30)]
    assert texts(drawn, "on-bar") == ["Stable", "Empty"]


def test_rebalances_have_the_letter_of_their_cause_and_a_storm_its_number() -> None:
    # 13 units are 1.6 seconds: 40, 41 and 42 are one blot.
    causes = [(10, "member_joined"), (40, "member_left"), (41, "member_left"), (42, "member_left"), (80, "odd")]
    drawn = state_timeline([], [rebalance(second, cause) for second, cause in causes], AXIS)
    assert texts(drawn, "cause") == ["J", "3 ×", "?"]  # noqa: RUF001
    assert len(parsed(drawn).all("line", class_="rebalance")) == 5


def test_what_is_outside_of_the_time_is_not_drawn_and_what_reaches_in_is_cut() -> None:
    drawn = state_timeline([state("Stable", -50, -10), state("Empty", -5, 5)], [rebalance(-20)], AXIS)
    assert boxes(drawn, "stable") == [] and texts(drawn, "cause") == []
    assert boxes(drawn, "empty") == [(x(0), 40, 30)]


def test_a_rebalance_of_milliseconds_is_seen_among_days() -> None:
    days = TimeAxis(at(0), at(30 * 86_400))
    drawn = state_timeline([state("CompletingRebalance", 1_000, 1_000.02)], [], days)
    assert [width for _, width, _ in boxes(drawn, "completing")] == [1.5]


def test_the_map_has_a_row_a_partition_and_hatches_what_may_be_unread() -> None:
    owners = [stay("a", 0, 0, 40), stay("b", 0, 45, None), stay("a", 1, 0, None)]
    moves = [
        move(0, "a", "b", move_time=at(45), unread_low_ms=5_000, unread_high_ms=15_000),
        move(1, "a", "b", move_time=at(45), unread_low_ms=None, unread_high_ms=None),
    ]
    drawn = ownership_map(owners, moves, NUMBERS, AXIS)
    assert texts(drawn, "label") == ["orders-0", "orders-1"]
    assert boxes(drawn, "m0") == [(x(0), 320, 2), (x(0), 800, 20)]
    assert boxes(drawn, "m1") == [(x(45), 440, 2)]
    assert boxes(drawn, "unowned") == [(x(40), 40, 2)]
    assert boxes(drawn, "unread") == [(x(30), 120, 2)]
    # The first sign that it may have stopped; then 10 s of the 15 are before the new owner had it by the records.
    owners[0] |= {"reader_doubt_from_time": at(35)}
    assert boxes(ownership_map(owners, moves, NUMBERS, AXIS), "unread") == [(x(35), 120, 2)]


def test_a_held_partition_is_a_thin_bar_that_nobody_reads() -> None:
    held = stay("a", 0, 20, 65, phase="held", reader_doubt_from_time=at(20))
    owners = [stay("a", 0, 0, 20, reader_doubt_from_time=at(18)), held, stay("b", 0, 65, None)]
    drawn = ownership_map(owners, [], NUMBERS, AXIS)
    assert boxes(drawn, "m0") == [(x(0), 160, 2), (x(20), 360, 7)]
    assert boxes(drawn, "unread") == [(x(18), 16, 2), (x(20), 360, 2)]
    # With the move that ended it, it is one time, from the first doubt on.
    moves = [move(0, "a", "b", move_time=at(65), unread_low_ms=45_000, unread_high_ms=47_000)]
    assert boxes(ownership_map(owners, moves, NUMBERS, AXIS), "unread") == [(x(18), 47 * 8, 2)]
    # It goes on.
    drawn = ownership_map([owners[0], held | {"to_time": None}], [], NUMBERS, AXIS)
    assert boxes(drawn, "unread")[1:] == [(x(20), 640, 2)]


def test_owners_at_the_same_time_leave_no_gap_between_them() -> None:
    """As those of a share group."""
    owners = [stay("a", 0, 0, 60), stay("b", 0, 10, 20), stay("b", 0, 30, 40)]
    assert boxes(ownership_map(owners, [], NUMBERS, AXIS), "unowned") == []


def test_of_many_partitions_those_that_changed_hands_are_shown() -> None:
    quiet = [stay("a", number, 0, None) for number in range(100)]
    moved = [stay("a", 99, 0, 5), stay("b", 99, 5, None)]
    drawn = ownership_map([*quiet, *moved], [], NUMBERS, AXIS)
    labels = texts(drawn, "label")
    assert len(labels) == MOST_PARTITIONS and "orders-99" in labels
    assert "68 more are in the table below" in parsed(drawn).one("desc").text


def test_members_that_share_a_colour_differ_by_pattern() -> None:
    numbers = member_numbers([{"member_id": f"m{each}"} for each in (3, 1, 3, 2)])
    assert numbers == {"m3": 1, "m1": 2, "m2": 3}
    assert [member_pattern(number) for number in (1, 7, 8, 14, 15, 22)] == [
        "plain", "plain", "stripes", "stripes", "dots", "plain",
    ]  # fmt: skip


def test_a_member_that_left_says_how() -> None:
    stays = [
        stay("a", 0, 10, 30, leave_kind="session_timeout_likely", client_host="/10.0.0.7", client_id="pay"),
        stay("b", 0, 30, None, leave_kind=None, client_host=None),
    ]
    drawn = member_intervals(stays, NUMBERS, AXIS)
    assert texts(drawn, "label") == ["M1 pay", "M2 b"]
    assert texts(drawn, "note") == ["session timeout likely"]
    assert boxes(drawn, "m0") == [(x(10), 160, 3)]


def point(second: float, lag: int | None, num_unknown: int = 0) -> dict[str, Any]:
    return {"snapshot_time": at(second), "lag": lag, "num_unknown": num_unknown}


def test_an_unknown_lag_breaks_the_line_and_is_no_zero() -> None:
    points = [point(0, 0), point(10, 50), point(20, None, 1), point(30, 100, 1), point(40, 100), point(50, 100)]
    lines = parsed(lag_chart(points, [], [], [], AXIS)).all("polyline")
    # 76 high from 88 upwards, 100 messages at the top.
    assert [each.attributes["points"] for each in lines] == ["190.0,88.0 270.0,50.0", "510.0,12.0 590.0,12.0"]


def test_labels_of_the_chart_are_whole_however_large_their_numbers() -> None:
    rates = [{"bucket_time": at(0), "bucket_ms": 10_000, "messages_consumed_per_s": 123_456_789.5}]
    drawn = lag_chart([point(0, 9_876_543_210_123)], rates, [], [], AXIS)
    assert texts(drawn, "label") == [
        "lag in messages", "up to 9,876,543,210,123", "messages read a second", "up to 123,456,789.5",
    ]  # fmt: skip


def test_rates_are_bars_as_long_as_their_bucket() -> None:
    rates = [
        {"bucket_time": at(0), "bucket_ms": 10_000, "messages_consumed_per_s": 5.0},
        {"bucket_time": at(10), "bucket_ms": 10_000, "messages_consumed_per_s": 10.0},
        {"bucket_time": at(20), "bucket_ms": 10_000, "messages_consumed_per_s": None},
    ]
    bars = boxes(lag_chart([], rates, [], [], AXIS), "rate")
    assert bars == [(x(0), 79, 140), (x(10), 79, 102)]


def test_resets_and_rebalances_are_marked_in_the_chart() -> None:
    resets = [{"at_time": at(25), "topic": "orders", "kind": "to_earliest", "actor": "admin_likely"}]
    drawn = parsed(lag_chart([], [], resets, [rebalance(50)], AXIS))
    assert [each.attributes["x1"] for each in drawn.all("line", class_="reset")] == ["390"]
    assert [each.attributes["x1"] for each in drawn.all("line", class_="rebalance")] == ["590"]
    assert "orders to_earliest by admin_likely" in drawn.text


def member(name: str, before: list[int], after: list[int]) -> dict[str, Any]:
    both = {"previous_assigned": before, "assigned": after}
    columns = {key: [{"topic": "t", "topic_id": None, "partitions": some}] for key, some in both.items()}
    return {"member_id": name, **columns}


def test_the_matrix_distinguishes_before_after_and_drift() -> None:
    differences = [{"topic": "t", "topic_id": None, "partition": 2, "expected_member_id": "a"}]
    drawn = parsed(assignment_matrix([member("b", [1, 2], [2]), member("a", [0], [0, 1])], differences, NUMBERS))
    assert [each.words for each in drawn.all("text", class_="label")] == ["M1", "M2", "t-0", "t-1", "t-2"]
    # Columns of 56 from 190 on, rows of 18 from 22 on: where each mark is.
    places = {
        kind: [(each.attributes["cx"], each.attributes["cy"]) for each in drawn.all("circle", class_=kind)]
        for kind in ("before", "after", "kept")
    }
    assert places == {
        "before": [("274", "48")],
        "after": [("218", "48")],
        "kept": [("218", "30"), ("274", "66")],
    }
    assert [each.attributes["x"] for each in drawn.all("rect", class_="expected")] == ["210"]
    assert len(drawn.all("rect", class_="moved-row")) == 1
    assert (
        drawn.one("desc").text == "partitions: 3, changed: 1, other owner than Kafka's assignor computes: 1, members: 2"
    )


@pytest.mark.parametrize(
    ("first", "last", "hours"),
    [
        ("2026-03-28T23:00Z", "2026-03-29T04:00Z", {"00": 23, "01": 24, "03": 25, "04": 26, "05": 27, "06": 28}),
        # Of the hour that comes twice the first time has ticks.
        ("2026-10-24T22:00Z", "2026-10-25T03:00Z", {"00": 22, "01": 23, "02": 24, "03": 26, "04": 27}),
    ],
)
def test_ticks_are_full_hours_of_the_zone_also_where_its_clocks_are_changed(
    first: str, last: str, hours: dict[str, int]
) -> None:
    """By hour: since midnight of the first day in UTC."""
    start, end = map(datetime.fromisoformat, (first, last))
    midnight = start.replace(hour=0)
    with in_zone(ZoneInfo("Europe/Berlin")):
        ticks = list(TimeAxis(start, end).ticks())
    assert {label: (tick - midnight) / timedelta(hours=1) for tick, label in ticks} == {
        f"{hour}:00": since for hour, since in hours.items()
    }


def test_a_time_of_the_hour_that_comes_twice_has_its_offset() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    with in_zone(ZoneInfo("Europe/Berlin")):
        shown = [moment(first + timedelta(hours=hours)) for hours in (-1, 0, 1, 2)]
    assert shown == [
        "2026-10-25 01:30:00.000",
        "2026-10-25 02:30:00.000+02:00",
        "2026-10-25 02:30:00.000+01:00",
        "2026-10-25 03:30:00.000",
    ]
    assert moment(first) == "2026-10-25 00:30:00.000"


def test_ticks_are_round_times_and_few() -> None:
    ticks = [label for _, label in AXIS.ticks()]
    # NOW is 03:00:00 sharp.
    assert ticks == ["03:00:00", "03:00:15", "03:00:30", "03:00:45", "03:01:00", "03:01:15", "03:01:30"]
    month = [label for _, label in TimeAxis(at(0), at(30 * 86_400)).ticks()]
    assert month == ["2026-11-26", "2026-12-03", "2026-12-10", "2026-12-17"]
