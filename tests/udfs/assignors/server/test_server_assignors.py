"""The coordinator's assignors against Kafka's own classes of several releases, and on both lines of Java."""

import zipfile
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from jobs.spark.jars import JarSet, jar_folder
from tests.builders.assignors.server_cases import random_spec
from tests.kafka.jar_sets import KAFKA_4_3_1, KAFKA_4_4_0
from tests.oracles.assignors.kafka_assignors import SERVER_JARS, newer_java, server_answers
from tests.oracles.assignors.same_answers import FAILED, assert_same, kafka_lists, our_lists
from udfs.assignors.answers import assigned_lists
from udfs.assignors.questions import Owned, read_spec

CASES = 100
RELEASES = list(SERVER_JARS)
A = {"name": "a", "partitions": 5, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
B = {"name": "b", "partitions": 3, "topic_id": "AAAAAAAAAAAAAAAAAAAAAg"}


def cases(rng: np.random.Generator, assignor: str, count: int, **fields: Any) -> list[dict[str, Any]]:
    return [random_spec(rng, assignor, is_equal=bool(i % 2)) | fields for i in range(count)]


@pytest.mark.drawn(4)
@pytest.mark.broker
@pytest.mark.parametrize("count", [CASES, pytest.param(100 * CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_groups_are_assigned_as_kafka_does(assignor: str, release: str, count: int, rng: np.random.Generator) -> None:
    specs = cases(rng, assignor, count, release=release)
    assert_same(specs, server_answers(specs, release))


@pytest.mark.broker
def test_the_assignors_of_4_4_are_those_of_4_3_byte_for_byte() -> None:
    """So what holds for 4.3 holds for 4.4."""
    assert {"RangeAssignor", "SimpleAssignor", "UniformAssignor"} <= set(assignor_classes(KAFKA_4_4_0))
    assert assignor_classes(KAFKA_4_4_0) == assignor_classes(KAFKA_4_3_1)


def assignor_classes(jar_set: JarSet) -> dict[str, bytes]:
    (jar,) = jar_folder(jar_set).glob("kafka-group-coordinator-[0-9]*.jar")
    folder, ending = "org/apache/kafka/coordinator/group/assignor/", ".class"
    with zipfile.ZipFile(jar) as opened:
        names = [name for name in opened.namelist() if name.startswith(folder) and name.endswith(ending)]
        return {name.removeprefix(folder).removesuffix(ending): opened.read(name) for name in names}


@pytest.mark.broker
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_a_newer_java_assigns_by_its_own_orders(assignor: str, rng: np.random.Generator) -> None:
    java = newer_java()
    if java is None:
        pytest.skip("no Java from 19 on")
    specs = cases(rng, assignor, CASES, jdk=21)
    assert_same(specs, server_answers(specs, java=java))


@pytest.mark.broker
def test_partitions_that_moved_away_leave_the_order_of_the_tree_that_they_were_in() -> None:
    specs = [crowded_spec(*shape) for shape in product(range(12, 29), [9, 10, 12], [40, 80])]
    assert_same(specs, server_answers(specs))


def crowded_spec(members: int, laps: int, partitions: int) -> dict[str, Any]:
    """Each member had eight partitions of one bucket; every other one takes a second topic, and gives of the first."""
    of_members = [
        {
            "member_id": f"m{i}",
            "subscribed_topics": ["a", "b"] if i % 2 else ["a"],
            "target": [["a", list(range(i, 64 * laps, 64))[:8]]],
        }
        for i in range(members)
    ]
    topics = [A | {"partitions": 64 * laps}, B | {"partitions": partitions}]
    return {"group_protocol": "consumer", "assignor": "uniform", "topics": topics, "members": of_members}


def group(assignor: str, targets: dict[str, Any], **fields: Any) -> dict[str, Any]:
    members = [
        {"member_id": member, "subscribed_topics": ["a", "b"], "target": target} for member, target in targets.items()
    ]
    return {"group_protocol": "consumer", "assignor": assignor, "topics": [A, B], "members": members} | fields


# What Kafka's classes gave for these, by release.
EXAMPLES = [
    (
        group("uniform", {"m1": [], "m2": [], "m3": []}, release="3.9"),
        [[["a", 0], ["a", 1], ["a", 2]], [["b", 0], ["a", 3], ["a", 4]], [["b", 1], ["b", 2]]],
    ),
    (
        group("uniform", {"m1": [], "m2": [], "m3": []}),
        [[["a", 0], ["a", 1]], [["a", 2], ["a", 3], ["a", 4]], [["b", 0], ["b", 1], ["b", 2]]],
    ),
    (
        # A release that moved a partition of a balanced group for nothing, and one that does not.
        group("uniform", {"m1": [["a", [0, 1]]], "m2": [["b", [0, 1, 2]]], "m3": [["a", [2, 3, 4]]]}, release="4.0.0"),
        [[["a", 0], ["a", 1], ["a", 4]], [["b", 0], ["b", 1], ["b", 2]], [["a", 2], ["a", 3]]],
    ),
    (
        group("uniform", {"m1": [["a", [0, 1]]], "m2": [["b", [0, 1, 2]]], "m3": [["a", [2, 3, 4]]]}, release="4.0.1"),
        [[["a", 0], ["a", 1]], [["b", 0], ["b", 1], ["b", 2]], [["a", 2], ["a", 3], ["a", 4]]],
    ),
    (
        group("range", {"m1": [], "m2": [], "m3": []}),
        [[["a", 0], ["a", 1], ["b", 0]], [["a", 2], ["a", 3], ["b", 1]], [["a", 4], ["b", 2]]],
    ),
]


@pytest.mark.parametrize(("spec", "lists"), EXAMPLES)
def test_an_example_is_assigned_as_kafka_did(spec: dict[str, Any], lists: list[Any]) -> None:
    assert our_lists(spec) == lists


@pytest.mark.broker
def test_the_examples_are_what_kafka_answers() -> None:
    by_release = {"3.9": "3.9", "4.0.1": "4.0"}
    for spec, lists in EXAMPLES:
        # No jars of 4.0.0 are here: 3.9 did the same.
        release = "3.9" if spec.get("release") == "4.0.0" else by_release.get(spec.get("release", ""), "4.3")
        assert kafka_lists(server_answers([spec], release)[0]) == lists


@pytest.mark.parametrize("others", [["a"], ["a", "b"]], ids=["equal", "unequal"])
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_a_name_that_is_subscribed_twice_counts_once(assignor: str, others: list[str]) -> None:
    """The coordinator keeps sets of names, so records hold each once; a log of anybody need not."""
    members = [
        {"member_id": "m1", "subscribed_topics": ["a"]},
        {"member_id": "m2", "subscribed_topics": others, "target": [["a", [0, 1]]]},
    ]
    spec = read_spec({"group_protocol": "consumer", "assignor": assignor, "topics": [A, B], "members": members})
    first, second = spec.members
    repeated = replace(spec, members=(replace(first, subscribed_topics=("a", "a", "a")), second))
    lists = assigned_lists(spec)
    assert assigned_lists(repeated) == lists
    assert sum(len(pairs) for _, pairs in lists) == (5 if others == ["a"] else 8)


LISTED_TWICE = {
    "a partition": (("a", (0, 0, 1)), ("b", (2, 2))),
    "a topic": (("a", (0,)), ("b", (2,)), ("a", (1,))),
    "both": (("a", (0, 1)), ("b", (2,)), ("a", (1, 0))),
}


@pytest.mark.parametrize("target", LISTED_TWICE.values(), ids=list(LISTED_TWICE))
@pytest.mark.parametrize("release", ["3.9", "4.3"])
@pytest.mark.parametrize("own", [["a"], ["b"], ["a", "b"]], ids="".join)
@pytest.mark.parametrize("others", [["a"], ["b"], ["a", "b"]], ids="".join)
def test_what_a_target_lists_twice_counts_once(target: Owned, release: str, own: list[str], others: list[str]) -> None:
    """A target is a map of sets."""
    members = [
        {"member_id": "m1", "subscribed_topics": own, "target": [["a", [0, 1]], ["b", [2]]]},
        {"member_id": "m2", "subscribed_topics": others},
    ]
    spec = read_spec(
        {"group_protocol": "consumer", "assignor": "uniform", "release": release, "topics": [A, B], "members": members}
    )
    first, second = spec.members
    repeated = replace(spec, members=(replace(first, target=target), second))
    assert assigned_lists(repeated) == assigned_lists(spec)


def test_a_partition_with_two_owners_makes_the_assignor_fail() -> None:
    assert our_lists(group("uniform", {"m1": [["a", [0]]], "m2": [["a", [0]]]})) == FAILED


@pytest.mark.parametrize("is_equal", [True, False])
def test_large_groups_are_balanced_and_complete(is_equal: bool) -> None:
    """What can be said without Kafka's own classes."""
    topics = [{"name": f"t{i}", "partitions": 4_000, "topic_id": f"AAAAAAAAAAAAAAAAAAA{i:02d}A"} for i in range(30)]
    everything = [topic["name"] for topic in topics]
    members = [
        {"member_id": f"m{i}", "subscribed_topics": everything if is_equal else everything[: 10 + i % 20]}
        for i in range(400)
    ]
    lists = our_lists({"group_protocol": "consumer", "assignor": "uniform", "topics": topics, "members": members})
    assert isinstance(lists, list)
    given = [tuple(pair) for each in lists for pair in each]
    covered = {topic for member in members for topic in member["subscribed_topics"]}
    assert len(given) == len(set(given)) == 4_000 * len(covered)
    assert all(
        {topic for topic, _ in each} <= set(member["subscribed_topics"])
        for each, member in zip(lists, members, strict=True)
    )
    sizes = [len(each) for each in lists]
    assert not is_equal or max(sizes) - min(sizes) <= 1
