"""The verdict on a generation whose assignment was recomputed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from schemas.words.assignments import AuditReason, Verdict
from schemas.words.client_libraries import ClientLibrary
from udfs.audit.checks.confirm_inputs import Confirmation, proved, proved_numbers
from udfs.audit.classic.generation_results import GenerationResult
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.librdkafka import LibraryVariant
from udfs.audit.classic.partition_counts import Counts
from udfs.audit.classic.reasons import drift, missing_input, not_confirmed, stale_input
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import TriedVariant, Variant, try_variant
from udfs.groups.readers.client_libraries import ANY_LIBRARY, NO_LIBRARY


def result_of(
    generation: Generation, before: Before | None, closest: TriedVariant, first: Counts,
    confirm: Callable[[Counts], Confirmation],
) -> GenerationResult:  # fmt: skip
    """`first`: the numbers of partitions that are most likely. Only if these are confirmed does an answer that is
    not the record accuse anybody."""
    counts, compared = closest.variant.counts, closest.compared
    if compared is not None and closest.is_reproduced:
        return reproduced(generation, before, closest, compared.verdict, confirm(counts))
    result = partial(GenerationResult, generation=generation, before=before, counts=counts)
    if is_of_unknown_rules(generation, closest):
        reason = AuditReason.OTHER_LIBRARY.value
        return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=reason, closest=None, confirm=partial(confirm, first))
    shown = confirm(first)
    if shown.why is not None:
        return not_proved(generation, before, counts, shown, shown.why)
    if compared is None:
        reason = f"Kafka's own assignor fails for this input: {closest.failure}"
        return result(verdict=Verdict.DRIFT, reason=reason, closest=closest)
    if (missing := missing_input(generation, before, counts)) is not None:
        return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=missing, closest=None)
    return result(verdict=compared.verdict, reason=drift(generation, closest), closest=closest)


def reproduced(
    generation: Generation, before: Before | None, closest: TriedVariant, compared: Verdict, shown: Confirmation,
    *, is_old_view: bool = False,
) -> GenerationResult:  # fmt: skip
    """The record equals an answer. Whether that means anything depends on what confirms the input."""
    counts, verdict = closest.variant.counts, proved(compared, shown)
    reason = None
    if compared == Verdict.SAME_MEMBERS_OTHER_ORDER:
        order = "same owners, but no release lists a member's partitions in this order"
        reason = missing_input(generation, before, counts) or order
    if verdict == Verdict.STALE_INPUT:
        reason = stale_input(generation, counts, shown.confirmed)
    elif verdict == Verdict.SAME_UNCONFIRMED:
        reason = "; ".join(filter(None, (reason, not_confirmed(str(shown.why)))))
    return GenerationResult(
        generation=generation,
        before=before,
        verdict=verdict,
        reason=reason,
        counts=counts,
        closest=closest,
        expected=answer_of_confirmed(generation, closest, shown) if verdict == Verdict.STALE_INPUT else None,
        is_old_view=is_old_view,
        confirm=lambda: shown,
    )


def answer_of_confirmed(generation: Generation, closest: TriedVariant, shown: Confirmation) -> TriedVariant | None:
    variant, counts = closest.variant, closest.variant.counts
    if not isinstance(variant, Variant) or (counts.racks is None and any(generation.racks)):
        return None
    numbers = proved_numbers(generation.topics, counts.numbers, generation.is_subscribed, shown)
    return try_variant(generation, replace(variant, counts=replace(counts, numbers=np.maximum(numbers, 0))))


def is_of_unknown_rules(generation: Generation, closest: TriedVariant) -> bool:
    """Whether the leader may use a library whose assignor is not known, or not for this input."""
    if isinstance(closest.variant, LibraryVariant):
        return closest.is_undecided or generation.leader_library != ClientLibrary.LIBRDKAFKA
    if generation.libraries in (NO_LIBRARY, ANY_LIBRARY):
        return generation.leader_library not in (None, ClientLibrary.JAVA)
    return generation.leader_library != ClientLibrary.JAVA


def not_proved(
    generation: Generation, before: Before | None, counts: Counts, shown: Confirmation, why: str
) -> GenerationResult:
    return GenerationResult(
        generation=generation,
        before=before,
        verdict=Verdict.NOT_RECOMPUTABLE,
        reason=not_confirmed(why),
        counts=counts,
        closest=None,
        confirm=lambda: shown,
    )
