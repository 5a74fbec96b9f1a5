"""The verdict on a generation whose assignment was recomputed."""

from collections.abc import Callable
from functools import partial

from schemas.words.assignments import Verdict
from udfs.audit.classic.generation_results import REPRODUCED, GenerationResult
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.partition_counts import Counts
from udfs.audit.classic.reasons import drift, missing_input, not_confirmed
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import TriedVariant


def result_of(
    generation: Generation, before: Before | None, closest: TriedVariant, confirm: Callable[[], str | None]
) -> GenerationResult:
    counts, compared = closest.variant.counts, closest.compared
    result = partial(GenerationResult, generation=generation, before=before, counts=counts)
    is_reproduced = compared is not None and compared.verdict in REPRODUCED
    if not is_reproduced and (why := confirm()) is not None:
        return not_proved(generation, before, counts, why)
    if compared is None:
        reason = f"Kafka's own assignor fails for this input: {closest.failure}"
        return result(verdict=Verdict.DRIFT, reason=reason, closest=closest)
    if compared.verdict == Verdict.SAME:
        return result(verdict=compared.verdict, reason=None, closest=closest, confirm=confirm)
    missing = missing_input(generation, before, counts)
    if compared.verdict == Verdict.SAME_MEMBERS_OTHER_ORDER:
        reason = missing or "same owners, but no release lists a member's partitions in this order"
        return result(verdict=compared.verdict, reason=reason, closest=closest, confirm=confirm)
    if missing is not None:
        return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=missing, closest=None)
    return result(verdict=compared.verdict, reason=drift(generation, compared.num_different), closest=closest)


def not_proved(generation: Generation, before: Before | None, counts: Counts, why: str) -> GenerationResult:
    return GenerationResult(
        generation=generation,
        before=before,
        verdict=Verdict.NOT_RECOMPUTABLE,
        reason=not_confirmed(why),
        counts=counts,
        closest=None,
        confirm=lambda: why,
    )
