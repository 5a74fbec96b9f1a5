"""Logs of targets that contradict themselves end no audit, and errors of this program end it."""

import pytest

from schemas.words.assignments import Verdict
from tests.builders.groups.impossible_targets import ImpossibleTargets
from tests.builders.groups.stored_states import restored, texts_of
from tests.builders.groups.target_log import (
    TargetLog,
    about,
    audit_once,
    completed,
    epoch,
    known,
    listed,
    owns,
    target,
    topic_id,
)
from udfs.assignors.groups import Rows
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import AuditRow
from udfs.audit.modern import targets
from udfs.audit.modern.questions import Question
from udfs.audit.modern.targets import Variant, answer
from udfs.audit.modern.topic_names import names_by_id
from udfs.audit.modern_audit import ModernAudit, TargetEvidence
from udfs.groups.modern import record_handlers
from udfs.topics.partition_codes import TopicCodes

LOGS = 60
SOAK_LOGS = 5_000


def audited(seed: int) -> list[AuditRow]:
    """In two runs."""
    random = ImpossibleTargets(seed)
    log = random.log(random.any_of((5, 15, 40, 80)))
    facts = random.any_of((Facts(), Facts(default_assignor="uniform"), known(orders=3, payments=2)))
    cut = random.any_of(range(log.offset + 1))
    first = ModernAudit(facts, {})
    rows = first.take(log.until(cut))
    codes = TopicCodes(facts.names)
    second = ModernAudit(facts, restored("modern", texts_of("modern", first.states(), first.codes), codes), codes)
    rows += second.take(log.until(log.offset, cut))
    second.latest()
    return rows


def assert_audited(seeds: range) -> None:
    rows = [row for seed in seeds for row in audited(seed)]
    assert {Verdict.SAME, Verdict.NOT_RECOMPUTABLE} <= {row.verdict for row in rows}


def test_no_content_of_a_log_ends_the_audit() -> None:
    assert_audited(range(LOGS))


@pytest.mark.soak
def test_no_content_of_many_logs_ends_the_audit() -> None:
    assert_audited(range(LOGS, SOAK_LOGS))


def test_no_content_of_a_log_ends_the_search_for_names() -> None:
    result = 0
    for seed in range(LOGS):
        random = ImpossibleTargets(seed)
        evidence = TargetEvidence({})
        evidence.take(random.log(random.any_of((5, 15, 40, 80))).tables)
        names_by_id(evidence.target_names, {})
        result += len(evidence.target_names)
    assert result


def test_targets_without_any_member_are_not_recomputed() -> None:
    log = TargetLog()
    log.write(0, epoch(2), listed(orders=2), target("a", orders=[0, 1]), completed(2))
    (row,) = audit_once(log, Facts(default_assignor="uniform"))
    assert (row.verdict, row.reason) == (
        Verdict.NOT_RECOMPUTABLE, "targets are left in the group, but no record of a member",
    )  # fmt: skip


def test_a_topic_with_fewer_than_0_partitions_is_not_recomputed() -> None:
    log = TargetLog()
    log.write(0, about("a", ["orders"]), epoch(2), listed(orders=-2), target("a"), completed(2))
    (row,) = audit_once(log, Facts(default_assignor="uniform"))
    assert (row.verdict, row.reason) == (
        Verdict.NOT_RECOMPUTABLE, "a record gives a topic fewer than 0 partitions",
    )  # fmt: skip


def test_a_topic_with_racks_and_more_partitions_than_a_cluster_has_is_not_recomputed() -> None:
    log = TargetLog()
    log.write(0, about("a", ["orders"]), epoch(2), listed(orders=(1 << 31) - 1), target("a", orders=[0]), completed(2))
    (topic,) = log.rows["group_partition_metadata"][0]["topics"]
    topic["partition_metadata"] = [{"partition": 0, "racks": ["r1"]}]
    (row,) = audit_once(log, Facts(default_assignor="uniform"))
    assert (row.verdict, row.reason) == (Verdict.NOT_RECOMPUTABLE, "more partitions than a cluster has")


def test_a_partition_that_a_target_lists_twice_is_had_once_when_the_next_target_is_computed() -> None:
    log = TargetLog()
    log.write(0, about("a", ["orders"]), epoch(1), listed(orders=4), target("a", orders=[0, 1, 2, 3, 0]), completed(1))
    log.write(1_000, about("b", ["orders"]), epoch(2), target("a", orders=[0, 1]), target("b", orders=[2, 3]),
              completed(2))  # fmt: skip
    assert audit_once(log, Facts(default_assignor="uniform"))[-1].verdict == Verdict.SAME


@pytest.mark.parametrize("group_type", ["consumer", "share"])
def test_a_partition_far_beyond_what_targets_name_is_not_computed_with(group_type: str) -> None:
    """If nothing else shows how many partitions a topic has, the highest one does: minutes for a share group."""
    log = TargetLog(group_type=group_type)
    log.write(0, about("a", ["orders"]), about("b", ["orders"]), epoch(1), target("a", orders=[199_999]), completed(1))
    (row,) = audit_once(log, Facts(default_assignor="uniform"))
    assert (row.verdict, row.reason) == (Verdict.NOT_RECOMPUTABLE, "a target has a partition that no topic has")


def test_share_groups_with_far_fewer_partitions_than_all_for_each_are_not_given_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before 4.1 each member had every partition: here more than a hundred for each that a record names."""
    tried: list[Variant] = []

    def noted(question: Question, variant: Variant) -> Rows:
        tried.append(variant)
        return answer(question, variant)

    monkeypatch.setattr(targets, "answer", noted)
    log = TargetLog(group_type="share")
    names = [f"m{at}" for at in range(60)]
    log.write(0, *(about(name, ["orders"]) for name in names), epoch(1),
              *(target(name, orders=[at, 2_000]) for at, name in enumerate(names)), completed(1))  # fmt: skip
    assert audit_once(log, Facts())[0].verdict == Verdict.NOT_RECOMPUTABLE
    assert {variant.release for variant in tried} == {targets.NEWEST_RELEASE, targets.LAST_4_1}


def test_a_partition_that_share_state_lists_twice_may_be_assigned_once() -> None:
    log = TargetLog(group_type="share")
    initialized = {"state": "initialized", "topic_id": topic_id("orders"), "topic_name": "orders"}
    log.write(0, ("group_partition_metadata", {"topics": [initialized | {"partitions": [0, 0, 1]}]}))
    log.write(1_000, about("a", ["orders"]), epoch(2), target("a", orders=[0, 1]), completed(2))
    row = audit_once(log, known(orders=3))[-1]
    assert (row.num_unowned, row.num_nonexistent) == (0, 0)


def whole_log() -> TargetLog:
    log = TargetLog()
    log.write(0, about("a", ["orders"]), epoch(2), listed(orders=2), target("a", orders=[0, 1]), completed(2),
              owns("a", 2, orders=[0, 1]))  # fmt: skip
    return log


def fail(*_: object) -> None:
    raise KeyError("no such thing")


@pytest.mark.parametrize("record_type", [3, 4, 5, 7, 8])
def test_an_error_of_ours_in_any_handler_ends_the_audit(record_type: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record_handlers.HANDLERS, record_type, fail)
    with pytest.raises(KeyError, match="no such thing"):
        audit_once(whole_log(), Facts(default_assignor="uniform"))


@pytest.mark.parametrize("name", ["modern.targets.recompute", "modern.targets.questions_to_ask",
                                  "modern.targets.member_inputs", "modern_audit.defect_of_target"])  # fmt: skip
def test_an_error_of_ours_in_an_answer_ends_the_audit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"udfs.audit.{name}", fail)
    with pytest.raises(KeyError, match="no such thing"):
        audit_once(whole_log(), Facts(default_assignor="uniform"))
