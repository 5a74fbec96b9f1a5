"""Known defects of the coordinator's assignors, for consumer and share groups: signatures in a target assignment."""

from typing import NamedTuple

import numpy as np

from schemas.words.assignments import Algorithm, Verdict
from udfs.assignors.groups import AssignorFailed, Numbers, Rows
from udfs.assignors.questions import NEWEST_RELEASE, SpecError
from udfs.audit.checks.results import moves_made, owners_by_place
from udfs.audit.modern.questions import Question
from udfs.audit.modern.variants import BEFORE_4_0_1, Outcome, answer, keys


class TargetFacts(NamedTuple):
    """`is_old`: the coordinator hashed no topics yet. Those that do are correct."""

    question: Question
    outcome: Outcome
    assignor: str | None
    algorithm: Algorithm | None
    is_old: bool


def needless_moves(of: TargetFacts) -> bool:
    """KAFKA-18688: only the form before 4.0.1 matches, and the later form moves less."""
    question, expected, variant = of.question, of.outcome.expected, of.outcome.variant
    if expected is None or variant.assignor != "uniform" or variant.release != BEFORE_4_0_1:
        return False
    mended = other_form(question, of.outcome)
    if mended is None or np.array_equal(keys(question, mended), keys(question, expected)):
        return False
    return num_moved(question, question.recorded) > num_moved(question, mended)


def sticky_range(of: TargetFacts) -> bool:
    """KAFKA-16944: before 3.9 each topic was spread evenly, but not over the same members as other topics with the same
    number of partitions."""
    question, expected = of.question, of.outcome.expected
    if of.assignor != "range" or of.outcome.verdict != Verdict.DRIFT or not of.is_old or expected is None:
        return False
    same_sizes = np.array_equal(sizes_by_topic(question, question.recorded), sizes_by_topic(question, expected))
    return same_sizes and has_scattered_topics(question)


def uneven_load(of: TargetFacts) -> bool:
    """KAFKA-17710: with unequal subscriptions, before 4.0, members' numbers differ by more than the later form
    leaves."""
    if of.assignor != "uniform" or of.algorithm != Algorithm.HETEROGENEOUS or not of.is_old:
        return False
    mended = other_form(of.question, of.outcome)
    if mended is None:
        return False
    recorded = spread(of.question, of.question.recorded)
    return recorded > 1 and spread(of.question, mended) < recorded


def other_form(question: Question, outcome: Outcome) -> Rows | None:
    """What later releases would have assigned."""
    try:
        return answer(question, outcome.variant._replace(assignor="uniform", release=NEWEST_RELEASE))
    except (AssignorFailed, SpecError):
        return None


def num_moved(question: Question, now: Rows) -> int:
    before = owners_by_place(question.before, question.counts)
    return moves_made(before, owners_by_place(now, question.counts))


def sizes_by_topic(question: Question, rows: Rows) -> Numbers:
    """For each topic, how many partitions its members have, in order of size."""
    width = len(question.topics)
    sizes = np.bincount(
        rows.members.astype(np.int64) * width + rows.topics, minlength=width * len(question.inputs.members)
    )
    return np.sort(sizes.reshape(-1, width), axis=0)


def has_scattered_topics(question: Question) -> bool:
    """Whether two topics with the same number of partitions and the same subscribers have a member with different
    partitions of them."""
    seen: dict[int, list[int]] = {}
    for topic, count in enumerate(question.counts[: len(question.subscribed.topics)].tolist()):
        owners = owners_by_place(question.recorded, np.where(np.arange(len(question.counts)) == topic, count, 0))
        first = seen.setdefault(count, owners.tolist())
        if first != owners.tolist():
            return True
    return False


def spread(question: Question, rows: Rows) -> int:
    sizes = np.bincount(rows.members, minlength=len(question.inputs.members))
    return int(sizes.max() - sizes.min())
