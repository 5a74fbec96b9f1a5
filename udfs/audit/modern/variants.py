"""Tries what the log does not record of a coordinator, in a fixed order: its release, its Java version, and the order
of members in one chain of its map. The first variant that gives the recorded assignment is taken."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from schemas.words.assignments import Algorithm, Verdict
from udfs.assignors.answers import ASSIGNORS
from udfs.assignors.groups import AssignorFailed, Numbers, Positions, Rows
from udfs.assignors.questions import JDKS, NEWEST_PATCH, NEWEST_RELEASE, GroupProtocol, Release, SpecError
from udfs.audit.checks.facts import REPRODUCED
from udfs.audit.checks.results import by_member, group_by_topic
from udfs.audit.modern.questions import Question, other_orders

BEFORE_4_0_1: Release = (4, 0, 0)
LAST_3_9: Release = (3, 9, NEWEST_PATCH)
LAST_4_1: Release = (4, 1, NEWEST_PATCH)
LAST_4_0: Release = (4, 0, NEWEST_PATCH)
# The first release that hashed topics.
HASHES_SINCE: Release = (4, 1, 0)

# By assignor: one release of all that give the same answers, newest first, and the name for all of them.
Lines = Sequence[tuple[Release, str]]
LINES: Final[Mapping[str, Lines]] = {
    "uniform": ((NEWEST_RELEASE, "4.0.1 and later"), (BEFORE_4_0_1, "before 4.0.1")),
    "range": ((NEWEST_RELEASE, "3.9 and later"),),
    "simple": ((NEWEST_RELEASE, "4.2 and later"), (LAST_4_1, "4.1"), (LAST_4_0, "before 4.1")),
}
LINES_OF_UNEQUAL: Final[Mapping[str, Lines]] = {
    **LINES, "uniform": ((NEWEST_RELEASE, "4.0 and later"), (LAST_3_9, "before 4.0")),
}  # fmt: skip
JAVA_LINES = {17: "Java 18 and before", 21: "Java 19 and later"}
# Limits: members and partitions that are processed for one target, and the number of variants that are tried in any
# case.
MOST_WORK = 100_000
LEAST_TRIED = 8
FAR_MORE = 10


class Variant(NamedTuple):
    assignor: str
    release: Release
    jdk: int
    # None: as in the records.
    order: Positions | None = None


@dataclass(frozen=True)
class Outcome:
    """`expected` uses the question's own numbers; None: the assignor throws an exception."""

    question: Question
    verdict: Verdict
    variant: Variant
    expected: Rows | None
    why: str | None = None

    @property
    def is_reproduced(self) -> bool:
        return self.verdict in REPRODUCED

    @property
    def variant_text(self) -> str:
        line = dict(lines_of(self.question, self.variant.assignor))[self.variant.release]
        order = "" if self.variant.order is None else ", members that count as equal in another order"
        return f"{line}, {JAVA_LINES[self.variant.jdk]}{order}"


def lines_of(question: Question, assignor: str) -> Lines:
    return (LINES if question.inputs.algorithm == Algorithm.HOMOGENEOUS else LINES_OF_UNEQUAL)[assignor]


def variants(
    question: Question, assignor: str, last: Variant | None, *, has_hash: bool, has_topics: bool, is_newest: bool
) -> Iterator[Variant]:
    """The previous variant first; then by release, by Java version, and last by the order of members. `has_hash`: only
    releases from 4.1 on write one. `has_topics`: only releases before 4.1 write them. `is_newest`: no other may be."""
    releases = [release for release, _ in lines_of(question, assignor)]
    if has_hash:
        releases = [release for release in releases if release >= HASHES_SINCE]
    elif has_topics:
        releases = releases[::-1]
    plain = [Variant(assignor, release, jdk) for release in releases[: 1 if is_newest else None] for jdk in JDKS]
    plain.sort(key=lambda each: each != last)
    yield from plain
    for order in other_orders(question.inputs):
        yield from (each._replace(order=order) for each in plain)


def recompute(question: Question, tries: Iterator[Variant]) -> Outcome:
    """The first that gives the record; else the first that gives the same sets; else the closest. If a release may do
    something that is unknown here, no difference is certain."""
    best: Outcome | None = None
    rank = -2
    unknown: str | None = None
    wanted = keys(question, question.recorded)
    size = len(question.members) + len(question.recorded)
    for variant in islice(tries, max(LEAST_TRIED, MOST_WORK // max(1, size))):
        try:
            outcome, new_rank = attempt(question, variant, wanted)
        except SpecError as error:
            unknown = str(error)
            continue
        if outcome.verdict == Verdict.SAME:
            return outcome
        if new_rank > rank:
            best, rank = outcome, new_rank
    if unknown is not None and (best is None or best.verdict == Verdict.DRIFT):
        variant = variant if best is None else best.variant
        return Outcome(question, Verdict.NOT_RECOMPUTABLE, variant, None, unknown)
    if best is None:
        raise ValueError("no variant to try")
    return best


def attempt(question: Question, variant: Variant, wanted: Numbers) -> tuple[Outcome, int]:
    """The answer, and how much of the record it gives."""
    if gives_far_more(question, variant):
        return Outcome(question, Verdict.DRIFT, variant, None, "every member would have every partition"), -1
    try:
        expected = answer(question, variant)
    except AssignorFailed as failure:
        return Outcome(question, Verdict.DRIFT, variant, None, str(failure)), -1
    if question.inputs.gone:
        expected = expected.take(~np.isin(expected.members, list(question.inputs.gone)))
    expected_keys = keys(question, expected)
    if not np.array_equal(expected_keys, wanted):
        return Outcome(question, Verdict.DRIFT, variant, expected), len(np.intersect1d(expected_keys, wanted))
    if is_as_listed(question, expected):
        return Outcome(question, Verdict.SAME, variant, expected), len(wanted) + 2
    return Outcome(question, Verdict.SAME_MEMBERS_OTHER_ORDER, variant, expected), len(wanted) + 1


def gives_far_more(question: Question, variant: Variant) -> bool:
    """Before 4.1 every member of a share group had every partition. Where the record has far fewer, all of them would
    only fill the memory."""
    if variant.assignor != "simple" or variant.release >= HASHES_SINCE:
        return False
    num_given = len(question.members) * int(question.counts.sum())
    return num_given > max(MOST_WORK, FAR_MORE * len(question.recorded))


def answer(question: Question, variant: Variant) -> Rows:
    """Rows in the question's own order of members."""
    protocol = GroupProtocol.SHARE if variant.assignor == "simple" else GroupProtocol.CONSUMER
    group = question.asked(variant.release, variant.jdk, variant.order)
    rows = Rows.of_lists(ASSIGNORS[protocol, variant.assignor].assign(group))
    if variant.order is None:
        return rows
    return Rows(variant.order[rows.members].astype(np.int32), rows.topics, rows.partitions)


def keys(question: Question, rows: Rows) -> Numbers:
    """Each row as one number, sorted."""
    width = len(question.topics) + 1
    key = (rows.members.astype(np.int64) * width + rows.topics) << 32 | (rows.partitions.astype(np.int64) & 0xFFFFFFFF)
    return np.sort(key)


def is_as_listed(question: Question, expected: Rows) -> bool:
    """For members with a record of this epoch; the records of the others are from earlier epochs."""
    written = set(question.inputs.written)
    is_written = np.array([each in written for each in question.members], np.bool_)
    ours = question.recorded.take(is_written[question.recorded.members])
    theirs = by_member(group_by_topic(expected))
    theirs = theirs.take(is_written[theirs.members])
    return np.array_equal(ours.topics, theirs.topics) and np.array_equal(ours.partitions, theirs.partitions)
