"""The verdict about a generation of a classic group: which answer is closest to the record, what that proves, and the
reasons for all else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from schemas.records import CONNECT, CONSUMER, SCHEMA_REGISTRY, STREAM_PROTOCOL
from schemas.words.assignments import AssignorSource, AuditReason, ClientLibrary, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.groups import Numbers
from udfs.assignors.questions import LEADERS
from udfs.audit.checks.assignments import Racks, RecordedAssignment
from udfs.audit.checks.facts import UNKNOWN, Confirmation, Facts, Flags, GroupRule, proved, proved_numbers
from udfs.audit.checks.results import NO_PLACES, Balance, Comparison, Result, checked_numbers, moves
from udfs.audit.classic_generations import Before, Generation, are_carried_over, owned_before
from udfs.audit.classic_variants import (
    COOPERATIVE,
    MOST_PARTITIONS,
    STICKY,
    Counts,
    Outcome,
    algorithm_of,
    candidates,
    counts_of_snapshots,
    first_variant,
    floor_of,
    search,
    try_variant,
)
from udfs.groups.readers.client_libraries import ANY_LIBRARY, NO_LIBRARY
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

COPIED: Final = "the group left the consumer protocol here, and its last target assignment was copied; no assignor ran"
CAME_BACK: Final = "a static member came back, no assignor ran"
# Custom assignors may give a partition to any number of members.
ANY_NUMBER: Final = np.iinfo(np.int64).max
# Topics, partitions or members that a reason names.
MOST_TOPICS: Final = 3
FOREIGN_TYPES: Final[Mapping[str, str]] = {
    CONNECT: "Kafka Connect shares connectors and tasks among its workers, no partitions",
    SCHEMA_REGISTRY: "Schema Registry elects a primary, it shares no partitions",
}


@dataclass(frozen=True, kw_only=True)
class GenerationResult(Result):
    """`counts` None: more partitions than can be computed. `closest`: the closest outcome; None: nothing was
    recomputed, or what was proves nothing."""

    generation: Generation
    before: Before | None
    counts: Counts | None
    closest: Outcome | None = None
    # Where snapshots contradict the leader's input: what the same rules give for the confirmed input; None: not known.
    expected: Outcome | None = None
    # The record matches if the leader knew fewer partitions than there were.
    is_old_view: bool = False

    @property
    def is_reproduced(self) -> bool:
        """Whether the record equals the answer, for any input."""
        return self.closest is not None and self.closest.is_reproduced

    @property
    def is_same(self) -> bool:
        """Whether it does so list by list."""
        return self.closest is not None and self.closest.is_same

    @cached_property
    def is_readable(self) -> bool:
        of = self.generation
        return of.protocol_type == CONSUMER and of.unread is None and of.repeated_member is None

    @cached_property
    def recorded(self) -> RecordedAssignment:
        of = self.generation
        if self.counts is None or not self.is_readable:
            numbers = np.full(len(of.topics), UNKNOWN, np.int64)
        else:
            numbers = checked_numbers(
                of.topics, self.counts.numbers, of.assigned, of.is_subscribed,
                is_reproduced=self.is_reproduced, shown=self.confirmation,
            )  # fmt: skip
        return RecordedAssignment(of.members, of.topics, numbers, *of.equal_classes, of.assigned)

    @property
    def compared(self) -> Comparison | None:
        return None if self.closest is None else (self.expected or self.closest).compared

    @property
    def columns(self) -> dict[str, Any]:
        of, closest, before = self.generation, self.closest, self.before
        made, needed, source = None, None, None
        if self.is_readable and self.counts is not None:
            if before is not None:
                # Of topics that some member subscribes to now.
                counts = np.where(of.is_subscribed, self.counts.numbers, 0)
                made, needed = moves(owned_before(before.generation, of), self.recorded, counts)
            # Not if the numbers are not confirmed and the record does not match them.
            source = self.counts.source if (self.recorded.counts != UNKNOWN).all() else None
        return {
            "group_id": of.group_id,
            "group_type": GroupType.CLASSIC,
            "assignment_offset": of.offset,
            "generation_or_epoch": of.number,
            "record_time": of.time,
            "assignor": of.protocol,
            "assignor_source": None if of.protocol is None else AssignorSource.RECORD,
            "algorithm": None if closest is None else algorithm_of(of, closest.variant),
            "moves_made": made,
            "moves_needed": needed,
            "partition_counts_source": source,
            "variant": None if closest is None or self.verdict == Verdict.DRIFT else closest.variant.text,
            "evidence_first_offset": of.offset if before is None else before.generation.offset,
            "confidence": self.confidence,
            "is_unconfirmed": self.confirmation.why is not None,
        }

    @property
    def confidence(self) -> Confidence:
        """Without the previous value, a drift may be a copy that was never computed."""
        if self.verdict == Verdict.DRIFT:
            return Confidence.POSSIBLE if self.before is None else Confidence.LIKELY
        return Confidence.LIKELY if self.verdict == Verdict.SAME_UNCONFIRMED else Confidence.CERTAIN

    @property
    def balance(self) -> Balance | None:
        if self.generation.protocol == "range":
            return Balance.EACH_TOPIC
        return Balance.ALL_PARTITIONS if self.generation.protocol in LEADERS else None

    @cached_property
    def unsafe(self) -> Flags:
        return self.recorded.unsafe(self.generation.owned)

    @property
    def is_cooperative(self) -> bool:
        return self.generation.protocol == COOPERATIVE

    @cached_property
    def withheld(self) -> Numbers:
        """The cooperative assignor assigns what an owner must give up only in the next generation. If the generation
        was recomputed, the answer decides; else whether a member claims the partition."""
        of, recorded = self.generation, self.recorded
        if of.protocol not in (COOPERATIVE, STREAM_PROTOCOL) or not recorded.num_unowned:
            return NO_PLACES
        places = recorded.unowned
        if self.verdict == Verdict.STALE_INPUT and self.counts is not None:
            # What the leader did not know, it did not withhold.
            topics = recorded.topics_of(places)
            places = places[places - recorded.starts[topics] < self.counts.numbers[topics]]
        if self.closest is not None and self.closest.rows is not None:
            return places[~recorded.are_among(places, self.closest.rows)]
        return places[recorded.are_among(places, of.owned)]

    @property
    def instances(self) -> Sequence[str | None]:
        return self.generation.instances

    def most_owners(self, rules: Sequence[GroupRule]) -> int:
        if self.generation.protocol in LEADERS or self.generation.protocol == STREAM_PROTOCOL:
            return 1
        most = max((rule.redundancy for rule in rules), default=1)
        return most if most > 1 else ANY_NUMBER

    def racks(self, facts: Facts) -> tuple[Sequence[str | None], Racks]:
        of = self.generation
        of_topics = () if self.counts is None or self.counts.racks is None else self.counts.racks
        return of.racks, {name: racks for name, racks in zip(of.topics, of_topics, strict=False) if racks is not None}


# -- what an answer proves


def judge(
    generation: Generation, before: Before | None, facts: Facts, confirm: Callable[[Counts], Confirmation],
    *, is_copied: bool,
) -> GenerationResult:  # fmt: skip
    """`confirm`: what confirms these numbers of partitions."""
    counts = counts_of_snapshots(generation, facts)
    result = partial(GenerationResult, generation=generation, before=before)
    verdict, reason = Verdict.CARRIED_OVER, COPIED
    if not is_copied:
        if before is not None and before.generation.members and are_carried_over(before.generation, generation):
            reason = CAME_BACK
        else:
            verdict, reason = Verdict.NOT_RECOMPUTABLE, why_not(generation, counts) or ""
    if reason and not counts.are_possible:
        return result(verdict=verdict, reason=reason, counts=None)
    if reason:
        return result(verdict=verdict, reason=reason, counts=counts, confirmation=confirm(counts))
    had = {} if before is None else before.by_topic(before.counts)
    floor = floor_of(generation, had, facts)
    # Most generations are those of the newest release.
    closest = try_variant(generation, first_variant(generation, counts))
    is_old_view = False
    if not closest.is_same or are_fewer(counts, floor):
        line, number = (None, None) if before is None else (before.line, before.generation.number)
        possible = list(candidates(counts, generation, had, facts))
        likely = [each for each in possible if not are_fewer(each, floor)] or possible[:1]
        closest = search(generation, likely, line, number, closest)
        fewer = [each for each in possible if all(each is not other for other in likely)]
        if not closest.is_same and fewer and (older := search(generation, fewer, line, number)).is_same:
            shown, is_old_view = confirm(older.variant.counts), True
            if not shown.confirmed:
                why = not_confirmed(f"{old_view(generation, older.variant.counts, floor)}; {shown.why}")
                return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=why, counts=counts, confirmation=confirm(counts))
            closest = older
    used, compared = closest.variant.counts, closest.compared
    result = partial(result, counts=used)
    if compared is not None and closest.is_reproduced:
        shown = confirm(used)
        verdict = proved(compared.verdict, shown)
        return result(
            verdict=verdict,
            reason=why_reproduced(generation, before, used, compared.verdict, verdict, shown),
            closest=closest,
            expected=answer_of_confirmed(generation, closest, shown) if verdict == Verdict.STALE_INPUT else None,
            is_old_view=is_old_view,
            confirmation=shown,
        )
    # Only if the most likely numbers are confirmed does an answer that is not the record accuse anybody.
    shown = confirm(counts)
    unproved = AuditReason.OTHER_LIBRARY.value if is_of_unknown_rules(generation, closest) else None
    if unproved is None and shown.why is not None:
        unproved = not_confirmed(shown.why)
    if unproved is None and compared is not None:
        unproved = missing_input(generation, before, used)
    if unproved is not None:
        return result(verdict=Verdict.NOT_RECOMPUTABLE, reason=unproved, confirmation=shown)
    return result(verdict=Verdict.DRIFT, reason=drift(generation, closest), closest=closest)


def are_fewer(counts: Counts, floor: Numbers) -> bool:
    """A topic without partitions was deleted, or is unknown."""
    return bool(((counts.numbers < floor) & (counts.numbers > 0)).any())


def answer_of_confirmed(generation: Generation, closest: Outcome, shown: Confirmation) -> Outcome | None:
    variant, counts = closest.variant, closest.variant.counts
    if variant.is_of_librdkafka or (counts.racks is None and any(generation.racks)):
        return None
    numbers = proved_numbers(generation.topics, counts.numbers, generation.is_subscribed, shown)
    return try_variant(generation, replace(variant, counts=replace(counts, numbers=np.maximum(numbers, 0))))


def is_of_unknown_rules(generation: Generation, closest: Outcome) -> bool:
    """Whether the leader may use a library whose assignor is not known, or not for this input."""
    library = generation.leader_library
    if closest.variant.is_of_librdkafka:
        return closest.compared is None or library != ClientLibrary.LIBRDKAFKA
    return library != ClientLibrary.JAVA and not (library is None and generation.libraries in (NO_LIBRARY, ANY_LIBRARY))


# -- reasons


def not_even_another(generation: Generation) -> str | None:
    """Why no assignor at all can compute an assignment for the group."""
    kind, assignor = generation.protocol_type, generation.protocol
    if kind != CONSUMER:
        return FOREIGN_TYPES.get(kind, f"protocol type {kind!r}: its assignments are not those of Kafka's consumers")
    if assignor == STREAM_PROTOCOL:
        return "Kafka Streams assigns by the lag of tasks, which is not in the log"
    if generation.repeated_member is not None:
        return f"{generation.repeated_member}: is listed twice among the members"
    return generation.unread


def why_not(generation: Generation, counts: Counts) -> str | None:
    """Why a generation cannot be recomputed."""
    if (reason := not_even_another(generation)) is not None:
        return reason
    if generation.protocol not in LEADERS:
        named = f"assignor {generation.protocol!r} is none of Kafka's"
        return "the record names no assignor" if generation.protocol is None else named
    if not counts.are_believed:
        at = int(generation.counts.argmax())
        return f"{generation.topics[at]}: the record names partition {generation.counts[at] - 1}, and few others"
    if not counts.are_possible:
        at = int(counts.numbers.argmax())
        return (
            f"{generation.topics[at]}: {counts.numbers[at]} partitions, more than a cluster holds ({MOST_PARTITIONS})"
        )
    return None


def why_reproduced(
    generation: Generation, before: Before | None, used: Counts, compared: Verdict, verdict: Verdict,
    shown: Confirmation,
) -> str | None:  # fmt: skip
    """The record equals an answer. Whether that means anything depends on what confirms the input."""
    if verdict == Verdict.STALE_INPUT:
        return stale_input(generation, used, shown.confirmed)
    order = None
    if compared == Verdict.SAME_MEMBERS_OTHER_ORDER:
        order = missing_input(generation, before, used)
        order = order or "same owners, but no release lists a member's partitions in this order"
    unconfirmed = not_confirmed(str(shown.why)) if verdict == Verdict.SAME_UNCONFIRMED else None
    return "; ".join(filter(None, (order, unconfirmed))) or None


def old_view(generation: Generation, counts: Counts, floor: Numbers) -> str:
    at = int(np.flatnonzero((counts.numbers < floor) & (counts.numbers > 0))[0])
    return f"the assignment is right if {knew_only(generation.topics[at], int(counts.numbers[at]), int(floor[at]))}"


def knew_only(topic: str, known: int, number: int) -> str:
    return f"the leader knew only {known} of {number} partitions of {topic}"


def stale_input(generation: Generation, counts: Counts, confirmed: Mapping[str, int]) -> str:
    """`confirmed`: by topic, how many partitions it had, where the leader took another number."""
    used = dict(zip(generation.topics, counts.numbers.tolist(), strict=True))
    texts = [stale_topic(generation, topic, used[topic], number) for topic, number in sorted(confirmed.items())]
    more = f"; {len(texts) - MOST_TOPICS} more topics" if len(texts) > MOST_TOPICS else ""
    return "; ".join(texts[:MOST_TOPICS]) + more


def stale_topic(generation: Generation, topic: str, used: int, number: int) -> str:
    if not used:
        return f"the leader assigned nothing of {topic}, which has {counted(number, 'partition')}"
    if used < number:
        return knew_only(topic, used, number)
    at = generation.as_asked.topic_positions[topic]
    beyond = [(who, each) for who, of, each in generation.assigned.triples() if of == at and each >= number]
    members = sorted({generation.members[who] for who, _ in beyond})
    names, gets = list_names(members, MOST_TOPICS), "gets" if len(members) == 1 else "get"
    partitions = list_names([f"{topic}-{each}" for each in sorted({each for _, each in beyond})], MOST_TOPICS)
    return (
        f"the leader assigned {partitions}, but {topic} has {counted(number, 'partition')}: {names} {gets} exceptions"
    )


def not_confirmed(why: str) -> str:
    """Kafka's answer for the known input differs from the record, but that input may be wrong."""
    return f"no record or snapshot confirms the inputs: {why}"


def missing_input(generation: Generation, before: Before | None, counts: Counts) -> str | None:
    """Inputs that the log does not record and that may explain the difference."""
    assignor = str(generation.protocol)
    if any(generation.racks) and assignor != "roundrobin" and (
        counts.racks is None
        or any(number and racks is None for number, racks in zip(counts.numbers.tolist(), counts.racks, strict=True))
    ):  # fmt: skip
        return "members name their racks, but racks of the partitions' replicas are unknown"
    if before is None and assignor in STICKY and any(generation.instances):
        return "a static member may have come back, and the group's previous record is not in the log"
    return None


def drift(generation: Generation, closest: Outcome) -> str:
    if closest.compared is None:
        return f"Kafka's own assignor fails for this input: {closest.failure}"
    differing = f"{counted(closest.compared.num_different, 'partition has', 'partitions have')} another owner"
    if closest.variant.is_of_librdkafka:
        return f"librdkafka's own assignor computes another assignment: {differing}"
    text = f"no release computes this: {differing}"
    if generation.leader_at is not None and generation.versions[generation.leader_at] == 0:
        return f"{text}; its leader sends subscription version 0, so it is a client before 2.4 or of another library"
    return text
