"""Each known defect of consumer groups by a case made for it, and beside it the ordinary case that looks alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from schemas.words.assignments import Verdict
from tests.builders.groups.target_log import (
    TargetLog,
    Written,
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
)
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import AuditRow

TOPICS = ["orders", "payments"]
FACTS = known(orders=6, payments=6)


def pair(**columns: Any) -> TargetLog:
    """Static members `a` and `b` with three partitions each of `orders`, at epoch 2."""
    log = TargetLog()
    log.write(0, about("a", ["orders"], group_instance_id="i-a", **columns), listed(orders=6), epoch(1),
              target("a", orders=range(6)), completed(1))  # fmt: skip
    log.write(1, about("b", ["orders"], group_instance_id="i-b", **columns), epoch(2), target("a", orders=[0, 1, 2]),
              target("b", orders=[3, 4, 5]), completed(2))  # fmt: skip
    return log


def defect_after(log: TargetLog, *written: Written) -> str | None:
    """The defect in the next target's row if this operation comes in between."""
    log.write(2, *written)
    last = next((of["group_epoch"] for _, of in reversed(written) if "group_epoch" in of), 2)
    log.write(3, epoch(last + 1), completed(last + 1))
    return audit(log, FACTS)[-1].known_defect


def test_an_ordinary_group_bears_no_mark() -> None:
    assert [row.known_defect for row in audit(pair(), FACTS)] == [None, None]


# -- assignors


def balanced_already() -> tuple[TargetLog, TargetLog]:
    """The published example: members m1, m2, m3 with 2, 3 and 3 partitions; before 4.0.1 m1 gets a third one."""
    logs = []
    for is_old in (True, False):
        log = TargetLog()
        log.write(0, about("m1", ["orders"]), listed(orders=2), epoch(1), target("m1", orders=[0, 1]), completed(1))
        # Behind a gap in the history the targets are what the records say.
        for number, (member, partitions) in enumerate([("m2", [5, 6, 7]), ("m3", [2, 3, 4])], 2):
            log.write(number, about(member, ["orders"]), epoch(number), target(member, orders=partitions),
                      completed(number))  # fmt: skip
        given = {"m1": [0, 1, 4], "m3": [2, 3]} if is_old else {}
        log.write(9, listed(orders=8), epoch(4), *(target(each, orders=of) for each, of in given.items()), completed(4))
        logs.append(log)
    return logs[0], logs[1]


def test_18688_partitions_hop_to_the_first_members() -> None:
    old, new = (audit(log, FACTS)[-1] for log in balanced_already())
    assert (old.verdict, old.variant, old.known_defect) == (
        Verdict.SAME, "before 4.0.1, Java 18 and before", "KAFKA-18688",
    )  # fmt: skip
    assert (new.verdict, new.known_defect) == (Verdict.SAME, None)


def ranged(of_a: dict[str, Iterable[int]], of_b: dict[str, Iterable[int]]) -> AuditRow:
    log = TargetLog()
    log.write(0, about("a", TOPICS, server_assignor="range"), listed(orders=4, payments=4), epoch(1),
              target("a", orders=range(4), payments=range(4)), completed(1))  # fmt: skip
    log.write(1, about("b", TOPICS, server_assignor="range"), epoch(2), target("a", **of_a), target("b", **of_b),
              completed(2))  # fmt: skip
    return audit(log, FACTS)[-1]


def test_16944_range_keeps_what_members_had_and_scatters_topics() -> None:
    row = ranged({"orders": [0, 1], "payments": [1, 2]}, {"orders": [2, 3], "payments": [0, 3]})
    assert (row.verdict, row.known_defect) == (Verdict.DRIFT, "KAFKA-16944")


def test_16944_not_where_sizes_differ() -> None:
    row = ranged({"orders": [0, 1, 2], "payments": [1, 2]}, {"orders": [3], "payments": [0, 3]})
    assert (row.verdict, row.known_defect) == (Verdict.DRIFT, None)


def test_17710_loads_differ_by_more_than_they_must() -> None:
    log = TargetLog()
    log.write(0, about("a", TOPICS), listed(orders=4, payments=4), epoch(1),
              target("a", orders=range(4), payments=range(4)), completed(1))  # fmt: skip
    log.write(1, about("b", ["orders"]), epoch(2), target("a", orders=[0, 1], payments=range(4)),
              target("b", orders=[2, 3]), completed(2))  # fmt: skip
    assert audit(log, FACTS)[-1].known_defect == "KAFKA-17710"


def test_17710_not_where_nothing_better_is_possible() -> None:
    log = TargetLog()
    log.write(0, about("a", TOPICS), listed(orders=4, payments=4), epoch(1),
              target("a", orders=range(4), payments=range(4)), completed(1))  # fmt: skip
    log.write(1, about("b", ["orders"]), epoch(2), target("a", payments=range(4)), target("b", orders=range(4)),
              completed(2))  # fmt: skip
    assert audit(log, FACTS)[-1].known_defect is None


# -- what members own


def test_19974_two_members_own_a_partition_at_one_epoch() -> None:
    log = pair()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    assert defect_after(log, owns("b", 2, orders=[2, 3, 4, 5])) == "KAFKA-19974"


def test_19974_not_where_the_first_gave_it_up_before() -> None:
    log = pair()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    log.write(2, owns("a", 2, orders=[0, 1]))
    assert defect_after(log, owns("b", 2, orders=[2, 3, 4, 5])) is None


@pytest.mark.parametrize(
    ("subscribed", "expected"), [(["orders"], "KAFKA-19431"), (TOPICS, None)]
)  # fmt: skip
def test_19431_a_member_owns_a_topic_that_it_does_not_subscribe_to(subscribed: list[str], expected: str | None) -> None:
    log = TargetLog()
    log.write(0, about("a", subscribed), listed(orders=6, payments=6), epoch(1),
              target("a", orders=range(6), payments=range(6)), completed(1))  # fmt: skip
    assert defect_after(log, owns("a", 1, orders=[0], payments=[1])) == expected


def test_19449_a_member_waits_for_what_nobody_else_has() -> None:
    log = pair()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    assert defect_after(log, owns("b", 2, state="UNRELEASED_PARTITIONS", orders=[3])) == "KAFKA-19449"


def test_19449_not_where_another_one_still_has_it() -> None:
    log = pair()
    log.write(2, owns("a", 1, pending={"orders": [3, 4, 5]}, state="UNREVOKED_PARTITIONS", orders=[0, 1, 2]))
    assert defect_after(log, owns("b", 2, state="UNRELEASED_PARTITIONS")) is None


def test_19449_not_by_a_state_that_its_record_does_not_say() -> None:
    """Records of 3.7: the member waits, as its other fields show, but for what is not certain."""
    log = pair()
    log.write(2, owns("a", 2, orders=[0, 1, 2]))
    table, columns = owns("b", 2, orders=[3])
    inferred = {"member_state": None, "target_member_epoch": 3}
    assert defect_after(log, (table, columns | inferred)) is None


# -- subscriptions


def test_19891_a_pattern_is_given_up_and_no_epoch_follows() -> None:
    log = pair()
    log.write(2, about("c", subscribed_topic_regex="o.*"), pattern("o.*", ["orders"]), epoch(3))
    assert defect_after(log, about("c")) == "KAFKA-19891"


def test_19891_not_where_the_epoch_rises() -> None:
    log = pair()
    log.write(2, about("c", subscribed_topic_regex="o.*"), pattern("o.*", ["orders"]), epoch(3))
    assert defect_after(log, about("c"), epoch(4)) is None


def test_19720_a_classic_member_inherits_a_pattern() -> None:
    changed = classic_about("c", ["orders"], group_instance_id="i-b", subscribed_topic_regex="o.*")
    assert defect_after(pair(), *left("b"), changed, target("c", orders=[3, 4, 5])) == "KAFKA-19720"


def test_20434_another_assignor_comes_with_a_static_member() -> None:
    changed = about("c", ["orders"], group_instance_id="i-b", server_assignor="range")
    copy = about("c", ["orders"], group_instance_id="i-b")
    records = (*left("b"), copy, target("c", orders=[3, 4, 5]), owns("c", 0), changed)
    assert defect_after(pair(), *records) == "KAFKA-20434"


def test_20434_not_where_it_asks_for_the_same() -> None:
    copy = about("c", ["orders"], group_instance_id="i-b")
    assert defect_after(pair(), *left("b"), copy, target("c", orders=[3, 4, 5]), owns("c", 0), copy) is None


def test_20747_an_instance_id_that_a_member_gave_up_is_used_again() -> None:
    log = pair()
    log.write(2, about("b", ["orders"], group_instance_id="i-other"))
    assert defect_after(log, about("c", ["orders"], group_instance_id="i-b"), epoch(3)) == "KAFKA-20747"


def test_20747_not_once_that_member_left() -> None:
    log = pair()
    log.write(2, about("b", ["orders"], group_instance_id="i-other"))
    log.write(2, *left("b"), epoch(3))
    assert defect_after(log, about("c", ["orders"], group_instance_id="i-b"), epoch(4)) is None


def with_classic_a() -> TargetLog:
    log = TargetLog()
    log.write(0, dead("classic_group_metadata"), classic_about("a", ["orders"]), epoch(1),
              target("a", orders=range(6)), completed(1), about("b", ["orders"], group_instance_id="i-b"),
              listed(orders=6), epoch(2), target("a", orders=[0, 1, 2]), target("b", orders=[3, 4, 5]),
              completed(2))  # fmt: skip
    return log


def test_17317_only_classic_members_are_left_of_a_consumer_group() -> None:
    changed = classic_about("c", ["orders"], group_instance_id="i-b")
    records = (*left("b"), changed, target("c", orders=[3, 4, 5]), owns("c", 0))
    assert defect_after(with_classic_a(), *records) == "KAFKA-17317"


def test_17317_not_where_a_native_member_stays() -> None:
    changed = classic_about("c", ["orders"], group_instance_id="i-b")
    records = (*left("b"), changed, target("c", orders=[3, 4, 5]), owns("c", 0))
    assert defect_after(pair(), *records) is None


def test_after_missing_records_no_defect_is_claimed() -> None:
    log = TargetLog()
    log.write(0, owns("a", 7, orders=[0]), owns("b", 7, orders=[0]), about("a", ["orders"]), about("b", ["orders"]),
              epoch(8), completed(8))  # fmt: skip
    assert audit(log, Facts(FACTS.topics))[-1].known_defect is None


# -- upgrades of classic groups with members


THREE: Mapping[str, Sequence[int]] = {"a": [0, 1, 2], "b": [3, 4, 5], "c": []}
COMES_BACK = (*left("b"), classic_about("d", ["orders"], group_instance_id="i-b"), target("d", orders=[3, 4, 5]),
              owns("d", 0, orders=[3, 4, 5]), about("d", ["orders"], group_instance_id="i-b"))  # fmt: skip
AT_THE_COPYS_EPOCH = owns("d", 4, orders=[3, 4, 5])


def upgraded(*own: Written, assigned: Mapping[str, Sequence[int]] = THREE, **columns: Any) -> TargetLog:
    """The copy of a classic group at generation 4, and what the operation goes on with."""
    log = TargetLog()
    members = [classic_about(each, ["orders"], group_instance_id=f"i-{each}") for each in assigned]
    for _, of in members:
        of.update(columns)
    log.write(0, dead("classic_group_metadata"), *members, listed(orders=sum(map(len, assigned.values()))), epoch(4),
              *(target(each, orders=of) for each, of in assigned.items()), completed(4),
              *(owns(each, 4, orders=of) for each, of in assigned.items()), *own)  # fmt: skip
    return log


def defect_of_copy(log: TargetLog) -> str | None:
    first, *_ = audit(log, known(orders=sum(map(len, THREE.values()))))
    assert first.verdict == Verdict.CARRIED_OVER
    return first.known_defect


def test_21582_who_joined_during_the_rebalance_gets_nothing() -> None:
    assert defect_of_copy(upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH)) == "KAFKA-21582"


def test_21582_not_where_a_new_epoch_follows() -> None:
    assert defect_of_copy(upgraded(*COMES_BACK, epoch(5), AT_THE_COPYS_EPOCH)) is None
    assert defect_of_copy(upgraded(about("d", ["orders"]), epoch(5), owns("d", 4))) is None


def test_21582_not_where_everybody_has_something() -> None:
    assigned = {"a": [0, 1], "b": [3, 4, 5], "c": [2]}
    assert defect_of_copy(upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH, assigned=assigned)) is None


def test_21582_not_of_another_topics_subscriber() -> None:
    log = upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH)
    next(of for of in log.rows["group_member_metadata"] if of["member_id"] == "c")["subscribed_topic_names"] = []
    assert defect_of_copy(log) is None


def test_21582_not_where_there_are_too_few_partitions_for_all() -> None:
    log = upgraded(*COMES_BACK[:4], owns("d", 0, orders=[1]), COMES_BACK[5], owns("d", 4, orders=[1]),
                   assigned={"a": [0], "b": [1], "c": []})  # fmt: skip
    first, *_ = audit(log, known(orders=2))
    assert (first.verdict, first.known_defect) == (Verdict.CARRIED_OVER, None)


def test_21582_not_of_an_assignor_that_is_not_kafkas() -> None:
    own = {"session_timeout_ms": 45_000, "supported_protocols": [{"name": "standby", "metadata": b""}]}
    assert defect_of_copy(upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH, classic_member=own)) is None


@pytest.mark.parametrize("table", ["target_assignment_members", "group_member_metadata"])
def test_21582_not_after_the_cleaner_took_records_from_the_operation(table: str) -> None:
    log = upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH)
    assert log.rows[table].pop()["member_id"] == "d"
    assert defect_of_copy(log) is None


def test_21581_who_upgrades_keeps_epoch_0() -> None:
    assigned = {"a": [0, 1, 2], "b": [3, 4, 5]}
    assert defect_of_copy(upgraded(*COMES_BACK, assigned=assigned)) == "KAFKA-21581"


def test_21581_not_where_its_epoch_follows() -> None:
    assigned = {"a": [0, 1, 2], "b": [3, 4, 5]}
    assert defect_of_copy(upgraded(*COMES_BACK, AT_THE_COPYS_EPOCH, assigned=assigned)) is None
