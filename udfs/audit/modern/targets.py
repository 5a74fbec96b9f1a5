"""A target epoch: the assignor in force, its answer closest to the record, and what that proves.

What the log does not record of a coordinator is tried in a fixed order: its release, its Java version, and the order of
members in one chain of its map. The first variant that gives the recorded assignment is taken.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple

import numpy as np

from schemas.words.assignments import Algorithm, AssignorSource, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.answers import ASSIGNORS
from udfs.assignors.groups import AssignorFailed, Numbers, Positions, Rows
from udfs.assignors.questions import JDKS, NEWEST_PATCH, NEWEST_RELEASE, GroupProtocol, Release, SpecError
from udfs.audit.checks.assignments import Racks, RecordedAssignment
from udfs.audit.checks.facts import REPRODUCED, UNKNOWN, Confirmation, Facts, GroupRule, proved
from udfs.audit.checks.results import (
    GONE,
    Balance,
    Comparison,
    Result,
    Trial,
    by_member,
    checked_numbers,
    compare,
    group_by_topic,
    moves,
)
from udfs.audit.modern.group import Inputs, ModernGroup
from udfs.audit.modern.questions import (
    MemberInputs,
    Question,
    Unanswerable,
    earlier_inputs,
    member_inputs,
    most_voted,
    other_orders,
    questions_to_ask,
    recorded_targets,
)
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

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
BUILT_IN = ("uniform", "range")
# Limits: members and partitions that are processed for one target, and the number of variants that are tried in any
# case.
MOST_WORK = 100_000
LEAST_TRIED = 8
FAR_MORE = 10


# -- what may have given it


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
    # How much of the record it gives.
    rank: int = -1

    @property
    def is_reproduced(self) -> bool:
        return self.verdict in REPRODUCED

    @property
    def variant_text(self) -> str:
        line = dict(lines_of(self.question, self.variant.assignor))[self.variant.release]
        order = "" if self.variant.order is None else ", members that count as equal in another order"
        return f"{line}, {JAVA_LINES[self.variant.jdk]}{order}"


def lines_of(question: Question, assignor: str) -> Lines:
    return (LINES if question.algorithm == Algorithm.HOMOGENEOUS else LINES_OF_UNEQUAL)[assignor]


def variants(question: Question, assignor: str, last: tuple[Any, ...] | None) -> Iterator[Variant]:
    """The previous variant first; then by release, by Java version, and last by the order of members."""
    of = question.inputs.of
    releases = [release for release, _ in lines_of(question, assignor)]
    if of.metadata_hash is not None:
        releases = [release for release in releases if release >= HASHES_SINCE]
    elif of.has_listed_topics:
        releases = releases[::-1]
    # Only by the newest rules: earlier releases copy no inputs.
    releases = releases if question.inputs.heirs is None else releases[:1]
    plain = [Variant(assignor, release, jdk) for release in releases for jdk in JDKS]
    plain.sort(key=lambda each: each[:3] != last)
    yield from plain
    for order in other_orders(question.inputs):
        yield from (each._replace(order=order) for each in plain)


def closest(group: ModernGroup, questions: Iterable[Question], names: Sequence[str]) -> Outcome:
    """Of the first question whose answer is the record; else of one whose topics are confirmed; else of the first."""
    best: Outcome | None = None
    for question in questions:
        now = recompute(question, chain.from_iterable(variants(question, name, group.variant) for name in names))
        is_more = best is None or (best.question.confirmation.why is not None and question.confirmation.why is None)
        if is_more or now.is_reproduced:
            best = now
        if now.is_reproduced or question.metadata.is_sure:
            break
    assert best is not None
    return best


def recompute(question: Question, tries: Iterator[Variant]) -> Outcome:
    """The first that gives the record; else the first that gives the same sets; else the closest. If a release may do
    something that is unknown here, no difference is certain."""
    best: Outcome | None = None
    unknown: str | None = None
    wanted = keys(question, question.recorded)
    size = len(question.members) + len(question.recorded)
    for variant in islice(tries, max(LEAST_TRIED, MOST_WORK // max(1, size))):
        try:
            outcome = attempt(question, variant, wanted)
        except SpecError as error:
            unknown = str(error)
            continue
        if best is None or outcome.rank > best.rank:
            best = outcome
        if outcome.verdict == Verdict.SAME:
            break
    if unknown is not None and (best is None or best.verdict == Verdict.DRIFT):
        return Outcome(question, Verdict.NOT_RECOMPUTABLE, variant if best is None else best.variant, None, unknown)
    assert best is not None
    return best


def attempt(question: Question, variant: Variant, wanted: Numbers) -> Outcome:
    num_given = len(question.members) * int(question.counts.sum())
    if (
        variant.assignor == "simple"
        and variant.release < HASHES_SINCE
        and num_given > max(MOST_WORK, FAR_MORE * len(question.recorded))
    ):
        # Before 4.1 every member of a share group had every partition. Where the record has far fewer, all of them
        # would only fill the memory.
        return Outcome(question, Verdict.DRIFT, variant, None, "every member would have every partition")
    try:
        expected = answer(question, variant)
    except AssignorFailed as failure:
        return Outcome(question, Verdict.DRIFT, variant, None, str(failure))
    if question.inputs.gone:
        expected = expected.take(~np.isin(expected.members, question.inputs.gone))
    expected_keys = keys(question, expected)
    if not np.array_equal(expected_keys, wanted):
        rank = len(np.intersect1d(expected_keys, wanted))
        return Outcome(question, Verdict.DRIFT, variant, expected, rank=rank)
    is_listed = is_as_listed(question, expected)
    verdict = Verdict.SAME if is_listed else Verdict.SAME_MEMBERS_OTHER_ORDER
    return Outcome(question, verdict, variant, expected, rank=len(wanted) + 1 + is_listed)


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


# -- the result


@dataclass(frozen=True, kw_only=True)
class TargetResult(Result):
    """First what the records show; with a question, an outcome and a verdict as far as these are known."""

    group_id: str
    group_type: GroupType
    record: Record
    epoch: int
    first_offset: int
    # Why records may be missing.
    missing: str | None
    inputs: MemberInputs | None = None
    # About the members that there are now, also where the outcome is of earlier inputs.
    question: Question | None = None
    outcome: Outcome | None = None
    assignor: str | None = None
    source: AssignorSource | None = None
    # What is checked if there is no question.
    listed: RecordedAssignment | None = None
    # The epoch of the inputs, if the group has moved on since; None: they are those of the group as it is.
    from_epoch: int | None = None
    # Why earlier inputs may have given it, though none is known to give it.
    why_earlier: str | None = None
    # Whether the outcome is that of earlier inputs, so that those of the question prove nothing.
    is_of_earlier: bool = False
    compared: Comparison | None = None
    known_defect: str | None = None
    # Of the group, under the assignor's name; None: the target shows nothing of its class.
    trial: Trial | None = None

    @property
    def is_reproduced(self) -> bool:
        return self.outcome is not None and self.outcome.is_reproduced

    @property
    def algorithm(self) -> Algorithm | None:
        return None if self.outcome is None else self.outcome.question.algorithm

    @property
    def proof(self) -> Confirmation:
        """Of the topics that gave the outcome."""
        return self.confirmation if self.outcome is None else self.outcome.question.confirmation

    def asking(self, question: Question, **columns: Any) -> "TargetResult":
        return replace(self, question=question, confirmation=question.confirmation, **columns)

    @cached_property
    def recorded(self) -> RecordedAssignment:
        question = self.question
        if question is None:
            assert self.listed is not None
            return self.listed
        is_subscribed = np.arange(len(question.counts)) < len(question.metadata.topics)
        # For topics without subscribers: whether they exist was not checked.
        counts = checked_numbers(
            question.topics, np.where(is_subscribed, question.counts, UNKNOWN), question.recorded, is_subscribed,
            is_reproduced=self.is_reproduced, shown=self.proof if self.is_reproduced else self.confirmation,
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
        question = self.question
        made, needed = None, None
        # In share groups partitions do not move between owners.
        if question is not None and self.missing is None and self.group_type != GroupType.SHARE:
            made, needed = moves(question.base, self.recorded, question.counts)
        source = None
        # Also None if the numbers are not confirmed and the targets do not match them.
        if question is not None and (self.recorded.counts[: len(question.metadata.topics)] != UNKNOWN).all():
            source = question.metadata.source
        variant = None
        if self.outcome is not None and self.verdict != Verdict.NOT_RECOMPUTABLE:
            variant = self.outcome.variant_text
            variant += "" if self.from_epoch is None else f", inputs of epoch {self.from_epoch}"
        is_inferred = self.source == AssignorSource.INFERRED or source == PartitionCountsSource.INFERRED
        is_likely = is_inferred or self.verdict == Verdict.SAME_UNCONFIRMED or self.missing is not None
        return {
            "group_id": self.group_id,
            "group_type": self.group_type,
            "assignment_offset": self.record.offset,
            "generation_or_epoch": self.epoch,
            "record_time": self.record.time,
            "assignor": self.assignor,
            "assignor_source": self.source,
            "algorithm": self.algorithm,
            "moves_made": made,
            "moves_needed": needed,
            "partition_counts_source": source,
            "variant": variant,
            "evidence_first_offset": self.first_offset,
            "confidence": Confidence.LIKELY if is_likely else Confidence.CERTAIN,
            "is_unconfirmed": self.proof.why is not None or self.why_earlier is not None,
            "trial": self.trial if self.verdict == Verdict.DRIFT else None,
        }

    @property
    def balance(self) -> Balance | None:
        of_assignor = {"range": Balance.EACH_TOPIC, "uniform": Balance.ALL_PARTITIONS}
        is_known = self.question is not None and self.group_type != GroupType.SHARE
        return of_assignor.get(self.assignor or "") if is_known else None

    @property
    def instances(self) -> Sequence[str | None] | None:
        if self.question is None or self.group_type == GroupType.SHARE:
            return None
        return self.question.instances

    def most_owners(self, rules: Sequence[GroupRule]) -> int:
        return max(1, len(self.recorded.members)) if self.group_type == GroupType.SHARE else 1

    def racks(self, facts: Facts) -> tuple[Sequence[str | None], Racks] | None:
        if (inputs := self.inputs) is None:
            return None
        newest = {name: known[-1].topic.racks for name, known in facts.topics.items()}
        of_member = dict(zip(inputs.members, (about.rack_id or None for about in inputs.abouts), strict=True))
        of_members = [of_member.get(member_id) for member_id in self.recorded.members]
        return of_members, {name: racks for name, racks in newest.items() if racks is not None}

    def count_in_trial(self) -> None:
        if self.trial is None or self.question is None:
            return
        if self.verdict == Verdict.DRIFT:
            self.trial.num_unequal += 1
        elif self.is_reproduced and is_telling(self.question):
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


# -- how it is made


def recomputed(result: TargetResult, group: ModernGroup, codes: TopicCodes, facts: Facts) -> TargetResult:
    """`result`: what the records show."""
    epoch, time = result.epoch, result.record.time
    try:
        if group.group_type == GroupType.STREAMS:
            raise Unanswerable("streams groups: their assignor can compute different assignments from the same input")
        if not group.members:
            raise Unanswerable("targets are left in the group, but no record of a member")
        inputs = member_inputs(group.inputs_at(epoch), group.targets, group.operation.replaced)
        result = replace(result, inputs=inputs)
        questions = questions_to_ask(group, inputs, time, codes, facts)
        not_run = Verdict.CARRIED_OVER if group.is_converted else Verdict.NOT_RECOMPUTABLE
        if group.is_converted and all(about.is_classic for about in inputs.abouts):
            why = "the group changed to this protocol here, and its classic assignment was copied; no assignor ran"
            return result.asking(next(questions), verdict=not_run, reason=why)
        names, source = assignors_to_try(group, inputs, facts)
        if (why_not := why_unknown(inputs.of, group.group_type, names[0])) is not None:
            found = result.asking(next(questions), verdict=not_run, reason=why_not)
            return replace(found, assignor=names[0], source=source)
        best = closest(group, questions, names)
        if best.is_reproduced:
            note_variant(group, best)
        from_epoch = None if group.inputs_of(epoch) is None else epoch
        result = result.asking(
            best.question, outcome=best, assignor=best.variant.assignor, source=source, from_epoch=from_epoch
        )
        if best.verdict != Verdict.SAME or group.has_moved_on(epoch):
            result = by_earlier_inputs(group, result, best, codes, facts)
        return with_verdict(result)
    except Unanswerable as why:
        return replace(result, reason=str(why), listed=recorded_targets(group, codes))


def assignors_to_try(group: ModernGroup, inputs: MemberInputs, facts: Facts) -> tuple[list[str], AssignorSource]:
    """More than one if no source shows which."""
    if group.group_type == GroupType.SHARE:
        return ["simple"], AssignorSource.DEFAULT
    if vote := most_voted(about.assignor for about in inputs.abouts):
        return [vote], AssignorSource.VOTES
    if facts.default_assignor is not None:
        return [facts.default_assignor], AssignorSource.DEFAULT
    return sorted(BUILT_IN, key=lambda each: each != group.inferred), AssignorSource.INFERRED


def why_unknown(of: Inputs, group_type: GroupType, assignor: str) -> str | None:
    """Why the assignor's answer is unknown."""
    if group_type == GroupType.CONSUMER and assignor not in BUILT_IN:
        return f"{assignor}: not one of Kafka's assignors"
    if of.topics is not None and of.topics.is_early:
        return "written by Kafka 3.7 (early access), whose assignors Groupscope does not have"
    return None


def note_variant(group: ModernGroup, outcome: Outcome) -> None:
    group.variant = outcome.variant[:3]
    group.inferred = outcome.variant.assignor


def by_earlier_inputs(
    group: ModernGroup, newest: TargetResult, own: Outcome, codes: TopicCodes, facts: Facts
) -> TargetResult:
    """With the newest earlier inputs that give the record, if possible in its order. The result stays about the members
    that there are now. `own`: what these give."""
    if own.question.inputs.of.has_listed_topics:
        # No release that writes these copies inputs.
        return newest
    why = "it may be of inputs from before that are not known: there are too many of them" if group.is_cut else None
    expected: Outcome | None = None
    # Computed without the members that have left, which no coordinator does.
    has_moved_on = group.has_moved_on(newest.epoch)
    found = newest if own.is_reproduced and not has_moved_on else None
    try:
        for each in earlier_inputs(group, newest.epoch):
            names, _ = assignors_to_try(group, each, facts)
            if (reason := why_unknown(each.of, group.group_type, names[0])) is not None:
                raise Unanswerable(reason)
            best = closest(group, questions_to_ask(group, each, newest.record.time, codes, facts), names)
            if best.is_reproduced:
                if found is None or best.verdict == Verdict.SAME:
                    note_variant(group, best)
                    found = replace(newest, outcome=best, assignor=best.variant.assignor, from_epoch=each.of.epoch)
                if best.verdict == Verdict.SAME:
                    break
                continue
            expected = expected or for_present_members(best, own.question)
            is_unknown = best.verdict == Verdict.NOT_RECOMPUTABLE
            unsure = best.why if is_unknown else best.question.confirmation.why
            if unsure is not None:
                why = why or f"it may be of the inputs of epoch {each.of.epoch}: {unsure}"
    except Unanswerable as unknown:
        why = why or f"it may be of inputs from before: {unknown}"
    if found is not None:
        return found
    if expected is not None and has_moved_on:
        return replace(newest, outcome=expected, is_of_earlier=True, why_earlier=why)
    return replace(newest, why_earlier=why)


def for_present_members(best: Outcome, question: Question) -> Outcome | None:
    """What is expected, in the numbers of the newest question."""
    expected, heirs = best.expected, best.question.inputs.heirs or {}
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


def with_verdict(result: TargetResult) -> TargetResult:
    """And its reason, where there is an outcome."""
    question, outcome, why = result.question, result.outcome, result.proof.why
    if question is None or outcome is None:
        return result
    if outcome.verdict in REPRODUCED:
        is_other_order = outcome.verdict == Verdict.SAME_MEMBERS_OTHER_ORDER
        order = f"{outcome.variant.assignor} lists partitions in another order" if is_other_order else None
        unconfirmed = None if why is None else f"no record or snapshot confirms the inputs: {why}"
        reason = "; ".join(filter(None, (order, unconfirmed))) or None
        verdict = proved(outcome.verdict, result.proof)
        return replace(result, verdict=verdict, reason=reason, compared=Comparison(outcome.verdict))
    if outcome.verdict == Verdict.NOT_RECOMPUTABLE:
        return replace(result, reason=outcome.why)
    # Why a difference does not prove a defect.
    reason = result.missing
    if reason is None and question.metadata.is_mixed_up and len(question.topics_of_class) > 1:
        reason = "no record shows which topic has which id"
    elif reason is None and result.confirmation.why is not None and not result.is_of_earlier:
        reason = f"no record or snapshot confirms the inputs: {result.confirmation.why}"
    reason = reason or result.why_earlier
    if reason is not None:
        return replace(result, reason=reason)
    if outcome.expected is None:
        return replace(result, verdict=Verdict.DRIFT, reason=f"{outcome.variant.assignor} fails: {outcome.why}")
    compared = compare(question.members, question.topics, question.recorded, outcome.expected)
    number = compared.num_different
    others = "1 partition has another owner" if number == 1 else f"{number:,} partitions have other owners"
    reason = f"{others} than {outcome.variant.assignor} gives"
    return replace(result, verdict=Verdict.DRIFT, reason=reason, compared=compared)
