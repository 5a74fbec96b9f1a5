"""librdkafka's cooperative-sticky by what its own unit tests expect (rdkafka_sticky_assignor.c, 2.6.1), by generations
that leaders of 2.16.0 wrote to a broker, and by hand where no leader of today shows a rule."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from udfs.assignors.groups import Group, Lists
from udfs.assignors.librdkafka import (
    LibraryGroup,
    Rules,
    Undecidable,
    everything,
    library_group,
    library_sticky,
    without_moved,
)

Counts = Mapping[str, int]
NEWEST = Rules()
BEFORE_2_2 = Rules(has_generations=False, skips_members=True)
BEFORE_2_6_1 = Rules(skips_members=True)


class Member(NamedTuple):
    member_id: str
    owned: str = ""
    topics: str = "a"
    generation: int = 1
    instance: str | None = None


def group(counts: Counts, *members: Member, rules: Rules = NEWEST) -> LibraryGroup:
    """Topics are letters: "a0 b3"."""
    topics = "".join(dict.fromkeys((*counts, *"abcdefghijklmnopqrstuvwxyz")))
    asked = Group(
        members=[each.member_id for each in members],
        instances=[each.instance for each in members],
        topics=topics,
        counts=[],
        classes=range(len(members)),
        subscriptions=[list(map(topics.index, each.topics)) for each in members],
        owned=[[(topics.index(at[0]), int(at[1:])) for at in each.owned.split()] for each in members],
        generations=[each.generation for each in members],
    )
    return library_group(asked, [counts.get(topic, 0) for topic in topics], range(len(counts)), rules)


def written(group: Group, lists: Lists) -> dict[str, str]:
    """By member, "a0 b3"."""
    return {
        who: " ".join(f"{group.topics[topic]}{number}" for topic, number in owned)
        for who, owned in zip(group.members, lists, strict=True)
    }


def sticky(group: LibraryGroup) -> dict[str, str]:
    return written(group, everything(group))


def cooperative_sticky(group: LibraryGroup) -> dict[str, str]:
    return written(group, library_sticky(group))


# -- its own unit tests, which look at the assignor alone and at no order


@pytest.mark.parametrize(
    ("counts", "members", "expected"),
    [
        ({"a": 3, "b": 3}, [Member("1")], {"1": "a0 a1 a2"}),
        (
            {"a": 3, "b": 2},
            [Member("1"), Member("2", topics="ab"), Member("3")],
            {"1": "a0 a2", "2": "b0 b1", "3": "a1"},
        ),
        ({"a": 3, "b": 3}, [Member("1", topics="ab"), Member("2", topics="ab")], {"1": "a0 a2 b1", "2": "a1 b0 b2"}),
        ({"a": 3}, [Member("1", "a0 a1 a2"), Member("2")], {"1": "a1 a2", "2": "a0"}),
        ({"a": 3}, [Member("2", "a0")], {"2": "a0 a1 a2"}),
        (
            {"a": 3, "b": 3},
            [Member("1", "a0 a2", topics="ab"), Member("2", "a1", topics="ab")],
            {"1": "a0 a2 b1", "2": "a1 b0 b2"},
        ),
        (
            {"b": 3},
            [Member("1", "a0 a2 b1", topics="ab"), Member("2", "a1 b2 b0", topics="ab")],
            {"1": "b1", "2": "b0 b2"},
        ),
        (
            {"a": 3, "b": 3},
            [Member("1", "a0 a2 b1", topics="ab", generation=10), Member("2", "a0 a2 b1", topics="ab", generation=9)],
            {"1": "a0 a2 b1", "2": "a1 b0 b2"},
        ),
        ({"a": 3}, [Member("1", "a0 a1"), Member("2", "a0 a2"), Member("3")], {"1": "a1", "2": "a2", "3": "a0"}),
        ({"a": 3}, [Member("1", "a0 a1"), Member("2", "a1 a2"), Member("3")], {"1": "a0", "2": "a2", "3": "a1"}),
        (
            {"a": 3, "b": 3, "c": 3},
            [
                Member("1", "a0 b0 c0", topics="abc", generation=10),
                Member("2", "a1 b1 c1", topics="abc", generation=9),
                Member("3", "b1 c0 c2", topics="abc", generation=8),
            ],
            {"1": "a0 b0 c0", "2": "a1 b1 c1", "3": "a2 b2 c2"},
        ),
        (
            {"a": 3, "b": 3},
            [Member("1", "a0 b1 a1", topics="ab", generation=10), Member("2", "a0 b1 b2", topics="ab", generation=8)],
            {"1": "a0 a1 b1", "2": "a2 b0 b2"},
        ),
    ],
)  # fmt: skip
def test_its_own_unit_tests(counts: Counts, members: list[Member], expected: dict[str, str]) -> None:
    assert {who: " ".join(sorted(owned.split())) for who, owned in sticky(group(counts, *members)).items()} == expected


# -- what leaders of 2.16.0 wrote, list by list


def test_what_nobody_has_goes_out_from_the_last_to_the_first() -> None:
    """Kafka's begins with a0."""
    left = group({"a": 6}, Member("c2", "a2 a3"), Member("c3", "a4 a5"))
    assert cooperative_sticky(left) == {"c2": "a2 a3 a1", "c3": "a4 a5 a0"}
    topics = group({"b": 1, "a": 2}, Member("c1", "c0", topics="bac"), Member("c2", "b0", topics="bac"))
    assert sticky(topics) == {"c1": "a1 a0", "c2": "b0"}


def test_a_group_that_begins_gets_partitions_from_the_first_on() -> None:
    begun = group({"b": 2, "a": 3}, Member("c1", topics="ab"), Member("c2", topics="ab"))
    assert cooperative_sticky(begun) == {"c1": "a0 a2 b1", "c2": "a1 b0"}


def test_a_partition_that_would_move_back() -> None:
    """The leader deletes its note about a3, and takes what then is in that place."""
    answer = cooperative_sticky(
        group(
            {"a": 6, "e": 2},
            Member("r-f4", generation=-1),
            Member("r-g3", "a0 a1 a2 a3 a4 a5 e0 e1", topics="ae"),
            Member("r-b5", topics="e", generation=-1),
        )
    )
    assert answer == {"r-f4": "", "r-g3": "a5 a4 a1", "r-b5": ""}


def test_claims_of_two_generations_and_one_that_is_void() -> None:
    answer = cooperative_sticky(
        group(
            {"l": 4, "w": 1, "b": 3, "o": 3, "y": 3, "e": 2},
            Member("s-b2", topics="lw", generation=5),
            Member("s-a3", "w0 l4 l1 l3 l2 b0 b2 b1 o2 o0", topics="lbwoye", generation=-1),
            Member("r-a1", "b0 b1 o1 o2 w0", topics="beloyw", generation=5),
        )
    )
    assert answer == {"s-b2": "l0", "s-a3": "o0 b2 e1 y1 l4", "r-a1": "o1 o2 b1 e0 y0 y2"}
    void = group(
        {"a": 6, "w": 1, "l": 4, "y": 3},
        Member("s-f2", "y0 y1 y2 w0", topics="awly", generation=3),
        Member("r-h1", "a1 a3 a5 w0 y0 y1 y2", topics="awly", generation=3),
    )
    assert cooperative_sticky(void) == {"s-f2": "l2 l0 a4 a0", "r-h1": "a1 a3 a5 w0 l3 l1 a2"}


def test_a_partition_goes_to_who_had_it_in_an_earlier_generation() -> None:
    """Else r-g1 would get c1."""
    answer = cooperative_sticky(
        group(
            {"b": 6, "c": 3, "o": 3, "y": 3},
            Member("r-g1", "c0 o2", topics="bcoy", generation=5),
            Member("s-c3", "c0 c2 o1 o0 o2 y0 y1", topics="byco", generation=6),
            Member("s-h4", "y0 y2 o1", topics="cboy", generation=4),
            Member("s-b2", topics="oycb", generation=5),
        )
    )
    assert answer == {"r-g1": "b4 b1", "s-c3": "o0 y1", "s-h4": "y2 b2", "s-b2": "b5 b3 b0 c1"}


def test_the_owner_is_taken_to_be_the_last_member_that_claims_a_partition() -> None:
    """b1 belongs to r-g1, by its later generation. But s-b3 is the last to claim it."""
    answer = cooperative_sticky(
        group(
            {"b": 6, "o": 3, "m": 9, "e": 2, "a": 6},
            Member("r-g1", "b1 b5", topics="b", generation=8),
            Member("s-b3", "b4 b3 b0 b1 b2 a1", topics="ombea", generation=7),
        )
    )
    assert answer == {
        "r-g1": "b5",
        "s-b3": "a1 b4 a0 a2 a3 a4 a5 e0 e1 m0 m1 m2 m3 m4 m5 m6 m7 m8 o0 o1 o2",
    }


def test_what_is_claimed_and_nobody_gets_is_given_back() -> None:
    answer = cooperative_sticky(
        group(
            {"o": 3, "a": 6, "l": 4, "b": 6, "y": 3},
            Member("r-h1", "o0", topics="o"),
            Member("s-b2", "l3 l0", topics="albo"),
            Member("s-h3", "l1 l3 l2 n0 n1", topics="y"),
        )
    )
    assert answer == {
        "r-h1": "o0 o1 o2",
        "s-b2": "l0 a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4 b5",
        "s-h3": "y0 y1 y2 n0 n1",
    }


# -- by hand


def test_a_static_member_under_a_new_id_owns_what_it_claims() -> None:
    asked = group({"a": 2}, Member("c9", "a0", instance="z"), Member("c2", "a1"))
    assert written(asked, without_moved(asked, [[(0, 0)], [(0, 1)]])) == {"c9": "a0", "c2": "a1"}


def test_before_2_6_1_the_test_for_balance_passed_members_over() -> None:
    """The first member could get two partitions, and owners of these have no more than itself. So the test went on with
    the fourth, by the counter of those two, and never saw that the third could get one of the fourth."""
    counts = {"a": 2, "c": 4}
    members = (
        Member("1", "a0"),
        Member("2", "a1"),
        Member("3", "c0", topics="c"),
        Member("4", "c1 c2 c3", topics="c"),
    )
    kept = {"1": "a0", "2": "a1", "3": "c0", "4": "c3 c2 c1"}
    assert sticky(group(counts, *members)) == kept | {"3": "c0 c1", "4": "c3 c2"}
    assert sticky(group(counts, *members, rules=BEFORE_2_6_1)) == kept


def test_before_2_2_0_two_claims_of_a_partition_decide_by_chance() -> None:
    claims = (Member("c1", "a0 a1"), Member("c2", "a1"))
    with pytest.raises(Undecidable, match="no generations"):
        sticky(group({"a": 2}, *claims, rules=BEFORE_2_2))
    assert sticky(group({"a": 2}, claims[0], Member("c2"), rules=BEFORE_2_2)) == {"c1": "a1", "c2": "a0"}
