"""What is counted and checked of recorded assignments, by hand and beside a slow count with sets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import pytest

from udfs.assignors.groups import Rows
from udfs.audit.checks.assignments import (
    Racks,
    RecordedAssignment,
    balanced,
    complete,
    cooperative_safe,
    required_checks,
    static_once,
    valid,
)
from udfs.audit.checks.facts import UNKNOWN, GroupRule

Lists = dict[str, list[tuple[str, int]]]


def rows_of(lists: Lists, members: Sequence[str], topics: Sequence[str]) -> Rows:
    rows = [(members.index(m), topics.index(t), p) for m, own in lists.items() for t, p in own]
    return Rows(*np.array(rows, np.int32).reshape(-1, 3).T)


def recorded(
    counts: dict[str, int], lists: Lists, subscribed: dict[str, tuple[str, ...]] | None = None
) -> RecordedAssignment:
    """Without `subscribed` all subscribe to all topics."""
    members, topics = list(lists), list(counts)
    of_member = [(subscribed or {}).get(member, tuple(topics)) for member in members]
    classes = list(dict.fromkeys(of_member))
    return RecordedAssignment(
        members,
        topics,
        np.array(list(counts.values()), np.int64),
        np.array([classes.index(each) for each in of_member], np.int32),
        [np.array([topics.index(name) for name in names], np.int32) for names in classes],
        rows_of(lists, members, topics),
    )


def counted(one: RecordedAssignment) -> dict[str, int | None]:
    return {
        "num_partitions": one.num_partitions,
        "num_unowned": one.num_unowned,
        "num_owned_twice": one.num_owned_twice(),
        "num_nonexistent": one.num_nonexistent,
        "num_unsubscribed": int(one.is_unsubscribed.sum()),
        "num_idle_members": one.num_idle_members,
        "imbalance": one.imbalance,
    }


def test_what_is_wrong_with_an_assignment_is_counted() -> None:
    one = recorded(
        {"a": 3, "b": 2, "gone": 0},
        {"x": [("a", 0), ("a", 1), ("a", 7)], "y": [("a", 1), ("b", 0)], "idle": [], "z": [("gone", 0)]},
        {"x": ("a",), "y": ("a",), "idle": ("b",), "z": ("gone",)},
    )
    assert counted(one) == {
        "num_partitions": 5,
        "num_unowned": 2,  # a-2, b-1
        "num_owned_twice": 1,  # a-1
        "num_nonexistent": 2,  # a-7, gone-0
        "num_unsubscribed": 1,  # y has b-0
        "num_idle_members": 1,
        "imbalance": 1,  # x has 3, y 2
    }


def test_counts_that_need_unknown_numbers_of_partitions_are_unknown() -> None:
    result = counted(recorded({"a": UNKNOWN, "b": 1}, {"x": [("a", 0), ("b", 0)]}))
    assert (result["num_partitions"], result["num_unowned"], result["num_nonexistent"]) == (None,) * 3
    assert (result["num_owned_twice"], result["num_idle_members"], result["imbalance"]) == (0, 0, 0)


def random_recorded(random: Random) -> RecordedAssignment:
    counts = {f"t{i}": random.choice([UNKNOWN, 0, 1, 3, 6]) for i in range(random.randint(1, 4))}
    members = [f"m{i}" for i in range(random.randint(1, 5))]
    pool = [tuple(name for name in counts if random.random() < 0.7) for _ in range(random.choice([1, 1, 2, 3]))]
    lists: Lists = {
        m: [(name, random.randint(-1, 6)) for name in counts for _ in range(random.randint(0, 4))] for m in members
    }
    lists = {member: list(dict.fromkeys(own)) for member, own in lists.items()}
    return recorded(counts, lists, {member: random.choice(pool) for member in members})


def slowly_counted(one: RecordedAssignment) -> dict[str, int | None]:
    names = [[one.topics[t] for t in one.topics_of_class[k]] for k in one.class_of_member.tolist()]
    counts = dict(zip(one.topics, one.counts.tolist(), strict=True))
    has = [
        (m, one.topics[t], p)
        for m, t, p in zip(
            one.rows.members.tolist(), one.rows.topics.tolist(), one.rows.partitions.tolist(), strict=True
        )
    ]
    wanted = {(name, p) for listed in names for name in listed for p in range(max(0, counts[name]))}
    is_unknown = any(counts[name] == UNKNOWN for listed in names for name in listed)
    misses = any(counts[name] == UNKNOWN for _, name, _ in has)
    owners = Counter((name, p) for _, name, p in has)
    sizes = Counter(m for m, _, _ in has)
    spread: dict[tuple[str, ...], list[int]] = {}
    for m, listed in enumerate(names):
        spread.setdefault(tuple(listed), []).append(sizes[m])
    return {
        "num_partitions": None if is_unknown else len(wanted),
        "num_unowned": None if is_unknown else len(wanted - owners.keys()),
        "num_owned_twice": sum(times > 1 for times in owners.values()),
        "num_nonexistent": None if misses else sum(not 0 <= p < counts[name] for _, name, p in has),
        "num_unsubscribed": sum(name not in names[m] for m, name, _ in has),
        "num_idle_members": sum(sizes[m] == 0 for m in range(len(names))),
        "imbalance": max(max(each) - min(each) for each in spread.values()),
    }


def test_random_assignments_are_counted_as_with_sets(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        one = random_recorded(random)
        assert counted(one) == slowly_counted(one), one


@pytest.mark.parametrize(
    ("lists", "withheld", "is_level"),
    [
        ({"x": [("a", 0), ("a", 1)], "y": [("a", 2)]}, 0, True),
        ({"x": [("a", 0), ("a", 1)], "y": []}, 0, False),
        ({"x": [("a", 0), ("a", 1)], "y": []}, 1, True),
        ({"x": [("a", 0), ("a", 1), ("a", 2)], "y": [("a", 3)], "z": [("a", 4)]}, 0, False),
        # Four of five could be even only if z took both that wait; x has too many even so.
        ({"x": [("a", 0), ("a", 1), ("a", 2)], "y": [], "z": []}, 2, False),
    ],
)
def test_sizes_are_level_once_what_is_withheld_is_given(lists: Lists, withheld: int, is_level: bool) -> None:
    assert recorded({"a": 6}, lists).is_level(withheld) == is_level


@pytest.mark.parametrize(
    ("lists", "is_level"),
    [
        ({"x": [("a", 0), ("b", 0)], "y": [("a", 1)]}, True),
        ({"x": [("a", 0), ("a", 1)], "y": [("b", 0), ("b", 1)]}, False),
        ({"x": [("a", 0)], "y": []}, True),
    ],
)
def test_range_is_level_topic_by_topic(lists: Lists, is_level: bool) -> None:
    assert recorded({"a": 2, "b": 2}, lists).is_level_by_topic == is_level


def test_what_another_member_claims_may_not_be_given_away() -> None:
    members, topics = ["x", "y", "z"], ["a"]
    one = recorded({"a": 4}, {"x": [("a", 0)], "y": [("a", 1), ("a", 2)], "z": []})
    # a-0 stays, a-1 is claimed by x alone, a-2 by y and z, a-3 by z and given to nobody.
    claims = rows_of({"x": [("a", 0), ("a", 1)], "y": [("a", 2)], "z": [("a", 2), ("a", 3)]}, members, topics)
    assert one.unsafe(claims).tolist() == [False, True, False]
    assert cooperative_safe(one, one.unsafe(claims)).detail == "assigned before its owner gave it up: a-1"


def test_checks_name_what_they_detected() -> None:
    one = recorded(
        {"a": 5, "b": 1},
        {"x": [("a", 0), ("a", 1), ("a", 9)], "y": [("a", 1), ("b", 0)]},
        {"x": ("a", "b"), "y": ("a",)},
    )
    assert valid(one).detail == "not subscribed by its member: b-0; does not exist: a-9; owned twice: a-1"
    # a-3 waits for its owner.
    assert complete(one, np.array([3])).detail == "no member has a-2, a-4"
    assert complete(recorded({"a": 7}, {"x": []}), np.array([], np.int64)).detail == (
        "no member has a-0, a-1, a-2 and 4 more"
    )
    assert complete(recorded({"a": UNKNOWN}, {"x": []}), np.array([], np.int64)).is_ok is None
    assert balanced(one).is_ok is None
    assert static_once(["i", None, "i", None, "j"]).detail == "group.instance.id i is that of two members"
    assert static_once(["i", None, None]).is_ok


def test_settings_ask_for_checks_of_their_own() -> None:
    one = recorded({"a": 2, "b": 2}, {"x": [("a", 0), ("b", 0)], "y": [("a", 1), ("b", 1)]})
    other = recorded({"a": 2, "b": 2}, {"x": [("a", 0), ("b", 1)], "y": [("a", 1), ("b", 0), ("a", 0)]})
    rule = GroupRule("g", copartitioned=(("a", "b"), ("a", "c")), redundancy=2, is_rack_local=True)
    racks: dict[str, list[list[str | None]]] = {"a": [["r1"], ["r2"]], "b": [["r1"], ["r2", None]]}
    rows = [(each.name, each.is_ok, each.detail) for each in required_checks(rule, one, ["r1", None], racks)]
    assert rows == [
        ("co_partitioned", True, None),
        ("co_partitioned", None, "no member subscribes to c"),
        ("redundant", False, "a-0, a-1, b-0 and 1 more: 2 members must own each, 1 does"),
        ("rack_local", True, None),
    ]
    rows = [(each.name, each.is_ok, each.detail) for each in required_checks(rule, other, ["r1", "r2"], racks)]
    assert rows == [
        ("co_partitioned", False, "a-0 and b-0 have different owners; a-1 and b-1 have different owners"),
        ("co_partitioned", None, "no member subscribes to c"),
        ("redundant", False, "a-1, b-0, b-1: 2 members must own each, 1 does"),
        ("rack_local", False, "no replica in the member's rack: a-0, b-0, b-1"),
    ]


def test_topics_with_other_numbers_of_partitions_are_not_copartitioned() -> None:
    one = recorded({"a": 1, "b": 2}, {"x": [("a", 0), ("b", 0)], "y": [("b", 1)]})
    (result,) = required_checks(GroupRule("g", copartitioned=(("a", "b"),)), one, [None, None], {})
    assert (result.is_ok, result.detail) == (False, "the topics a, b have different partition counts")


def owned_in(counts: Mapping[str, int], x: Sequence[int], y: Sequence[int]) -> RecordedAssignment:
    """x has a-0 and a-1, and with y these of b."""
    return recorded(dict(counts), {"x": [("a", 0), ("a", 1), *(("b", p) for p in x)], "y": [("b", p) for p in y]})


@pytest.mark.parametrize(("counts", "x", "y", "is_ok", "detail"), [
    ({"a": 2, "b": UNKNOWN}, [0, 1], [], True, None),
    ({"a": 2, "b": UNKNOWN}, [0], [1], False, "a-1 and b-1 have different owners"),
    ({"a": UNKNOWN, "b": UNKNOWN}, [0], [1], False, "a-1 and b-1 have different owners"),
    # Whether there is a b-1 is not known.
    ({"a": 2, "b": UNKNOWN}, [0], [], None, "partition counts of b are unknown"),
    ({"a": UNKNOWN, "b": UNKNOWN}, [0], [], None, "partition counts of a, b are unknown"),
    ({"a": 2, "b": 2}, [0], [], False, "a-1 and b-1 have different owners"),
])  # fmt: skip
def test_unknown_numbers_of_partitions_break_no_rule(
    counts: Mapping[str, int], x: Sequence[int], y: Sequence[int], is_ok: bool | None, detail: str | None
) -> None:
    rule = GroupRule("g", copartitioned=(("a", "b"),))
    (result,) = required_checks(rule, owned_in(counts, x, y), [None, None], {})
    assert (result.is_ok, result.detail) == (is_ok, detail)


@pytest.mark.parametrize(("racks", "is_ok", "detail"), [
    ({"a": [["r1"], ["r1"]]}, True, None),
    ({"a": [["r1"], ["r2"]]}, False, "no replica in the member's rack: a-1"),
    # A snapshot from before the topic got its second partition, and one without replicas of it.
    ({"a": [["r1"]]}, None, "racks of the replicas of a are not known"),
    ({"a": [["r1"], []]}, None, "racks of the replicas of a are not known"),
    ({"a": [["r2"]]}, False, "no replica in the member's rack: a-0"),
    ({}, None, "racks of the replicas of a are not known"),
])  # fmt: skip
def test_unknown_racks_break_no_rule(racks: Racks, is_ok: bool | None, detail: str | None) -> None:
    one = recorded({"a": 2, "b": 1}, {"x": [("a", 0), ("a", 1)], "y": [("b", 0)]})
    # The rack of y, which has b, is not known.
    (result,) = required_checks(GroupRule("g", is_rack_local=True), one, ["r1", None], racks)
    assert (result.is_ok, result.detail) == (is_ok, detail)


def test_how_many_own_a_partition_is_said() -> None:
    one = recorded({"a": 3}, {"x": [("a", 0), ("a", 1)], "y": [("a", 1)], "z": [("a", 1)]})
    (result,) = required_checks(GroupRule("g", redundancy=2), one, [None] * 3, {})
    assert result.detail == "a-0, a-1, a-2: 2 members must own each, 0 to 3 do"
