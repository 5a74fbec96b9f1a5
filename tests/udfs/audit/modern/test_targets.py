"""Target assignments of consumer groups, written by hand after Kafka's published examples and rules."""

import pytest

from schemas.words.assignments import AssignorSource, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from tests.builders.groups.target_log import (
    ORDERS,
    SIX,
    TargetLog,
    about,
    audit,
    completed,
    dead,
    epoch,
    joined_twice,
    known,
    listed,
    owns,
    pattern,
    target,
    verdicts,
    with_targets,
)
from udfs.audit.checks.facts import Facts, GroupRule
from udfs.audit.modern_audit import ModernAudit


def test_each_target_epoch_is_computed_from_the_one_before() -> None:
    rows = audit(joined_twice(), known(orders=6))
    assert [(row.generation_or_epoch, row.assignment_offset, row.verdict) for row in rows] == [
        (1, 3, Verdict.SAME),
        (2, 8, Verdict.SAME),
    ]
    assert rows[1].evidence_first_offset == 4
    assert rows[1].evidence_last_offset == 8


def test_a_row_shows_what_it_counted() -> None:
    row = audit(joined_twice(), known(orders=6))[1]
    assert (row.num_partitions, row.num_different, row.differences) == (6, 0, ())
    assert (row.num_unowned, row.num_owned_twice, row.num_nonexistent, row.num_idle_members) == (0, 0, 0, 0)
    assert (row.imbalance, row.moves_made, row.moves_needed) == (0, 3, 3)
    assert (row.assignor, row.assignor_source, row.algorithm) == ("uniform", AssignorSource.DEFAULT, "homogeneous")
    assert row.variant == "4.0.1 and later, Java 18 and before"
    assert all(check.is_ok for check in row.checks)
    assert row.confidence == Confidence.CERTAIN


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0, 1], [2, 3, 4, 5], [(2, "b", "a")]),
        ([3, 4, 5], [0, 1, 2], [(0, "b", "a"), (1, "b", "a"), (2, "b", "a"), (3, "a", "b"), (4, "a", "b"),
                                (5, "a", "b")]),
        ([0, 1, 2], [3, 4], [(5, None, "b")]),
        ([0, 1, 2], [2, 3, 4, 5], [(2, "b", "a")]),
    ],
)  # fmt: skip
def test_whatever_was_altered_is_named(
    a: list[int], b: list[int], expected: list[tuple[int, str | None, str | None]]
) -> None:
    row = audit(with_targets(a, b), known(orders=6))[1]
    assert row.verdict == Verdict.DRIFT
    assert row.differences is not None
    rows = [(each.partition, each.recorded_member_id, each.expected_member_id) for each in row.differences]
    assert rows == expected
    assert row.num_different == len(expected)


def test_another_order_in_a_list_is_no_drift() -> None:
    row = audit(with_targets([2, 1, 0], [3, 4, 5]), known(orders=6))[1]
    assert row.verdict == Verdict.SAME_MEMBERS_OTHER_ORDER


def test_members_ask_for_the_assignor() -> None:
    log = TargetLog()
    asked = [about(each, ORDERS, server_assignor="range") for each in "ab"]
    log.write(0, asked[0], epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, asked[1], epoch(2, SIX), target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]), completed(2))
    # By range the new member comes first, by its id.
    log.write(2, about("0", ORDERS), epoch(3, SIX), target("0", orders=[0, 1]), target("a", orders=[2, 3]),
              target("b", orders=[4, 5]), completed(3))  # fmt: skip
    rows = audit(log, known(orders=6))
    assert verdicts(rows) == ["same"] * 3
    assert {(row.assignor, row.assignor_source) for row in rows} == {("range", AssignorSource.VOTES)}


def test_a_default_that_no_record_names_is_inferred_from_what_it_gave() -> None:
    log = joined_twice()
    log.write(2, about("0", ORDERS), epoch(3, SIX), target("0", orders=[0, 1]), target("a", orders=[2, 3]),
              target("b", orders=[4, 5]), completed(3))  # fmt: skip
    rows = audit(log, Facts(known(orders=6).topics))
    assert verdicts(rows) == ["same"] * 3
    assert [row.assignor for row in rows] == ["uniform", "uniform", "range"]
    assert {row.assignor_source for row in rows} == {AssignorSource.INFERRED}
    assert {row.confidence for row in rows} == {Confidence.LIKELY}


def test_an_assignor_of_somebody_else_is_not_recomputed_but_checked() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS, server_assignor="own"), epoch(1, SIX), target("a", orders=[0, 0]), completed(1))
    (row,) = audit(log, known(orders=6))
    assert (row.verdict, row.assignor) == (Verdict.NOT_RECOMPUTABLE, "own")
    assert row.num_unowned == 5
    assert [check.name for check in row.checks if check.is_ok is False] == ["valid", "complete"]


def test_numbers_of_partitions_come_from_the_groups_own_record_before_anything_else() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), listed(orders=6), epoch(1), target("a", orders=range(6)), completed(1))
    (row,) = audit(log, known(orders=9))
    assert (row.verdict, row.partition_counts_source) == (Verdict.SAME, PartitionCountsSource.RECORD)


def test_the_hash_shows_which_snapshot_holds() -> None:
    log = joined_twice()
    facts = known(orders=9)
    row = audit(log, Facts({"orders": [*facts.topics["orders"], *known(5, orders=6).topics["orders"]]}))[1]
    assert (row.verdict, row.partition_counts_source) == (Verdict.SAME, PartitionCountsSource.METADATA_HASH)


def test_the_hash_confirms_numbers_that_only_targets_show() -> None:
    rows = audit(joined_twice())
    assert [row.partition_counts_source for row in rows] == [PartitionCountsSource.METADATA_HASH] * 2
    assert {row.confidence for row in rows} == {Confidence.CERTAIN}


def test_without_a_hash_the_snapshot_holds_and_a_dropped_partition_shows() -> None:
    log = with_targets([0, 1, 2], [3, 4])
    for each in log.rows["group_metadata"]:
        each["metadata_hash"] = None
    row = audit(log, known(orders=6))[1]
    assert (row.verdict, row.partition_counts_source) == (Verdict.DRIFT, PartitionCountsSource.SNAPSHOT)


def test_without_anything_else_targets_show_how_many_there_are() -> None:
    rows = audit(joined_twice(metadata_hash=None))
    assert verdicts(rows) == ["same_unconfirmed"] * 2
    assert str(rows[1].reason).endswith("orders: neither records nor snapshots show how many partitions it had")
    assert rows[1].partition_counts_source == PartitionCountsSource.INFERRED
    assert rows[1].confidence == Confidence.LIKELY


def test_a_topic_that_is_not_there_is_nobodys() -> None:
    log = TargetLog()
    log.write(0, about("a", ["gone", "orders"]), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    (row,) = audit(log, known(orders=6))
    assert (row.verdict, row.num_partitions, row.num_unowned) == (Verdict.SAME, 6, 0)


def test_a_pattern_stands_for_the_topics_that_it_matched() -> None:
    log = TargetLog()
    log.write(0, about("a", subscribed_topic_regex="o.*"))
    log.write(1, pattern("o.*", ORDERS), epoch(2, SIX))
    log.write(2, target("a", orders=range(6)), completed(2))
    (row,) = audit(log, known(orders=6))
    assert (row.verdict, row.algorithm) == (Verdict.SAME, "homogeneous")


def test_names_beside_a_pattern_make_subscriptions_unequal() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, about("b", subscribed_topic_regex="o.*"), epoch(2, SIX))
    log.write(2, pattern("o.*", ORDERS), epoch(3, SIX), target("a", orders=[0, 1, 2]), target("b", orders=[5, 4, 3]),
              completed(3))  # fmt: skip
    row = audit(log, known(orders=6))[1]
    assert (row.algorithm, row.num_different) == ("heterogeneous", 0)


def test_what_a_rule_asks_for_is_checked() -> None:
    topics = ["orders", "payments"]
    log = TargetLog()
    log.write(0, about("a", topics), epoch(1), target("a", orders=range(2), payments=range(2)), completed(1))
    log.write(1, about("b", topics), epoch(2), target("a", orders=[0], payments=[1]),
              target("b", orders=[1], payments=[0]), completed(2))  # fmt: skip
    # The first one, as for a freshness objective, asks nothing of assignments.
    rules = (GroupRule("g"), GroupRule("g.*", (("orders", "payments"),)))
    facts = Facts(known(orders=2, payments=2).topics, "uniform", rules=rules)
    result = [[check.is_ok for check in row.checks if check.name == "co_partitioned"] for row in audit(log, facts)]
    assert result == [[True], [False]]
    assert not any(check.name == "co_partitioned" for row in audit(log, known(orders=2)) for check in row.checks)


def test_releases_that_answer_alike_are_recognized_by_what_the_group_writes() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), listed(orders=6), epoch(1), target("a", orders=range(6)), completed(1))
    assert audit(log)[0].variant == "before 4.0.1, Java 18 and before"


def test_the_map_of_members_makes_room_for_one_more_at_every_put() -> None:
    """Kafka's map does so even for a key that it has (see `test_timeline_map`)."""
    log, rooms = TargetLog(), []
    for written in (about("a"), owns("a", 1), about("b"), dead("current_member_assignments", "b"), about("c")):
        log.write(0, written)
        fold = ModernAudit(Facts(), {})
        fold.take(log.tables)
        rooms += [group.room for group in fold.states().values() if group is not None]
    assert rooms == [1, 2, 2, 3, 3]


def test_what_early_access_computed_is_not_known() -> None:
    log = TargetLog()
    table, columns = listed(orders=6)
    log.write(0, about("a", ORDERS), (table, columns | {"epoch": 1}), epoch(1), target("a", orders=[5]), completed(1))
    (row,) = audit(log)
    assert (row.verdict, row.num_unowned) == (Verdict.NOT_RECOMPUTABLE, 5)
    assert row.reason == "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
