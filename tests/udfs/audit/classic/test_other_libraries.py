"""Generations whose leaders use other libraries than Kafka's. What librdkafka's leaders assign here, they assigned on a
broker too."""

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.words.assignments import AuditReason, CheckName, Verdict
from tests.builders.groups.classic_audit_rows import facts, member, only, sticky_data
from tests.builders.groups.classic_log import value
from udfs.audit.checks.assignments import Check
from udfs.audit.checks.results import AuditRow, Difference

Row = dict[str, Any]
COOPERATIVE = "cooperative-sticky"
OTHER = AuditReason.OTHER_LIBRARY.value
SIX, EIGHT = facts({"a": 6}), facts({"a": 6, "e": 2})


def of_librdkafka(member_id: str, assigned: str, owned: str = "", *, generation: int = 3, **more: Any) -> Row:
    """As members write it, and as leaders do: they send each member's user data back."""
    data = sticky_data(owned, generation) if owned else b""
    row = member(member_id, assigned, owned, generation=generation, user_data=data, **({"rack": ""} | more))
    row["assignment"] |= {"version": 0, "user_data": data}
    return row


def by_kafka(members: list[Row]) -> list[Row]:
    """The same lists, written by a leader of Kafka's own library."""
    for each in members:
        each["assignment"] |= {"version": 3, "user_data": None}
    return members


def one_left(*assigned: str) -> list[Row]:
    return [
        of_librdkafka("c2", assigned[0], "a2 a3", topics="a"),
        of_librdkafka("c3", assigned[1], "a4 a5", topics="a"),
    ]


def audited(members: list[Row], protocol: str = COOPERATIVE, known: Any = SIX) -> AuditRow:
    """As the second value of the group."""
    before = value(6, 0, 3, members, protocol=protocol)
    return only([before, value(7, 1, 4, members, protocol=protocol)], known)


def test_what_librdkafka_assigned_is_the_same() -> None:
    row = audited(one_left("a2 a3 a1", "a4 a5 a0"))
    assert (row.verdict, row.variant, row.algorithm) == (Verdict.SAME, "librdkafka 2.6.1 and later", "general")
    assert (row.reason, row.known_defect, row.num_unowned) == (None, None, 0)
    row = audited(one_left("a3 a2 a1", "a4 a5 a0"))
    assert (row.verdict, row.variant) == (Verdict.SAME_MEMBERS_OTHER_ORDER, "librdkafka 2.6.1 and later")


def test_what_kafka_gives_too_is_kafkas() -> None:
    row = audited(one_left("a2 a3 a0", "a4 a5 a1"))
    assert (row.verdict, row.variant) == (Verdict.SAME, "clients 3.7.1-4.4")


def test_what_its_own_assignor_does_not_give_is_drift() -> None:
    row = audited(one_left("a2 a3 a1 a0", "a4 a5"))
    assert (row.verdict, row.differences) == (Verdict.DRIFT, (Difference("a", 0, "c2", "c3"),))
    assert row.reason == "librdkafka's own assignor computes another assignment: 1 partition has another owner"


def test_a_leader_of_kafkas_own_library_is_not_acquitted_by_another_ones_rules() -> None:
    row = audited(by_kafka(one_left("a2 a3 a1", "a4 a5 a0")))
    assert (row.verdict, row.num_different) == (Verdict.DRIFT, 2)


def test_what_the_owner_must_give_up_is_withheld() -> None:
    """A partition would move back here: no member got anything that g3 still has."""
    members = [
        of_librdkafka("f4", "", topics="a", generation=-1),
        of_librdkafka("g3", "a5 a4 a1", "a0 a1 a2 a3 a4 a5 e0 e1", topics="ae"),
        of_librdkafka("h5", "", topics="e", generation=-1),
    ]
    row = audited(members, known=EIGHT)
    assert (row.verdict, row.variant, row.num_unowned) == (Verdict.SAME, "librdkafka 2.6.1 and later", 0)
    assert Check(CheckName.COOPERATIVE_SAFE, True) in row.checks
    withheld = "a-0, a-2, a-3 and 2 more: assigned in the next generation, after their owners give them up"
    assert Check(CheckName.WITHHELD, True, withheld) in row.checks


def test_topics_in_the_order_of_the_brokers_set() -> None:
    """It walks a to f as e f a b c d, and range lists topics of equal kind in that order."""
    members = [of_librdkafka("c1", "e0 f0 a0 b0 c0 d0", topics="abcdef", generation=-1)]
    row = audited(members, "range", facts(dict.fromkeys("abcdef", 1)))
    assert row.variant == "librdkafka 2.2.0 and later; topics in the order of the broker's set"
    members = [of_librdkafka("c1", "d0 e0 f0 a0 b0 c0", topics="abcdef", generation=-1)]
    row = audited(members, "range", facts(dict.fromkeys("abcdef", 1)))
    assert (row.verdict, row.num_different) == (Verdict.SAME_MEMBERS_OTHER_ORDER, 0)


def old(members: list[Row]) -> list[Row]:
    for each in members:
        each["subscription"] |= {"version": 1, "generation_id": None, "rack_id": None}
    return members


def undecided() -> Iterator[Any]:
    yield pytest.param(COOPERATIVE, old(one_left("a2 a3 a1 a0", "a4 a5")), SIX, id="a release before 2.2")
    racks: Any = {"a": [["r1"], ["r2"], ["r1"], ["r2"], ["r1"], ["r2"]]}
    named = one_left("a2 a3 a1 a0", "a4 a5")
    named[0]["subscription"]["rack_id"] = "r1"
    yield pytest.param(COOPERATIVE, named, facts({"a": 6}, **racks), id="racks")
    topics = [
        of_librdkafka("c1", "c0 e0", "c0", topics="abcdef"),
        of_librdkafka("c2", "d0 f0", "d0", topics="abcdef"),
        of_librdkafka("c3", "b0 a0", "b0", topics="abcdef"),
    ]
    yield pytest.param(COOPERATIVE, topics, facts(dict.fromkeys("abcdef", 1)), id="the order of topics matters")
    mixed = [of_librdkafka("c1", "a1", topics="a", instance="z"), of_librdkafka("c2", "a0", topics="a")]
    yield pytest.param("range", mixed, facts({"a": 2}), id="static members beside others")
    pattern = one_left("a2 a3 a1 a0", "a4 a5")
    for each in pattern:
        each["subscription"]["topics"].append("^x")
    yield pytest.param(COOPERATIVE, pattern, SIX, id="a pattern")
    without_claims = one_left("a2 a3 a1 a0", "a4 a5")
    without_claims[1]["subscription"] |= {"version": 0, "owned_partitions": []}
    yield pytest.param(COOPERATIVE, without_claims, SIX, id="a member that cannot say what it has")


@pytest.mark.parametrize(("protocol", "members", "known"), list(undecided()))
def test_what_its_leader_would_assign_is_not_always_known(protocol: str, members: list[Row], known: Any) -> None:
    row = audited(members, protocol, known)
    assert (row.verdict, row.reason, row.known_defect) == (Verdict.NOT_RECOMPUTABLE, OTHER, None)
    assert (row.variant, row.num_different, row.differences, row.algorithm) == (None, None, None, None)


def test_releases_before_2_2_are_named_where_no_claims_are_in_conflict() -> None:
    row = audited(old(one_left("a2 a3 a1", "a4 a5 a0")))
    assert (row.verdict, row.variant) == (Verdict.SAME, "librdkafka 1.7.0-2.1.1")


def of_kafka_python(member_id: str, assigned: str, **more: Any) -> Row:
    row = member(member_id, assigned, topics="a", version=0, generation=None, user_data=b"", **more)
    row["assignment"] |= {"version": 0, "user_data": b""}
    return row


def test_other_libraries_are_not_accused() -> None:
    row = audited([of_kafka_python("c1", "a1 a2"), of_kafka_python("c2", "a0")], "range", facts({"a": 3}))
    assert (row.verdict, row.reason, row.known_defect) == (Verdict.NOT_RECOMPUTABLE, OTHER, None)
    row = audited([of_kafka_python("c1", "a0 a1"), of_kafka_python("c2", "a2")], "range", facts({"a": 3}))
    assert (row.verdict, row.variant) == (Verdict.SAME, "clients 3.0-3.3")


def test_an_error_of_another_library_is_still_named() -> None:
    left_out = [
        of_kafka_python("c1", "a0 a1"),
        of_kafka_python("c2", "", instance="i"),
        of_kafka_python("c3", "a2"),
    ]
    row = audited(left_out, "range", facts({"a": 3}))
    assert (row.reason, row.known_defect) == (OTHER, "kafka-python: range leaves members out")


def test_a_client_id_that_is_a_librarys_default_counts_where_bytes_leave_it_open() -> None:
    members = [member("c1", "a1", topics="a", client="kgo"), member("c2", "a0", topics="a", client="kgo")]
    for each in members:
        each["assignment"]["version"] = 0
    assert audited(members, "range", facts({"a": 2})).reason == OTHER
    assert audited(by_kafka(members), "range", facts({"a": 2})).verdict == Verdict.DRIFT
