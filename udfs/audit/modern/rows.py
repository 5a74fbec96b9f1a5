"""Makes the rows of `assignment_audit` for target assignments: the result, and checks that run on a whole window at
once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.words.assignments import Algorithm, AssignorSource, CheckName, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.audit.checks import check_texts
from udfs.audit.checks.audit_results import AuditRow, Check, Difference
from udfs.audit.checks.comparison import compare
from udfs.audit.checks.confirm_inputs import (
    ALL_CONFIRMED,
    REPRODUCED,
    Confirmation,
    are_whole,
    proved,
    proved_numbers,
)
from udfs.audit.checks.facts import Facts, rules_of
from udfs.audit.checks.invariants import InvariantCounts, invariant_counts
from udfs.audit.checks.moves import Owners, moves_made, moves_needed, owners_by_place
from udfs.audit.checks.recorded_assignments import UNKNOWN, RecordedAssignment, assignments_of
from udfs.audit.checks.trials import Trial
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


@dataclass(frozen=True)
class Draft:
    group_id: str
    group_type: GroupType
    record: Record
    epoch: int
    first_offset: int
    answer: Answer
    # Why records may be missing.
    missing: str | None
    is_copied: bool
    known_defect: str | None
    # Partitions that two members owned at the same time since the previous target.
    faults: tuple[str, ...]
    # Of the group, under the assignor's name; None: the target shows nothing of its class.
    trial: Trial | None = None

    @property
    def proof(self) -> Confirmation:
        """Of the topics that gave the outcome."""
        return self.answer.confirmation_of_earlier or self.answer.confirmation


@dataclass(frozen=True)
class TargetVerdict:
    verdict: Verdict
    reason: str | None
    num_different: int | None = None
    differences: tuple[Difference, ...] | None = None


def audit_rows(drafts: Sequence[Draft], facts: Facts) -> list[AuditRow]:
    if not drafts:
        return []
    recorded = [recorded_of(draft) for draft in drafts]
    owners = [
        1 if draft.group_type != GroupType.SHARE else len(each.members)
        for draft, each in zip(drafts, recorded, strict=True)
    ]
    single = invariant_counts(assignments_of(recorded))
    several = invariant_counts(assignments_of(recorded), max(owners)) if max(owners) > 1 else single
    rows = [
        row(draft, each, Numbers.of(single if most == 1 else several, place), facts)
        for place, (draft, each, most) in enumerate(zip(drafts, recorded, owners, strict=True))
    ]
    for draft, made in zip(drafts, rows, strict=True):
        count_in_trial(draft, made)
    return rows


def count_in_trial(draft: Draft, made: AuditRow) -> None:
    question = draft.answer.question
    if draft.trial is None or question is None:
        return
    if made.trial is not None:
        draft.trial.num_unequal += 1
    elif draft.answer.is_reproduced and is_telling(question):
        draft.trial.num_equal += 1


def is_telling(question: Question) -> bool:
    """Whether few other assignors would give the same: members share a topic, and some target has changed. A member on
    its own gets everything by any assignor."""
    members_of_class = np.bincount(question.class_of_member, minlength=len(question.topics_of_class))
    subscribers = np.zeros(len(question.topics), np.int64)
    for number, listed in zip(members_of_class.tolist(), question.topics_of_class, strict=True):
        subscribers[listed] += number
    are_shared = bool(((subscribers > 1) & (question.counts > 0)).any())
    return are_shared and not np.array_equal(keys(question, question.recorded), keys(question, question.before))


def most_owners(draft: Draft, recorded: RecordedAssignment) -> int:
    return max(1, len(recorded.members)) if draft.group_type == GroupType.SHARE else 1


@dataclass(frozen=True)
class Numbers:
    """The numbers of one assignment; None: unknown."""

    num_partitions: int | None
    num_unowned: int | None
    num_owned_twice: int | None
    num_nonexistent: int | None
    num_unsubscribed: int | None
    num_idle_members: int | None
    imbalance: int | None

    @classmethod
    def of(cls, all_: InvariantCounts, place: int) -> "Numbers":
        columns = (getattr(all_, name)[place].item() for name in cls.__dataclass_fields__)
        return cls(*(None if value == UNKNOWN else value for value in columns))


def recorded_of(draft: Draft) -> RecordedAssignment:
    answer, question = draft.answer, draft.answer.question
    if question is None:
        assert answer.recorded is not None
        return answer.recorded
    counts = question.counts.copy()
    # For topics without subscribers: whether they exist was not checked.
    counts[len(question.subscribed.topics) :] = UNKNOWN
    if answer.is_reproduced:
        is_subscribed = np.arange(len(counts)) < len(question.subscribed.topics)
        counts = proved_numbers(question.topics, counts, is_subscribed, draft.proof)
    elif answer.confirmation.why is not None:
        # A topic that is not completely assigned could make somebody look wrong, so its number counts as unknown.
        is_subscribed = np.arange(len(counts)) < len(question.subscribed.topics)
        counts[~are_whole(question.recorded, counts, is_subscribed)] = UNKNOWN
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


def row(draft: Draft, recorded: RecordedAssignment, numbers: Numbers, facts: Facts) -> AuditRow:
    answer = draft.answer
    judged = judgement(draft, recorded)
    made, needed = moves(draft)
    source = counts_source(answer, recorded)
    return AuditRow(
        group_id=draft.group_id,
        group_type=draft.group_type,
        assignment_offset=draft.record.offset,
        generation_or_epoch=draft.epoch,
        record_time=draft.record.time,
        assignor=answer.assignor,
        assignor_source=answer.source,
        algorithm=answer.algorithm,
        verdict=judged.verdict,
        reason=judged.reason,
        num_partitions=numbers.num_partitions,
        num_different=judged.num_different,
        differences=judged.differences,
        num_unowned=numbers.num_unowned,
        num_owned_twice=numbers.num_owned_twice,
        num_nonexistent=numbers.num_nonexistent,
        num_idle_members=numbers.num_idle_members,
        imbalance=numbers.imbalance,
        moves_made=made,
        moves_needed=needed,
        partition_counts_source=source,
        variant=variant_of(answer, judged),
        known_defect=draft.known_defect,
        checks=tuple(checks_of(draft, recorded, numbers, facts)),
        evidence_first_offset=draft.first_offset,
        evidence_last_offset=draft.record.offset,
        confidence=confidence(draft, source, judged.verdict),
        is_unconfirmed=draft.proof.why is not None or answer.why_earlier is not None,
        trial=draft.trial if judged.verdict == Verdict.DRIFT else None,
    )


def counts_source(answer: Answer, recorded: RecordedAssignment) -> PartitionCountsSource | None:
    """Also None if the numbers are not confirmed and the targets do not match them."""
    if answer.question is None or (recorded.counts[: len(answer.question.subscribed.topics)] == UNKNOWN).any():
        return None
    return answer.question.subscribed.source


def variant_of(answer: Answer, judged: TargetVerdict) -> str | None:
    if answer.outcome is None or answer.algorithm is None or judged.verdict == Verdict.NOT_RECOMPUTABLE:
        return None
    text = variant_text(answer.outcome.variant, answer.algorithm)
    return text if answer.from_epoch is None else f"{text}, inputs of epoch {answer.from_epoch}"


def judgement(draft: Draft, recorded: RecordedAssignment) -> TargetVerdict:
    answer, outcome = draft.answer, draft.answer.outcome
    if outcome is None or answer.question is None:
        return TargetVerdict(Verdict.CARRIED_OVER if draft.is_copied else Verdict.NOT_RECOMPUTABLE, answer.reason)
    if outcome.verdict in REPRODUCED:
        return reproduced(draft, outcome)
    if outcome.verdict == Verdict.NOT_RECOMPUTABLE:
        return TargetVerdict(outcome.verdict, outcome.why)
    why = why_not_proved(draft, recorded)
    if why is not None:
        return TargetVerdict(Verdict.NOT_RECOMPUTABLE, why)
    if outcome.expected is None:
        return TargetVerdict(outcome.verdict, f"{outcome.variant.assignor} fails: {outcome.why}")
    compared = compare(recorded.members, recorded.topics, recorded.rows, outcome.expected)
    number = compared.num_different
    others = "1 partition has another owner" if number == 1 else f"{number:,} partitions have other owners"
    reason = f"{others} than {outcome.variant.assignor} gives"
    return TargetVerdict(Verdict.DRIFT, reason, compared.num_different, compared.differences)


def reproduced(draft: Draft, outcome: Outcome) -> TargetVerdict:
    """The target equals an answer."""
    is_other_order = outcome.verdict == Verdict.SAME_MEMBERS_OTHER_ORDER
    order = f"{outcome.variant.assignor} lists partitions in another order" if is_other_order else None
    why = draft.proof.why
    unconfirmed = None if why is None else f"no record or snapshot confirms the inputs: {why}"
    reason = "; ".join(filter(None, (order, unconfirmed))) or None
    return TargetVerdict(proved(outcome.verdict, draft.proof), reason, 0, ())


def why_not_proved(draft: Draft, recorded: RecordedAssignment) -> str | None:
    """Why a difference does not prove a defect."""
    answer = draft.answer
    if draft.missing is not None:
        return draft.missing
    is_mixed_up = answer.question is not None and answer.question.subscribed.is_mixed_up
    if is_mixed_up and len(recorded.topics_of_class) > 1:
        return "no record shows which topic has which id"
    if answer.confirmation.why is not None and not answer.is_of_earlier:
        return f"no record or snapshot confirms the inputs: {answer.confirmation.why}"
    return answer.why_earlier


def moves(draft: Draft) -> tuple[int | None, int | None]:
    """In share groups partitions do not move between owners."""
    question = draft.answer.question
    if question is None or draft.missing is not None or draft.group_type == GroupType.SHARE:
        return None, None
    before = owners_by_place(question.base, question.counts)
    now = owners_by_place(question.recorded, question.counts)
    made = moves_made(Owners(before, now))
    if len(question.topics_of_class) > 1:
        return made, None
    return made, moves_needed(before, len(question.inputs.members))


def checks_of(draft: Draft, recorded: RecordedAssignment, numbers: Numbers, facts: Facts) -> Iterator[Check]:
    """Texts are made only if the numbers show a problem."""
    is_share = draft.group_type == GroupType.SHARE
    is_fine = not (numbers.num_owned_twice or numbers.num_nonexistent or numbers.num_unsubscribed)
    most = most_owners(draft, recorded)
    yield Check(CheckName.VALID, True) if is_fine else check_texts.valid(recorded, most)
    yield complete(recorded, numbers)
    if draft.answer.question is not None and not is_share:
        yield from even(draft, recorded, numbers)
        yield check_texts.static_once([about.group_instance_id for about in draft.answer.question.inputs.abouts])
    if draft.group_type == GroupType.CONSUMER:
        yield Check(CheckName.OWNED_ONCE, not draft.faults, "; ".join(draft.faults) or None)
    rules = rules_of(draft.group_id, facts.rules)
    if rules and draft.answer.inputs is not None:
        racks = {
            name: known[-1].topic.racks for name, known in facts.topics.items() if known[-1].topic.racks is not None
        }
        member_racks = [about.rack_id or None for about in draft.answer.inputs.abouts]
        for rule in rules:
            yield from check_texts.required_checks(rule, recorded, member_racks, racks)


def complete(recorded: RecordedAssignment, numbers: Numbers) -> Check:
    if not numbers.num_unowned:
        return check_texts.complete((), numbers.num_unowned is not None)
    all_ = assignments_of([recorded])
    unowned = np.flatnonzero((all_.times_owned == 0) & all_.is_subscribed[all_.topic_of_place])
    return check_texts.complete(check_texts.places_of(recorded, all_, unowned), True)


def even(draft: Draft, recorded: RecordedAssignment, numbers: Numbers) -> Iterator[Check]:
    if draft.answer.assignor == "range":
        yield check_texts.balanced_by_topic(recorded)
    elif draft.answer.assignor == "uniform" and numbers.imbalance is not None:
        is_level = numbers.imbalance <= 1 and len(recorded.topics_of_class) == 1
        yield Check(CheckName.BALANCED, True) if is_level else check_texts.balance_check(recorded)


def confidence(draft: Draft, source: PartitionCountsSource | None, verdict: Verdict) -> Confidence:
    is_inferred = draft.answer.source == AssignorSource.INFERRED or source == PartitionCountsSource.INFERRED
    is_inferred |= verdict == Verdict.SAME_UNCONFIRMED
    return Confidence.LIKELY if is_inferred or draft.missing is not None else Confidence.CERTAIN
