"""Makes the audit rows of classic groups: the result of each generation, with counts and checks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from schemas.records.payloads import STREAM_PROTOCOL
from schemas.words.assignments import AssignorSource, CheckName, PartitionCountsSource, Verdict
from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.groups import NOBODY, Numbers, PartitionRacks, Positions, Rows
from udfs.assignors.questions import LEADERS
from udfs.audit.checks import check_texts
from udfs.audit.checks.audit_results import AuditRow, Check
from udfs.audit.checks.facts import Facts, GroupRule, rules_of
from udfs.audit.checks.invariants import are_level, are_level_by_topic, are_unsafe, invariant_counts
from udfs.audit.checks.moves import owners_by_place
from udfs.audit.checks.recorded_assignments import (
    UNKNOWN,
    Assignments,
    RecordedAssignment,
    assignments_of,
    shift_and_join,
)
from udfs.audit.classic.generation_results import GenerationResult
from udfs.audit.classic.steps import count_moves
from udfs.audit.classic.variants import COOPERATIVE, algorithm_of
from udfs.audit.defects.find_defects import defect_of_generation, needs_proof

# Custom assignors may give a partition to any number of members.
ANY_NUMBER: Final = np.iinfo(np.int64).max
FINE: Final[Mapping[CheckName, Check]] = {name: Check(name, True) for name in CheckName}


def audited_rows(results: Sequence[GenerationResult], facts: Facts) -> list[AuditRow]:
    if not results:
        return []
    rules = [rules_of(each.generation.group_id, facts.rules) for each in results]
    recorded = [each.generation.recorded_assignment(each.numbers) for each in results]
    seen = GenerationCounts(results, recorded, rules)
    return [row(each, seen, at, rules[at]) for at, each in enumerate(results)]


class GenerationCounts:
    """Counts for many generations at once."""

    def __init__(
        self,
        results: Sequence[GenerationResult],
        recorded: Sequence[RecordedAssignment],
        rules: Sequence[Sequence[GroupRule]],
    ) -> None:
        self.recorded = recorded
        all_ = assignments_of(recorded)
        owners = np.array(
            [most_owners(each, of_group) for each, of_group in zip(results, rules, strict=True)], np.int64
        )
        self.most_owners = owners
        self.counted = invariant_counts(all_, owners)
        # Partitions that Kafka's own answer leaves without an owner too.
        self.withheld = [
            withheld(each) if unowned > 0 else ()
            for each, unowned in zip(results, self.counted.num_unowned.tolist(), strict=True)
        ]
        num_withheld = np.array([len(each) for each in self.withheld], np.int64)
        self.unowned = self.counted.num_unowned - num_withheld
        self.has_one_subscription = (all_.classes_of <= 1).tolist()
        self.is_level = are_level(all_, num_withheld).tolist()
        self.is_level_by_topic = are_level_by_topic(all_).tolist()
        self.is_valid = (
            (self.counted.num_owned_twice == 0)
            & (self.counted.num_nonexistent <= 0)
            & (self.counted.num_unsubscribed == 0)
        ).tolist()
        self.is_safe = (~all_.any_of(are_unsafe(all_, claims(results, all_)), all_.of_row)).tolist()


def claims(results: Sequence[GenerationResult], all_: Assignments) -> Rows:
    owned = [each.generation.owned for each in results]
    return Rows(
        shift_and_join([each.members for each in owned], all_.member_starts).astype(np.int32),
        shift_and_join([each.topics for each in owned], all_.topic_starts).astype(np.int32),
        np.concatenate([each.partitions for each in owned]),
    )


def most_owners(result: GenerationResult, rules: Sequence[GroupRule]) -> int:
    if result.generation.protocol in LEADERS or result.generation.protocol == STREAM_PROTOCOL:
        return 1
    most = max((rule.redundancy for rule in rules), default=1)
    return most if most > 1 else ANY_NUMBER


def withheld(result: GenerationResult) -> Sequence[int]:
    """Places of partitions that have no owner for a while: the cooperative assignor assigns what an owner must give up
    only in the next generation. If the generation was recomputed, the answer decides; else whether a member claims the
    partition."""
    of = result.generation
    if of.protocol not in (COOPERATIVE, STREAM_PROTOCOL):
        return ()
    counts = result.numbers
    nobody = owners_by_place(of.assigned, counts) == NOBODY
    if result.verdict == Verdict.STALE_INPUT and result.counts is not None:
        # What the leader did not know, it did not withhold.
        topics = topic_of_place(counts)
        nobody &= np.arange(len(topics)) - (np.cumsum(counts) - counts)[topics] < result.counts.numbers[topics]
    if result.closest is not None and result.closest.rows is not None:
        nobody &= owners_by_place(result.closest.rows, counts) == NOBODY
    else:
        nobody &= owners_by_place(of.owned, counts) != NOBODY
    places: list[int] = np.flatnonzero(nobody & of.is_subscribed[topic_of_place(counts)]).tolist()
    return places


def topic_of_place(counts: Numbers) -> Numbers:
    return np.repeat(np.arange(len(counts)), counts)


def row(result: GenerationResult, seen: GenerationCounts, at: int, rules: Sequence[GroupRule]) -> AuditRow:
    of, closest, before = result.generation, result.closest, result.before
    compared = None if closest is None else (result.expected or closest).compared
    made, needed = (None, None)
    if result.is_readable and result.counts is not None:
        made, needed = count_moves(None if before is None else before.generation, of, result.counts.numbers)
    is_readable, is_sound = result.is_readable, seen.is_valid[at] and seen.is_safe[at]
    counted_of = seen.counted
    return AuditRow(
        group_id=of.group_id,
        group_type=GroupType.CLASSIC,
        assignment_offset=of.offset,
        generation_or_epoch=of.number,
        record_time=of.time,
        assignor=of.protocol,
        assignor_source=None if of.protocol is None else AssignorSource.RECORD,
        algorithm=None if closest is None else algorithm_of(of, closest.variant),
        verdict=result.verdict,
        reason=result.reason,
        num_partitions=none_if_unknown(counted_of.num_partitions[at], is_readable),
        num_different=None if compared is None else compared.num_different,
        differences=None if compared is None else compared.differences,
        num_unowned=none_if_unknown(seen.unowned[at], is_readable),
        num_owned_twice=none_if_unknown(counted_of.num_owned_twice[at], is_readable),
        num_nonexistent=none_if_unknown(counted_of.num_nonexistent[at], is_readable),
        num_idle_members=none_if_unknown(counted_of.num_idle_members[at], is_readable),
        imbalance=none_if_unknown(counted_of.imbalance[at], is_readable),
        moves_made=made,
        moves_needed=needed,
        partition_counts_source=counts_source(result),
        variant=None if closest is None or result.verdict == Verdict.DRIFT else closest.variant.text,
        known_defect=defect_of_generation(result, is_sound=is_sound),
        checks=tuple(checks_of(result, seen, at, rules)),
        evidence_first_offset=of.offset if before is None else before.generation.offset,
        evidence_last_offset=of.offset,
        confidence=confidence(result),
        stale_topics=tuple(sorted(result.confirmation.confirmed)) if result.verdict == Verdict.STALE_INPUT else None,
        is_unconfirmed=needs_proof(result, is_sound=is_sound) and result.why_unconfirmed is not None,
    )


def confidence(result: GenerationResult) -> Confidence:
    """Without the previous value, a drift may be a copy that was never computed."""
    if result.verdict == Verdict.SAME_UNCONFIRMED:
        return Confidence.LIKELY
    if result.verdict != Verdict.DRIFT:
        return Confidence.CERTAIN
    return Confidence.POSSIBLE if result.before is None else Confidence.LIKELY


def counts_source(result: GenerationResult) -> PartitionCountsSource | None:
    """Also None if the numbers are not confirmed and the record does not match them."""
    is_known = result.counts is not None and result.is_readable and (result.numbers != UNKNOWN).all()
    return result.counts.source if result.counts is not None and is_known else None


def none_if_unknown(value: np.int64, is_readable: bool) -> int | None:
    return int(value) if is_readable and value >= 0 else None


def checks_of(result: GenerationResult, seen: GenerationCounts, at: int, rules: Sequence[GroupRule]) -> Iterator[Check]:
    of, recorded = result.generation, seen.recorded[at]
    if result.is_readable:
        yield FINE[CheckName.VALID] if seen.is_valid[at] else check_texts.valid(recorded, int(seen.most_owners[at]))
        yield from completeness(result, seen, at)
        if of.protocol == "range":
            yield FINE[CheckName.BALANCED] if seen.is_level_by_topic[at] else check_texts.balanced_by_topic(recorded)
        elif of.protocol in LEADERS:
            is_fine = seen.has_one_subscription[at] and seen.is_level[at]
            yield FINE[CheckName.BALANCED] if is_fine else check_texts.balance_check(recorded, len(seen.withheld[at]))
        if of.protocol == COOPERATIVE:
            safe = CheckName.COOPERATIVE_SAFE
            yield FINE[safe] if seen.is_safe[at] else check_texts.cooperative_safe(recorded, of.owned)
    yield check_texts.static_once(of.instances) if any(of.instances) else FINE[CheckName.STATIC_ONCE]
    for rule in rules if result.is_readable else ():
        yield from check_texts.required_checks(rule, recorded, of.racks, racks_by_topic(result))


def completeness(result: GenerationResult, seen: GenerationCounts, at: int) -> Iterator[Check]:
    unowned = int(seen.counted.num_unowned[at])
    if unowned == 0:
        yield FINE[CheckName.COMPLETE]
        return
    if unowned == UNKNOWN:
        yield check_texts.complete((), False)
        return
    waiting = seen.withheld[at]
    if len(waiting) < unowned:
        nobody = owners_by_place(result.generation.assigned, result.numbers) == NOBODY
        places = np.flatnonzero(nobody & result.generation.is_subscribed[topic_of_place(result.numbers)])
        yield check_texts.complete(partitions_at(result, np.setdiff1d(places, waiting)), True)
    else:
        yield FINE[CheckName.COMPLETE]
    if waiting:
        names = check_texts.partition_list(partitions_at(result, np.array(waiting)))
        yield Check(
            CheckName.WITHHELD, True, f"{names}: assigned in the next generation, after their owners give them up"
        )


def partitions_at(result: GenerationResult, places: Positions) -> list[check_texts.Partition]:
    ends = np.cumsum(result.numbers)
    topics = np.searchsorted(ends, places, side="right")
    partitions = places - (ends - result.numbers)[topics]
    names = result.generation.topics
    return [(names[topic], each) for topic, each in zip(topics.tolist(), partitions.tolist(), strict=True)]


def racks_by_topic(result: GenerationResult) -> Mapping[str, PartitionRacks]:
    racks = None if result.counts is None else result.counts.racks
    if racks is None:
        return {}
    return {name: of for name, of in zip(result.generation.topics, racks, strict=True) if of is not None}
