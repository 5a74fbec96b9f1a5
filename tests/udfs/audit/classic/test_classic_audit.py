"""Generations of classic groups beside what Kafka's assignors give. The assignments that count as right were seen to
come from Kafka's own classes."""

from typing import Any

import pyarrow as pa
import pytest

from schemas.tables import TABLES
from tests.builders.groups.classic_audit_rows import (
    TABLE,
    audited,
    facts,
    failed,
    member,
    only,
    sticky_data,
    synced,
    table,
)
from tests.builders.groups.classic_log import at, tombstone, value
from tests.builders.groups.stored_states import again, texts_of
from udfs.arrays.arrow_schema import table_schema
from udfs.audit import classic_generations
from udfs.audit.checks.assignments import Check
from udfs.audit.checks.facts import Facts, GroupRule
from udfs.audit.checks.results import Difference
from udfs.audit.classic_audit import ClassicAudit

RANGE = [
    member("c1", "a0 a1 a2 b1"),
    member("c2", "a3 a4 b2"),
    member("c3", "b0", instance="z", topics="b"),
]
ROUNDROBIN = [member("c1", "a0 a2", topics="a"), member("c2", "a1 b0 b2"), member("c3", "b1", topics="b")]
COOPERATIVE = [member("c1", "a0 b0 b3"), member("c2", "a1 b1"), member("c3", "a2 b2")]
# c3 came: a2 is to be its own, once c1 let go of it.
WITHHELD = [
    member("c1", "a0 a1", "a0 a1 a2", topics="a", generation=3, user_data=synced(3)),
    member("c2", "a3 a4", "a3 a4", topics="a", generation=3, user_data=synced(3)),
    member("c3", "", topics="a", user_data=synced(-1)),
]


@pytest.mark.parametrize(
    ("protocol", "members", "counts", "algorithm", "variant"),
    [
        ("range", RANGE, {"a": 5, "b": 3}, "plain", "clients 3.5-4.4"),
        ("roundrobin", ROUNDROBIN, {"a": 3, "b": 3}, "plain", "clients 3.4-4.4"),
        ("cooperative-sticky", COOPERATIVE, {"a": 3, "b": 4}, "constrained", "clients 3.7.1-4.4"),
        ("cooperative-sticky", WITHHELD, {"a": 5}, "constrained", "clients 3.7.1-4.4"),
    ],
)
def test_what_kafkas_assignors_gave_is_the_same(
    protocol: str, members: Any, counts: dict[str, int], algorithm: str, variant: str
) -> None:
    row = value(7, 1, 4, members, protocol=protocol, leader="c1")
    for known, source, verdict in ((facts(counts), "snapshot", "same"), (Facts(), "inferred", "same_unconfirmed")):
        result = only([row], known)
        assert (result.verdict, result.reason is None, result.differences) == (verdict, verdict == "same", ())
        assert (result.algorithm, result.variant, result.partition_counts_source) == (algorithm, variant, source)
        assert (result.num_partitions, result.num_unowned, result.num_owned_twice) == (sum(counts.values()), 0, 0)
        assert (result.assignor, result.assignor_source, result.known_defect) == (protocol, "record", None)
        assert not {name for name in failed(result) if name != "balanced"}


def test_a_partition_that_waits_for_its_owner_is_withheld_and_not_without_an_owner() -> None:
    row = only([value(7, 1, 4, WITHHELD, protocol="cooperative-sticky")], facts({"a": 5}))
    assert [each for each in row.checks if each.name == "withheld"] == [
        Check("withheld", True, "a-2: assigned in the next generation, after their owners give them up")
    ]
    assert (row.num_unowned, row.num_idle_members, failed(row)) == (0, 1, {})
    # The same partition dropped where Kafka would give it.
    dropped = [
        member("c1", "a0 a1", "a0 a1", generation=3, topics="a"),
        member("c2", "a3 a4", "a3 a4", generation=3, topics="a"),
    ]
    row = only([value(7, 1, 4, dropped, protocol="cooperative-sticky")], facts({"a": 5}))
    assert (row.verdict, row.num_unowned, failed(row)["complete"]) == ("drift", 1, "no member has a-2")


def test_each_kind_of_error_is_reported() -> None:
    moved = [member("c1", "a0 a1 b1"), member("c2", "a2 a3 a4 b2"), member("c3", "b0", instance="z", topics="b")]
    row = only([value(7, 1, 4, moved)], facts({"a": 5, "b": 3}))
    assert (row.verdict, row.num_different) == ("drift", 1)
    assert row.differences == (Difference("a", 2, "c2", "c1"),)
    assert (row.variant, row.known_defect, row.confidence) == (None, None, "possible")
    doubled = [member("c1", "a0 a1 a2 b1"), member("c2", "a2 a3 a4 b2"), member("c3", "b0", instance="z", topics="b")]
    row = only([value(7, 1, 4, doubled)], facts({"a": 5, "b": 3}))
    assert (row.verdict, row.num_owned_twice, failed(row)["valid"]) == ("drift", 1, "owned twice: a-2")
    other_order = [member("c1", "a0 a2 a1 b1"), member("c2", "a3 a4 b2"), member("c3", "b0", instance="z", topics="b")]
    row = only([value(7, 1, 4, other_order)], facts({"a": 5, "b": 3}))
    assert (row.verdict, row.num_different) == ("same_members_other_order", 0)


# -- numbers of partitions


def test_the_next_snapshot_shows_where_the_one_before_was_too_old() -> None:
    known = facts({"a": 3}, since=0, until=1)
    known = Facts(topics={"a": [*known.topics["a"], *facts({"a": 4}, since=10**18).topics["a"]]})
    members = [member("c1", "a0 a1", topics="a"), member("c2", "a2 a3", topics="a")]
    row = only([value(7, 1, 1, members)], known)
    assert (row.verdict, row.variant) == ("same", "clients 3.5-4.4; with partition counts of the next snapshot")
    assert (row.num_partitions, row.partition_counts_source) == (4, "snapshot")


def test_a_topic_does_not_shrink_so_that_a_dropped_highest_partition_is_detected() -> None:
    before = [member("c1", "a0 a1", topics="a"), member("c2", "a2", topics="a")]
    after = [member("c1", "a0", topics="a"), member("c2", "a1", topics="a")]
    for known in (facts({"a": 3}), facts({"a": 3}, since=10**18)):
        row = only([value(7, 1, 1, before), value(8, 2, 2, after)], known)
        assert (row.verdict, row.reason) == ("stale_input", "the leader knew only 2 of 3 partitions of a")
        assert (row.num_unowned, row.num_different) == (1, 2)
        assert failed(row) == {"complete": "no member has a-2"}
    row = only([value(7, 1, 1, before), value(8, 2, 2, after)])
    assert (row.verdict, row.num_unowned, row.known_defect) == ("not_recomputable", 0, None)
    assert str(row.reason).endswith("the leader knew only 2 of 3 partitions of a; "
                                      "a: neither records nor snapshots show how many partitions it had")  # fmt: skip


def test_a_topic_may_have_been_smaller_before_its_first_snapshot() -> None:
    members = [member("c1", "a0", topics="a"), member("c2", "a1", topics="a")]
    row = only([value(7, 1, 1, members)], facts({"a": 3}, since=10**18))
    assert (row.verdict, row.variant) == ("same_unconfirmed", "clients 3.5-4.4; topics as assigned")
    assert (row.num_partitions, row.partition_counts_source, row.confidence) == (2, "inferred", "likely")


def test_topics_that_nobody_knows_have_no_partitions() -> None:
    members = [member("c1", "a0", topics="az"), member("c2", "a1", topics="az")]
    row = only([value(7, 1, 1, members)], facts({"a": 2}))
    assert (row.verdict, row.num_partitions, row.partition_counts_source) == ("same", 2, "snapshot")
    # Without a list of all topics, there may be one of this name: so nobody says that the assignment is complete.
    row = only([value(7, 1, 1, members)], Facts(topics=facts({"a": 2}).topics))
    assert (row.verdict, row.num_partitions, row.num_unowned) == ("same_unconfirmed", None, None)
    assert failed(row) == {"complete": "partition counts of topics are unknown"}


def test_members_without_subscriptions_are_idle() -> None:
    members = [member("c1", "a0 a1", topics="a"), member("c2", "", topics="")]
    row = only([value(7, 1, 1, members, protocol="roundrobin")], facts({"a": 2}))
    assert (row.verdict, row.num_idle_members, row.imbalance) == ("same", 1, 0)


def test_partitions_that_no_cluster_holds_are_not_computed() -> None:
    row = only([value(7, 1, 1, [member("c1", "a0", topics="a")])], facts({"a": 2_000_000_000}))
    assert row.verdict == "not_recomputable"
    assert (row.num_partitions, row.num_unowned, row.moves_made) == (None, None, None)
    assert row.reason == "a: 2000000000 partitions, more than a cluster holds (4000000)"


def test_an_index_beyond_every_cluster_is_garbage_where_nothing_shows_the_number() -> None:
    row = value(7, 1, 1, [member("c1", "a0", topics="a")])
    row["members"][0]["assignment"]["partitions"] = [{"topic": "a", "partitions": [2**31 - 1, -5]}]
    assert only([row]).verdict == "not_recomputable"
    result = only([row], facts({"a": 1}))
    assert (result.verdict, result.num_nonexistent, result.num_unowned) == ("drift", 2, 1)


def test_members_that_list_the_same_topics_in_another_order_subscribe_to_the_same() -> None:
    members = [member("c1", "a0 a1 a2 b0", topics="ab"), member("c2", "b1", topics="ba")]
    row = only([value(7, 1, 1, members, protocol="roundrobin")], facts({"a": 3, "b": 2}))
    assert (row.imbalance, failed(row)["balanced"]) == (3, "members have from 1 to 4 partitions")


# -- what cannot be recomputed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"protocol_type": "connect", "protocol": "sessioned"}, "Kafka Connect shares connectors and tasks among its"),
        ({"protocol_type": "sr", "protocol": "v0"}, "Schema Registry elects a primary"),
        ({"protocol_type": "mine", "protocol": "x"}, "protocol type 'mine'"),
        ({"protocol": "stream"}, "Kafka Streams assigns by the lag of tasks"),
        ({"protocol": None}, "the record names no assignor"),
        ({"protocol": "com.example.Mine"}, "assignor 'com.example.Mine' is none of Kafka's"),
    ],
)
def test_what_nobody_can_recompute_is_said_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    row = only([value(7, 1, 1, RANGE, **changes)], facts({"a": 5, "b": 3}))
    assert row.verdict == "not_recomputable"
    assert str(row.reason).startswith(reason)
    assert (row.differences, row.num_different, row.variant, row.algorithm) == (None,) * 4
    if "protocol_type" not in changes:
        assert (row.num_partitions, row.num_owned_twice, failed(row)) == (8, 0, {})
    else:
        assert (row.num_partitions, row.num_idle_members) == (None, None)


def test_streams_wait_for_what_members_still_claim() -> None:
    members = [member("c1", "a0", "a0 a1", topics="a"), member("c2", "", topics="a")]
    row = only([value(7, 1, 1, members, protocol="stream")], facts({"a": 3}))
    assert (row.num_unowned, failed(row)) == (1, {"complete": "no member has a-2"})
    assert [each.detail for each in row.checks if each.name == "withheld"] == [
        "a-1: assigned in the next generation, after their owners give them up"
    ]


def test_a_member_that_the_leader_left_out_has_nothing() -> None:
    members = [member("c1", "a0 a1", topics="a"), member("c2", "-", topics="a")]
    row = only([value(7, 1, 1, members)], facts({"a": 2}))
    assert (row.verdict, row.differences) == ("drift", (Difference("a", 1, "c1", "c2"),))


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (member("c2", "a1", is_read=False), "c2: its subscription cannot be read"),
        (member("c2", None), "c2: its assignment cannot be read"),
        (member("c1", "a1"), "c1: is listed twice among the members"),
    ],
)
def test_a_payload_that_cannot_be_read_is_named(spoilt: Any, reason: str) -> None:
    row = only([value(7, 1, 1, [member("c1", "a0"), spoilt])], facts({"a": 2}))
    assert (row.verdict, row.reason, row.num_unowned) == ("not_recomputable", reason, None)


def test_garbage_user_data_says_nothing_as_in_kafka() -> None:
    members = [member("c1", "a0 a2", topics="a", user_data=b"\xff\xff\x01"), member("c2", "a1", topics="a")]
    assert only([value(7, 1, 1, members, protocol="sticky")], facts({"a": 3})).verdict == "same"


def test_custom_assignors_may_give_a_partition_to_several() -> None:
    members = [member("c1", "a0 a1", topics="a"), member("c2", "a0 a1", topics="a")]
    row = value(7, 1, 1, members, protocol="everybody")
    result = only([row], facts({"a": 2}))
    assert (result.num_owned_twice, failed(result)) == (0, {})
    rule = GroupRule("g.*", redundancy=3)
    result = only([row], Facts(topics=facts({"a": 2}).topics, rules=(rule, GroupRule("x", redundancy=5))))
    assert failed(result) == {"redundant": "a-0, a-1: 3 members must own each, 2 do"}
    # Kafka's own may not.
    assert only([value(7, 1, 1, members)], facts({"a": 2})).num_owned_twice == 2


def test_racks_of_replicas_decide_and_without_them_nothing_is_claimed() -> None:
    members = [member("c1", "a1 b1", rack="r2"), member("c2", "a0 a2 b0 b2", rack="r1")]
    racks = [["r1"], ["r2"], ["r1"]]
    row = only([value(7, 1, 1, members)], facts({"a": 3, "b": 3}, a=racks, b=racks))
    assert (row.verdict, row.algorithm, row.variant) == ("same", "rack_aware", "clients 3.5-4.4")
    row = only([value(7, 1, 1, members)], facts({"a": 3, "b": 3}))
    assert row.verdict == "not_recomputable"
    assert row.reason == "members name their racks, but racks of the partitions' replicas are unknown"
    # A leader that did not look at them.
    members = [member("c1", "a0 a1 b0 b1", rack="r2"), member("c2", "a2 b2", rack="r1")]
    row = only([value(7, 1, 1, members)], facts({"a": 3, "b": 3}, a=racks, b=racks))
    assert (row.verdict, row.variant) == ("same", "clients 3.4")


def test_a_leader_that_knew_no_racks() -> None:
    claims = sticky_data("a0 a1 a2 b0 b1 b2", 5)
    members = [
        member("c1", "a0 b0 a1", rack="r1", user_data=claims, generation=5),
        member("c2", "a2 b1 b2", rack="r2"),
    ]
    racks: Any = {"a": [["r2"]] * 3, "b": [["r1"]] * 3}
    row = only([value(7, 1, 6, members, protocol="sticky")], facts({"a": 3, "b": 3}, **racks))
    assert (row.verdict, row.variant) == ("same", "clients 3.7.1-4.4; without racks")


def test_differences_are_those_from_the_release_that_comes_closest() -> None:
    claims = sticky_data("a0 a1 a2 b0 b1 b2", 5)
    # As 3.7.0 gives it, but for b2.
    members = [member("c1", "a0 a1 a2", user_data=claims, generation=5), member("c2", "b0 b1")]
    row = only([value(7, 1, 6, members, protocol="sticky")], facts({"a": 3, "b": 3}))
    assert row.differences == (Difference("b", 2, None, "c2"),)


@pytest.mark.parametrize(
    ("client", "version", "message"),
    [
        ("c", 0, "; its leader sends subscription version 0, so it is a client before 2.4 or of another library"),
        ("c", 3, ""),
    ],
)
def test_a_leader_that_sends_an_old_version_may_be_of_another_library(client: str, version: int, message: str) -> None:
    members = [
        member("c1", "a1", topics="a", client=client, version=version, generation=None),
        member("c2", "a0", topics="a", client="other"),
    ]
    row = only([value(7, 1, 1, members, leader="c1")], facts({"a": 2}))
    assert row.reason == f"no release computes this: 2 partitions have another owner{message}"


# -- no assignor ran


def test_a_static_member_that_comes_back_takes_its_place_over() -> None:
    first = [member("c1", "a0", instance="i", topics="a"), member("c2", "a1", topics="a")]
    back = [member("c2", "a1", topics="a"), member("c9", "a0", instance="i", topics="a")]
    rows = audited([value(7, 1, 1, first), value(8, 2, 1, back)], facts({"a": 2}))
    assert [each.verdict for each in rows] == ["same", "carried_over"]
    assert (rows[1].reason, rows[1].moves_made) == ("a static member came back, no assignor ran", 0)
    # With other lists it is a generation whose number was given twice.
    other = [member("c2", "a0", topics="a"), member("c9", "a1", instance="i", topics="a")]
    assert only([value(7, 1, 1, first), value(8, 2, 1, other)], facts({"a": 2})).verdict == "drift"


def test_where_the_value_before_is_gone_a_static_member_may_have_come_back() -> None:
    members = [member("c1", "a1", topics="a", instance="i"), member("c2", "a0", topics="a")]
    row = only([value(7, 1, 9, members, protocol="sticky")], facts({"a": 2}))
    assert row.verdict == "not_recomputable"
    before = value(6, 0, 8, [member("c2", "a0 a1", topics="a")], protocol="sticky")
    assert only([before, value(7, 1, 9, members, protocol="sticky")], facts({"a": 2})).verdict == "drift"


def test_what_a_conversion_copies_was_computed_by_nobody() -> None:
    row = value(9, 1, 7, [member("c1", "a0", topics="a"), member("c2", "", topics="a")], batch=5)
    schema = table_schema(TABLES["group_metadata"])
    gone = dict.fromkeys(schema.names) | {
        "cluster": "c", "offsets_partition": 0, "record_offset": 8, "record_time": at(1), "batch_first_offset": 5,
        "group_id": "g", "group_type": "consumer", "is_tombstone": True,
    }  # fmt: skip
    (result,) = audited([row], facts({"a": 2}), group_metadata=pa.Table.from_pylist([gone], schema))
    assert result.verdict == "carried_over"
    elsewhere = pa.Table.from_pylist([gone | {"batch_first_offset": 4}], schema)
    (result,) = audited([row], facts({"a": 2}), group_metadata=elsewhere)
    assert result.verdict == "stale_input"


# -- moves, runs, what is left for what-ifs


def test_moves_are_those_of_the_generation_before_with_static_members_under_new_ids() -> None:
    log = [
        value(1, 1, 1, [member("c1", "a0 a1", topics="a"), member("c2", "a2 a3", topics="a", instance="i")]),
        # c2 came back as c7, c3 joined: c1 keeps one, c7 one.
        value(2, 2, 2, [member("c1", "a1", topics="a"), member("c7", "a0", topics="a", instance="i"),
                        member("c3", "a2 a3", topics="a")]),
        value(3, 3, 3),
        value(4, 4, 4, [member("c9", "a0 a1 a2 a3", topics="a")]),
        tombstone(5, 5),
        value(6, 6, 1, [member("c9", "a0 a1 a2 a3", topics="a")]),
    ]  # fmt: skip
    rows = audited(log, facts({"a": 4}))
    # a0 went from c1, a2 and a3 from c7; one each of c1 and c7 was enough... of four by three: 2, 1, 1.
    assert [(each.moves_made, each.moves_needed) for each in rows] == [(None, None), (3, 1), (0, 0), (None, None)]
    assert [each.evidence_first_offset for each in rows] == [1, 1, 3, 6]


def long_log() -> list[Any]:
    """Several groups, each going on from what it was, in turn."""
    log = []
    for offset in range(24):
        group, number = f"g{offset % 3}", offset // 3 + 1
        if offset == 10:
            log.append(tombstone(offset, offset, group=group))
        elif offset == 14:
            log.append(value(offset, offset, number, group=group))
        else:
            owned = "a0 a1" if number > 1 else ""
            members = [
                member(
                    "c1", "a0 a1", owned, topics="a", generation=number - 1, user_data=sticky_data(owned, number - 1)
                ),
                member(f"c{number}x", "a2", topics="a"),
            ]
            log.append(value(offset, offset, number, members, group=group, protocol="cooperative-sticky", leader="c1"))
    return log


@pytest.mark.parametrize("cut", range(0, 25, 3))
def test_rows_are_the_same_whatever_run_they_come_in(cut: int) -> None:
    log, known = long_log(), facts({"a": 3})
    whole = ClassicAudit(known, {})
    expected = whole.take({TABLE: table(log)})
    first = ClassicAudit(known, {})
    rows = first.take({TABLE: table(log[:cut])})
    second = ClassicAudit(known, again("classic", first.states()))
    rows += second.take({TABLE: table(log[cut:])})
    assert rows == expected
    assert first.latest() | second.latest() == whole.latest()
    assert texts_of("classic", first.states()) | texts_of("classic", second.states()) == texts_of(
        "classic", whole.states()
    )


def test_the_latest_assignment_is_reported_again_from_the_state_alone() -> None:
    known = facts({"a": 5, "b": 3})
    audit = ClassicAudit(known, {})
    audit.take({TABLE: table([value(7, 1, 4, RANGE), value(8, 1, 1, group="empty"), tombstone(9, 9, group="gone")])})
    latest = audit.latest()
    assert (latest["empty"], latest["gone"], audit.states()["gone"]) == (None, None, None)
    reported = latest["g"]
    assert reported is not None
    assert reported == classic_generations.latest(again("classic", audit.states())["g"], known)
    assert [each.name for each in reported.topics] == ["a", "b"]
    assert [each.partitions for each in reported.topics] == [5, 3]
    assert [each.owned for each in reported.members] == [
        (("a", (0, 1, 2)), ("b", (1,))), (("a", (3, 4)), ("b", (2,))), (("b", (0,)),)
    ]  # fmt: skip
    assert [each.subscribed_topics for each in reported.members] == [("a", "b"), ("a", "b"), ("b",)]
    grown = Facts(topics={**known.topics, "a": [*known.topics["a"], *facts({"a": 9}, since=10**18).topics["a"]]})
    later = classic_generations.latest(again("classic", audit.states())["g"], grown)
    assert later is not None
    assert later.topics == reported.topics
    assert (reported.members[2].group_instance_id, reported.assignor, reported.subscription_versions) == (
        "z",
        "range",
        (3, 3, 3),
    )
