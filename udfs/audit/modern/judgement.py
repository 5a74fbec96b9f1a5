"""Verdicts on targets that differ from what Kafka's assignor gives. They wait for all targets of the group: a later one
may show whose class it was."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from schemas.words.assignments import AssignorSource, AuditReason, Verdict
from schemas.words.history import Confidence
from udfs.audit.checks.audit_results import AuditRow
from udfs.audit.checks.trials import Standing

LESS: Mapping[Confidence, Confidence] = MappingProxyType({Confidence.CERTAIN: Confidence.LIKELY})


def judged(row: AuditRow) -> AuditRow:
    """By all targets that the group's trial has counted so far."""
    trial = row.trial
    if trial is None:
        return row
    if trial.standing == Standing.CUSTOM:
        return of_custom_class(row)
    confidence = less(row.confidence) if trial.is_any_listed else row.confidence
    return replace(row, confidence=less(confidence) if trial.standing == Standing.UNKNOWN else confidence)


def of_custom_class(row: AuditRow) -> AuditRow:
    """Without what was compared: the other class has rules of its own."""
    is_guessed = row.assignor_source == AssignorSource.INFERRED or (row.trial is not None and row.trial.is_listed)
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
