"""What other assignors would give a group as it stands: by Kafka's own classes, and what keeps a group from one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from schemas.words.assignments import PartitionCountsSource
from schemas.words.records import GroupType
from tests.builders.assignors.server_cases import random_share_spec, random_spec
from tests.oracles.assignors.what_ifs import expected, kafka_in_the_end
from udfs.assignors.questions import GroupProtocol, Member, Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.results import Latest
from udfs.audit.whatif import Question, WhatIf, what_ifs

ID = "AAAAAAAAAAAAAAAAAAAAA{}"


def what_if(of: Latest, facts: Facts) -> list[WhatIf]:
    return what_ifs([of], facts)


def latest(
    members: Mapping[str, str], counts: str = "a5", group_type: GroupType = GroupType.CLASSIC, **more: Any
) -> Latest:
    """`members` by id, each with what it has, "a0 a1"; `counts` "a5 b3". All subscribe to all topics."""
    topics = tuple(Topic(each[0], int(each[1:]), ID.format("QgwAAA"[i])) for i, each in enumerate(counts.split()))
    names = tuple(topic.name for topic in topics)
    made = tuple(
        Member(member_id, subscribed_topics=names, owned=owned(has), target=owned(has))
        for member_id, has in members.items()
    )
    result = Latest("g", group_type, 40, None, "range", topics, made, PartitionCountsSource.SNAPSHOT, 30)
    return replace(result, **more)


def owned(text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    result: dict[str, list[int]] = {}
    for each in text.split():
        result.setdefault(each[0], []).append(int(each[1:]))
    return tuple((topic, tuple(partitions)) for topic, partitions in result.items())


def by_choice(result: Sequence[WhatIf]) -> dict[tuple[str, str], WhatIf]:
    return {(row.group_protocol, row.assignor): row for row in result}


def numbers(row: WhatIf) -> tuple[int | None, int | None, int | None]:
    return row.imbalance, row.moves_from_current, row.partitions_stopped


def test_each_assignor_is_answered_for_a_member_that_came_last() -> None:
    """By hand: range gives c1 0 1, c2 2 3, c3 4; roundrobin c1 0 3, c2 1 4, c3 2; the others take one from c1."""
    choices = by_choice(what_if(latest({"c1": "a0 a1 a2", "c2": "a3 a4", "c3": ""}), Facts()))
    assert {choice: numbers(row) for choice, row in choices.items()} == {
        ("classic", "range"): (1, 2, 5),
        ("classic", "roundrobin"): (1, 3, 5),
        ("classic", "sticky"): (1, 1, 5),
        ("classic", "cooperative-sticky"): (1, 1, 1),
        ("consumer", "uniform"): (1, 1, 1),
        ("consumer", "range"): (1, 2, 2),
    }
    for row in choices.values():
        assert (row.is_possible, row.reason, row.confidence) == (True, None, "certain")
        assert (row.group_id, row.assignment_offset, row.evidence_first_offset, row.evidence_last_offset) == (
            *("g", 40),
            *(30, 40),
        )


def test_a_partition_that_nobody_has_neither_moves_nor_stops() -> None:
    choices = by_choice(what_if(latest({"c1": "a0", "c2": "a1"}, "a3"), Facts()))
    assert numbers(choices["classic", "cooperative-sticky"]) == (1, 0, 0)
    assert numbers(choices["classic", "sticky"]) == (1, 0, 2)


def test_a_deleted_topic_is_left_out_though_members_have_it() -> None:
    """By hand: both keep their partition of a; what they have of b ends, and eager members stop for all four."""
    of = latest({"c1": "a0 b0", "c2": "a1 b1"}, "a2 b2")
    choices = by_choice(what_if(of, Facts(deleted_topics=frozenset("b"))))
    assert numbers(choices["classic", "range"]) == (0, 2, 4)
    assert numbers(choices["classic", "cooperative-sticky"]) == numbers(choices["consumer", "range"]) == (0, 2, 2)
    assert numbers(by_choice(what_if(of, Facts()))["classic", "cooperative-sticky"]) == (0, 0, 0)


def test_a_partition_that_is_taken_from_its_member_for_nobody_stops() -> None:
    """Its topic has gone: no assignor gives it."""
    choices = by_choice(what_if(latest({"c1": "a0 x0", "c2": "a1"}, "a2"), Facts()))
    assert {
        numbers(choices[choice])[1:] for choice in (("classic", "cooperative-sticky"), ("consumer", "uniform"))
    } == {(1, 1)}


def test_members_of_unequal_subscriptions_are_not_compared() -> None:
    made = latest({"c1": "a0 a1 a2 a3 a4", "c2": "b0"}, "a5 b1")
    members = tuple(
        replace(member, subscribed_topics=(name,)) for member, name in zip(made.members, ("a", "b"), strict=True)
    )
    assert {row.imbalance for row in what_if(replace(made, members=members), Facts())} == {0}


def test_a_custom_assignor_is_left_for_one_of_kafka() -> None:
    choices = by_choice(what_if(latest({"c1": "a0 a1 a2 a3 a4", "c2": ""}, assignor="house-rules"), Facts()))
    assert numbers(choices["consumer", "uniform"]) == (1, 2, 2)


def test_racks_that_are_known_count() -> None:
    """Kafka's own example: each member gets the partitions with a replica in its rack."""
    made = latest({"c1": "a0 a1 b0 b1", "c2": "a2 b2"}, "a3 b3")
    members = tuple(replace(member, rack_id=rack) for member, rack in zip(made.members, ("r2", "r1"), strict=True))
    topics = tuple(replace(topic, racks=(("r1",), ("r2",), ("r1",))) for topic in made.topics)
    choices = by_choice(what_if(replace(made, members=members, topics=topics), Facts()))
    assert numbers(choices["classic", "range"]) == (2, 2, 6)
    assert numbers(choices["consumer", "range"]) == (2, 0, 0)


def test_partitions_that_several_members_have_move_when_one_loses_them() -> None:
    choices = by_choice(what_if(latest({"c1": "a0 a1", "c2": "a0 a1"}, "a2", assignor="redundant"), Facts()))
    # One of both keeps each: nobody waits for it.
    assert numbers(choices["consumer", "range"]) == (0, 2, 0)


# -- what keeps a group from an assignor


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (latest({"c1": ""}, reason="protocol type connect"), "connect"),
        (latest({"c1": ""}, group_type=GroupType.STREAMS), "tasks"),
        (latest({}), "no members"),
    ],
)
def test_no_assignor_is_possible_where_none_can_be_asked(made: Latest, word: str) -> None:
    answer = what_if(made, Facts())
    assert answer
    for row in answer:
        assert not row.is_possible
        assert numbers(row) == (None, None, None)
        assert word in str(row.reason)


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (latest({"c1": "a0", "c2": "a1"}, "a20000001"), "20000001 partitions"),
        (latest({"c1": "a0 a-7", "c2": "a1"}), "c1 owns partition -7"),
        (replace(TWO := latest({"c1": "a0", "c2": "a1"}), members=TWO.members[:1] * 2), "c1 is in the group twice"),
    ],
)
def test_what_no_broker_writes_is_refused_with_its_reason(made: Latest, word: str) -> None:
    assert all(word in str(row.reason) and not row.is_possible for row in what_if(made, Facts()))


def test_whatever_stands_in_a_record_gives_rows(rng: np.random.Generator) -> None:
    def some(values: Sequence[Any], most: int) -> list[Any]:
        return [values[i] for i in rng.integers(len(values), size=rng.integers(most + 1))]

    for _ in range(100):
        members = []
        for number in range(int(rng.integers(1, 5))):
            has = tuple((topic, tuple(some([0, 1, 2, 7, 2**31 - 1], 4))) for topic in some(["a", "b", "gone", ""], 3))
            subscribed = tuple(some(["a", "b", "elsewhere", "a"], 3))
            instance, rack = rng.choice([None, "s"]), rng.choice([None, "r"])
            members.append(Member(f"m{number}", instance, rack, subscribed, owned=has, target=has))
        topics = tuple(Topic(name, int(rng.integers(4))) for name in ("a", "b") if rng.random() < 0.9)
        for kind in GroupType:
            made = Latest("g", kind, 1, None, None, topics, tuple(members), None, 0)
            answer = what_if(made, Facts())
            assert answer
            assert all((row.imbalance is None) == (not row.is_possible) for row in answer)


def test_groups_are_answered_together_as_one_by_one(rng: np.random.Generator) -> None:
    specs = [random_spec(rng, "uniform", is_equal=bool(rng.random() < 0.5)) for _ in range(30)]
    groups = [as_latest(spec, GroupType.CONSUMER) for spec in specs]
    groups += [latest({}), latest({"c1": ""}, group_type=GroupType.STREAMS), latest({"c1": "a0", "c2": ""})]
    assert what_ifs(groups, Facts()) == [row for group in groups for row in what_if(group, Facts())]


def test_members_that_cannot_claim_keep_a_group_from_what_needs_it() -> None:
    made = latest({"c1": "a0 a1 a2", "c2": "a3 a4"}, subscription_versions=(3, 0))
    answer = what_if(made, Facts())
    assert [row.assignor for row in answer if row.is_possible] == ["range", "roundrobin", "sticky"]
    assert all("c2" in str(row.reason) for row in answer if not row.is_possible)


def test_where_kafkas_class_fails_there_is_no_answer() -> None:
    """A topic made anew with fewer partitions, and a member that has an old one: a partition is left over."""
    choices = by_choice(what_if(latest({"c1": "a7", "c2": "a1"}, "a2"), Facts()))
    row = choices["classic", "cooperative-sticky"]
    assert (row.is_possible, numbers(row)) == (False, (None, None, None))
    assert "would end with an exception" in str(row.reason)
    assert choices["classic", "range"].is_possible


# -- what an answer leaves out


def reasons(made: Latest, facts: Facts | None = None) -> dict[str, str | None]:
    return {f"{row.group_protocol} {row.assignor}": row.reason for row in what_if(made, facts or Facts())}


def test_racks_that_are_not_known_are_reported_where_they_count() -> None:
    made = latest({"c1": "a0 a1 a2", "c2": "a3 a4"})
    made = replace(made, members=(replace(made.members[0], rack_id="r"), made.members[1]))
    reported = {choice for choice, reason in reasons(made).items() if reason and "racks" in reason}
    assert reported == {"classic range", "classic sticky", "classic cooperative-sticky"}
    topic = replace(made.topics[0], racks=(("r",),) * 5)
    assert set(reasons(replace(made, topics=(topic,))).values()) == {None}


def test_topic_ids_that_are_not_known_are_reported_where_they_count() -> None:
    made = latest({"c1": "a0 a1 a2", "c2": "a3 a4"})
    made = replace(made, topics=(Topic("a", 5),))
    reported = {choice for choice, reason in reasons(made).items() if reason and "topic ids" in reason}
    assert reported == {"consumer uniform", "consumer range"}
    known = Facts({"a": [KnownTopic(Topic("a", 5, ID.format("Q")), 0, 0)]})
    assert set(reasons(made, known).values()) == {None}


def test_topic_ids_are_those_of_the_newest_snapshot(rng: np.random.Generator) -> None:
    """By their order it is decided who gets which partition."""
    for is_equal in [True, False] * 30:
        made = as_latest(random_spec(rng, "uniform", is_equal), GroupType.CLASSIC)
        other = ID.format("Q")
        known = {
            each.name: [KnownTopic(replace(each, topic_id=other), 0, 1), KnownTopic(each, 2, 3)] for each in made.topics
        }
        without = replace(made, topics=tuple(replace(each, topic_id=None) for each in made.topics))
        assert given(without, Facts(known)) == given(made, Facts())


def given(made: Latest, facts: Facts) -> Any:
    answer = Question(made, facts).answer((GroupProtocol.CONSUMER, "uniform"))
    return answer if isinstance(answer, str) else answer.lists


@pytest.mark.parametrize("source", [PartitionCountsSource.INFERRED, None])
def test_numbers_of_partitions_that_are_not_known_make_answers_likely(source: PartitionCountsSource | None) -> None:
    for row in what_if(latest({"c1": "a0 a1 a2", "c2": "a3 a4"}, counts_source=source), Facts()):
        assert (row.is_possible, row.confidence) == (True, "likely")
        assert "highest" in str(row.reason)


# -- against Kafka's own classes


def as_latest(spec: Mapping[str, Any], group_type: GroupType) -> Latest:
    topics = tuple(Topic(topic["name"], topic["partitions"], topic["topic_id"]) for topic in spec["topics"])
    members = tuple(
        Member(
            member["member_id"],
            member.get("group_instance_id"),
            subscribed_topics=tuple(member["subscribed_topics"]),
            owned=(has := tuple((topic, tuple(of)) for topic, of in member["target"])),
            target=has,
        )
        for member in spec["members"]
    )
    return Latest("g", group_type, 1, None, None, topics, members, PartitionCountsSource.SNAPSHOT, 0)


CASES = 120
OF_LEADERS = ("classic range", "classic roundrobin", "classic sticky", "classic cooperative-sticky")
CHOICES = (*OF_LEADERS, "consumer uniform", "consumer range")


@pytest.mark.drawn(2)
@pytest.mark.broker
@pytest.mark.parametrize("choice", CHOICES)
def test_answers_are_those_of_kafkas_own_assignors(choice: str, rng: np.random.Generator) -> None:
    protocol, assignor = choice.split()
    specs = [random_spec(rng, assignor, is_equal=bool(rng.random() < 0.5)) for _ in range(CASES)]
    is_eager = assignor in ("roundrobin", "sticky") or choice == "classic range"
    for spec, after in zip(specs, kafka_in_the_end(specs, protocol, assignor), strict=True):
        row = by_choice(what_if(as_latest(spec, GroupType.CLASSIC), Facts()))[protocol, assignor]
        assert row.is_possible == (after is not None), (spec, row.reason)
        if after is not None:
            assert numbers(row) == expected(spec, after, is_eager), spec


# What the first follow-up gives is taken apart again by the second.
THREE_ROUNDS = {
    "topics": [
        {"name": "a", "partitions": 3, "topic_id": ID.format("Q")},
        {"name": "b", "partitions": 4, "topic_id": ID.format("g")},
    ],
    "members": [
        {"member_id": "AaBBBB", "subscribed_topics": ["a", "b"], "target": [["a", [1]], ["b", [0, 1, 2, 3]]]},
        {"member_id": "BBBBBB", "subscribed_topics": ["b"], "target": []},
        {"member_id": "AaAaAa", "subscribed_topics": ["b"], "target": []},
        {"member_id": "BBAaBB", "subscribed_topics": ["a", "b"], "target": []},
    ],
}


@pytest.mark.broker
def test_a_group_may_need_a_third_round_to_come_to_rest() -> None:
    (after,) = kafka_in_the_end([THREE_ROUNDS], "classic", "cooperative-sticky")
    assert after is not None
    row = by_choice(what_if(as_latest(THREE_ROUNDS, GroupType.CLASSIC), Facts()))["classic", "cooperative-sticky"]
    assert numbers(row) == expected(THREE_ROUNDS, after, is_eager=False) == (1, 3, 3)


@pytest.mark.broker
def test_a_share_group_is_answered_by_kafkas_own_assignor(rng: np.random.Generator) -> None:
    specs = [random_share_spec(rng, is_equal=bool(rng.random() < 0.5)) for _ in range(CASES)]
    for spec in specs:
        spec.pop("assignable", None)
        for member in spec["members"]:
            # A topic without partitions would count in the size of Kafka's map.
            member["target"] = [pair for pair in member["target"] if pair[1]]
    for spec, after in zip(specs, kafka_in_the_end(specs, "share", "simple"), strict=True):
        (row,) = what_if(as_latest(spec, GroupType.SHARE), Facts())
        assert row.is_possible == (after is not None), (spec, row.reason)
        if after is not None:
            assert numbers(row) == expected(spec, after, is_eager=False), spec
