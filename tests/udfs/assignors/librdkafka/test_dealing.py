"""librdkafka's range and roundrobin, and the orders in which its leaders see a group, worked out by hand."""

from udfs.assignors.librdkafka import (
    GroupMember,
    LibraryGroup,
    Lists,
    Rules,
    as_broker_walks,
    as_requested,
    by_name,
    in_circles,
    in_order,
    ranges,
)


def member(member_id: str, instance: str | None = None, topics: str = "ab") -> GroupMember:
    return GroupMember(member_id, instance, tuple(topics), (), -1)


def written(lists: Lists) -> dict[str, str]:
    return {who: " ".join(f"{topic}{number}" for topic, number in owned) for who, owned in lists.items()}


def test_range_lists_topics_by_their_members_and_by_how_many_partitions_they_have() -> None:
    members = [member("c2", topics="bca"), member("c1", topics="bc")]
    counts = {"b": 4, "c": 3, "a": 2}
    assert written(ranges(LibraryGroup(members, counts))) == {"c2": "c2 b2 b3 a0 a1", "c1": "c0 c1 b0 b1"}
    before = LibraryGroup(members, counts, Rules(has_generations=False, skips_members=True))
    assert written(ranges(before)) == {"c2": "b2 b3 c2 a0 a1", "c1": "b0 b1 c0 c1"}


def test_roundrobin_passes_over_who_does_not_subscribe() -> None:
    """As in Kafka's: the member that was passed over gets nothing instead."""
    members = [member("c3", topics="b"), member("c1", topics="a"), member("c2")]
    assert written(in_circles(LibraryGroup(members, {"b": 3, "a": 3}))) == {"c1": "a0 a2", "c2": "a1 b0 b2", "c3": "b1"}


def test_static_members_are_in_order_only_among_themselves() -> None:
    """m1 is before m2 and m2 before m3. But m3, with the smaller static id, is before m1. Halves are sorted first."""
    m1, m2, m3 = member("m1", "z"), member("m2"), member("m3", "a")
    assert in_order([m1, m2, m3]) == [m1, m2, m3]
    assert in_order([m3, m2, m1]) == [m3, m1, m2]
    assert in_order([m1, m3]) == [m3, m1]


def test_orders_of_topics() -> None:
    """The broker's are what Scala 2.13 gives for its immutable sets. The last four names have one hash code."""
    few = [member("c1", topics="db"), member("c2", topics="bca")]
    assert as_requested(few) == as_broker_walks(few) == list("dbca")
    assert by_name(few) == list("abcd")
    trees = "walnut beech oak ash elm maple birch lime yew"
    assert as_broker_walks(asking(trees)) == ["elm", "birch", "yew", "ash", "oak", "maple", "beech", "lime", "walnut"]
    assert as_broker_walks(asking("AaAa BBBB AaBB x y z BBAa")) == ["x", "y", "z", "AaAa", "BBBB", "AaBB", "BBAa"]


def asking(topics: str) -> list[GroupMember]:
    return [GroupMember("c1", None, topics.split(), (), -1)]
