"""Finds known defects of Kafka's clients and coordinators by their signatures in recorded generations.

Each signature is a function, named by what went wrong. Defects without a trace in records of type 2 are not here:
KAFKA-8767, 9752, 12890, 13406 (rebalances that were never written), 10284 (the record is missing), 13419, 14009, 14024,
13636 (they need other records, or outside knowledge).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from schemas.words.assignments import Verdict
from udfs.audit.classic.generation_results import REPRODUCED, GenerationResult, nothing_unconfirmed
from udfs.audit.classic.partition_counts import inferred_counts
from udfs.audit.defects.claim_defects import (
    gave_what_another_owned,
    generations_were_reset,
    moved_more_than_needed,
    older_claim_won,
    owned_lists_are_unsorted,
    stale_claim_without_generation,
    topics_are_uneven,
    trusted_the_leaders_own_memory,
    two_claims_of_one_generation,
    unsafe_by_racks,
)
from udfs.audit.defects.evidence import Evidence
from udfs.audit.defects.other_defects import (
    balance_was_too_strict,
    copartitioning_broken_by_racks,
    equal_subscriptions_took_long,
    gave_back_what_is_not_subscribed,
    kept_what_does_not_exist,
    leader_missed_new_partitions,
    library_left_a_member_out,
    library_was_off_by_one,
    ordered_by_member_id,
    rebalanced_twice_for_racks,
    static_id_was_unknown,
    unequal_subscriptions_took_long,
)

Signature = Callable[[Evidence], bool]

# The most specific first: a generation gets only one.
SIGNATURES: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "KAFKA-9801": static_id_was_unknown,
        "KAFKA-7026": stale_claim_without_generation,
        "KAFKA-5277": trusted_the_leaders_own_memory,
        "KAFKA-15170": unsafe_by_racks,
        "KAFKA-13715": older_claim_won,
        "KAFKA-14639": gave_what_another_owned,
        "KAFKA-12984": two_claims_of_one_generation,
        "KAFKA-13891": generations_were_reset,
        "KAFKA-8355": lambda evidence: evidence.assignor == "range" and ordered_by_member_id(evidence),
        "KAFKA-8356": lambda evidence: evidence.assignor == "roundrobin" and ordered_by_member_id(evidence),
        "KAFKA-13435": leader_missed_new_partitions,
        "KAFKA-14891": copartitioning_broken_by_racks,
        "KAFKA-16277": topics_are_uneven,
        "KAFKA-12464": moved_more_than_needed,
        "KAFKA-9987": equal_subscriptions_took_long,
        "KAFKA-12675": unequal_subscriptions_took_long,
        "KAFKA-15106": balance_was_too_strict,
        "KAFKA-20778": rebalanced_twice_for_racks,
        "KAFKA-12898": owned_lists_are_unsorted,
        # These have no issue in Kafka's JIRA.
        "sticky: given back to a member that no longer subscribes": gave_back_what_is_not_subscribed,
        "sticky: claims beyond the topic's partitions": kept_what_does_not_exist,
        "kafka-python: range leaves members out": library_left_a_member_out,
        "librdkafka #4783: sticky off by one": library_was_off_by_one,
    }
)


# These need only what the records say, whatever the numbers of partitions.
OF_RECORDS: Final = frozenset(
    {
        "KAFKA-9801",
        "KAFKA-7026",
        "KAFKA-15170",
        "KAFKA-13715",
        "KAFKA-14639",
        "KAFKA-13891",
        "KAFKA-20778",
        "sticky: given back to a member that no longer subscribes",
    }
)


def known_defect(judged: GenerationResult, *, is_sound: bool) -> str | None:
    """`is_sound`: the counts of the assignment show nothing wrong."""
    if is_sound and is_healthy(judged):
        return None
    if judged.why_unconfirmed is None:
        return first_that_fits(judged, SIGNATURES)
    return first_that_fits(by_records(judged), {name: SIGNATURES[name] for name in SIGNATURES if name in OF_RECORDS})


def first_that_fits(judged: GenerationResult, signatures: Mapping[str, Signature]) -> str | None:
    evidence = Evidence(judged)
    return next((name for name, fits in signatures.items() if fits(evidence)), None)


def by_records(judged: GenerationResult) -> GenerationResult:
    """With the numbers of partitions that the record itself shows."""
    counts = inferred_counts(judged.generation)
    return replace(judged, counts=counts if counts.are_possible else None, confirm=nothing_unconfirmed)


def needs_proof(judged: GenerationResult, *, is_sound: bool) -> bool:
    """Whether there is a finding that depends on numbers of partitions, confirmed or not."""
    return judged.verdict not in REPRODUCED or not (is_sound and is_healthy(judged))


def is_healthy(judged: GenerationResult) -> bool:
    """Whether the newest rules give the record, as for most generations."""
    of = judged.generation
    return (
        judged.verdict in (Verdict.SAME, Verdict.CARRIED_OVER)
        and (judged.closest is None or judged.closest.variant.is_newest)
        and not any(of.racks)
        and not of.is_omitted.any()
    )
