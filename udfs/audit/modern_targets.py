"""A target epoch: its question, the assignor in force, the answer, and what of this becomes a row."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from schemas.words.assignments import AssignorSource, PartitionCountsSource, Verdict
from schemas.words.records import GroupType
from udfs.assignors.groups import Rows
from udfs.audit.checks.facts import REPRODUCED, Confirmation, Facts, UsedTopic, confirmation
from udfs.audit.checks.results import GONE, Trial
from udfs.audit.defects.find_defects import defect_of_target
from udfs.audit.defects.registry import TARGET_DEFECTS
from udfs.audit.modern.group import ModernGroup, Newest
from udfs.audit.modern.questions import (
    Earlier,
    MemberInputs,
    Question,
    SubscribedTopics,
    Unanswerable,
    earlier_inputs,
    member_inputs,
    most_voted,
    question_of,
    recorded_targets,
)
from udfs.audit.modern.rows import Answer, TargetResult, verdict_of
from udfs.audit.modern.topics import topics_to_try
from udfs.audit.modern.variants import (
    BUILT_IN,
    Outcome,
    Variant,
    algorithm_of,
    assignors_to_try,
    lines_of,
    recompute,
    variants,
)
from udfs.groups.modern.record_handlers import on_target_epoch
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes


def completed_epoch(group: ModernGroup, record: Record) -> int | None:
    """The epoch of the target that the record completes; None: it deletes the target."""
    group.begin(record)
    group.look()
    on_target_epoch(group, record)
    return None if record.value is None else group.target_epoch


def target_result(
    group_id: str, group: ModernGroup, record: Record, codes: TopicCodes, facts: Facts
) -> TargetResult | None:
    """For a record of type 6, 12 or 20. None: it makes no row, since the group has no members."""
    if (epoch := completed_epoch(group, record)) is None:
        return None
    result = None
    if group.members_of(epoch)[0] or group.targets:
        first = group.operation.first_target_offset
        evidence = group.operation.first_offset if first is None else min(first, group.operation.first_offset)
        answer = answer_of(group, epoch, record, codes, facts)
        is_copied = group.is_converted and answer.question is not None and answer.outcome is None
        known_defect = defect_of_target(group, answer)
        verdict, reason, compared = verdict_of(answer, group.missing_now, is_copied=is_copied)
        is_consumer = group.group_type == GroupType.CONSUMER
        result = TargetResult(
            verdict=verdict,
            reason=reason,
            compared=compared,
            group_id=group_id,
            group_type=group.group_type,
            record=record,
            epoch=epoch,
            first_offset=evidence,
            answer=answer,
            missing=group.missing_now,
            is_copied=is_copied,
            known_defect=known_defect,
            faults=tuple(group.watch.faults) if is_consumer else None,
            trial=None if is_no_trial(answer, known_defect) else trial_of(group, answer, facts),
        )
        remember(group, record, evidence, answer)
    group.complete(epoch)
    return result


def is_no_trial(answer: Answer, known_defect: str | None) -> bool:
    """A difference that a known defect of Kafka's assignor explains is no sign of another class."""
    return answer.outcome is None or (not answer.is_reproduced and known_defect in TARGET_DEFECTS)


def trial_of(group: ModernGroup, answer: Answer, facts: Facts) -> Trial:
    """Of a name that nobody knows there is one too."""
    trial = group.trials.setdefault("" if answer.source == AssignorSource.INFERRED else answer.assignor or "", Trial())
    trial.is_any_listed = group.group_type in facts.custom_listed
    trial.is_listed = answer.source != AssignorSource.VOTES and group.group_type in facts.custom_default
    return trial


def answer_of(group: ModernGroup, epoch: int, record: Record, codes: TopicCodes, facts: Facts) -> Answer:
    inputs: MemberInputs | None = None
    abouts, metadata_hash = group.members_of(epoch)
    try:
        if group.group_type == GroupType.STREAMS:
            raise Unanswerable("streams groups: their assignor can compute different assignments from the same input")
        if not abouts:
            raise Unanswerable("targets are left in the group, but no record of a member")
        inputs = member_inputs(group, abouts)
        if group.is_converted and abouts and all(about is not None and about.is_classic for about in abouts.values()):
            return carried_over(group, inputs, record, metadata_hash, codes, facts)
        answer = outcome_of(group, inputs, record, metadata_hash, codes, facts)
        if group.inputs_of(epoch) is not None:
            answer = replace(answer, from_epoch=epoch)
        is_same = answer.outcome is not None and answer.outcome.verdict == Verdict.SAME
        if answer.outcome is None or (is_same and not group.has_moved_on(epoch)):
            return answer
        return by_earlier_inputs(group, answer, epoch, record, codes, facts)
    except Unanswerable as why:
        return no_answer(inputs, group, codes, str(why))


def no_answer(inputs: MemberInputs | None, group: ModernGroup, codes: TopicCodes, why: str) -> Answer:
    return Answer(
        inputs=inputs,
        question=None,
        outcome=None,
        assignor=None,
        source=None,
        algorithm=None,
        reason=why,
        recorded=recorded_targets(group, codes),
    )


def carried_over(
    group: ModernGroup, inputs: MemberInputs, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    subscribed = next(topics_to_try(group, inputs, record.time, metadata_hash, codes, facts))
    question = question_of(group, inputs, subscribed, codes)
    confirmed = confirmation_of(subscribed, question, record, facts)
    why = "the group changed to this protocol here, and its classic assignment was copied; no assignor ran"
    return Answer(
        inputs=inputs,
        question=question,
        outcome=None,
        assignor=None,
        source=None,
        algorithm=None,
        reason=why,
        confirmation=confirmed,
    )


class Asked(NamedTuple):
    """Which assignors may have run."""

    names: list[str]
    source: AssignorSource


def asked(group: ModernGroup, inputs: MemberInputs, facts: Facts) -> Asked:
    vote = None if group.group_type == GroupType.SHARE else most_voted(about.assignor for about in inputs.abouts)
    names = assignors_to_try(group.group_type, vote, facts.default_assignor, group.inferred)
    source = AssignorSource.VOTES if vote else AssignorSource.DEFAULT if len(names) == 1 else AssignorSource.INFERRED
    return Asked(names, source)


class Tried(NamedTuple):
    """`confirmation`: of the topics that were used."""

    question: Question
    outcome: Outcome
    confirmation: Confirmation

    @property
    def is_reproduced(self) -> bool:
        return self.outcome.verdict in REPRODUCED


def outcome_of(
    group: ModernGroup, inputs: MemberInputs, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    names, source = asked(group, inputs, facts)
    topics = topics_to_try(group, inputs, record.time, metadata_hash, codes, facts)
    reason = why_unknown(group, names[0])
    if reason is not None and (subscribed := next(topics, None)) is not None:
        question = question_of(group, inputs, subscribed, codes)
        return Answer(
            inputs=inputs,
            question=question,
            outcome=None,
            assignor=names[0],
            source=source,
            algorithm=None,
            reason=reason,
            confirmation=confirmation_of(subscribed, question, record, facts),
        )
    best = best_of(
        (question_of(group, inputs, subscribed, codes) for subscribed in topics),
        lambda question: tries(group, question, names, metadata_hash), record, facts,
    )  # fmt: skip
    if best is None:
        raise Unanswerable("no record shows the topics")
    if best.is_reproduced:
        note_variant(group, best.outcome)
    return Answer(
        inputs=inputs,
        question=best.question,
        outcome=best.outcome,
        assignor=best.outcome.variant.assignor,
        source=source,
        algorithm=algorithm_of(best.question),
        reason=None,
        confirmation=best.confirmation,
    )


def best_of(
    questions: Iterable[Question], variants_of: Callable[[Question], Iterator[Variant]], record: Record, facts: Facts
) -> Tried | None:
    """The first question whose answer is the record; else one whose topics are confirmed; else the first."""
    best: Tried | None = None
    for each in questions:
        shown = confirmation_of(each.subscribed, each, record, facts)
        now = Tried(each, recompute(each, variants_of(each)), shown)
        if best is None or now.is_reproduced or (best.confirmation.why is not None and shown.why is None):
            best = now
        if now.is_reproduced or each.subscribed.is_sure:
            break
    return best


def note_variant(group: ModernGroup, outcome: Outcome) -> None:
    group.variant = outcome.variant[:3]
    group.inferred = outcome.variant.assignor


def by_earlier_inputs(
    group: ModernGroup, newest: Answer, epoch: int, record: Record, codes: TopicCodes, facts: Facts
) -> Answer:
    """With the newest earlier inputs that give the record, if possible in its order. The answer stays about the members
    that there are now."""
    if has_listed_topics(group):
        # No release that writes these copies inputs.
        return newest
    why = "it may be of inputs from before that are not known: there are too many of them" if group.is_cut else None
    expected: Outcome | None = None
    # Computed without the members that have left, which no coordinator does.
    has_moved_on = group.has_moved_on(epoch)
    found = newest if newest.is_reproduced and not has_moved_on else None
    try:
        for each in earlier_inputs(group, epoch):
            best = best_of_earlier(each, record, codes, facts)
            if best is None:
                continue
            if best.is_reproduced:
                if found is None or best.outcome.verdict == Verdict.SAME:
                    note_variant(group, best.outcome)
                    found = replace(newest, outcome=best.outcome, assignor=best.outcome.variant.assignor,
                                    algorithm=algorithm_of(best.question), from_epoch=each.epoch,
                                    confirmation_of_earlier=best.confirmation)  # fmt: skip
                if best.outcome.verdict == Verdict.SAME:
                    break
                continue
            expected = expected or for_present_members(best, each.heirs, newest)
            unsure = best.outcome.why if best.outcome.verdict == Verdict.NOT_RECOMPUTABLE else best.confirmation.why
            if unsure is not None:
                why = why or f"it may be of the inputs of epoch {each.epoch}: {unsure}"
    except Unanswerable as unknown:
        why = why or f"it may be of inputs from before: {unknown}"
    if found is not None:
        return found
    if expected is not None and has_moved_on:
        return replace(newest, outcome=expected, is_of_earlier=True, why_earlier=why)
    return replace(newest, why_earlier=why)


def best_of_earlier(of: Earlier, record: Record, codes: TopicCodes, facts: Facts) -> Tried | None:
    """Only by the newest rules: earlier releases copy no inputs."""
    group, names = of.group, asked(of.group, of.inputs, facts).names
    if (reason := why_unknown(group, names[0])) is not None:
        raise Unanswerable(reason)
    return best_of(
        (question_of(group, of.inputs, subscribed, codes)
         for subscribed in topics_to_try(group, of.with_previous, record.time, group.metadata_hash, codes, facts)),
        lambda question: tries(group, question, names, group.metadata_hash, most_releases=1), record, facts,
    )  # fmt: skip


def for_present_members(best: Tried, heirs: Mapping[str, str], newest: Answer) -> Outcome | None:
    """What is expected, in the newest question's numbers."""
    expected, question, inputs = best.outcome.expected, newest.question, newest.inputs
    if expected is None or question is None or inputs is None:
        return None
    members = {member_id: place for place, member_id in enumerate(inputs.members)}
    topics = {name: place for place, name in enumerate(question.topics)}
    place_of = [members.get(heirs.get(each, ""), GONE) for each in best.question.inputs.members]
    topic_of = [topics.get(name, GONE) for name in best.question.topics]
    of_members = np.array(place_of, np.int32)[expected.members]
    of_topics = np.array(topic_of, np.int32)[expected.topics]
    rows = Rows(of_members, of_topics, expected.partitions)
    return replace(best.outcome, expected=rows.take((of_members != GONE) & (of_topics != GONE)))


def why_unknown(group: ModernGroup, assignor: str) -> str | None:
    """Why the assignor's answer is unknown."""
    if group.group_type == GroupType.CONSUMER and assignor not in BUILT_IN:
        return f"{assignor}: not one of Kafka's assignors"
    if group.topics is not None and group.topics.is_early:
        return "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
    return None


def confirmation_of(subscribed: SubscribedTopics, question: Question, record: Record, facts: Facts) -> Confirmation:
    """For topics that some member subscribes to, which come first."""
    least = np.zeros(len(question.topics), np.int64)
    for rows in (question.recorded, question.before):
        np.maximum.at(least, rows.topics, rows.partitions.astype(np.int64) + 1)
    used = (UsedTopic(each.name, each.partitions, int(least[at])) for at, each in enumerate(subscribed.topics))
    return confirmation(subscribed.by_log, used, record.time, facts)


def tries(
    group: ModernGroup,
    question: Question,
    names: list[str],
    metadata_hash: int | None,
    most_releases: int | None = None,
) -> Iterator[Variant]:
    last = None if group.variant is None else Variant(*group.variant)
    for name in names:
        releases = lines_of(name, algorithm_of(question), metadata_hash is not None, has_listed_topics(group))
        yield from variants(question, name, releases[:most_releases], last)


def has_listed_topics(group: ModernGroup) -> bool:
    """In a record of type 4, which no release from 4.1 on writes."""
    return group.topics is not None and group.topics.assignable is None


def remember(group: ModernGroup, record: Record, evidence: int, answer: Answer) -> None:
    question = answer.question
    topics = {} if question is None else {
        topic.name: (topic.partitions, topic.topic_id) for topic in question.subscribed.topics
    }  # fmt: skip
    source = None if question is None else question.subscribed.source
    if answer.confirmation.why is not None and not answer.is_reproduced:
        source = PartitionCountsSource.INFERRED
    reason = answer.reason if question is None else None
    group.newest = Newest(
        assignment_offset=record.offset,
        record_time=record.time,
        first_offset=evidence,
        assignor=answer.assignor,
        counts_source=source,
        topics=topics,
        reason=reason,
    )
