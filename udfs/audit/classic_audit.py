"""The audit of classic groups: compares each generation with what Kafka's assignor gives for the same input."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.payloads import CONSUMER
from schemas.words.assignments import PartitionCountsSource, Verdict
from udfs.assignors.groups import Numbers
from udfs.audit.checks.facts import ALL_CONFIRMED, ByLog, Confirmation, Facts, UsedTopic, confirmation, moments
from udfs.audit.checks.results import AuditRow, Latest
from udfs.audit.checks.rows import audit_row
from udfs.audit.classic.defects import defect_of_generation
from udfs.audit.classic.generations import Generation, are_alike, are_carried_over, generations_of
from udfs.audit.classic.results import (
    GenerationResult,
    impossible,
    not_confirmed,
    not_even_another,
    old_view,
    reproduced,
    result_of,
    why_not,
)
from udfs.audit.classic.state import Before, latest
from udfs.audit.classic.variants import MOST_PARTITIONS, Counts, TopicCounts, first_variant, search, try_variant
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import NO_BATCH, fill_absent, micros, one_piece, shared_texts

TABLE: Final = "classic_group_metadata"
# The tombstones that a conversion to the classic protocol writes.
EPOCHS_TABLE: Final = "group_metadata"
BYTES_AT_ONCE: Final = 1 << 24

Operation = tuple[str, int, int | None]

COPIED = "the group left the consumer protocol here, and its last target assignment was copied; no assignor ran"
CAME_BACK = "a static member came back, no assignor ran"


class ClassicAudit:
    def __init__(self, facts: Facts, states: Mapping[str, Before]) -> None:
        self.facts = facts
        self.counts = TopicCounts(facts)
        self.restored = states
        # For groups with records in this run.
        self.now: dict[str, Before | None] = {}
        # By group, what was asked last.
        self.confirmed: dict[str, Confirmed] = {}
        self.moments = moments(facts)

    def take(self, tables: Mapping[str, pa.Table]) -> list[AuditRow]:
        rows = tables.get(TABLE)
        if rows is None or not rows.num_rows:
            return []
        audit_rows: list[AuditRow] = []
        with uncollected():
            copied = downgrades(tables)
            for some in slices(rows):
                generations = list(generations_of(some))
                results = self.judge_all(generations, copied)
                audit_rows += [audit_row(each, self.facts, defect_of_generation) for each in results]
                for group_id in {group_id for group_id, _ in generations}:
                    before = self.now[group_id]
                    self.now[group_id] = None if before is None else before.without_window()
        return audit_rows

    def states(self) -> dict[str, Before | None]:
        return self.now

    def latest(self) -> dict[str, Latest | None]:
        return {group_id: None if of is None else latest(of, self.facts) for group_id, of in self.now.items()}

    def judge_all(
        self, some: Sequence[tuple[str, Generation | None]], copied: frozenset[Operation]
    ) -> list[GenerationResult]:
        results = []
        for group_id, generation in some:
            before = self.before(group_id)
            if generation is None:
                self.now[group_id] = None
            elif not generation.members:
                line = None if before is None else before.line
                self.now[group_id] = Before(generation, generation.lower_bounds, None, line, None)
            else:
                one = self.judge(generation, before, copied)
                results.append(one)
                self.now[group_id] = next_before(one, before)
        return results

    def before(self, group_id: str) -> Before | None:
        if group_id not in self.now:
            self.now[group_id] = self.restored.get(group_id)
        return self.now[group_id]

    def judge(self, generation: Generation, before: Before | None, copied: frozenset[Operation]) -> GenerationResult:
        reason, verdict = None, Verdict.CARRIED_OVER
        if (generation.group_id, generation.batch, generation.time) in copied:
            reason = COPIED
        elif before is not None and before.generation.members and are_carried_over(before.generation, generation):
            reason = CAME_BACK
        else:
            reason, verdict = why_not(generation), Verdict.NOT_RECOMPUTABLE
        counts = self.counts.from_snapshots(generation)
        if reason is None and not counts.are_possible:
            reason = impossible(generation, counts)
        if reason is None:
            return self.recompute(generation, before, counts)
        return GenerationResult(
            generation=generation,
            before=before,
            verdict=verdict,
            reason=reason,
            counts=counts if counts.are_possible else None,
            confirmation=self.confirmation(generation, before, counts) if counts.are_possible else ALL_CONFIRMED,
        )

    def recompute(self, generation: Generation, before: Before | None, counts: Counts) -> GenerationResult:
        before_counts = {} if before is None else before.counts_by_topic
        floor = self.counts.floor(generation, before_counts)
        confirm = partial(self.confirmation, generation, before)
        # Most generations are those of the newest release.
        first = try_variant(generation, first_variant(generation, counts))
        if first.is_same and not are_fewer(counts, floor):
            return result_of(generation, before, first, counts, confirm)
        line, number = (None, None) if before is None else (before.line, before.generation.number)
        candidates = list(self.counts.candidates(counts, generation, before_counts))
        likely = [each for each in candidates if not are_fewer(each, floor)] or candidates[:1]
        closest = search(generation, likely, line, number, first)
        if closest.is_same:
            return result_of(generation, before, closest, counts, confirm)
        fewer = [each for each in candidates if all(each is not other for other in likely)]
        older = search(generation, fewer, line, number) if fewer else None
        if older is None or not older.is_same:
            return result_of(generation, before, closest, counts, confirm)
        shown = confirm(older.variant.counts)
        if shown.confirmed:
            return reproduced(generation, before, older, Verdict.SAME, shown, is_old_view=True)
        why = f"{old_view(generation, older.variant.counts, floor)}; {shown.why}"
        return GenerationResult(
            generation=generation,
            before=before,
            verdict=Verdict.NOT_RECOMPUTABLE,
            reason=not_confirmed(why),
            counts=counts,
            confirmation=confirm(counts),
        )

    def confirmation(self, generation: Generation, before: Before | None, counts: Counts) -> Confirmation:
        """For topics that some member subscribes to. The previous generation names partitions too. Most generations of
        a group ask the same between the same snapshots as the one before: they need no look at each topic."""
        least = least_of(generation, before)
        asked = b"".join(each.tobytes() for each in (counts.numbers, generation.is_subscribed, least))
        known = self.confirmed.get(generation.group_id)
        time = generation.time
        place = None if time is None else (bisect_left(self.moments, time), bisect_right(self.moments, time))
        if known is None or (known.asked, known.place, known.topics) != (asked, place, generation.topics):
            used = (
                UsedTopic(name, number, at_least, is_by_leader=True)
                for name, number, at_least, is_subscribed in zip(
                    generation.topics, counts.numbers.tolist(), least.tolist(), generation.is_subscribed.tolist(),
                    strict=True,
                )
                if is_subscribed
            )  # fmt: skip
            shown = confirmation(ByLog.NOTHING, used, time, self.facts)
            known = self.confirmed[generation.group_id] = Confirmed(generation.topics, asked, place, shown)
        return known.confirmation


class Confirmed(NamedTuple):
    """An answer of `confirmation`, and what was asked. `place`: between which moments; None: the record has no time."""

    topics: Sequence[str]
    # Numbers of partitions, whether somebody subscribes, and which partitions records name.
    asked: bytes
    place: tuple[int, int] | None
    confirmation: Confirmation


def least_of(generation: Generation, before: Before | None) -> Numbers:
    """By topic, one more than the highest partition that this value or the one before names."""
    least = np.where(generation.lower_bounds <= MOST_PARTITIONS, generation.lower_bounds, 0)
    if before is None:
        return least
    if before.generation.topics == generation.topics:
        return np.maximum(least, before.least)
    named = before.least_by_topic
    return np.maximum(least, [named.get(name, 0) for name in generation.topics])


def are_fewer(counts: Counts, floor: Numbers) -> bool:
    """A topic without partitions was deleted, or is unknown."""
    return bool(((counts.numbers < floor) & (counts.numbers > 0)).any())


def slices(rows: pa.Table) -> Iterator[pa.Table]:
    """Slices of about equal size in bytes: some groups need few rows for that."""
    size = max(1, BYTES_AT_ONCE * rows.num_rows // max(1, rows.nbytes))
    for start in range(0, rows.num_rows, size):
        yield rows.slice(start, size)


def downgrades(tables: Mapping[str, pa.Table]) -> frozenset[Operation]:
    """Operations that end a consumer group: a type 2 value in one of them is a copy."""
    rows = tables.get(EPOCHS_TABLE)
    if rows is None or not rows.num_rows:
        return frozenset()
    gone = rows.filter(pc.and_(rows["is_tombstone"], pc.equal(rows["group_type"], CONSUMER)))
    if not gone.num_rows:
        return frozenset()
    gone = one_piece(gone)
    batches = fill_absent(gone, "batch_first_offset", NO_BATCH)
    return frozenset(zip(shared_texts(gone["group_id"]), batches, micros(gone["record_time"]), strict=True))


def next_before(one: GenerationResult, before: Before | None) -> Before:
    line = None if before is None else before.line
    if one.closest is not None and one.closest.is_same:
        line = one.closest.variant.line.name
    is_repeat = before is not None and are_alike(before.generation, one.generation)
    reason = not_even_another(one.generation)
    if one.counts is None:
        # More partitions than can be computed.
        nothing = np.zeros(len(one.generation.topics), np.int64)
        return Before(
            generation=one.generation, counts=nothing, source=None, line=line, reason=one.reason, is_repeat=is_repeat
        )
    is_certain = one.is_reproduced or one.why_unconfirmed is None
    source = one.counts.source if is_certain else PartitionCountsSource.INFERRED
    # What-ifs compute with the topics as they are, whatever the leader took them for.
    is_stale = one.verdict == Verdict.STALE_INPUT
    return Before(
        generation=one.generation,
        counts=np.maximum(one.recorded.counts, 0) if is_stale else one.counts.numbers,
        source=source,
        line=line,
        reason=reason,
        is_repeat=is_repeat,
    )
