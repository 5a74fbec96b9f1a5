"""Target assignments when records are missing, members return, or groups are converted or of other types."""

import pytest

from schemas.words.assignments import Verdict
from tests.builders.groups.target_log import (
    ORDERS,
    SIX,
    TWO,
    TargetLog,
    about,
    audit,
    classic_about,
    completed,
    dead,
    epoch,
    joined_twice,
    known,
    left,
    owns,
    target,
    topic_id,
    verdicts,
)
from udfs.assignors.questions import Topic
from udfs.audit.checks.results import AuditRow
from udfs.topics.metadata_hash import group_hash


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


def test_after_missing_records_nothing_is_a_drift() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), target("b", orders=[3, 4, 5]), about("b", ORDERS), epoch(8, SIX),
              target("a", orders=[0, 1, 5]), completed(8))  # fmt: skip
    (row,) = audit(log, known(orders=6))
    assert row.verdict == Verdict.NOT_RECOMPUTABLE
    assert row.reason == "the group's first records are missing"
    assert (row.moves_made, row.num_different, row.variant) == (None, None, None)


def test_a_gap_between_epochs_is_reported() -> None:
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
    assert verdicts(rows) == ["not_recomputable", "same_unconfirmed"]
    assert rows[0].reason == "a target has a partition that no topic has"


def test_a_group_that_was_deleted_begins_anew() -> None:
    log = joined_twice()
    log.write(2, *left("a"), *left("b"), dead("target_assignment_metadata"), dead("group_metadata"))
    log.write(3, about("b", ORDERS), epoch(1, SIX), target("b", orders=range(6)), completed(1))
    assert verdicts(audit(log, known(orders=6))) == ["same"] * 3


def test_a_partition_of_two_members_at_a_time_is_reported_with_the_next_target() -> None:
    log = joined_twice()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    log.write(3, owns("b", 2, orders=[2, 3, 4, 5]))
    log.write(4, owns("b", 2, orders=[3, 4, 5]))
    log.write(5, about("a", ORDERS), epoch(3, SIX), completed(3))
    row = audit(log, known(orders=6))[2]
    (reported,) = [check for check in row.checks if check.name == "owned_once"]
    assert (reported.is_ok, reported.detail) == (False, "orders-2: owned by a and b at once")
    assert row.known_defect == "KAFKA-19974"


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
