"""What-ifs about the present: topics have the partitions that snapshots and records show by now."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.words.assignments import PartitionCountsSource
from tests.udfs.audit.whatif.test_what_if import by_choice, latest, numbers, what_if
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import Latest
from udfs.audit.whatif import at_present

RACKS = (("r1",), ("r2",), ("r1",))
ASSIGNED = 100
NOT_KNOWN = "partitions beyond the highest one that records name are not known"


def group(counts: str = "a2", **more: Any) -> Latest:
    return latest({"c1": "a0", "c2": "a1"}, counts, record_time=ASSIGNED, **more)


def seen(partitions: int, time: int, name: str = "a", **more: Any) -> KnownTopic:
    return KnownTopic(Topic(name, partitions, "I" * 22), time, time + 1_000, **more)


def known(*some: KnownTopic) -> Facts:
    topics: dict[str, list[KnownTopic]] = {}
    for each in some:
        topics.setdefault(each.topic.name, []).append(each)
    return Facts(topics)


def present_counts(of: Latest, facts: Facts) -> dict[str, int]:
    return {topic.name: topic.partitions for topic in at_present(of, facts).topics}


def test_new_partitions_are_assigned() -> None:
    """By hand: range gives c1 0 1 and c2 2 3; the others leave 0 and 1 where they are."""
    choices = by_choice(what_if(group(), known(seen(2, 0), seen(4, 200))))
    assert numbers(choices["classic", "range"]) == (0, 1, 2)
    assert numbers(choices["consumer", "range"]) == (0, 1, 1)
    assert numbers(choices["consumer", "uniform"]) == numbers(choices["classic", "cooperative-sticky"]) == (0, 0, 0)
    assert {(row.confidence, row.reason) for row in choices.values()} == {("certain", None)}


def test_a_snapshot_that_is_older_than_the_assignment_changes_nothing() -> None:
    assert present_counts(group(), known(seen(3, 50))) == {"a": 2}
    assert present_counts(group(), known(seen(3, ASSIGNED))) == {"a": 2}
    assert present_counts(group(), known(seen(3, ASSIGNED + 1))) == {"a": 3}


def test_a_topic_made_anew_has_the_partitions_of_the_new_one() -> None:
    assert present_counts(group("a5"), known(seen(5, 0), seen(1, 200))) == {"a": 1}


def test_an_assignment_without_a_time_only_sees_topics_grow() -> None:
    timeless = replace(group(), record_time=None)
    assert present_counts(timeless, known(seen(3, 200))) == {"a": 3}
    assert present_counts(timeless, known(seen(1, 200))) == {"a": 2}


@pytest.mark.parametrize("snapshot", [seen(2, 50, beyond=3), seen(2, 200, beyond=3)], ids=["before", "after"])
def test_records_that_name_more_partitions_than_snapshots_make_the_answer_likely(snapshot: KnownTopic) -> None:
    for row in what_if(group(), known(snapshot)):
        assert (row.imbalance, row.reason, row.confidence) == (1, NOT_KNOWN, "likely")


def test_racks_are_those_of_the_snapshot_and_unknown_for_partitions_that_only_records_name() -> None:
    grown = replace(seen(3, 200), topic=Topic("a", 3, "I" * 22, RACKS))
    assert [topic.racks for topic in at_present(group(), known(grown)).topics] == [RACKS]
    assert at_present(group(), known(replace(grown, beyond=4))).topics == (Topic("a", 4, "I" * 22),)


def test_numbers_that_were_inferred_are_known_once_snapshots_show_every_topic() -> None:
    inferred = group("a2 b1", counts_source=PartitionCountsSource.INFERRED)
    both = seen(2, 200), seen(1, 200, "b")
    assert {row.confidence for row in what_if(inferred, known(*both))} == {"certain"}
    assert {row.reason for row in what_if(inferred, known(*both[:1]))} == {NOT_KNOWN}
    # Nobody needs to know how many partitions a deleted topic had.
    deleted = replace(known(*both[:1]), deleted_topics=frozenset("b"))
    assert {row.reason for row in what_if(inferred, deleted)} == {None}
