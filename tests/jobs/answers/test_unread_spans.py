"""When partitions were unread, by their moves and by what is known of their owners, and how a drawing shows it."""

from datetime import datetime
from typing import Any

import pytest

from jobs.answers.events.drawing import Axis, legend, slices_text
from jobs.answers.events.rebalance import unread_since
from jobs.answers.events.unread_cost import taken_cost
from jobs.answers.events.unread_spans import Unread, Waits, taken, unread_by_event, unread_span
from tests.builders.tables.history import at

# One second a slice.
AXIS = Axis(at(0), at(60), 60)
Row = dict[str, Any]


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else at(seconds)


def move(second: float, to: str | None = None, unread: tuple[int, int] | None = None, **more: Any) -> Row:
    """`unread`: bounds in milliseconds."""
    low, high = unread or (None, None)
    place = {"topic": "t", "topic_id": None, "partition": 0, "role": None}
    times = {"assignment_offset": int(second), "move_offset": int(second), "move_time": at(second)}
    return {**place, **times, "to_member_id": to, "unread_low_ms": low, "unread_high_ms": high, **more}


def owned(
    begin: float, end: float | None, doubt: float | None = None, phase: str = "assigned", member: str = "a"
) -> Row:
    times = {"from_time": at(begin), "to_time": moment(end), "reader_doubt_from_time": moment(doubt)}
    return {"member_id": member, "phase": phase, "from_record_offset": int(begin), **times}


@pytest.mark.parametrize(
    ("stays", "first", "end"),
    [
        pytest.param([], 43, 55, id="without owners the bound is all that there is"),
        pytest.param([owned(0, 50, doubt=44)], 44, 56, id="from its doubt the upper bound goes beyond the record"),
        pytest.param([owned(0, 50)], 43, 55, id="nothing shows a doubt"),
        pytest.param([owned(0, 45, 44), owned(45, 50, 45, "held")], 44, 56, id="phases follow each other"),
        pytest.param([owned(0, 44, 44), owned(44, 50, None)], 44, 56, id="the doubt was in an earlier phase"),
        pytest.param([owned(0, 20, 15), owned(30, 50, 46)], 46, 58, id="an earlier stay is another one"),
        pytest.param([owned(0, 20, 15, member="b"), owned(20, 50, 46)], 46, 58, id="another member is another one"),
        pytest.param([owned(0, 50, 44), owned(55, None, 58, member="b")], 44, 56, id="the new owner is another one"),
    ],
)  # fmt: skip
def test_a_partition_is_unread_from_the_doubt_about_its_owner_on(stays: list[Row], first: float, end: float) -> None:
    assert unread_span(move(55, "b", (5_000, 12_000)), stays) == (at(first), at(50), at(55), at(end))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(move(55), id="nobody has it yet"),
        pytest.param(move(55, "b"), id="unknown"),
        pytest.param(move(55, "b", (0, 0)), id="there was nothing to read"),
        pytest.param(move(55, "b", (0, 9), move_time=None), id="the record has no time"),
    ],
)
def test_without_bounds_there_is_no_span(row: Row) -> None:
    assert unread_span(row, [owned(0, 50, 44)]) is None


NO_MEMBERS = Waits(has_members=False)
# Partition 0 is taken and given back; 1 is taken; 2 goes from one to another; 3 is a standby task.
MOVES = [
    move(10),
    move(10, partition=1),
    move(10, partition=2, to="b", unread=(1_000, 2_000)),
    move(10, partition=3, role="standby"),
    move(30, "b", (20_000, 25_000)),
    move(30, "b", (20_500, 24_000), partition=4),
]


def test_a_partition_that_was_taken_waits_until_somebody_has_it() -> None:
    assert [(left, later) for left, later in taken(MOVES)] == [(MOVES[0], MOVES[4]), (MOVES[1], None)]
    assert unread_by_event(MOVES, NO_MEMBERS) == {
        10: Unread(1_000, 2_000, 1_000, 2_000, at(10), 1),
        30: Unread(20_000, 25_000, 40_500, 49_000, None),
    }
    assert unread_by_event(MOVES, NO_MEMBERS)[10].cost_ms(at(17)) == 2_000 + 7_000
    # If there are members, a topic may have gone.
    assert unread_by_event(MOVES, Waits(has_members=True))[10].since is None
    # Snapshots may show that only the leader does not know it.
    with_stale = Waits(has_members=True, stale_topics=frozenset({"t"}))
    assert unread_by_event(MOVES, with_stale) == unread_by_event(MOVES, NO_MEMBERS)
    others = Waits(has_members=True, stale_topics=frozenset({"u"}))
    assert unread_by_event(MOVES, others)[10].since is None


def test_time_before_a_partition_was_taken_belongs_to_the_event_that_took_it() -> None:
    """Not to the one that gave it to somebody later."""
    owners = [
        {**MOVES[place], **owned(0, 9, doubt), "to_record_offset": 9}
        for place, doubt in ((0, 5), (1, 6), (2, None), (4, 7))
    ]
    assert unread_since(MOVES, owners) == {10: at(5)}
    assert unread_since(MOVES, owners[1:2]) == {10: at(6)}
    # It came later.
    assert unread_since(MOVES, [{**owners[0], "to_record_offset": 11}]) == {30: at(5)}
    assert unread_since(MOVES, [{**owners[0], "to_record_offset": 31}, {**owners[0], "to_record_offset": None}]) == {}


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        ([], None),
        (MOVES[:1] + MOVES[4:5],
         "1 partition had no owner until 2026-11-21T03:00:30.000Z: unread for 20.0 to 25.0 s by then"),
        ([move(10), move(10, partition=1), *MOVES[4:5], move(31, "b", (21_000, 26_000), partition=1)],
         "2 partitions had no owner until 2026-11-21T03:00:31.000Z: unread for 20.0 to 26.0 s each by then"),
        ([move(10), move(30, "b")], "1 partition had no owner until 2026-11-21T03:00:30.000Z"),
        ([move(10, move_time=None), move(30, "b", move_time=None)], "1 partition had no owner for a time"),
        ([move(10), move(10, partition=1)], "2 partitions have had no owner since 2026-11-21T03:00:10.000Z"),
        ([move(10, move_time=None)], "1 partition has had no owner since then"),
    ],
)  # fmt: skip
def test_the_event_that_took_partitions_says_what_became_of_them(some: list[Row], expected: str | None) -> None:
    assert taken_cost(list(taken(some))) == expected


def test_a_held_partition_has_its_own_sign_and_is_unread_only_before() -> None:
    stays = [owned(0, 10, 8), owned(10, 55, 10, "held")]
    drawn = slices_text(AXIS, stays, move(55), {"a": "A"})
    assert drawn == "A" * 8 + "??" + "-" * 45 + "....."
    assert legend({"a": "A"}, drawn) == [
        "A = a",
        ". = no owner  - = held for a static member that is away  ? = perhaps unread by its owner",
    ]


def test_the_new_owner_may_not_have_got_the_partition_yet() -> None:
    """Of 16 s from the doubt about the old owner, 3 s are after the record."""
    stays = [owned(0, 50, 42), owned(55, None, member="b")]
    drawn = slices_text(AXIS, stays, move(55, "b", (5_000, 16_000)), {"a": "A", "b": "B"})
    assert drawn == "A" * 42 + "?" * 8 + "....." + "???BB"


def test_without_a_doubt_a_drawing_goes_by_the_bounds() -> None:
    stays = [owned(0, 55), owned(55, None, member="b")]
    drawn = slices_text(AXIS, stays, move(55, "b", (5_000, 7_000)), {"a": "A", "b": "B"})
    assert drawn == "A" * 48 + "?" * 7 + "B" * 5
