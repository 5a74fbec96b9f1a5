"""Which topics went between snapshots, of which some list all topics and some a few. An hour is a unit of time."""

import pytest

from schemas.words.records import OFFSETS_TOPIC
from udfs.topics.names import Key, Snapshots, topic_rows

OFFSETS: Key = (OFFSETS_TOPIC, "offsets")
A: Key = ("a", "id-a")
B: Key = ("b", "id-b")
B_AGAIN: Key = ("b", "id-c")
# The text of kafka-get-offsets has no ids.
B_NAMED: Key = ("b", None)


@pytest.mark.parametrize(
    ("listed", "deletions"),
    [
        pytest.param([[OFFSETS, A, B], [OFFSETS, A]], [("b", 0, 1)], id="absent from a list of all"),
        pytest.param([[OFFSETS, A, B], [A]], [], id="absent from a list of some"),
        pytest.param([[OFFSETS, A, B], [A], [OFFSETS, A, B]], [], id="some in between"),
        pytest.param([[OFFSETS, A, B], [A], [OFFSETS, A]], [("b", 0, 2)], id="gone by the next list of all"),
        pytest.param([[OFFSETS, A, B], [B_NAMED], [OFFSETS, A]], [("b", 1, 2)], id="last seen in a list of some"),
        pytest.param([[A, B], [A]], [], id="no list of all"),
        pytest.param([[OFFSETS, B], [B_AGAIN]], [("b", 0, 1)], id="another id"),
        pytest.param([[OFFSETS, B], [OFFSETS, B_NAMED]], [], id="perhaps the same"),
        pytest.param([[OFFSETS, B], [B_NAMED], [OFFSETS, B_AGAIN]], [("b", 0, 2)], id="another id, told late"),
        pytest.param([[OFFSETS, B], [OFFSETS], [OFFSETS, B], [OFFSETS]], [("b", 0, 1), ("b", 2, 3)], id="twice"),
    ],
)
def test_a_topic_is_gone_when_a_list_of_all_topics_lacks_it(
    listed: list[list[Key]], deletions: list[tuple[str, int, int]]
) -> None:
    result = Snapshots({time: dict.fromkeys(keys, 1) for time, keys in enumerate(listed)})
    assert result.deletions() == deletions


def test_a_topic_that_a_list_of_some_leaves_out_is_still_there() -> None:
    snapshots = Snapshots({1: dict.fromkeys([OFFSETS, A, B], 4), 2: {A: 5}})
    reported = {row["topic"]: (row["is_provisional"], row["num_partitions"]) for row in topic_rows("c", [], snapshots)}
    assert reported == {OFFSETS_TOPIC: (True, 4), "a": (True, 5), "b": (True, 4)}


def test_a_topic_is_absent_between_the_last_list_that_has_it_and_the_next_one_of_all() -> None:
    listed = [[OFFSETS, A], [OFFSETS, A, B], [A], [OFFSETS, A], [OFFSETS, A]]
    snapshots = Snapshots({time: dict.fromkeys(keys, 1) for time, keys in enumerate(listed)})
    assert [snapshots.absent_since(each) for each in (A, B, B_AGAIN)] == [None, (1, 3), None]


def test_of_two_topics_of_one_name_the_one_that_was_there_first_has_gone() -> None:
    snapshots = Snapshots({1: dict.fromkeys([OFFSETS, B_AGAIN], 4), 2: dict.fromkeys([OFFSETS, B], 4)})
    assert {
        row["topic_id"]: row["is_provisional"] for row in topic_rows("c", [], snapshots) if row["topic"] == "b"
    } == {
        "id-c": False,
        "id-b": True,
    }
