"""The verdict on a generation whose assignment was recomputed."""

from collections.abc import Callable
from functools import partial

from schemas.words.assignments import AuditReason, Verdict
from schemas.words.client_libraries import ClientLibrary
from udfs.audit.classic.generation_results import GenerationResult
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.librdkafka import LibraryVariant
from udfs.audit.classic.partition_counts import Counts
from udfs.audit.classic.reasons import drift, missing_input, not_confirmed
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import TriedVariant
from udfs.groups.readers.client_libraries import ANY_LIBRARY, NO_LIBRARY


def result_of(
    generation: Generation, before: Before | None, closest: TriedVariant, confirm: Callable[[], str | None]
) -> GenerationResult:
    counts, compared = closest.variant.counts, closest.compared
    result = partial(GenerationResult, generation=generation, before=before, counts=counts)
    is_reproduced = closest.is_reproduced
    if not is_reproduced and is_of_unknown_rules(generation, closest):
        reason = AuditReason.OTHER_LIBRARY.value
        return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=reason, closest=None, confirm=confirm)
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
    return result(verdict=compared.verdict, reason=drift(generation, closest), closest=closest)


def is_of_unknown_rules(generation: Generation, closest: TriedVariant) -> bool:
    """Whether the leader may use a library whose assignor is not known, or not for this input."""
    if isinstance(closest.variant, LibraryVariant):
        return closest.is_undecided or generation.leader_library != ClientLibrary.LIBRDKAFKA
    if generation.libraries in (NO_LIBRARY, ANY_LIBRARY):
        return generation.leader_library not in (None, ClientLibrary.JAVA)
    return generation.leader_library != ClientLibrary.JAVA


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
