"""Share groups' assignor against Kafka's own classes, of each release line that changed it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.builders.assignors.server_cases import random_share_spec
from tests.builders.assignors.share_rounds import large_share_spec, next_round
from tests.oracles.assignors.kafka_assignors import newer_java, server_answers
from tests.oracles.assignors.same_answers import FAILED, assert_same, kafka_lists, our_lists
from udfs.assignors.answers import assigned_lists
from udfs.assignors.java.maps import FIRST_JDK_OF_NEW_COPIES
from udfs.assignors.questions import JDKS, read_spec

CASES = 100
GROUPS, ROUNDS = 8, 4
# 4.3 stands for 4.2 too.
RELEASES = ["3.9", "4.0", "4.1", "4.3"]


def cases(rng: np.random.Generator, count: int, **fields: Any) -> list[dict[str, Any]]:
    return [random_share_spec(rng, is_equal=bool(i % 2)) | fields for i in range(count)]


@pytest.mark.broker
@pytest.mark.parametrize("count", [CASES, pytest.param(100 * CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", RELEASES)
def test_share_groups_are_assigned_as_kafka_does(release: str, count: int, rng: np.random.Generator) -> None:
    specs = cases(rng, count, release=release)
    assert_same(specs, server_answers(specs, release))


@pytest.mark.broker
@pytest.mark.parametrize("release", ["4.1", "4.3"])
def test_a_newer_java_shares_by_its_own_orders(release: str, rng: np.random.Generator) -> None:
    java = newer_java()
    if java is None:
        pytest.skip("no Java from 19 on")
    specs = cases(rng, CASES, release=release, jdk=21)
    assert_same(specs, server_answers(specs, release, java))


@pytest.mark.broker
@pytest.mark.parametrize("jdk", JDKS)
@pytest.mark.parametrize("is_equal", [True, False], ids=["equal", "unequal"])
@pytest.mark.parametrize("count", [GROUPS, pytest.param(10 * GROUPS, marks=pytest.mark.soak)])
def test_large_share_groups_are_assigned_as_kafka_does_round_after_round(
    count: int, is_equal: bool, jdk: int, rng: np.random.Generator
) -> None:
    java = newer_java() if jdk >= FIRST_JDK_OF_NEW_COPIES else None
    if jdk >= FIRST_JDK_OF_NEW_COPIES and java is None:
        pytest.skip("no Java from 19 on")
    specs = [large_share_spec(rng, is_equal) | {"jdk": jdk} for _ in range(count)]
    for _ in range(ROUNDS):
        answers = server_answers(specs, "4.3", java)
        assert_same(specs, answers)
        given = [(spec, kafka_lists(answer)) for spec, answer in zip(specs, answers, strict=True)]
        specs = [next_round(rng, spec, lists) for spec, lists in given if lists != FAILED]


ORDERS = {"name": "orders", "partitions": 2, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
THREE = {
    "group_protocol": "share",
    "assignor": "simple",
    "topics": [ORDERS],
    "members": [{"member_id": member, "subscribed_topics": ["orders"]} for member in "abc"],
}
BOTH, FIRST, SECOND = [["orders", 0], ["orders", 1]], [["orders", 0]], [["orders", 1]]
# What Kafka's classes gave for these, by release.
EXAMPLES = [
    (THREE | {"release": "4.0"}, [BOTH, BOTH, BOTH]),
    (THREE | {"release": "4.1"}, [SECOND, FIRST, SECOND]),
    (THREE | {"release": "4.3"}, [BOTH, SECOND, FIRST]),
    (THREE | {"release": "4.3", "assignable": [["orders", [1]]]}, [SECOND, SECOND, SECOND]),
]


@pytest.mark.parametrize(("spec", "lists"), EXAMPLES)
def test_an_example_is_assigned_as_kafka_did(spec: dict[str, Any], lists: list[Any]) -> None:
    assert our_lists(spec) == lists


@pytest.mark.broker
def test_the_examples_are_what_kafka_answers() -> None:
    for spec, lists in EXAMPLES:
        assert kafka_lists(server_answers([spec], str(spec["release"]))[0]) == lists


@pytest.mark.parametrize("others", [["orders"], ["orders", "clicks"]], ids=["equal", "unequal"])
@pytest.mark.parametrize("release", ["4.0", "4.1", "4.3"])
def test_what_a_record_lists_twice_counts_once(release: str, others: list[str]) -> None:
    """Subscriptions are sets to the coordinator, and targets are maps of sets."""
    members = [
        {"member_id": "a", "subscribed_topics": ["orders"], "target": [["orders", [0, 1]], ["clicks", [0]]]},
        {"member_id": "b", "subscribed_topics": others},
    ]
    clicks = {"name": "clicks", "partitions": 3, "topic_id": "AAAAAAAAAAAAAAAAAAAAAg"}
    spec = read_spec(THREE | {"release": release, "topics": [ORDERS, clicks], "members": members})
    first, second = spec.members
    twice = replace(first, subscribed_topics=("orders",) * 2, target=(("orders", (0, 0)), *first.target, *first.target))
    assert assigned_lists(replace(spec, members=(twice, second))) == assigned_lists(spec)


def test_a_large_share_group_shares_every_partition_by_as_many_members_as_go_round() -> None:
    """What can be said without Kafka's own classes."""
    members = [{"member_id": f"m{i}", "subscribed_topics": ["orders"]} for i in range(1_500)]
    lists = our_lists(THREE | {"topics": [ORDERS | {"partitions": 1_000}], "members": members})
    assert isinstance(lists, list)
    sharers = np.bincount([partition for each in lists for _, partition in each])
    assert sharers.tolist() == [2] * 1_000
    assert {len(each) for each in lists} == {1, 2}
