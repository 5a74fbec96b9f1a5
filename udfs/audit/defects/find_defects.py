"""Finds the known defect that a recorded assignment shows: a generation of a classic group, or a target of a consumer
or share group."""

from collections.abc import Mapping
from dataclasses import replace

from schemas.words.assignments import AuditReason, Verdict
from schemas.words.client_libraries import ClientLibrary
from udfs.audit.checks.facts import ALL_CONFIRMED
from udfs.audit.classic.partition_counts import inferred_counts
from udfs.audit.classic.results import GenerationResult
from udfs.audit.defects.evidence import Evidence
from udfs.audit.defects.modern_defects import TargetFacts
from udfs.audit.defects.registry import (
    GENERATION_DEFECTS,
    NEED_NO_COUNTS,
    OF_OTHER_LIBRARIES,
    TARGET_DEFECTS,
    Signature,
)
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.targets import Answer


def defect_of_generation(result: GenerationResult, is_sound: bool) -> str | None:
    """`is_sound`: the counts of the assignment show nothing wrong."""
    if is_sound and is_healthy(result):
        return None
    signatures: Mapping[str, Signature] = GENERATION_DEFECTS
    if is_of_other_library(result):
        signatures = only(signatures, OF_OTHER_LIBRARIES)
    if result.why_unconfirmed is None or result.verdict == Verdict.STALE_INPUT:
        return first_that_fits(result, signatures)
    return first_that_fits(by_records(result), only(signatures, NEED_NO_COUNTS))


def is_of_other_library(result: GenerationResult) -> bool:
    is_unknown = result.reason == AuditReason.OTHER_LIBRARY.value
    return is_unknown or result.generation.leader_library not in (None, ClientLibrary.JAVA)


def only(signatures: Mapping[str, Signature], names: frozenset[str]) -> Mapping[str, Signature]:
    return {name: fits for name, fits in signatures.items() if name in names}


def first_that_fits(result: GenerationResult, signatures: Mapping[str, Signature]) -> str | None:
    evidence = Evidence(result)
    return next((name for name, fits in signatures.items() if fits(evidence)), None)


def by_records(result: GenerationResult) -> GenerationResult:
    """With the numbers of partitions that the record itself shows."""
    counts = inferred_counts(result.generation)
    return replace(result, counts=counts if counts.are_possible else None, confirmation=ALL_CONFIRMED)


def is_healthy(result: GenerationResult) -> bool:
    """Whether the newest rules give the record, as for most generations."""
    of = result.generation
    return (
        result.verdict in (Verdict.SAME, Verdict.SAME_UNCONFIRMED, Verdict.CARRIED_OVER)
        and (result.closest is None or result.closest.variant.is_newest)
        and not any(of.racks)
        and not of.is_omitted.any()
    )


def defect_of_target(group: ModernGroup, answer: Answer) -> str | None:
    """First what the assignor did, then what members' own records showed since the previous target."""
    question, outcome = answer.question, answer.outcome
    if question is None or outcome is None or group.missing_now is not None or answer.confirmation.why is not None:
        return first_of_records(group)
    target = TargetFacts(question, outcome, answer.assignor, answer.algorithm, is_old=group.metadata_hash is None)
    of_target = next((name for name, fits in TARGET_DEFECTS.items() if fits(target)), None)
    return first_of_records(group) if of_target is None else of_target


def first_of_records(group: ModernGroup) -> str | None:
    return next(iter(group.watch.issues), None)
