"""A target epoch: its question, the assignor in force, the answer, and what of this becomes a row."""

from collections.abc import Iterator, Mapping

import numpy as np

from schemas.words.assignments import AssignorSource, PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.questions.specs import MOST_PARTITIONS
from udfs.audit.checks.confirm_inputs import UsedTopic, why_unconfirmed
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.garbage_numbers import most_believed
from udfs.audit.defects.find_defects import defect_of_target
from udfs.audit.modern.assignor_votes import most_voted
from udfs.audit.modern.group import ModernGroup, Newest
from udfs.audit.modern.questions import MemberInputs, Question, Unanswerable, member_inputs, question, seen_of
from udfs.audit.modern.recorded_targets import recorded_targets
from udfs.audit.modern.rows import REPRODUCED, Answer, Draft
from udfs.audit.modern.subscribed_topics import SubscribedTopics, findings
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
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import join_lists
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

# More partitions than any topic has: a garbage record would only fill the memory.
MOST_INFERRED = 200_000


def completed_epoch(group: ModernGroup, record: Record) -> int | None:
    """The epoch of the target that the record completes; None: it deletes the target."""
    group.begin(record)
    group.look()
    on_target_epoch(group, record)
    return None if record.value is None else group.target_epoch


def draft_row(group_id: str, group: ModernGroup, record: Record, codes: TopicCodes, facts: Facts) -> Draft | None:
    """For a record of type 6, 12 or 20. None: it makes no row, since the group has no members."""
    if (epoch := completed_epoch(group, record)) is None:
        return None
    abouts, metadata_hash = group.members_of(epoch)
    draft = None
    if abouts or group.targets:
        first = group.operation.first_target_offset
        evidence = group.operation.first_offset if first is None else min(first, group.operation.first_offset)
        answer = answer_of(group, record, abouts, metadata_hash, codes, facts)
        is_copied = group.is_converted and answer.question is not None and answer.outcome is None
        draft = Draft(
            group_id=group_id,
            group_type=group.group_type,
            record=record,
            epoch=epoch,
            first_offset=evidence,
            answer=answer,
            missing=group.missing_now,
            is_copied=is_copied,
            known_defect=defect_of_target(group, answer),
            faults=tuple(group.watch.faults),
        )
        remember(group, record, evidence, answer)
    complete(group, epoch)
    return draft


def complete(group: ModernGroup, epoch: int) -> None:
    group.base = dict(group.targets)
    group.bumps = {each: bump for each, bump in group.bumps.items() if each > epoch}
    group.watch.forget()
    group.is_converted = False
    group.settle()
    group.operation.first_target_offset = group.operation.bump_offset = None


def answer_of(
    group: ModernGroup,
    record: Record,
    abouts: Mapping[str, About | None],
    metadata_hash: int | None,
    codes: TopicCodes,
    facts: Facts,
) -> Answer:
    inputs: MemberInputs | None = None
    try:
        if group.group_type == GroupType.STREAMS:
            raise Unanswerable("streams groups: their assignor can compute different assignments from the same input")
        if not abouts:
            raise Unanswerable("targets are left in the group, but no record of a member")
        inputs = member_inputs(group, abouts)
        if group.is_converted and abouts and all(about is not None and about.is_classic for about in abouts.values()):
            return carried_over(group, inputs, record, metadata_hash, codes, facts)
        return outcome_of(group, inputs, record, metadata_hash, codes, facts)
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
    subscribed = next(topics_to_try(group, inputs, record, metadata_hash, codes, facts))
    question = asking(group, inputs, subscribed, codes)
    unconfirmed = why_not_confirmed(subscribed, question, record, facts)
    why = "the group changed to this protocol here, and its classic assignment was copied; no assignor ran"
    return Answer(
        inputs=inputs,
        question=question,
        outcome=None,
        assignor=None,
        source=None,
        algorithm=None,
        reason=why,
        why_unconfirmed=unconfirmed,
    )


def outcome_of(
    group: ModernGroup, inputs: MemberInputs, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    vote = None if group.group_type == GroupType.SHARE else most_voted(about.assignor for about in inputs.abouts)
    names = assignors_to_try(group.group_type, vote, facts.default_assignor, group.inferred)
    source = AssignorSource.VOTES if vote else AssignorSource.DEFAULT if len(names) == 1 else AssignorSource.INFERRED
    best: tuple[Question, Outcome] | None = None
    unconfirmed: str | None = None
    for subscribed in topics_to_try(group, inputs, record, metadata_hash, codes, facts):
        question = asking(group, inputs, subscribed, codes)
        why = why_not_confirmed(subscribed, question, record, facts)
        if (reason := why_unknown(group, names[0])) is not None:
            return Answer(
                inputs=inputs,
                question=question,
                outcome=None,
                assignor=names[0],
                source=source,
                algorithm=None,
                reason=reason,
                why_unconfirmed=why,
            )
        outcome = recompute(question, tries(group, question, names, metadata_hash))
        if best is None or outcome.verdict in REPRODUCED or (unconfirmed is not None and why is None):
            best, unconfirmed = (question, outcome), why
        if outcome.verdict in REPRODUCED or subscribed.is_sure:
            break
    if best is None:
        raise Unanswerable("no record shows the topics")
    question, outcome = best
    if outcome.verdict in REPRODUCED:
        group.variant = outcome.variant._replace(order=None)
        group.inferred = outcome.variant.assignor
    return Answer(
        inputs=inputs,
        question=question,
        outcome=outcome,
        assignor=outcome.variant.assignor,
        source=source,
        algorithm=algorithm_of(question),
        reason=None,
        why_unconfirmed=unconfirmed,
    )


def why_unknown(group: ModernGroup, assignor: str) -> str | None:
    """Why the assignor's answer is unknown."""
    if group.group_type == GroupType.CONSUMER and assignor not in BUILT_IN:
        return f"{assignor}: not one of Kafka's assignors"
    if group.topics is not None and group.topics.is_early:
        return "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
    return None


def why_not_confirmed(subscribed: SubscribedTopics, question: Question, record: Record, facts: Facts) -> str | None:
    """For topics that some member subscribes to, which come first."""
    least = np.zeros(len(question.topics), np.int64)
    for rows in (question.recorded, question.before):
        np.maximum.at(least, rows.topics, rows.partitions.astype(np.int64) + 1)
    used = (UsedTopic(each.name, each.partitions, int(least[at])) for at, each in enumerate(subscribed.topics))
    return why_unconfirmed(subscribed.by_log, used, record.time, facts)


def tries(group: ModernGroup, question: Question, names: list[str], metadata_hash: int | None) -> Iterator[Variant]:
    last = None if group.variant is None else Variant(*group.variant)
    has_topics = group.topics is not None and group.topics.assignable is None
    for name in names:
        releases = lines_of(name, algorithm_of(question), metadata_hash is not None, has_topics)
        yield from variants(question, name, releases, last)


def topics_to_try(
    group: ModernGroup, inputs: MemberInputs, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Iterator[SubscribedTopics]:
    partitions = join_lists((*inputs.after, *inputs.before)).partitions
    most = min(MOST_INFERRED, most_believed(len(partitions)))
    if len(partitions) and (partitions.min() < 0 or partitions.max() > most):
        raise Unanswerable("a target has a partition that no topic has")
    key = (metadata_hash, inputs.names)
    if group.confirmed is not None and group.confirmed[0] == key:
        yield group.confirmed[1]
        return
    for subscribed in findings(group, metadata_hash, seen_of(group, inputs, codes, record.time), facts):
        if any(topic.partitions < 0 for topic in subscribed.topics):
            raise Unanswerable("a record gives a topic fewer than 0 partitions")
        if sum(topic.partitions for topic in subscribed.topics) > MOST_PARTITIONS:
            raise Unanswerable("more partitions than a cluster has")
        if subscribed.source == PartitionCountsSource.METADATA_HASH:
            group.confirmed = key, subscribed
        yield subscribed


def asking(group: ModernGroup, inputs: MemberInputs, subscribed: SubscribedTopics, codes: TopicCodes) -> Question:
    assignable = None
    if group.group_type == GroupType.SHARE and (group.topics is not None or group.metadata_hash is not None):
        listed = group.topics
        assignable = {} if listed is None else {
            topic.name: partitions for topic, partitions in zip(listed.topics, listed.assignable or (), strict=True)
        }  # fmt: skip
    return question(inputs, subscribed, codes, assignable, group.base)


def remember(group: ModernGroup, record: Record, evidence: int, answer: Answer) -> None:
    question = answer.question
    topics = {} if question is None else {
        topic.name: (topic.partitions, topic.topic_id) for topic in question.subscribed.topics
    }  # fmt: skip
    source = None if question is None else question.subscribed.source
    if answer.why_unconfirmed is not None and not answer.is_reproduced:
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
