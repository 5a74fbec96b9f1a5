"""librdkafka's range and roundrobin, and the orders in which its leaders see a group, worked out by hand."""

from collections.abc import Callable

from tests.udfs.assignors.librdkafka.test_sticky import Member, group, written
from udfs.assignors.groups import Group
from udfs.assignors.librdkafka import Rules, as_broker_walks, as_requested, by_name, in_order, library_range
from udfs.assignors.ranges import round_robin


def test_range_lists_topics_by_their_members_and_by_how_many_partitions_they_have() -> None:
    members, counts = (Member("c2", topics="bca"), Member("c1", topics="bc")), {"b": 4, "c": 3, "a": 2}
    asked = group(counts, *members)
    assert written(asked, library_range(asked)) == {"c2": "c2 b2 b3 a0 a1", "c1": "c0 c1 b0 b1"}
    before = group(counts, *members, rules=Rules(has_generations=False, skips_members=True))
    assert written(before, library_range(before)) == {"c2": "b2 b3 c2 a0 a1", "c1": "b0 b1 c0 c1"}


def test_roundrobin_passes_over_who_does_not_subscribe() -> None:
    """As in Kafka's: the member that was passed over gets nothing instead."""
    asked = group({"b": 3, "a": 3}, Member("c3", topics="b"), Member("c1"), Member("c2", topics="ab"))
    assert written(asked, round_robin(asked)) == {"c1": "a0 a2", "c2": "a1 b0 b2", "c3": "b1"}


def test_static_members_are_in_order_only_among_themselves() -> None:
    """m1 is before m2 and m2 before m3. But m3, with the smaller static id, is before m1. Halves are sorted first."""
    asked = group({}, Member("m1", instance="z"), Member("m2"), Member("m3", instance="a"))
    assert in_order(asked, [0, 1, 2]) == [0, 1, 2]
    assert in_order(asked, [2, 1, 0]) == [2, 0, 1]
    assert in_order(asked, [0, 2]) == [2, 0]


def test_orders_of_topics() -> None:
    """The broker's are what Scala 2.13 gives for its immutable sets. The last four names have one hash code."""
    few = ("d b", "b c a")
    assert topics(as_requested, *few) == topics(as_broker_walks, *few) == "d b c a"
    assert topics(by_name, *few) == "a b c d"
    trees = "walnut beech oak ash elm maple birch lime yew"
    assert topics(as_broker_walks, trees) == "elm birch yew ash oak maple beech lime walnut"
    assert topics(as_broker_walks, "AaAa BBBB AaBB x y z BBAa") == "x y z AaAa BBBB AaBB BBAa"


def topics(order: Callable[[Group], list[int]], *listed: str) -> str:
    """Of members that ask for these, in that order."""
    names, members = sorted({*" ".join(listed).split()}), range(len(listed))
    subscriptions = [[names.index(name) for name in each.split()] for each in listed]
    asked = Group(list(map(str, members)), [None] * len(listed), names, [], members, subscriptions, [()] * len(listed))
    return " ".join(names[at] for at in order(asked))
