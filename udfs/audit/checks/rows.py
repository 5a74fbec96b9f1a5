"""The rows of `assignment_audit`, of groups of every type."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from schemas.words.assignments import AssignorSource, AuditReason, CheckName, Verdict
from schemas.words.history import Confidence
from udfs.audit.checks.assignments import (
    FINE,
    Check,
    balanced,
    balanced_by_topic,
    check,
    complete,
    cooperative_safe,
    partition_list,
    required_checks,
    static_once,
    valid,
)
from udfs.audit.checks.facts import Facts, GroupRule, rules_of
from udfs.audit.checks.results import AuditRow, Balance, Result, Standing

LESS: Final[Mapping[Confidence, Confidence]] = MappingProxyType({Confidence.CERTAIN: Confidence.LIKELY})
AnyResult = TypeVar("AnyResult", bound=Result)


def audit_row(result: AnyResult, facts: Facts, defect_of: Callable[[AnyResult, bool], str | None]) -> AuditRow:
    """`defect_of`: the known defect that a result shows; it is also given whether the counts show nothing wrong."""
    columns = result.columns
    rules = rules_of(columns["group_id"], facts.rules)
    most_owners, recorded = result.most_owners(rules), result.recorded
    num_owned_twice = recorded.num_owned_twice(most_owners)
    is_valid = not (num_owned_twice or recorded.num_nonexistent or recorded.is_unsubscribed.any())
    counted: dict[str, Any] = {}
    if result.is_readable:
        unowned = recorded.num_unowned
        counted = {
            "num_partitions": recorded.num_partitions,
            "num_unowned": None if unowned is None else unowned - len(result.withheld),
            "num_owned_twice": num_owned_twice,
            "num_nonexistent": recorded.num_nonexistent,
            "num_idle_members": recorded.num_idle_members,
            "imbalance": recorded.imbalance,
        }
    return AuditRow(
        **columns,
        **counted,
        verdict=result.verdict,
        reason=result.reason,
        known_defect=defect_of(result, is_valid and not result.unsafe.any()),
        checks=tuple(checks_of(result, facts, rules, None if is_valid else valid(recorded, most_owners))),
    )


def checks_of(result: Result, facts: Facts, rules: Sequence[GroupRule], invalid: Check | None) -> Iterator[Check]:
    """`invalid`: what is wrong with single partitions; None: nothing is."""
    recorded, withheld = result.recorded, result.withheld
    if result.is_readable:
        yield invalid or FINE[CheckName.VALID]
        yield complete(recorded, withheld)
        if len(withheld):
            names = partition_list(recorded.named(withheld))
            line = f"{names}: assigned in the next generation, after their owners give them up"
            yield Check(CheckName.WITHHELD, True, line)
        if result.balance == Balance.EACH_TOPIC:
            yield balanced_by_topic(recorded)
        elif result.balance == Balance.ALL_PARTITIONS:
            yield balanced(recorded, len(withheld))
        if result.is_cooperative:
            yield cooperative_safe(recorded, result.unsafe)
    if result.instances is not None:
        yield static_once(result.instances)
    if result.faults is not None:
        yield check(CheckName.OWNED_ONCE, result.faults)
    if rules and result.is_readable and (racks := result.racks(facts)) is not None:
        for rule in rules:
            yield from required_checks(rule, recorded, *racks)


# -- differences that wait for all targets of the group: a later one may show whose class gave them


def judged(row: AuditRow) -> AuditRow:
    """By all targets that the group's trial has counted so far."""
    trial = row.trial
    if trial is None:
        return row
    if trial.standing != Standing.CUSTOM:
        confidence = less(row.confidence) if trial.is_any_listed else row.confidence
        return replace(row, confidence=less(confidence) if trial.standing == Standing.UNKNOWN else confidence)
    # Without what was compared: the other class has rules of its own.
    is_guessed = row.assignor_source == AssignorSource.INFERRED or trial.is_listed
    return replace(
        row,
        assignor=None if is_guessed else row.assignor,
        assignor_source=None if is_guessed else row.assignor_source,
        verdict=Verdict.NOT_RECOMPUTABLE,
        reason=AuditReason.CUSTOM_ASSIGNOR.value,
        num_different=None,
        differences=None,
        variant=None,
    )


def less(confidence: Confidence) -> Confidence:
    """By one grade."""
    return LESS.get(confidence, Confidence.POSSIBLE)
