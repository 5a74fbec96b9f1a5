"""The assignor of the constrained sticky assignor proposal, against its steps taken one by one."""

from typing import Any

import numpy as np
import pytest

from tests.builders.assignors.client_cases import random_spec
from tests.oracles.assignors.same_answers import our_lists
from udfs.assignors.answers import assigned_lists
from udfs.assignors.questions import SpecError, read_spec
from udfs.assignors.sticky_claims import last_generation

CASES = [1_000, pytest.param(20_000, marks=pytest.mark.soak)]
Partition = tuple[str, int]


def equal_spec(rng: np.random.Generator) -> dict[str, Any]:
    spec = random_spec(rng, "cooperative-sticky", (4, 3, 1))
    for member in spec["members"]:
        member["subscribed_topics"] = spec["members"][0]["subscribed_topics"]
    spec.pop("leader_memory", None)
    return spec | {"assignor": "constrained-cooperative-sticky"}


def believed(spec: dict[str, Any]) -> dict[str, list[Partition]]:
    """What each member owns of what there is, in its own order; the first by id keeps what two of them own."""
    counts = {topic["name"]: topic["partitions"] for topic in spec["topics"]}
    known = set(spec["members"][0]["subscribed_topics"])
    members = {member["member_id"]: member for member in spec["members"]}
    generations = {
        name: member.get("generation", last_generation(bytes.fromhex(member.get("user_data", ""))))
        for name, member in members.items()
    }
    seen: set[Partition] = set()
    result: dict[str, list[Partition]] = {}
    for name in sorted(members, key=lambda each: each.encode("utf-16-be")):
        result[name] = []
        for topic, partitions in members[name].get("owned", []):
            for partition in partitions:
                is_there = topic in known and partition < counts.get(topic, 0)
                if generations[name] == max(generations.values()) and is_there and (topic, partition) not in seen:
                    seen.add((topic, partition))
                    result[name].append((topic, partition))
    return result


def proposed(spec: dict[str, Any]) -> dict[str, list[Partition]]:
    """The proposal's steps, before partitions are withheld."""
    topics = sorted(
        (topic for topic in spec["topics"] if topic["name"] in spec["members"][0]["subscribed_topics"]),
        key=lambda topic: topic["name"].encode("utf-16-be"),
    )
    unassigned = [
        (topic["name"], partition)
        for partition in range(max((topic["partitions"] for topic in topics), default=0))
        for topic in topics
        if partition < topic["partitions"]
    ]
    floor, rest = divmod(len(unassigned), len(spec["members"]))
    ceiling = floor + bool(rest)
    assigned: dict[str, list[Partition]] = {}
    unfilled, at_ceiling = [], []
    for member, owned in believed(spec).items():
        assigned[member] = owned[:ceiling]
        unassigned = [each for each in unassigned if each not in assigned[member]]
        if len(owned) < floor:
            unfilled.append(member)
        elif len(owned) > floor:
            at_ceiling.append(member)
    for member in unfilled:
        while len(assigned[member]) < floor:
            assigned[member].append(unassigned.pop(0) if unassigned else assigned[at_ceiling.pop(0)].pop(0))
    for member in [each for each, partitions in assigned.items() if len(partitions) == floor]:
        if unassigned:
            assigned[member].append(unassigned.pop(0))
    assert not unassigned
    return assigned


def withheld(spec: dict[str, Any], assigned: dict[str, list[Partition]]) -> dict[str, list[Partition]]:
    """Without what a member gets that another owned and loses."""
    claimed = {
        member["member_id"]: {(topic, each) for topic, of in member.get("owned", []) for each in of}
        for member in spec["members"]
    }
    revoked = {each for member, had in claimed.items() for each in had - set(assigned[member])}
    return {
        member: [each for each in partitions if each in claimed[member] or each not in revoked]
        for member, partitions in assigned.items()
    }


@pytest.mark.parametrize("cases", CASES)
def test_members_get_what_the_proposals_steps_give_them(rng: np.random.Generator, cases: int) -> None:
    for _ in range(cases):
        spec = equal_spec(rng)
        expected = withheld(spec, proposed(spec))
        lists = [[list(each) for each in expected[member["member_id"]]] for member in spec["members"]]
        assert our_lists(spec) == lists, spec


@pytest.mark.parametrize("cases", CASES)
def test_what_is_given_and_withheld_is_complete_and_balanced_and_nobody_loses_more_than_it_must(
    rng: np.random.Generator, cases: int
) -> None:
    for _ in range(cases // 3):
        spec = equal_spec(rng)
        assigned = proposed(spec)
        lists = our_lists(spec)
        counts = {topic["name"]: topic["partitions"] for topic in spec["topics"]}
        given = [tuple(pair) for each in lists for pair in each]
        everything = {
            (name, index) for name in spec["members"][0]["subscribed_topics"] for index in range(counts.get(name, 0))
        }
        claimed = {(topic, each) for member in spec["members"] for topic, of in member.get("owned", []) for each in of}
        assert len(given) == len(set(given)) and everything - claimed <= set(given) <= everything
        owned = believed(spec)
        still_owned = {each for partitions in owned.values() for each in partitions}
        sizes = [len(partitions) for partitions in assigned.values()]
        assert max(sizes) - min(sizes) <= 1
        floor = len(everything) // len(sizes)
        for member, each in zip(spec["members"], lists, strict=True):
            had = owned[member["member_id"]]
            kept = [tuple(pair) for pair in each if tuple(pair) in had]
            # At most one below the share that all can have is taken from whoever had more.
            assert len(kept) >= min(len(had), floor)
            # Nothing is given while another member that is believed holds it; but who claims a partition keeps it.
            claims = {(topic, index) for topic, of in member.get("owned", []) for index in of}
            assert all(tuple(pair) in claims or tuple(pair) not in still_owned for pair in each)


def spec(*members: dict[str, Any]) -> dict[str, Any]:
    topics = [{"name": "a", "partitions": 4}, {"name": "b", "partitions": 3}]
    return {
        "group_protocol": "classic",
        "assignor": "constrained-cooperative-sticky",
        "topics": topics,
        "members": [
            {"member_id": f"c{i}", "subscribed_topics": ["a", "b"]} | member for i, member in enumerate(members)
        ],
    }


def test_new_members_are_dealt_the_partitions_by_number() -> None:
    assert our_lists(spec({}, {}, {})) == [
        [["a", 0], ["b", 0], ["a", 3]],
        [["a", 1], ["b", 1]],
        [["a", 2], ["b", 2]],
    ]


def test_a_member_at_the_ceiling_gives_its_first_partition_to_a_newcomer_which_waits_for_it() -> None:
    full = [{"owned": [["a", [0, 1]], ["b", [0]]]}, {"owned": [["a", [2, 3]], ["b", [1]]]}, {"owned": [["b", [2]]]}]
    assert our_lists(spec(*({"generation": 3} | each for each in full))) == [
        [["a", 1], ["b", 0]],
        [["a", 2], ["a", 3], ["b", 1]],
        [["b", 2]],
    ]


def test_members_with_other_topics_are_refused_by_name() -> None:
    read = read_spec(spec({}, {"subscribed_topics": ["a"]}))
    with pytest.raises(SpecError, match=r"^members\[1\]\.subscribed_topics: other topics than those of members\[0\]"):
        assigned_lists(read)
