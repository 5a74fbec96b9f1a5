"""What is tried if the log does not show it: orders of members, votes, topics' ids; and what what-ifs get."""

import pytest

from schemas.words.assignments import PartitionCountsSource, Verdict
from schemas.words.records import GroupType
from tests.builders.groups.stored_states import again
from tests.builders.groups.target_log import (
    TargetLog,
    about,
    audit,
    completed,
    dead,
    epoch,
    known,
    left,
    listed,
    target,
    topic_id,
)
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts
from udfs.audit.modern.questions import latest_of_group, most_voted
from udfs.audit.modern_audit import ModernAudit
from udfs.topics.metadata_hash import group_hash

ORDERS = ["orders"]
# `Aa` and `BB` have one hash code, so that the order in which they came decides who of them is first.


def twins(winner: str, has_hash: bool = False) -> TargetLog:
    """Two partitions each, then a fifth one: from 4.0.1 on the last member of the walk gets it."""
    hashes = {count: group_hash([Topic("orders", count, topic_id("orders"))]) if has_hash else None for count in (4, 5)}
    reported = {count: [] if has_hash else [listed(orders=count)] for count in (4, 5)}
    log = TargetLog()
    log.write(0, about("Aa", ORDERS), *reported[4], epoch(1, hashes[4]), target("Aa", orders=range(4)), completed(1))
    log.write(1, about("BB", ORDERS), epoch(2, hashes[4]), target("Aa", orders=[0, 1]), target("BB", orders=[2, 3]),
              completed(2))  # fmt: skip
    of = {"Aa": [0, 1], "BB": [2, 3]}
    log.write(2, *reported[5], epoch(3, hashes[5]), target(winner, orders=[*of[winner], 4]), completed(3))
    return log


@pytest.mark.parametrize(
    ("winner", "has_hash", "message"),
    [
        ("Aa", False, "4.0.1 and later, Java 18 and before"),
        ("BB", False, "before 4.0.1, Java 18 and before"),
        ("Aa", True, "4.0.1 and later, Java 18 and before"),
        ("BB", True, "4.0.1 and later, Java 18 and before, members that count as equal in another order"),
    ],
)
def test_twins_are_walked_by_when_they_came_and_else_the_other_way_round(
    winner: str, has_hash: bool, message: str
) -> None:
    """The map of members meets first who came last; a coordinator that loaded a compacted log may have it reversed."""
    row = audit(twins(winner, has_hash))[-1]
    assert (row.verdict, row.variant) == (Verdict.SAME, message)


def test_votes_are_counted_and_a_tie_goes_by_javas_map() -> None:
    assert most_voted([None, "range", "uniform", "range"]) == "range"
    assert most_voted(["range", "uniform"]) == most_voted(["uniform", "range"]) == "uniform"
    assert most_voted([None, None]) is None


def test_ids_are_paired_with_names_by_who_has_them() -> None:
    """`b` has only payments' id, so that the other one is that of orders, for good."""
    log = TargetLog()
    log.write(0, about("b", ["payments"]), epoch(1), target("b", payments=range(2)), completed(1))
    log.write(1, about("a", ["orders", "payments"]), epoch(2), target("a", orders=range(2)), completed(2))
    rows = audit(log)
    assert [row.verdict for row in rows] == [Verdict.SAME_UNCONFIRMED] * 2
    log.rows["target_assignment_members"][-1]["topic_partitions"][0]["partitions"] = [1]
    differences = audit(log)[-1].differences or ()
    assert {each.topic for each in differences} <= {"orders", "payments"}


def test_ids_that_could_be_each_others_are_no_ground_for_a_drift() -> None:
    """`b` should have some of orders, but nobody knows which id that is."""
    log = TargetLog()
    log.write(0, about("a", ["orders", "payments"]), epoch(1), target("a", orders=range(3), payments=range(3)),
              completed(1))  # fmt: skip
    log.write(1, about("b", ["orders"]), epoch(2), target("b"), completed(2))
    row = audit(log)[-1]
    assert (row.verdict, row.reason) == (
        Verdict.NOT_RECOMPUTABLE, "no record shows which topic has which id",
    )  # fmt: skip


def test_the_hash_distinguishes_ids() -> None:
    hashed = group_hash([Topic("orders", 3, topic_id("orders")), Topic("payments", 2, topic_id("payments"))])
    log = TargetLog()
    log.write(0, about("a", ["orders", "payments"]), epoch(1, hashed), target("a", orders=range(3), payments=range(2)),
              completed(1))  # fmt: skip
    (row,) = audit(log)
    assert row.partition_counts_source == PartitionCountsSource.METADATA_HASH
    audited = ModernAudit(Facts(), {})
    audited.take(log.tables)
    latest = audited.latest()["g"]
    assert latest is not None
    assert {topic.name: topic.partitions for topic in latest.topics} == {"orders": 3, "payments": 2}


def test_the_hash_finds_partitions_that_nobody_has() -> None:
    """The last partition was dropped from the record: the number that the hash confirms shows it."""
    log = TargetLog()
    hashed = group_hash([Topic("orders", 6, topic_id("orders"))])
    log.write(0, about("a", ORDERS), epoch(1, hashed), target("a", orders=range(5)), completed(1))
    (row,) = audit(log)
    assert (row.verdict, row.num_unowned) == (Verdict.DRIFT, 1)
    assert row.partition_counts_source == PartitionCountsSource.METADATA_HASH


def test_a_topic_that_grew_between_two_snapshots_has_both_counts() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1), target("a", orders=range(5)), completed(1))
    facts = Facts({"orders": [*known(0, orders=4).topics["orders"], *known(9, orders=6).topics["orders"]]})
    (row,) = audit(log, facts)
    assert (row.verdict, row.partition_counts_source) == (Verdict.SAME_UNCONFIRMED, PartitionCountsSource.INFERRED)


def test_a_topic_that_was_made_anew_is_recognized_by_the_id_that_targets_have() -> None:
    log = TargetLog()
    log.write(5, about("a", ORDERS), epoch(1), target("a", orders=range(3)), completed(1))
    before = known(0, other=9).topics["other"][0]
    old = type(before)(Topic("orders", 9, topic_id("other")), before.first_time, before.last_time)
    (row,) = audit(log, Facts({"orders": [old, *known(9, orders=3).topics["orders"]]}))
    # A coordinator's metadata are not stale: the snapshot is.
    assert (row.verdict, row.num_partitions) == (Verdict.SAME_UNCONFIRMED, 3)


# -- what what-ifs get


def test_the_newest_target_goes_to_what_ifs_and_comes_of_the_state_alone() -> None:
    log = twins("Aa")
    facts = known(orders=5)
    audited = ModernAudit(facts, {})
    audited.take(log.tables)
    latest = audited.latest()["g"]
    assert latest is not None
    assert (latest.group_type, latest.assignor, latest.assignment_offset) == (GroupType.CONSUMER, "uniform", 13)
    assert latest.topics == (Topic("orders", 5, topic_id("orders")),)
    assert [(each.member_id, each.target, each.owned == each.target) for each in latest.members] == [
        ("BB", (("orders", (2, 3)),), True),
        ("Aa", (("orders", (0, 1, 4)),), True),
    ]
    assert latest_of_group("g", again("modern", audited.states(), audited.codes)["g"], audited.codes) == latest


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_group_without_members_has_nothing_for_what_ifs(is_deleted: bool) -> None:
    log = twins("Aa")
    log.write(9, *left("Aa"), *left("BB"), epoch(4, 0))
    if is_deleted:
        log.write(10, dead("target_assignment_metadata"), dead("group_metadata"))
    audited = ModernAudit(Facts(), {})
    audited.take(log.tables)
    assert audited.latest() == {"g": None}
    assert (audited.states()["g"] is None) == is_deleted
