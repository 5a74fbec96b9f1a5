"""A target epoch: its question, the assignor in force, the answer closest to the record, and what that proves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from schemas.words.assignments import Algorithm, AssignorSource, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.groups import Rows
from udfs.audit.checks.assignments import Racks, RecordedAssignment
from udfs.audit.checks.facts import ALL_CONFIRMED, REPRODUCED, UNKNOWN, Confirmation, Facts, GroupRule, proved
from udfs.audit.checks.results import GONE, Balance, Comparison, Result, Trial, checked_numbers, compare, moves
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import (
    MemberInputs,
    Question,
    Unanswerable,
    earlier_inputs,
    member_inputs,
    most_voted,
    recorded_targets,
)
from udfs.audit.modern.topics import questions_to_ask
from udfs.audit.modern.variants import Outcome, Variant, keys, recompute, variants
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

BUILT_IN = ("uniform", "range")


@dataclass(frozen=True)
class Answer:
    """`reason`: why there is no outcome. `recorded`: what is checked if there is no question."""

    inputs: MemberInputs | None
    # About the members that there are now, also where the outcome is of earlier inputs.
    question: Question | None = None
    outcome: Outcome | None = None
    assignor: str | None = None
    source: AssignorSource | None = None
    reason: str | None = None
    recorded: RecordedAssignment | None = None
    # The epoch of the inputs, if the group has moved on since; None: they are those of the group as it is.
    from_epoch: int | None = None
    # Why earlier inputs may have given it, though none is known to give it.
    why_earlier: str | None = None
    # Whether the outcome is that of earlier inputs, so that those of the question prove nothing.
    is_of_earlier: bool = False

    @property
    def is_reproduced(self) -> bool:
        return self.outcome is not None and self.outcome.is_reproduced

    @property
    def algorithm(self) -> Algorithm | None:
        return None if self.outcome is None else self.outcome.question.inputs.algorithm

    @property
    def confirmation(self) -> Confirmation:
        """Of the question's topics."""
        return ALL_CONFIRMED if self.question is None else self.question.confirmation

    @property
    def proof(self) -> Confirmation:
        """Of the topics that gave the outcome."""
        return self.confirmation if self.outcome is None else self.outcome.question.confirmation


def answer_of(group: ModernGroup, epoch: int, time: int | None, codes: TopicCodes, facts: Facts) -> Answer:
    """`time`: of the target's record."""
    inputs: MemberInputs | None = None
    abouts, metadata_hash = group.members_of(epoch)
    try:
        if group.group_type == GroupType.STREAMS:
            raise Unanswerable("streams groups: their assignor can compute different assignments from the same input")
        if not abouts:
            raise Unanswerable("targets are left in the group, but no record of a member")
        inputs = member_inputs(group, abouts)
        questions = questions_to_ask(group, inputs, metadata_hash, time, codes, facts)
        if group.is_converted and all(about is not None and about.is_classic for about in abouts.values()):
            why = "the group changed to this protocol here, and its classic assignment was copied; no assignor ran"
            return Answer(inputs, next(questions), reason=why)
        names, source = assignors_to_try(group, inputs, facts)
        why_not = why_unknown(group, names[0])
        if why_not is not None and (question := next(questions, None)) is not None:
            return Answer(inputs, question, None, names[0], source, reason=why_not)
        best = closest(group, questions, names, has_hash=metadata_hash is not None)
        if best is None:
            raise Unanswerable("no record shows the topics")
        from_epoch = None if group.inputs_of(epoch) is None else epoch
        answer = Answer(inputs, best.question, best, best.variant.assignor, source, from_epoch=from_epoch)
        if best.is_reproduced:
            note_variant(group, best)
        if best.verdict == Verdict.SAME and not group.has_moved_on(epoch):
            return answer
        return by_earlier_inputs(group, answer, best, epoch, time, codes, facts)
    except Unanswerable as why:
        return Answer(inputs, reason=str(why), recorded=recorded_targets(group, codes))


def assignors_to_try(group: ModernGroup, inputs: MemberInputs, facts: Facts) -> tuple[list[str], AssignorSource]:
    """More than one if no source shows which."""
    if group.group_type == GroupType.SHARE:
        return ["simple"], AssignorSource.DEFAULT
    if vote := most_voted(about.assignor for about in inputs.abouts):
        return [vote], AssignorSource.VOTES
    if facts.default_assignor is not None:
        return [facts.default_assignor], AssignorSource.DEFAULT
    return sorted(BUILT_IN, key=lambda each: each != group.inferred), AssignorSource.INFERRED


def why_unknown(group: ModernGroup, assignor: str) -> str | None:
    """Why the assignor's answer is unknown."""
    if group.group_type == GroupType.CONSUMER and assignor not in BUILT_IN:
        return f"{assignor}: not one of Kafka's assignors"
    if group.topics is not None and group.topics.is_early:
        return "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
    return None


def has_listed_topics(group: ModernGroup) -> bool:
    """In a record of type 4, which no release from 4.1 on writes."""
    return group.topics is not None and group.topics.assignable is None


def closest(
    group: ModernGroup, questions: Iterable[Question], names: Sequence[str], *, has_hash: bool, is_newest: bool = False
) -> Outcome | None:
    """Of the first question whose answer is the record; else of one whose topics are confirmed; else of the first."""
    best: Outcome | None = None
    last = None if group.variant is None else Variant(*group.variant)
    for question in questions:
        tries = (
            variants(question, name, last, has_hash=has_hash, has_topics=has_listed_topics(group), is_newest=is_newest)
            for name in names
        )
        now = recompute(question, chain.from_iterable(tries))
        is_more = best is None or (best.question.confirmation.why is not None and question.confirmation.why is None)
        if is_more or now.is_reproduced:
            best = now
        if now.is_reproduced or question.metadata.is_sure:
            break
    return best


def note_variant(group: ModernGroup, outcome: Outcome) -> None:
    group.variant = outcome.variant[:3]
    group.inferred = outcome.variant.assignor


def by_earlier_inputs(
    group: ModernGroup, newest: Answer, own: Outcome, epoch: int, time: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    """With the newest earlier inputs that give the record, if possible in its order. The answer stays about the members
    that there are now. `own`: what these give."""
    if has_listed_topics(group):
        # No release that writes these copies inputs.
        return newest
    why = "it may be of inputs from before that are not known: there are too many of them" if group.is_cut else None
    expected: Outcome | None = None
    # Computed without the members that have left, which no coordinator does.
    has_moved_on = group.has_moved_on(epoch)
    found = newest if own.is_reproduced and not has_moved_on else None
    try:
        for each in earlier_inputs(group, epoch):
            past, metadata_hash = each.group, each.group.metadata_hash
            names, _ = assignors_to_try(past, each.inputs, facts)
            if (reason := why_unknown(past, names[0])) is not None:
                raise Unanswerable(reason)
            questions = questions_to_ask(past, each.inputs, metadata_hash, time, codes, facts, each.with_previous)
            # Only by the newest rules: earlier releases copy no inputs.
            best = closest(past, questions, names, has_hash=metadata_hash is not None, is_newest=True)
            if best is None:
                continue
            if best.is_reproduced:
                if found is None or best.verdict == Verdict.SAME:
                    note_variant(group, best)
                    found = replace(newest, outcome=best, assignor=best.variant.assignor, from_epoch=each.epoch)
                if best.verdict == Verdict.SAME:
                    break
                continue
            expected = expected or for_present_members(best, each.heirs, own.question)
            is_unknown = best.verdict == Verdict.NOT_RECOMPUTABLE
            unsure = best.why if is_unknown else best.question.confirmation.why
            if unsure is not None:
                why = why or f"it may be of the inputs of epoch {each.epoch}: {unsure}"
    except Unanswerable as unknown:
        why = why or f"it may be of inputs from before: {unknown}"
    if found is not None:
        return found
    if expected is not None and has_moved_on:
        return replace(newest, outcome=expected, is_of_earlier=True, why_earlier=why)
    return replace(newest, why_earlier=why)


def for_present_members(best: Outcome, heirs: Mapping[str, str], question: Question) -> Outcome | None:
    """What is expected, in the numbers of the newest question."""
    expected = best.expected
    if expected is None:
        return None
    members = {member_id: place for place, member_id in enumerate(question.members)}
    topics = {name: place for place, name in enumerate(question.topics)}
    place_of = [members.get(heirs.get(each, ""), GONE) for each in best.question.members]
    topic_of = [topics.get(name, GONE) for name in best.question.topics]
    of_members = np.array(place_of, np.int32)[expected.members]
    of_topics = np.array(topic_of, np.int32)[expected.topics]
    rows = Rows(of_members, of_topics, expected.partitions)
    return replace(best, question=question, expected=rows.take((of_members != GONE) & (of_topics != GONE)))


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
        is_subscribed = np.arange(len(question.counts)) < len(question.metadata.topics)
        # For topics without subscribers: whether they exist was not checked.
        counts = checked_numbers(
            question.topics, np.where(is_subscribed, question.counts, UNKNOWN), question.recorded, is_subscribed,
            is_reproduced=answer.is_reproduced, shown=answer.proof if answer.is_reproduced else answer.confirmation,
        )  # fmt: skip
        if question.assignable is not None:
            # Partitions that the share state does not have yet have no owner.
            counts = np.minimum(counts, np.bincount(question.assignable.topics, minlength=len(counts)))
        return RecordedAssignment(
            members=question.members,
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
        if question is not None and (self.recorded.counts[: len(question.metadata.topics)] != UNKNOWN).all():
            source = question.metadata.source
        variant = None
        if answer.outcome is not None and self.verdict != Verdict.NOT_RECOMPUTABLE:
            variant = answer.outcome.variant_text
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
        return self.answer.question.instances

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
    return are_shared and not np.array_equal(keys(question, question.recorded), keys(question, question.owned))


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
    # Why a difference does not prove a defect.
    reason = missing
    if reason is None and question.metadata.is_mixed_up and len(question.topics_of_class) > 1:
        reason = "no record shows which topic has which id"
    elif reason is None and answer.confirmation.why is not None and not answer.is_of_earlier:
        reason = f"no record or snapshot confirms the inputs: {answer.confirmation.why}"
    reason = reason or answer.why_earlier
    if reason is not None:
        return Verdict.NOT_RECOMPUTABLE, reason, None
    if outcome.expected is None:
        return outcome.verdict, f"{outcome.variant.assignor} fails: {outcome.why}", None
    compared = compare(question.members, question.topics, question.recorded, outcome.expected)
    number = compared.num_different
    others = "1 partition has another owner" if number == 1 else f"{number:,} partitions have other owners"
    return Verdict.DRIFT, f"{others} than {outcome.variant.assignor} gives", compared
