"""The results of generations of classic groups: what an answer beside the record proves, and why there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from schemas.payloads import CONNECT, CONSUMER, SCHEMA_REGISTRY, STREAM_PROTOCOL
from schemas.words.assignments import AssignorSource, AuditReason, ClientLibrary, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.groups import Numbers, Rows
from udfs.assignors.questions import LEADERS
from udfs.audit.checks.assignments import Racks, RecordedAssignment
from udfs.audit.checks.facts import UNKNOWN, Confirmation, Facts, GroupRule, proved, proved_numbers
from udfs.audit.checks.results import NO_PLACES, Balance, Result, checked_numbers, moves
from udfs.audit.classic.generations import Generation, owned_before
from udfs.audit.classic.state import Before
from udfs.audit.classic.variants import (
    COOPERATIVE,
    MOST_PARTITIONS,
    STICKY,
    Counts,
    LibraryVariant,
    TriedVariant,
    Variant,
    algorithm_of,
    try_variant,
)
from udfs.groups.readers.client_libraries import ANY_LIBRARY, NO_LIBRARY
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

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
    """`counts` None: more partitions than can be computed. `closest`: the closest answer; None: nothing was
    recomputed, or what was proves nothing."""

    generation: Generation
    before: Before | None
    counts: Counts | None
    closest: TriedVariant | None = None
    # Where snapshots contradict the leader's input: what the same rules give for the confirmed input; None: not known.
    expected: TriedVariant | None = None
    # The record matches if the leader knew fewer partitions than there were.
    is_old_view: bool = False

    @property
    def why_unconfirmed(self) -> str | None:
        """None: they are confirmed."""
        return self.confirmation.why

    @property
    def is_reproduced(self) -> bool:
        """Whether the record equals the answer, for whatever input."""
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
            return of.recorded_assignment(np.full(len(of.topics), UNKNOWN, np.int64))
        return of.recorded_assignment(
            checked_numbers(
                of.topics, self.counts.numbers, of.assigned, of.is_subscribed,
                is_reproduced=self.is_reproduced, shown=self.confirmation,
            )
        )  # fmt: skip

    @property
    def columns(self) -> dict[str, Any]:
        of, closest, before = self.generation, self.closest, self.before
        compared = None if closest is None else (self.expected or closest).compared
        made, needed = (None, None)
        if self.is_readable and self.counts is not None and before is not None:
            # Of topics that some member subscribes to now.
            counts = np.where(of.is_subscribed, self.counts.numbers, 0)
            made, needed = moves(owned_before(before.generation, of), self.recorded, counts)
        is_stale = self.verdict == Verdict.STALE_INPUT
        return {
            "group_id": of.group_id,
            "group_type": GroupType.CLASSIC,
            "assignment_offset": of.offset,
            "generation_or_epoch": of.number,
            "record_time": of.time,
            "assignor": of.protocol,
            "assignor_source": None if of.protocol is None else AssignorSource.RECORD,
            "algorithm": None if closest is None else algorithm_of(of, closest.variant),
            "num_different": None if compared is None else compared.num_different,
            "differences": None if compared is None else compared.differences,
            "moves_made": made,
            "moves_needed": needed,
            # Also None if the numbers are not confirmed and the record does not match them.
            "partition_counts_source": (
                self.counts.source
                if self.counts is not None and self.is_readable and (self.recorded.counts != UNKNOWN).all()
                else None
            ),
            "variant": None if closest is None or self.verdict == Verdict.DRIFT else closest.variant.text,
            "evidence_first_offset": of.offset if before is None else before.generation.offset,
            "evidence_last_offset": of.offset,
            "confidence": self.confidence,
            "stale_topics": tuple(sorted(self.confirmation.confirmed)) if is_stale else None,
            "is_unconfirmed": self.why_unconfirmed is not None,
        }

    @property
    def confidence(self) -> Confidence:
        """Without the previous value, a drift may be a copy that was never computed."""
        if self.verdict == Verdict.SAME_UNCONFIRMED:
            return Confidence.LIKELY
        if self.verdict != Verdict.DRIFT:
            return Confidence.CERTAIN
        return Confidence.POSSIBLE if self.before is None else Confidence.LIKELY

    @property
    def balance(self) -> Balance | None:
        if self.generation.protocol == "range":
            return Balance.EACH_TOPIC
        return Balance.ALL_PARTITIONS if self.generation.protocol in LEADERS else None

    @property
    def claims(self) -> Rows:
        return self.generation.owned

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
        if self.counts is None or self.counts.racks is None:
            return of.racks, {}
        of_topics = zip(of.topics, self.counts.racks, strict=True)
        return of.racks, {name: racks for name, racks in of_topics if racks is not None}


# -- what an answer proves


def result_of(
    generation: Generation, before: Before | None, closest: TriedVariant, first: Counts,
    confirm: Callable[[Counts], Confirmation],
) -> GenerationResult:  # fmt: skip
    """`first`: the numbers of partitions that are most likely. Only if these are confirmed does an answer that is
    not the record accuse anybody."""
    counts, compared = closest.variant.counts, closest.compared
    if compared is not None and closest.is_reproduced:
        return reproduced(generation, before, closest, compared.verdict, confirm(counts))
    shown = confirm(first)
    result = partial(GenerationResult, generation=generation, before=before, counts=counts)
    unproved = partial(result, verdict=Verdict.NOT_RECOMPUTABLE)
    if is_of_unknown_rules(generation, closest):
        return unproved(reason=AuditReason.OTHER_LIBRARY.value, confirmation=shown)
    if shown.why is not None:
        return unproved(reason=not_confirmed(shown.why), confirmation=shown)
    if compared is None:
        reason = f"Kafka's own assignor fails for this input: {closest.failure}"
        return result(verdict=Verdict.DRIFT, reason=reason, closest=closest)
    if (missing := missing_input(generation, before, counts)) is not None:
        return unproved(reason=missing)
    return result(verdict=compared.verdict, reason=drift(generation, closest), closest=closest)


def reproduced(
    generation: Generation, before: Before | None, closest: TriedVariant, compared: Verdict, shown: Confirmation,
    *, is_old_view: bool = False,
) -> GenerationResult:  # fmt: skip
    """The record equals an answer. Whether that means anything depends on what confirms the input."""
    counts, verdict, expected = closest.variant.counts, proved(compared, shown), None
    reason = None
    if compared == Verdict.SAME_MEMBERS_OTHER_ORDER:
        order = "same owners, but no release lists a member's partitions in this order"
        reason = missing_input(generation, before, counts) or order
    if verdict == Verdict.STALE_INPUT:
        reason = stale_input(generation, counts, shown.confirmed)
        expected = answer_of_confirmed(generation, closest, shown)
    elif verdict == Verdict.SAME_UNCONFIRMED:
        reason = "; ".join(filter(None, (reason, not_confirmed(str(shown.why)))))
    return GenerationResult(
        generation=generation,
        before=before,
        verdict=verdict,
        reason=reason,
        counts=counts,
        closest=closest,
        expected=expected,
        is_old_view=is_old_view,
        confirmation=shown,
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


def why_not(generation: Generation) -> str | None:
    """Why a generation cannot be recomputed, from its record alone."""
    reason = not_even_another(generation)
    if reason is None and generation.protocol is None:
        return "the record names no assignor"
    if reason is None and generation.protocol not in LEADERS:
        return f"assignor {generation.protocol!r} is none of Kafka's"
    return reason


def impossible(generation: Generation, counts: Counts) -> str:
    if not counts.are_believed:
        at = int(generation.lower_bounds.argmax())
        return f"{generation.topics[at]}: the record names partition {generation.lower_bounds[at] - 1}, and few others"
    at = int(counts.numbers.argmax())
    count = int(counts.numbers[at])
    return f"{generation.topics[at]}: {count} partitions, more than a cluster holds ({MOST_PARTITIONS})"


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
    rows = generation.assigned
    is_beyond = (rows.topics == list(generation.topics).index(topic)) & (rows.partitions >= number)
    beyond, members = rows.partitions[is_beyond].tolist(), rows.members[is_beyond].tolist()
    names = list_names(sorted({generation.members[at] for at in members}), MOST_TOPICS)
    partitions = list_names([f"{topic}-{each}" for each in sorted(set(beyond))], MOST_TOPICS)
    gets = "gets" if len(set(members)) == 1 else "get"
    return (
        f"the leader assigned {partitions}, but {topic} has {counted(number, 'partition')}: {names} {gets} exceptions"
    )


def not_confirmed(why: str) -> str:
    """Kafka's answer for the known input differs from the record, but that input may be wrong."""
    return f"no record or snapshot confirms the inputs: {why}"


def missing_input(generation: Generation, before: Before | None, counts: Counts) -> str | None:
    """Inputs that the log does not record and that may explain the difference."""
    assignor = str(generation.protocol)
    if any(generation.racks) and assignor != "roundrobin" and lacks_racks(generation, counts):
        return "members name their racks, but racks of the partitions' replicas are unknown"
    if before is None and assignor in STICKY and any(generation.instances):
        return "a static member may have come back, and the group's previous record is not in the log"
    return None


def lacks_racks(generation: Generation, counts: Counts) -> bool:
    if counts.racks is None:
        return True
    return any(number and racks is None for number, racks in zip(counts.numbers.tolist(), counts.racks, strict=True))


def drift(generation: Generation, closest: TriedVariant) -> str:
    num_different = 0 if closest.compared is None else closest.compared.num_different
    differing = f"{counted(num_different, 'partition has', 'partitions have')} another owner"
    if isinstance(closest.variant, LibraryVariant):
        return f"librdkafka's own assignor computes another assignment: {differing}"
    text = f"no release computes this: {differing}"
    if generation.leader_at is not None and generation.versions[generation.leader_at] == 0:
        return f"{text}; its leader sends subscription version 0, so it is a client before 2.4 or of another library"
    return text
