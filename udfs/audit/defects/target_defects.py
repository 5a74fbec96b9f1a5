"""Known defects of Kafka's coordinator and assignors that leave a signature in a target assignment. Each is a JIRA
issue."""

import numpy as np

from schemas.words.assignments import Algorithm, Verdict
from udfs.assignors.questions.problems import AssignorFailed, Numbers, Rows
from udfs.assignors.questions.spec_values import SpecError
from udfs.assignors.questions.specs import NEWEST_RELEASE
from udfs.audit.checks.moves import Owners, moves_made, owners_by_place
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import Question
from udfs.audit.modern.rows import Answer
from udfs.audit.modern.variants import BEFORE_4_0_1, Outcome, answer, keys


def known_defect(group: ModernGroup, result: Answer) -> str | None:
    """First what the assignor did, then what members' own records showed since the previous target."""
    question, outcome = result.question, result.outcome
    is_whole = group.missing_now is None and result.why_unconfirmed is None
    if question is not None and outcome is not None and is_whole:
        # Later releases are correct, and hash topics.
        is_old = group.metadata_hash is None
        issue = needless_moves(question, outcome) or sticky_range(question, outcome, result.assignor, is_old)
        issue = issue or uneven_load(question, result, is_old)
        if issue is not None:
            return issue
    return next(iter(group.watch.issues), None)


def needless_moves(question: Question, outcome: Outcome) -> str | None:
    """Only the form before 4.0.1 matches, and the later form moves less."""
    variant = outcome.variant
    if outcome.expected is None or variant.assignor != "uniform" or variant.release != BEFORE_4_0_1:
        return None
    mended = other_form(question, outcome)
    if mended is None or np.array_equal(keys(question, mended), keys(question, outcome.expected)):
        return None
    return "KAFKA-18688" if num_moved(question, question.recorded) > num_moved(question, mended) else None


def sticky_range(question: Question, outcome: Outcome, assignor: str | None, is_old: bool) -> str | None:
    """Before 3.9 each topic was spread evenly, but not over the same members as other topics with the same number of
    partitions."""
    if assignor != "range" or outcome.verdict != Verdict.DRIFT or not is_old or outcome.expected is None:
        return None
    same_sizes = np.array_equal(sizes_by_topic(question, question.recorded), sizes_by_topic(question, outcome.expected))
    return "KAFKA-16944" if same_sizes and has_scattered_topics(question) else None


def uneven_load(question: Question, result: Answer, is_old: bool) -> str | None:
    """With unequal subscriptions, before 4.0: members' numbers differ by more than the later form leaves."""
    if (
        result.assignor != "uniform"
        or result.algorithm != Algorithm.HETEROGENEOUS
        or not is_old
        or result.outcome is None
    ):
        return None
    mended = other_form(question, result.outcome)
    if mended is None:
        return None
    recorded = spread(question, question.recorded)
    return "KAFKA-17710" if recorded > 1 and spread(question, mended) < recorded else None


def other_form(question: Question, outcome: Outcome) -> Rows | None:
    """What later releases would have assigned."""
    try:
        return answer(question, outcome.variant._replace(assignor="uniform", release=NEWEST_RELEASE))
    except (AssignorFailed, SpecError):
        return None


def num_moved(question: Question, now: Rows) -> int:
    before = owners_by_place(question.before, question.counts)
    return moves_made(Owners(before, owners_by_place(now, question.counts)))


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
