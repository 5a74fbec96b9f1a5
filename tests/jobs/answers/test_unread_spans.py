"""When partitions were unread that a rebalance took from static members, and how a drawing shows it."""

from datetime import datetime
from typing import Any

import pytest

from jobs.answers.events.drawing import Axis, legend, slices_text
from jobs.answers.events.story import sentence
from jobs.answers.events.unread_spans import away_words, unread_span
from tests.builders.tables.history import at

# One second a slice.
AXIS = Axis(at(0), at(60), 60)


def there(member: str, begin: float, end: float | None, away: float | None = None) -> dict[str, Any]:
    times = {"from_time": at(begin), "to_time": moment(end), "away_since_time": moment(away)}
    return {"member_id": member, **times}


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else at(seconds)


def move(second: float, unread_ms: int | None, to: str | None = None) -> dict[str, Any]:
    times = {"move_time": at(second), "unread_low_ms": 0, "unread_high_ms": unread_ms, "idle_ms": None}
    return {"from_member_id": "a", "to_member_id": to, "unread_basis": None, **times}


def owned(begin: float, end: float | None, phase: str = "assigned", member: str = "a") -> dict[str, Any]:
    return {"member_id": member, "phase": phase, "from_time": at(begin), "to_time": moment(end)}


@pytest.mark.parametrize(
    ("others", "to", "until"),
    [
        pytest.param([], None, 10, id="it was the only member"),
        pytest.param([there("b", 0, 56, away=12)], None, 12, id="the other one went later"),
        pytest.param([there("b", 0, 13)], None, 13, id="the other one left while it was away"),
        pytest.param([there("b", 0, None)], None, 55, id="another one was there"),
        pytest.param([there("b", 0, 12, away=5), there("c", 12, None)], None, 55, id="another one came back"),
        pytest.param([there("b", 58, None)], None, 10, id="another one came later"),
        pytest.param([there("b", 50, None)], "b", 55, id="another one has it now"),
    ],
)
def test_it_ends_where_all_members_were_away(others: list[dict[str, Any]], to: str | None, until: float) -> None:
    memberships = [there("a", 0, 55, away=10), *others]
    assert unread_span(move(55, 1_000, to), memberships) == (at(until - 1), at(until))


def test_of_a_member_that_was_not_away_it_ends_with_its_removal() -> None:
    assert unread_span(move(55, 6_000), [there("a", 0, 55), there("b", 0, 58, away=10)]) == (at(49), at(55))


def test_a_held_partition_has_its_own_sign_and_is_unread_only_before() -> None:
    stays = [owned(0, 10), owned(10, 55, "held")]
    lost = move(55, 2_000)
    drawn = slices_text(AXIS, stays, lost, unread_span(lost, [there("a", 0, 55, away=10)]), {"a": "A"})
    assert drawn == "A" * 8 + "??" + "-" * 45 + "....."
    assert legend({"a": "A"}, drawn) == [
        "A = a",
        ". = no owner  - = held for a static member that is away  ? = perhaps unread by its owner",
    ]


def test_a_held_partition_is_never_perhaps_read_by_its_owner() -> None:
    """Another member was there, so that the whole time counts."""
    stays = [owned(0, 10), owned(10, 55, "held"), owned(55, None, member="b")]
    lost = move(55, 45_000, "b")
    memberships = [there("a", 0, 55, away=10), there("b", 0, None)]
    drawn = slices_text(AXIS, stays, lost, unread_span(lost, memberships), {"a": "A", "b": "B"})
    assert drawn == "A" * 10 + "-" * 45 + "B" * 5


@pytest.mark.parametrize(
    ("memberships", "expected"),
    [
        ([there("a", 0, 55, away=10)], "the only member was away for 45.0 s; that time is not counted"),
        ([there("a", 0, 55, away=10), there("b", 0, 56, away=9)],
         "both members were away for 45.0 s; that time is not counted"),
        ([there("a", 0, 55, away=10), there("b", 0, 56, away=9), there("c", 0, 57, away=8)],
         "all 3 members were away for 45.0 s; that time is not counted"),
        ([there("a", 0, 55, away=10), there("b", 0, None)], None),
        ([there("a", 0, 55)], None),
    ],
)  # fmt: skip
def test_the_story_says_which_time_is_not_counted(memberships: list[dict[str, Any]], expected: str | None) -> None:
    moves = [move(55, 1_000)]
    assert away_words(moves, memberships) == expected
    row = {"trigger_detail": "a left", "start_time": at(55), "num_partitions": 0, "num_moved": 0}
    message = "03:00:55 a left; no partition is assigned now; 1 partition was unread for 0 ms to 1.0 s"
    assert sentence(row, moves, memberships) == "; ".join(filter(None, [message, expected]))
