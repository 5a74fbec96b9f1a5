"""The results of target assignments: what an answer beside the record proves, and why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from schemas.words.assignments import Algorithm, AssignorSource, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.audit.checks.assignments import Racks, RecordedAssignment
from udfs.audit.checks.facts import ALL_CONFIRMED, REPRODUCED, UNKNOWN, Confirmation, Facts, GroupRule, proved
from udfs.audit.checks.results import Balance, Comparison, Result, Trial, checked_numbers, compare, moves
from udfs.audit.modern.questions import MemberInputs, Question
from udfs.audit.modern.variants import Outcome, keys, variant_text
from udfs.groups.readers.records import Record


@dataclass(frozen=True)
class Answer:
    """`reason`: why there is no outcome. `recorded`: what is checked if there is no question."""

    inputs: MemberInputs | None
    question: Question | None
    outcome: Outcome | None
    assignor: str | None
    source: AssignorSource | None
    algorithm: Algorithm | None
    reason: str | None
    recorded: RecordedAssignment | None = None
    # Of the topics that were used.
    confirmation: Confirmation = ALL_CONFIRMED
    # Of those of earlier inputs that gave it; None: it was not given by such.
    confirmation_of_earlier: Confirmation | None = None
    # The epoch of the inputs, if the group has moved on since; None: they are those of the group as it is.
    from_epoch: int | None = None
    # Why earlier inputs may have given it, though none is known to give it.
    why_earlier: str | None = None
    # Whether the outcome is that of earlier inputs, so that those of the question prove nothing.
    is_of_earlier: bool = False

    @property
    def is_reproduced(self) -> bool:
        return self.outcome is not None and self.outcome.verdict in REPRODUCED

    @property
    def proof(self) -> Confirmation:
        """Of the topics that gave the outcome."""
        return self.confirmation_of_earlier or self.confirmation


@dataclass(frozen=True, kw_only=True)
class TargetResult(Result):
    group_id: str
    group_type: GroupType
    record: Record
    epoch: int
    first_offset: int
    answer: Answer
    compared: Comparison | None
    # Why records may be missing.
    missing: str | None
    is_copied: bool
    known_defect: str | None
    # Of the group, under the assignor's name; None: the target shows nothing of its class.
    trial: Trial | None = None

    @cached_property
    def recorded(self) -> RecordedAssignment:
        answer, question = self.answer, self.answer.question
        if question is None:
            assert answer.recorded is not None
            return answer.recorded
        is_subscribed = np.arange(len(question.counts)) < len(question.subscribed.topics)
        # For topics without subscribers: whether they exist was not checked.
        counts = checked_numbers(
            question.topics, np.where(is_subscribed, question.counts, UNKNOWN), question.recorded, is_subscribed,
            is_reproduced=answer.is_reproduced, shown=answer.proof if answer.is_reproduced else answer.confirmation,
        )  # fmt: skip
        if question.assignable is not None:
            # Partitions that the share state does not have yet have no owner.
            counts = np.minimum(counts, np.bincount(question.assignable.topics, minlength=len(counts)))
        return RecordedAssignment(
            members=question.inputs.members,
            topics=question.topics,
            counts=counts,
            class_of_member=question.class_of_member,
            topics_of_class=question.topics_of_class,
            rows=question.recorded,
        )

    @property
    def columns(self) -> dict[str, Any]:
        answer, question, compared = self.answer, self.answer.question, self.compared
        made, needed = None, None
        # In share groups partitions do not move between owners.
        if question is not None and self.missing is None and self.group_type != GroupType.SHARE:
            made, needed = moves(question.base, self.recorded, question.counts)
        source = None
        # Also None if the numbers are not confirmed and the targets do not match them.
        if question is not None and (self.recorded.counts[: len(question.subscribed.topics)] != UNKNOWN).all():
            source = question.subscribed.source
        variant = None
        if answer.outcome and answer.algorithm and self.verdict != Verdict.NOT_RECOMPUTABLE:
            variant = variant_text(answer.outcome.variant, answer.algorithm)
            variant += "" if answer.from_epoch is None else f", inputs of epoch {answer.from_epoch}"
        is_inferred = answer.source == AssignorSource.INFERRED or source == PartitionCountsSource.INFERRED
        is_likely = is_inferred or self.verdict == Verdict.SAME_UNCONFIRMED or self.missing is not None
        return {
            "group_id": self.group_id,
            "group_type": self.group_type,
            "assignment_offset": self.record.offset,
            "generation_or_epoch": self.epoch,
            "record_time": self.record.time,
            "assignor": answer.assignor,
            "assignor_source": answer.source,
            "algorithm": answer.algorithm,
            "num_different": None if compared is None else compared.num_different,
            "differences": None if compared is None else compared.differences,
            "moves_made": made,
            "moves_needed": needed,
            "partition_counts_source": source,
            "variant": variant,
            "evidence_first_offset": self.first_offset,
            "evidence_last_offset": self.record.offset,
            "confidence": Confidence.LIKELY if is_likely else Confidence.CERTAIN,
            "is_unconfirmed": answer.proof.why is not None or answer.why_earlier is not None,
            "trial": self.trial if self.verdict == Verdict.DRIFT else None,
        }

    @property
    def balance(self) -> Balance | None:
        of_assignor = {"range": Balance.EACH_TOPIC, "uniform": Balance.ALL_PARTITIONS}
        is_known = self.answer.question is not None and self.group_type != GroupType.SHARE
        return of_assignor.get(self.answer.assignor or "") if is_known else None

    @property
    def instances(self) -> Sequence[str | None] | None:
        if self.answer.question is None or self.group_type == GroupType.SHARE:
            return None
        return [about.group_instance_id for about in self.answer.question.inputs.abouts]

    def most_owners(self, rules: Sequence[GroupRule]) -> int:
        return max(1, len(self.recorded.members)) if self.group_type == GroupType.SHARE else 1

    def racks(self, facts: Facts) -> tuple[Sequence[str | None], Racks] | None:
        inputs = self.answer.inputs
        if inputs is None:
            return None
        newest = {name: known[-1].topic.racks for name, known in facts.topics.items()}
        of_member = dict(zip(inputs.members, (about.rack_id or None for about in inputs.abouts), strict=True))
        of_members = [of_member.get(member_id) for member_id in self.recorded.members]
        return of_members, {name: racks for name, racks in newest.items() if racks is not None}

    def count_in_trial(self) -> None:
        if self.trial is None or self.answer.question is None:
            return
        if self.verdict == Verdict.DRIFT:
            self.trial.num_unequal += 1
        elif self.answer.is_reproduced and is_telling(self.answer.question):
            self.trial.num_equal += 1


def is_telling(question: Question) -> bool:
    """Whether few other assignors would give the same: members share a topic, and some target has changed. A member on
    its own gets everything by any assignor."""
    members_of_class = np.bincount(question.class_of_member, minlength=len(question.topics_of_class))
    subscribers = np.zeros(len(question.topics), np.int64)
    for number, listed in zip(members_of_class.tolist(), question.topics_of_class, strict=True):
        subscribers[listed] += number
    are_shared = bool(((subscribers > 1) & (question.counts > 0)).any())
    return are_shared and not np.array_equal(keys(question, question.recorded), keys(question, question.before))


def verdict_of(
    answer: Answer, missing: str | None, *, is_copied: bool
) -> tuple[Verdict, str | None, Comparison | None]:
    """With its reason. `missing`: why records may be missing."""
    question, outcome, why = answer.question, answer.outcome, answer.proof.why
    if outcome is None or question is None:
        return Verdict.CARRIED_OVER if is_copied else Verdict.NOT_RECOMPUTABLE, answer.reason, None
    if outcome.verdict in REPRODUCED:
        is_other_order = outcome.verdict == Verdict.SAME_MEMBERS_OTHER_ORDER
        order = f"{outcome.variant.assignor} lists partitions in another order" if is_other_order else None
        unconfirmed = None if why is None else f"no record or snapshot confirms the inputs: {why}"
        reason = "; ".join(filter(None, (order, unconfirmed))) or None
        return proved(outcome.verdict, answer.proof), reason, Comparison(outcome.verdict)
    if outcome.verdict == Verdict.NOT_RECOMPUTABLE:
        return outcome.verdict, outcome.why, None
    if (reason := missing or why_not_proved(answer, question)) is not None:
        return Verdict.NOT_RECOMPUTABLE, reason, None
    if outcome.expected is None:
        return outcome.verdict, f"{outcome.variant.assignor} fails: {outcome.why}", None
    compared = compare(question.inputs.members, question.topics, question.recorded, outcome.expected)
    number = compared.num_different
    others = "1 partition has another owner" if number == 1 else f"{number:,} partitions have other owners"
    return Verdict.DRIFT, f"{others} than {outcome.variant.assignor} gives", compared


def why_not_proved(answer: Answer, question: Question) -> str | None:
    """Why a difference does not prove a defect."""
    if question.subscribed.is_mixed_up and len(question.topics_of_class) > 1:
        return "no record shows which topic has which id"
    if answer.confirmation.why is not None and not answer.is_of_earlier:
        return f"no record or snapshot confirms the inputs: {answer.confirmation.why}"
    return answer.why_earlier
