"""Words of `why` for rebalances that leave a group without partitions, and for times that are far away."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from jobs.answers.durations import time_between
from jobs.answers.events.rebalance import EventStory, move_text, partitions
from jobs.answers.events.story import sentence
from jobs.answers.events.timeline import Event
from schemas.words.history import TimelineKind

START = datetime(2026, 11, 21, 3)


def said(row: dict[str, Any], moves: list[dict[str, Any]]) -> str:
    event = Event(TimelineKind.REBALANCE, row["start_time"], None, 1, row["trigger_detail"], row, "certain")
    return sentence(EventStory(event, None, None, [], moves, []))


def counts(num_partitions: int | None, num_moved: int | None = 0, num_unowned: int | None = 0) -> dict[str, Any]:
    others = dict.fromkeys(("num_returned", "num_withheld", "num_unknown_owned"))
    return {"num_partitions": num_partitions, "num_moved": num_moved, "num_unowned": num_unowned, **others}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (counts(0, num_unowned=2), "none assigned, 2 left without an owner"),
        (counts(0), "none assigned"),
        (counts(1, num_moved=1), "1 partition: 1 moved"),
        (counts(3), "3 partitions: none changed its owner"),
        (counts(None, None, None), "unknown"),
    ],
)
def test_a_rebalance_without_partitions_does_not_count_them_as_zero_of_zero(row: dict[str, Any], expected: str) -> None:
    assert partitions(row) == expected


def test_the_story_of_an_emptied_group_says_that_nothing_is_assigned() -> None:
    row = {"trigger_detail": "member m left", "start_time": START, "num_partitions": 0, "num_moved": 0}
    assert said(row, []) == (
        "03:00:00 member m left; no partition is assigned now; the records show no unread partition"
    )


def test_the_story_names_partitions_that_had_no_owner_before_they_were_assigned() -> None:
    row = {"trigger_detail": "member m joined", "start_time": START, "num_partitions": 2, "num_moved": 0}
    move = dict.fromkeys(("from_member_id", "unread_low_ms", "unread_high_ms", "unread_basis"))
    moves = [{**move, "to_member_id": "m", "idle_ms": 20_000, "move_time": START}] * 2
    assert said(row, moves) == (
        "03:00:00 member m joined; 0 of 2 partitions moved; 2 partitions had no owner for 20.0 s each"
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("one", "two", "t-0 moved: from one to two"),
        (None, "two", "t-0 moved: to two"),
        ("one", None, "t-0 moved: from one"),
    ],
)
def test_a_move_names_only_members_that_there_are(before: str | None, after: str | None, expected: str) -> None:
    move = {"topic": "t", "partition": 0, "kind": "moved", "idle_ms": None, "commit_gap_ms": None, "role": None}
    assert move_text({**move, "from_member_id": before, "to_member_id": after}) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.1, "100 ms"), (59.9, "59.9 s"), (60, "1 min"), (94.7, "1 min 35 s"), (98_173_323, "1136 d 6 h")],
)
def test_a_long_time_is_said_in_days_hours_and_minutes(seconds: float, expected: str) -> None:
    assert time_between(START, START + timedelta(seconds=seconds)) == expected
