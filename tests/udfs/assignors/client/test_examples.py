"""What Kafka's classes gave for small groups of which each shows one rule, and what holds for large ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.builders.assignors.client_cases import sticky_data
from udfs.assignors.answers import assigned_lists
from udfs.assignors.java.maps import (
    JavaSet,
    Keys,
    no_order,
    string_hash,
    string_hashes,
    topic_partition_keys,
    uuid_hash,
    walked,
)
from udfs.assignors.questions import read_spec

Spec = dict[str, Any]


def spec(assignor: str, counts: dict[str, int], members: dict[str, Spec], racks: Any = None) -> Spec:
    topics = [
        {"name": name, "partitions": count} | ({"racks": racks} if racks else {}) for name, count in counts.items()
    ]
    return {
        "group_protocol": "classic",
        "assignor": assignor,
        "topics": topics,
        "members": [
            {"member_id": name, "subscribed_topics": sorted(counts)} | member for name, member in members.items()
        ],
    }


def lists(asked: Spec) -> str:
    read = read_spec(asked)
    return " · ".join(
        " ".join(f"{topic}{partition}" for topic, partition in pairs) for _, pairs in assigned_lists(read)
    )


def owns(generation: int, **owned: list[int]) -> Spec:
    return {"owned": [list(each) for each in owned.items()], "generation": generation}


ONLY_A, ONLY_B = {"subscribed_topics": ["a"]}, {"subscribed_topics": ["b"]}
THREE: dict[str, Spec] = {"c1": {}, "c2": {}, "c3": {}}
EXAMPLES = {
    "a static member is served before the others": (
        spec("range", {"a": 5, "b": 3}, {"c1": {}, "c2": {}, "c3": ONLY_B | {"group_instance_id": "z"}}),
        "a0 a1 a2 b1 · a3 a4 b2 · b0",
    ),
    "partitions of one number go together to a member that is near": (
        spec("range", {"a": 3, "b": 3}, {"c1": {"rack_id": "r2"}, "c2": {"rack_id": "r1"}}, [["r1"], ["r2"], ["r1"]]),
        "a1 b1 · a0 a2 b0 b2",
    ),
    "a member that does not subscribe loses its turn": (
        spec("roundrobin", {"a": 3, "b": 3}, {"c1": ONLY_A, "c2": {}, "c3": ONLY_B}),
        "a0 a2 · a1 b0 b2 · b1",
    ),
    "new members are dealt to in turn": (
        spec("cooperative-sticky", {"a": 3, "b": 4}, THREE),
        "a0 b0 b3 · a1 b1 · a2 b2",
    ),
    "what another must revoke first is withheld": (
        spec("cooperative-sticky", {"a": 5}, {"c1": owns(3, a=[0, 1, 2]), "c2": owns(3, a=[3, 4]), "c3": {}}),
        "a0 a1 · a3 a4 · ",
    ),
    "what two claim in one generation is withheld from all": (
        spec(
            "cooperative-sticky",
            {"a": 6},
            {"c1": owns(3, a=[0, 1, 2]), "c2": owns(3, a=[2, 3]), "c3": owns(2, a=[4, 5])},
        ),
        "a0 a1 · a3 · a4 a5",
    ),
    "what two claim beyond a topic's count withholds nothing": (
        spec("cooperative-sticky", {"a": 1, "b": 3}, {"c1": owns(5, a=[2]), "c2": owns(5, a=[2])}),
        "a0 b1 · b0 b2",
    ),
    "unequal subscriptions are levelled by single moves": (
        spec(
            "cooperative-sticky",
            {"a": 4, "b": 2},
            {"c1": owns(3, a=[0, 1, 2, 3]), "c2": ONLY_A | {"generation": 3}, "c3": ONLY_B | owns(3, b=[0, 1])},
        ),
        "a2 a3 ·  · b0 b1",
    ),
    "the eager assignor moves at once": (
        spec("sticky", {"a": 4, "b": 2}, {"c1": {}, "c2": ONLY_A, "c3": ONLY_B}),
        "a0 a2 · a1 a3 · b0 b1",
    ),
    "the eager assignor believes user data, not owned partitions": (
        spec(
            "sticky",
            {"a": 2},
            {"c1": owns(3, a=[0]), "c2": owns(3, a=[1]) | {"user_data": sticky_data({"a": [0]}, 3).hex()}},
        ),
        "a1 · a0",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_small_groups_are_assigned_as_kafka_did(name: str) -> None:
    asked, expected = EXAMPLES[name]
    assert lists(asked) == expected


def test_a_topic_that_is_listed_twice_counts_as_a_different_subscription() -> None:
    """Only records can have that. Kafka compares the size of a list with that of a set."""
    once = read_spec(spec("cooperative-sticky", {"a": 3, "b": 4}, THREE))
    twice = replace(once, members=tuple(replace(each, subscribed_topics=("a", "a", "b")) for each in once.members))
    assert [pairs for _, pairs in assigned_lists(once)] == [
        *([("a", 0), ("b", 0), ("b", 3)], [("a", 1), ("b", 1)], [("a", 2), ("b", 2)])
    ]
    assert [pairs for _, pairs in assigned_lists(twice)] == [
        *([("b", 0), ("b", 3), ("a", 2)], [("b", 1), ("a", 0)], [("b", 2), ("a", 1)])
    ]


def test_hash_codes_are_those_of_java() -> None:
    assert string_hashes(["range", "uniform", "cooperative-sticky", "consumer-1-a", ""]).astype(np.int32).tolist() == [
        *(108280125, -286926412, 1843682987, -842085522, 0)
    ]
    assert len(set(string_hashes(["Aa", "BB", "C#"]).tolist())) == 1
    of_partitions = map(topic_partition_keys(string_hash).hash_code, [("t", 0), ("orders", 12)])
    assert np.array(list(of_partitions), np.uint32).astype(np.int32).tolist() == [1077, -1008768998]
    assert uuid_hash(1, 2) == 3


def test_tables_are_walked_as_java_walks_them() -> None:
    keys = [f"consumer-{k}-0000000{k}" for k in range(1, 15)]
    assert [place + 1 for place in walked(string_hashes(keys).tolist())] == [
        *(12, 7, 3, 14, 1, 8, 10, 4, 11, 2, 5, 6, 9, 13)
    ]
    colliding = string_hashes(["Aa", "BB", "C#"]).tolist()
    assert walked(colliding) == [0, 1, 2]
    computed = JavaSet(Keys[int](colliding.__getitem__, no_order))
    for place in range(3):
        computed.compute_if_absent(place, lambda: None)
    assert computed.walk() == [2, 1, 0]
    assert walked([5, 17, 33, 1, 16]) == [4, 1, 2, 3, 0]


def test_a_large_group_that_grows_moves_no_more_than_it_must_and_nothing_that_is_still_owned(
    rng: np.random.Generator,
) -> None:
    counts = {f"t{topic}": int(count) for topic, count in enumerate(rng.integers(1, 400, 60))}
    before, joined = int(rng.integers(50, 300)), int(rng.integers(1, 20))
    first = assigned_lists(
        read_spec(spec("cooperative-sticky", counts, {f"m{member}": {} for member in range(before)}))
    )
    sizes = np.array([len(pairs) for _, pairs in first])
    total = sum(counts.values())
    assert len({pair for _, pairs in first for pair in pairs}) == sizes.sum() == total
    assert sizes.max() - sizes.min() <= 1
    had = {member: owns(1, **by_topic(pairs)) for member, pairs in first}
    grown = had | {f"m{member}": {"generation": 1} for member in range(before, before + joined)}
    after = dict(assigned_lists(read_spec(spec("cooperative-sticky", counts, grown))))
    assert all(set(after[member]) <= set(pairs) for member, pairs in first)
    kept = np.array([len(after[member]) for member, _ in first])
    # The quotas: what an old member keeps beyond the least is the extra of the few that may have one.
    least, extra = divmod(total, before + joined)
    assert kept.sum() == np.minimum(sizes, least).sum() + min(extra, int((sizes > least).sum()))
    assert not any(pairs for member, pairs in after.items() if member not in had)


def by_topic(pairs: list[tuple[str, int]]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in pairs:
        topics.setdefault(topic, []).append(partition)
    return topics
