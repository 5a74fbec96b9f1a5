"""A target epoch: its question, the assignor in force, the answer, and what of this becomes a row."""

from collections.abc import Iterator, Mapping

import numpy as np

from schemas.words.assignments import AssignorSource, PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.questions.specs import MOST_PARTITIONS
from udfs.audit.checks.confirm_inputs import Used, why_unconfirmed
from udfs.audit.checks.facts import Facts
from udfs.audit.defects.target_defects import known_defect
from udfs.audit.modern.assignor_votes import voted
from udfs.audit.modern.group import ModernGroup, Newest
from udfs.audit.modern.questions import Asked, Question, Unanswerable, asked, question, seen_of
from udfs.audit.modern.recorded_targets import recorded_targets
from udfs.audit.modern.rows import REPRODUCED, Answer, Draft
from udfs.audit.modern.subscribed_topics import Found, findings
from udfs.audit.modern.variants import (
    BUILT_IN,
    Outcome,
    Variant,
    algorithm_of,
    assignors_to_try,
    lines_of,
    recomputed,
    variants,
)
from udfs.groups.modern.record_handlers import on_target_epoch
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import joined
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


def drafted(group_id: str, group: ModernGroup, record: Record, codes: TopicCodes, facts: Facts) -> Draft | None:
    """For a record of type 6, 12 or 20. None: it makes no row, since the group has no members."""
    if (epoch := completed_epoch(group, record)) is None:
        return None
    abouts, metadata_hash = group.members_of(epoch)
    draft = None
    if abouts or group.targets:
        first = group.operation.first_target_offset
        evidence = group.operation.first_offset if first is None else min(first, group.operation.first_offset)
        answer = answered(group, record, abouts, metadata_hash, codes, facts)
        is_copied = group.is_converted and answer.question is not None and answer.outcome is None
        draft = Draft(
            group_id, group.group_type, record, epoch, evidence, answer, group.missing_now, is_copied,
            known_defect(group, answer), tuple(group.watch.faults),
        )  # fmt: skip
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


def answered(
    group: ModernGroup,
    record: Record,
    abouts: Mapping[str, About | None],
    metadata_hash: int | None,
    codes: TopicCodes,
    facts: Facts,
) -> Answer:
    asked_: Asked | None = None
    try:
        if group.group_type == GroupType.STREAMS:
            raise Unanswerable("streams groups: their assignor can compute different assignments from the same input")
        if not abouts:
            raise Unanswerable("targets are left in the group, but no record of a member")
        asked_ = asked(group, abouts)
        if group.is_converted and abouts and all(about is not None and about.is_classic for about in abouts.values()):
            return carried_over(group, asked_, record, metadata_hash, codes, facts)
        return outcome_of(group, asked_, record, metadata_hash, codes, facts)
    except Unanswerable as why:
        return unanswered(asked_, group, codes, str(why))


def unanswered(asked_: Asked | None, group: ModernGroup, codes: TopicCodes, why: str) -> Answer:
    return Answer(asked_, None, None, None, None, None, why, recorded_targets(group, codes))


def carried_over(
    group: ModernGroup, asked_: Asked, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    found = next(found_topics(group, asked_, record, metadata_hash, codes, facts))
    told = asking(group, asked_, found, codes)
    unconfirmed = why_not_confirmed(found, told, record, facts)
    why = "the group changed to this protocol here, and its classic assignment was copied; no assignor ran"
    return Answer(asked_, told, None, None, None, None, why, unconfirmed=unconfirmed)


def outcome_of(
    group: ModernGroup, asked_: Asked, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Answer:
    vote = None if group.group_type == GroupType.SHARE else voted(about.assignor for about in asked_.abouts)
    names = assignors_to_try(group.group_type, vote, facts.default_assignor, group.inferred)
    source = AssignorSource.VOTES if vote else AssignorSource.DEFAULT if len(names) == 1 else AssignorSource.INFERRED
    best: tuple[Question, Outcome] | None = None
    unconfirmed: str | None = None
    for found in found_topics(group, asked_, record, metadata_hash, codes, facts):
        told = asking(group, asked_, found, codes)
        why = why_not_confirmed(found, told, record, facts)
        if (reason := why_unknown(group, names[0])) is not None:
            return Answer(asked_, told, None, names[0], source, None, reason, unconfirmed=why)
        outcome = recomputed(told, tries(group, told, names, metadata_hash))
        if best is None or outcome.verdict in REPRODUCED or (unconfirmed is not None and why is None):
            best, unconfirmed = (told, outcome), why
        if outcome.verdict in REPRODUCED or found.is_sure:
            break
    if best is None:
        raise Unanswerable("no record shows the topics")
    told, outcome = best
    if outcome.verdict in REPRODUCED:
        group.variant = outcome.variant._replace(order=None)
        group.inferred = outcome.variant.assignor
    return Answer(
        asked_, told, outcome, outcome.variant.assignor, source, algorithm_of(told), None, unconfirmed=unconfirmed
    )  # fmt: skip


def why_unknown(group: ModernGroup, assignor: str) -> str | None:
    """Why the assignor's answer is unknown."""
    if group.group_type == GroupType.CONSUMER and assignor not in BUILT_IN:
        return f"{assignor}: not one of Kafka's assignors"
    if group.topics is not None and group.topics.is_early:
        return "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
    return None


def why_not_confirmed(found: Found, told: Question, record: Record, facts: Facts) -> str | None:
    """For topics that some member subscribes to, which come first."""
    least = np.zeros(len(told.topics), np.int64)
    for rows in (told.recorded, told.before):
        np.maximum.at(least, rows.topics, rows.partitions.astype(np.int64) + 1)
    used = (Used(each.name, each.partitions, int(least[at])) for at, each in enumerate(found.topics))
    return why_unconfirmed(found.by_log, used, record.time, facts)


def tries(group: ModernGroup, told: Question, names: list[str], metadata_hash: int | None) -> Iterator[Variant]:
    last = None if group.variant is None else Variant(*group.variant)
    has_topics = group.topics is not None and group.topics.assignable is None
    for name in names:
        releases = lines_of(name, algorithm_of(told), metadata_hash is not None, has_topics)
        yield from variants(told, name, releases, last)


def found_topics(
    group: ModernGroup, asked_: Asked, record: Record, metadata_hash: int | None, codes: TopicCodes, facts: Facts
) -> Iterator[Found]:
    partitions = joined((*asked_.after, *asked_.before)).partitions
    if len(partitions) and (partitions.min() < 0 or partitions.max() > MOST_INFERRED):
        raise Unanswerable("a target has a partition that no topic has")
    key = (metadata_hash, asked_.names)
    if group.confirmed is not None and group.confirmed[0] == key:
        yield group.confirmed[1]
        return
    for found in findings(group, metadata_hash, seen_of(group, asked_, codes, record.time), facts):
        if any(topic.partitions < 0 for topic in found.topics):
            raise Unanswerable("a record gives a topic fewer than 0 partitions")
        if sum(topic.partitions for topic in found.topics) > MOST_PARTITIONS:
            raise Unanswerable("more partitions than a cluster has")
        if found.source == PartitionCountsSource.METADATA_HASH:
            group.confirmed = key, found
        yield found


def asking(group: ModernGroup, asked_: Asked, found: Found, codes: TopicCodes) -> Question:
    assignable = None
    if group.group_type == GroupType.SHARE and (group.topics is not None or group.metadata_hash is not None):
        listed = group.topics
        assignable = {} if listed is None else {
            topic.name: partitions for topic, partitions in zip(listed.topics, listed.assignable or (), strict=True)
        }  # fmt: skip
    return question(asked_, found, codes, assignable, group.base)


def remember(group: ModernGroup, record: Record, evidence: int, answer: Answer) -> None:
    told = answer.question
    topics = {} if told is None else {
        topic.name: (topic.partitions, topic.topic_id) for topic in told.found.topics
    }  # fmt: skip
    source = None if told is None else told.found.source
    if answer.unconfirmed is not None and not answer.is_reproduced:
        source = PartitionCountsSource.INFERRED
    reason = answer.reason if told is None else None
    group.newest = Newest(record.offset, record.time, evidence, answer.assignor, source, topics, reason)
