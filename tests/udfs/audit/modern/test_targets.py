"""Target assignments of consumer groups, written by hand after Kafka's published examples and rules."""

from collections.abc import Sequence

import pytest

from schemas.words.assignments import AssignorSource, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from tests.builders.groups.target_log import (
    TargetLog,
    about,
    audit,
    classic_about,
    completed,
    dead,
    epoch,
    known,
    left,
    listed,
    owns,
    pattern,
    target,
    topic_id,
)
from udfs.assignors.questions.specs import Topic
from udfs.audit.checks.audit_results import AuditRow
from udfs.audit.checks.facts import Facts, GroupRule
from udfs.audit.modern_audit import ModernAudit
from udfs.topics.metadata_hash import group_hash

ORDERS = ["orders"]
# Hashes of these counts, without racks.
TWO = group_hash([Topic("orders", 2, topic_id("orders"))])
SIX = group_hash([Topic("orders", 6, topic_id("orders"))])


def joined_twice(metadata_hash: int | None = SIX) -> TargetLog:
    """`a` alone with six partitions, then `b`: `a` keeps its first three (assignors.md, uniform)."""
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1, metadata_hash), target("a", orders=range(6)), completed(1))
    log.write(
        1000, about("b", ORDERS), epoch(2, metadata_hash), target("a", orders=[0, 1, 2]),
        target("b", orders=[3, 4, 5]), completed(2),
    )  # fmt: skip
    return log


def verdicts(rows: Sequence[AuditRow]) -> list[str]:
    return [str(row.verdict) for row in rows]


def test_each_target_epoch_is_computed_from_the_one_before() -> None:
    rows = audit(joined_twice(), known(orders=6))
    assert [(row.generation_or_epoch, row.assignment_offset, row.verdict) for row in rows] == [
        (1, 3, Verdict.SAME),
        (2, 8, Verdict.SAME),
    ]
    assert rows[1].evidence_first_offset == 4
    assert rows[1].evidence_last_offset == 8


def test_a_row_tells_what_it_counted() -> None:
    row = audit(joined_twice(), known(orders=6))[1]
    assert (row.num_partitions, row.num_different, row.differences) == (6, 0, ())
    assert (row.num_unowned, row.num_owned_twice, row.num_nonexistent, row.num_idle_members) == (0, 0, 0, 0)
    assert (row.imbalance, row.moves_made, row.moves_needed) == (0, 3, 3)
    assert (row.assignor, row.assignor_source, row.algorithm) == ("uniform", AssignorSource.DEFAULT, "homogeneous")
    assert row.variant == "4.0.1 and later, Java 18 and before"
    assert all(check.is_ok for check in row.checks)
    assert row.confidence == Confidence.CERTAIN


def with_targets(a: list[int], b: list[int]) -> TargetLog:
    log = joined_twice()
    first, second = log.rows["target_assignment_members"][1:]
    first["topic_partitions"][0]["partitions"], second["topic_partitions"][0]["partitions"] = a, b
    return log


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ([0, 1], [2, 3, 4, 5], [(2, "b", "a")]),
        ([3, 4, 5], [0, 1, 2], [(0, "b", "a"), (1, "b", "a"), (2, "b", "a"), (3, "a", "b"), (4, "a", "b"),
                                (5, "a", "b")]),
        ([0, 1, 2], [3, 4], [(5, None, "b")]),
        ([0, 1, 2], [2, 3, 4, 5], [(2, "b", "a")]),
    ],
)  # fmt: skip
def test_whatever_was_altered_is_named(
    a: list[int], b: list[int], told: list[tuple[int, str | None, str | None]]
) -> None:
    row = audit(with_targets(a, b), known(orders=6))[1]
    assert row.verdict == Verdict.DRIFT
    assert row.differences is not None
    found = [(each.partition, each.recorded_member_id, each.expected_member_id) for each in row.differences]
    assert found == told
    assert row.num_different == len(told)


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


def test_a_default_that_nobody_tells_is_found_by_what_it_gave() -> None:
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


def test_the_hash_tells_which_snapshot_holds() -> None:
    log = joined_twice()
    facts = known(orders=9)
    row = audit(log, Facts({"orders": [*facts.topics["orders"], *known(5, orders=6).topics["orders"]]}))[1]
    assert (row.verdict, row.partition_counts_source) == (Verdict.SAME, PartitionCountsSource.METADATA_HASH)


def test_the_hash_confirms_numbers_that_only_targets_tell() -> None:
    rows = audit(joined_twice())
    assert [row.partition_counts_source for row in rows] == [PartitionCountsSource.METADATA_HASH] * 2
    assert {row.confidence for row in rows} == {Confidence.CERTAIN}


def test_without_a_hash_the_snapshot_holds_and_a_dropped_partition_shows() -> None:
    log = with_targets([0, 1, 2], [3, 4])
    for each in log.rows["group_metadata"]:
        each["metadata_hash"] = None
    row = audit(log, known(orders=6))[1]
    assert (row.verdict, row.partition_counts_source) == (Verdict.DRIFT, PartitionCountsSource.SNAPSHOT)


def test_without_anything_else_targets_tell_how_many_there_are() -> None:
    rows = audit(joined_twice(metadata_hash=None))
    assert verdicts(rows) == ["same", "same"]
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


def test_a_static_member_that_returns_keeps_its_target() -> None:
    log = TargetLog()
    for number, member in enumerate("ab", 1):
        targets = [target("a", orders=range(6))] if number == 1 else [
            target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5])]  # fmt: skip
        log.write(number, about(member, ORDERS, group_instance_id=f"i-{member}"), epoch(number, SIX), *targets,
                  completed(number))  # fmt: skip
    log.write(3, *left("b"), about("c", ORDERS, group_instance_id="i-b"), target("c", orders=[3, 4, 5]),
              owns("c", 0, orders=[3, 4, 5]))  # fmt: skip
    log.write(4, epoch(3, SIX), completed(3))
    rows = audit(log, known(orders=6))
    assert verdicts(rows) == ["same"] * 3
    assert (rows[2].moves_made, rows[2].num_different) == (0, 0)


def test_a_member_that_left_is_not_asked() -> None:
    log = joined_twice()
    log.write(2000, *left("a"), epoch(3, SIX))
    log.write(3000, target("b", orders=[3, 4, 5, 0, 1, 2]), completed(3))
    row = audit(log, known(orders=6))[2]
    assert row.num_different == 0
    assert (row.moves_made, row.moves_needed) == (3, 3)


def test_the_last_member_leaves_no_row() -> None:
    log = joined_twice()
    log.write(2000, *left("a"), *left("b"), epoch(3, 0), completed(3))
    assert len(audit(log, known(orders=6))) == 2


def test_a_target_of_an_earlier_epoch_is_computed_from_who_was_in_then() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(2, SIX), target("a", orders=range(6)), completed(2))
    log.write(1, about("b", ORDERS), epoch(3, SIX))
    log.write(2, about("c", ORDERS), epoch(4, SIX))
    log.write(3, target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]), completed(3))
    log.write(4, target("a", orders=[0, 1]), target("b", orders=[3, 4]), target("c", orders=[5, 2]), completed(4))
    rows = audit(log, known(orders=6))
    assert [row.num_different for row in rows] == [0, 0, 0]


def test_assignments_copied_from_a_classic_group_are_carried_over() -> None:
    log = TargetLog()
    log.write(
        0, dead("classic_group_metadata"), classic_about("a", ORDERS), epoch(7, SIX),
        target("a", orders=[5, 0, 1, 2, 3, 4]), completed(7), owns("a", 7, orders=range(6)),
        about("b", ORDERS), epoch(8, SIX), target("a", orders=[5, 0, 1]), target("b", orders=[2, 3, 4]), completed(8),
    )  # fmt: skip
    rows = audit(log, known(orders=6))
    assert [row.verdict for row in rows][:1] == [Verdict.CARRIED_OVER]
    assert (rows[1].generation_or_epoch, rows[1].moves_made) == (8, 3)


def test_an_emptied_classic_group_has_nothing_to_copy() -> None:
    log = TargetLog()
    log.write(0, dead("classic_group_metadata"), about("a", ORDERS), epoch(1, SIX), target("a", orders=range(6)),
              completed(1))  # fmt: skip
    assert verdicts(audit(log, known(orders=6))) == ["same"]


def test_behind_missing_records_nothing_is_a_drift() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), target("b", orders=[3, 4, 5]), about("b", ORDERS), epoch(8, SIX),
              target("a", orders=[0, 1, 5]), completed(8))  # fmt: skip
    (row,) = audit(log, known(orders=6))
    assert row.verdict == Verdict.NOT_RECOMPUTABLE
    assert row.reason == "the group's first records are missing"
    assert (row.moves_made, row.num_different, row.variant) == (None, None, None)


def test_a_gap_between_epochs_is_told() -> None:
    log = joined_twice()
    log.write(2000, about("c", ORDERS), epoch(9, SIX), target("c", orders=range(6)), completed(9))
    row = audit(log, known(orders=6))[2]
    assert (row.verdict, row.reason) == (
        Verdict.NOT_RECOMPUTABLE,
        "records are missing between group epochs 2 and 9",
    )


def test_epochs_that_follow_each_other_make_a_compacted_group_whole() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(8, SIX), target("a", orders=range(6)), completed(8))
    log.write(1, about("b", ORDERS), epoch(9, SIX), target("a", orders=[0, 1]), target("b", orders=[2, 3, 4, 5]),
              completed(9))  # fmt: skip
    rows = audit(log, known(orders=6))
    assert verdicts(rows) == ["same", "drift"]


def test_a_member_without_its_subscription_is_named() -> None:
    log = TargetLog()
    log.write(0, owns("a", 1, orders=[0]), epoch(1, SIX), target("a", orders=[0]), completed(1))
    (row,) = audit(log, known(orders=6))
    assert row.reason == "member a: what it subscribes to is missing"
    assert row.num_idle_members == 0


@pytest.mark.parametrize("partition", [-1, 2_000_000_000])
def test_a_partition_that_cannot_be_ends_no_run(partition: int) -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1), target("a", orders=[partition]), completed(1))
    log.write(1, about("a", ORDERS), epoch(1), target("a", orders=range(6)), completed(1), group="other")
    rows = audit(log)
    assert verdicts(rows) == ["not_recomputable", "same"]
    assert rows[0].reason == "a target has a partition that no topic has"


def test_a_group_that_was_deleted_begins_anew() -> None:
    log = joined_twice()
    log.write(2, *left("a"), *left("b"), dead("target_assignment_metadata"), dead("group_metadata"))
    log.write(3, about("b", ORDERS), epoch(1, SIX), target("b", orders=range(6)), completed(1))
    assert verdicts(audit(log, known(orders=6))) == ["same"] * 3


def test_a_partition_of_two_members_at_a_time_is_told_with_the_next_target() -> None:
    log = joined_twice()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    log.write(3, owns("b", 2, orders=[2, 3, 4, 5]))
    log.write(4, owns("b", 2, orders=[3, 4, 5]))
    log.write(5, about("a", ORDERS), epoch(3, SIX), completed(3))
    row = audit(log, known(orders=6))[2]
    (told,) = [check for check in row.checks if check.name == "owned_once"]
    assert (told.is_ok, told.detail) == (False, "orders-2: owned by a and b at once")
    assert row.known_defect == "KAFKA-19974"


def test_what_a_rule_asks_for_is_checked() -> None:
    topics = ["orders", "payments"]
    log = TargetLog()
    log.write(0, about("a", topics), epoch(1), target("a", orders=range(2), payments=range(2)), completed(1))
    log.write(1, about("b", topics), epoch(2), target("a", orders=[0], payments=[1]),
              target("b", orders=[1], payments=[0]), completed(2))  # fmt: skip
    facts = Facts(known(orders=2, payments=2).topics, "uniform", rules=(GroupRule("g.*", (("orders", "payments"),)),))
    found = [[check.is_ok for check in row.checks if check.name == "co_partitioned"] for row in audit(log, facts)]
    assert found == [[True], [False]]
    assert not any(check.name == "co_partitioned" for row in audit(log, known(orders=2)) for check in row.checks)


def shared(of_a: list[int], of_b: list[int]) -> AuditRow:
    log = TargetLog(group_type="share")
    initialized = [{"state": "initialized", "topic_id": topic_id("orders"), "topic_name": "orders",
                    "partitions": [0, 1]}]  # fmt: skip
    log.write(0, ("group_partition_metadata", {"topics": initialized}))
    log.write(1, about("a", ORDERS), epoch(2, TWO), target("a", orders=[0, 1]), completed(2))
    log.write(2, about("b", ORDERS), epoch(3, TWO), target("a", orders=of_a), target("b", orders=of_b), completed(3))
    return audit(log, known(orders=2))[-1]


def test_members_of_share_groups_may_have_the_same_partitions() -> None:
    row = shared([0, 1], [0, 1])
    assert (row.num_owned_twice, row.num_unowned) == (0, 0)
    assert all(check.is_ok for check in row.checks)
    assert (row.moves_made, row.moves_needed) == (None, None)


def test_a_share_group_is_recomputed_by_its_own_assignor() -> None:
    rows = shared([1], [0]), shared([1], [])
    assert [(row.verdict, row.assignor) for row in rows] == [(Verdict.SAME, "simple"), (Verdict.DRIFT, "simple")]
    assert rows[1].num_unowned == 1


def test_topics_that_share_state_does_not_hold_yet_are_nobodys() -> None:
    log = TargetLog(group_type="share")
    log.write(0, about("a", ORDERS), epoch(2, TWO), target("a"), completed(2))
    waiting = {"state": "initializing", "topic_id": topic_id("orders"), "topic_name": "orders", "partitions": [0, 1]}
    log.write(1, ("group_partition_metadata", {"topics": [waiting]}), epoch(3, TWO), completed(3))
    rows = audit(log, known(orders=2))
    assert [(row.verdict, row.num_unowned) for row in rows] == [(Verdict.SAME, 0)] * 2


def test_a_record_that_a_cleaner_took_out_of_an_epoch_is_missed() -> None:
    log = joined_twice()
    rows = log.rows["target_assignment_members"]
    assert rows[1]["member_id"] == "a"
    del rows[1]
    row = audit(log, known(orders=6))[1]
    assert (row.verdict, row.reason) == (Verdict.NOT_RECOMPUTABLE, "records of this epoch are missing")


def test_a_static_member_may_return_and_change_the_epoch_at_once() -> None:
    """The copy of its target is what it had before; what follows is the new one."""
    log = TargetLog()
    log.write(0, about("a", ORDERS, group_instance_id="i"), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, about("b", ORDERS), epoch(2, SIX), target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]),
              completed(2))  # fmt: skip
    again = about("c", ORDERS, group_instance_id="i")
    nine = group_hash([Topic("orders", 9, topic_id("orders"))])
    log.write(2, *left("a"), again, target("c", orders=[0, 1, 2]), owns("c", 0, orders=[0, 1, 2]), again,
              epoch(3, nine), target("b", orders=[3, 4, 5, 6]), target("c", orders=[0, 1, 2, 7, 8]),
              completed(3))  # fmt: skip
    row = audit(log)[-1]
    assert (row.verdict, row.num_partitions, row.moves_made) == (Verdict.SAME, 9, 0)


def test_releases_that_answer_alike_are_told_by_what_the_group_writes() -> None:
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
        rooms.append(fold.states()[log.group]["room"])
    assert rooms == [1, 2, 2, 3, 3]


def test_what_early_access_computed_is_not_known() -> None:
    log = TargetLog()
    table, columns = listed(orders=6)
    log.write(0, about("a", ORDERS), (table, columns | {"epoch": 1}), epoch(1), target("a", orders=[5]), completed(1))
    (row,) = audit(log)
    assert (row.verdict, row.num_unowned) == (Verdict.NOT_RECOMPUTABLE, 5)
    assert row.reason == "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
