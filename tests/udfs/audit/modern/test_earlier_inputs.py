"""Targets of earlier inputs, written by hand: which inputs are taken, and what rules them out."""

import pytest

from schemas.words.assignments import Verdict
from tests.builders.groups.target_log import ORDERS, SIX, TargetLog, about, audit, completed, epoch, known, left, target
from udfs.audit.checks.results import AuditRow

FACTS = known(orders=6)


def begun() -> TargetLog:
    """`a` alone has everything; then `b` joins, and no target is computed yet."""
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, about("b", ORDERS), epoch(2, SIX))
    return log


def changed(log: TargetLog, number: int) -> None:
    """An epoch with the same inputs."""
    log.write(number, about("a", ORDERS, rack_id=f"r{number}"), epoch(number, SIX))


def newest(log: TargetLog) -> AuditRow:
    return audit(log, FACTS)[-1]


def test_of_two_epochs_with_the_same_answer_the_newer_one_is_named() -> None:
    log = begun()
    changed(log, 3)
    log.write(4, about("c", ORDERS), epoch(4, SIX))
    log.write(5, target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]), completed(4))
    row = newest(log)
    assert (row.verdict, row.variant) == (
        Verdict.SAME, "4.0.1 and later, Java 18 and before, inputs of epoch 3",
    )  # fmt: skip


def test_a_record_of_a_member_that_joined_later_rules_earlier_inputs_out() -> None:
    log = begun()
    log.write(4, about("c", ORDERS), epoch(3, SIX))
    log.write(5, target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]), target("c"), completed(3))
    assert newest(log).verdict == Verdict.DRIFT


@pytest.mark.parametrize("of_epoch", [3, 4])
def test_members_that_have_left_are_left_out(of_epoch: int) -> None:
    """Whichever of the two epochs the coordinator says that the target is for."""
    log = begun()
    log.write(3, about("c", ORDERS), epoch(3, SIX))
    log.write(4, *left("b"), epoch(4, SIX))
    log.write(5, target("a", orders=[0, 1]), target("c", orders=[4, 5]), completed(of_epoch))
    row = newest(log)
    assert (row.verdict, row.num_unowned) == (Verdict.SAME, 2)
    assert (row.variant or "").endswith(", inputs of epoch 3")


def test_a_static_member_gets_the_target_of_the_one_that_it_replaces() -> None:
    log = TargetLog()
    log.write(0, about("a", ORDERS), epoch(1, SIX), target("a", orders=range(6)), completed(1))
    log.write(1, about("s1", ORDERS, group_instance_id="i"), epoch(2, SIX))
    log.write(2, *left("s1"), about("s2", ORDERS, group_instance_id="i"), target("s2"))
    log.write(3, about("c", ORDERS), epoch(3, SIX))
    log.write(4, target("a", orders=[0, 1, 2]), target("s2", orders=[3, 4, 5]), completed(3))
    row = newest(log)
    assert (row.verdict, (row.variant or "")[-18:]) == (Verdict.SAME, ", inputs of epoch 2"[-18:])


@pytest.mark.parametrize(("number", "is_kept"), [(30, True), (31, False)])
def test_inputs_that_were_dropped_prove_no_drift(number: int, is_kept: bool) -> None:
    """Those of 32 epochs are kept."""
    log = begun()
    log.write(3, about("c", ORDERS), epoch(3, SIX))
    for each in range(number):
        changed(log, 4 + each)
    log.write(99, target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]), completed(3 + number))
    row = newest(log)
    if is_kept:
        assert (row.variant or "").endswith(", inputs of epoch 2")
    else:
        assert (row.verdict, row.reason) == (
            Verdict.NOT_RECOMPUTABLE,
            "it may be of inputs from before that are not known: there are too many of them",
        )
