"""What `trigger_detail` of a rebalance says, word by word."""

import pytest

from udfs.groups.history.change_details import (
    Change,
    departure_change,
    detail,
    join_change,
    member_name,
    partition_changes,
)
from udfs.topics.partition_codes import SHIFT, TopicCodes


def test_of_many_names_the_first_are_listed_and_the_rest_counted() -> None:
    text = detail("member_joined", [join_change(f"m-{number}") for number in range(100)])
    assert text == "members m-0, m-1, m-2 and 97 more joined"
    assert detail("member_joined", [join_change("m-1"), join_change("m-1")]) == "member m-1 joined"
    assert detail("unknown", []) is None


def test_what_set_it_off_comes_first() -> None:
    changes = [
        join_change("m"),
        departure_change("n", "session_timeout_likely"),
        Change("assignor_changed", "", "range → sticky"),
    ]
    assert detail("assignor_changed", changes) == "range → sticky; member m joined; member n timed out"


def test_a_name_says_where_the_member_runs_and_nothing_twice() -> None:
    assert member_name("m-3", None, "/10.0.0.7") == "m-3 (10.0.0.7)"
    assert member_name("billing-1-0001", "billing-1", "/10.0.0.7") == "billing-1-0001 (10.0.0.7)"
    assert member_name("Zc9SPB", "billing-1", "/10.0.0.7", "blue") == "Zc9SPB (instance blue, billing-1, 10.0.0.7)"
    assert member_name("m", None, None) == "m"


@pytest.mark.parametrize(
    ("before", "after", "is_cause", "texts"),
    [
        ("old old", "new new", False, ["topic orders recreated, 2 partitions assigned"]),
        ("old", "old old", False, ["orders 1 → 2 partitions assigned"]),
        # Some members may have the old one still, and of a name alone no one knows.
        ("old old", "old new", False, []),
        ("name", "new new", False, ["orders 1 → 2 partitions assigned"]),
        ("", "new", True, ["topic orders created, 1 partition assigned"]),
        ("old old", "", True, ["topic orders deleted"]),
        ("", "new", False, []),
        ("old", "", False, []),
    ],
)
def test_what_became_of_a_topic_is_told_by_ids_and_numbers(
    before: str, after: str, is_cause: bool, texts: list[str]
) -> None:
    topics = TopicCodes({"old": "orders", "new": "orders"})
    codes = {"name": topics.of_name("orders"), "old": topics.of_id("old"), "new": topics.of_id("new")}
    had, has = ([codes[each] << SHIFT | place for place, each in enumerate(some.split())] for some in (before, after))
    assert [change.name for change in partition_changes(had, has, topics, is_cause=is_cause)] == texts
