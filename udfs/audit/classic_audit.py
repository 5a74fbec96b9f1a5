"""The audit of classic groups: compares each generation with what Kafka's assignor gives for the same input."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records.payloads import CONSUMER
from schemas.words.assignments import PartitionCountsSource, Verdict
from udfs.assignors.bulk.many_groups import answers_of_clients
from udfs.assignors.questions.problems import Numbers
from udfs.assignors.registry import OF_LEADERS
from udfs.audit.checks.audit_results import Audited, Latest
from udfs.audit.checks.confirm_inputs import ByLog, Used, why_unconfirmed
from udfs.audit.checks.facts import Facts
from udfs.audit.classic.generation_results import REPRODUCED, Judged
from udfs.audit.classic.generations import Generation, generations_of
from udfs.audit.classic.partition_counts import MOST_PARTITIONS, Counts, TopicCounts
from udfs.audit.classic.reasons import (
    drift,
    impossible,
    missing_input,
    not_confirmed,
    not_even_another,
    old_view,
    why_not,
)
from udfs.audit.classic.state import Before, from_plain, latest
from udfs.audit.classic.steps import are_alike, are_carried_over
from udfs.audit.classic.values import values_of
from udfs.audit.classic.variants import (
    Tried,
    Variant,
    asked,
    best,
    first_variant,
    other_variants,
    problem_of,
    tried,
)
from udfs.audit.classic_rows import audited_rows
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import NO_BATCH, filled, micros, one_piece, shared

TABLE: Final = "classic_group_metadata"
# The tombstones that a conversion to the classic protocol writes.
EPOCHS_TABLE: Final = "group_metadata"
BYTES_AT_ONCE: Final = 1 << 24

Operation = tuple[str, int, int | None]

COPIED = "the group left the consumer protocol here, and its last target assignment was copied; no assignor ran"
CAME_BACK = "a static member came back, no assignor ran"


class ClassicAudit:
    def __init__(self, facts: Facts, states: Mapping[str, Any]) -> None:
        self.facts = facts
        self.counts = TopicCounts(facts)
        self.restored = states
        # For groups with records in this run.
        self.now: dict[str, Before | None] = {}

    def take(self, tables: Mapping[str, pa.Table]) -> list[Audited]:
        rows = tables.get(TABLE)
        if rows is None or not rows.num_rows:
            return []
        found: list[Audited] = []
        with uncollected():
            copied = downgrades(tables)
            for some in slices(rows):
                values = values_of(some)
                pairs = zip(values.group_ids, generations_of(values), strict=True)
                found += audited_rows(self.judged(list(pairs), copied), self.facts)
                for group_id in set(values.group_ids):
                    before = self.now[group_id]
                    self.now[group_id] = None if before is None else before.kept()
        return found

    def states(self) -> dict[str, Any]:
        return {group_id: None if of is None else of.plain() for group_id, of in self.now.items()}

    def latest(self) -> dict[str, Latest | None]:
        return {group_id: None if of is None else latest(of, self.facts) for group_id, of in self.now.items()}

    def judged(self, some: Sequence[tuple[str, Generation | None]], copied: frozenset[Operation]) -> list[Judged]:
        first = self.first_answers([generation for _, generation in some if generation is not None])
        found = []
        for group_id, generation in some:
            before = self.before(group_id)
            if generation is None:
                self.now[group_id] = None
            elif not generation.members:
                line = None if before is None else before.line
                self.now[group_id] = Before(generation, generation.lower_bounds, None, line, None)
            else:
                one = self.judge(generation, before, first.get(generation.offset), copied)
                found.append(one)
                self.now[group_id] = next_before(one, before)
        return found

    def before(self, group_id: str) -> Before | None:
        if group_id not in self.now:
            state = self.restored.get(group_id)
            self.now[group_id] = None if state is None else from_plain(group_id, state)
        return self.now[group_id]

    def first_answers(self, generations: Sequence[Generation]) -> dict[int, Tried]:
        """The newest release's answers for all generations that can be recomputed, by offset: most generations match
        it."""
        asked_for: dict[str, list[tuple[Generation, Variant]]] = {}
        for generation in generations:
            if why_not(generation) is None:
                name = str(generation.protocol)
                variant = first_variant(generation, self.counts.first(generation))
                if variant.counts.are_possible:
                    asked_for.setdefault(name, []).append((generation, variant))
        found = {}
        for name, pairs in asked_for.items():
            problems = [problem_of(*pair) for pair in pairs]
            answers = answers_of_clients(OF_LEADERS[name], problems)
            for (generation, variant), problem, answer in zip(pairs, problems, answers, strict=True):
                found[generation.offset] = tried(generation, problem, variant, answer)
        return found

    def judge(
        self, generation: Generation, before: Before | None, first: Tried | None, copied: frozenset[Operation]
    ) -> Judged:
        reason, verdict = None, Verdict.CARRIED_OVER
        if (generation.group_id, generation.batch, generation.time) in copied:
            reason = COPIED
        elif before is not None and before.generation.members and are_carried_over(before.generation, generation):
            reason = CAME_BACK
        else:
            reason, verdict = why_not(generation), Verdict.NOT_RECOMPUTABLE
        counts = self.counts.first(generation) if first is None else first.variant.counts
        if reason is None and not counts.are_possible:
            reason = impossible(generation, counts)
        if reason is not None:
            if not counts.are_possible:
                return Judged(generation, before, verdict, reason, None, None)
            confirm = partial(self.why_unconfirmed, generation, before, counts)
            return Judged(generation, before, verdict, reason, counts, None, confirm=confirm)
        before_counts = {} if before is None else before.counts_by_topic
        floor = self.counts.floor(generation, before_counts)
        confirm = partial(self.why_unconfirmed, generation, before, counts)
        if first is not None and first.is_same and not are_fewer(counts, floor):
            return judged_by(generation, before, first, confirm)
        candidates = list(self.counts.candidates(counts, generation, before_counts))
        likely = [each for each in candidates if not are_fewer(each, floor)] or candidates[:1]
        found = search(generation, before, first, likely)
        if found.is_same:
            return judged_by(generation, before, found, confirm)
        fewer = [each for each in candidates if all(each is not other for other in likely)]
        older = search(generation, before, None, fewer) if fewer else None
        if older is not None and older.is_same:
            reason = old_view(generation, older.variant.counts, floor)
            if (why := confirm()) is not None:
                return not_proved(generation, before, counts, f"{reason}; {why}")
            return Judged(generation, before, Verdict.DRIFT, reason, found.variant.counts, found, is_old_view=True)
        return judged_by(generation, before, found, confirm)

    def why_unconfirmed(self, generation: Generation, before: Before | None, counts: Counts) -> str | None:
        """For topics that some member subscribes to. The previous generation names partitions too."""
        named = {} if before is None else before.least_by_topic
        numbers, least = counts.numbers.tolist(), generation.lower_bounds.tolist()
        used = (
            Used(name, numbers[at], max(least[at] if least[at] <= MOST_PARTITIONS else 0, named.get(name, 0)))
            for at, name in enumerate(generation.topics)
            if generation.is_subscribed[at]
        )
        return why_unconfirmed(ByLog.NOTHING, used, generation.time, self.facts)


def are_fewer(counts: Counts, floor: Numbers) -> bool:
    """A topic without partitions was deleted, or is unknown."""
    return bool(((counts.numbers < floor) & (counts.numbers > 0)).any())


def search(generation: Generation, before: Before | None, first: Tried | None, candidates: Sequence[Counts]) -> Tried:
    """The first variant that gives the record, in the fixed order; else the closest one."""
    if first is None or first.variant.counts is not candidates[0]:
        first = asked(generation, first_variant(generation, candidates[0]))
    problem = problem_of(generation, first.variant)
    line, number = (None, None) if before is None else (before.line, before.generation.number)
    found = [first]
    for variant in other_variants(problem, generation, candidates, line, number):
        if found[-1].is_same:
            break
        found.append(asked(generation, variant))
    return best(found)


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
    batches = filled(gone, "batch_first_offset", NO_BATCH)
    return frozenset(zip(shared(gone["group_id"]), batches, micros(gone["record_time"]), strict=True))


def not_proved(generation: Generation, before: Before | None, counts: Counts, why: str) -> Judged:
    return Judged(generation, before, Verdict.NOT_RECOMPUTABLE, not_confirmed(why), counts, None, confirm=lambda: why)


def judged_by(generation: Generation, before: Before | None, found: Tried, confirm: Callable[[], str | None]) -> Judged:
    counts = found.variant.counts
    is_reproduced = found.compared is not None and found.compared.verdict in REPRODUCED
    if not is_reproduced and (why := confirm()) is not None:
        return not_proved(generation, before, counts, why)
    if found.compared is None:
        reason = f"Kafka's own assignor fails for this input: {found.failure}"
        return Judged(generation, before, Verdict.DRIFT, reason, counts, found)
    verdict = found.compared.verdict
    if verdict == Verdict.SAME:
        return Judged(generation, before, verdict, None, counts, found, confirm=confirm)
    missing = missing_input(generation, before, counts)
    if verdict == Verdict.SAME_MEMBERS_OTHER_ORDER:
        reason = missing or "same owners, but no release lists a member's partitions in this order"
        return Judged(generation, before, verdict, reason, counts, found, confirm=confirm)
    if missing is not None:
        return Judged(generation, before, Verdict.NOT_RECOMPUTABLE, missing, counts, None)
    return Judged(generation, before, verdict, drift(generation, found.compared.num_different), counts, found)


def next_before(one: Judged, before: Before | None) -> Before:
    line = None if before is None else before.line
    if one.found is not None and one.found.is_same:
        line = one.found.variant.line.name
    is_repeat = before is not None and are_alike(before.generation, one.generation)
    reason = not_even_another(one.generation)
    if one.counts is None:
        # More partitions than can be computed.
        nothing = np.zeros(len(one.generation.topics), np.int64)
        return Before(one.generation, nothing, None, line, one.reason, is_repeat)
    is_certain = one.verdict in REPRODUCED or one.unconfirmed is None
    source = one.counts.source if is_certain else PartitionCountsSource.INFERRED
    return Before(one.generation, one.counts.numbers, source, line, reason, is_repeat)


def latest_of(group_id: str, state: Any, facts: Facts) -> Latest | None:
    """What `ClassicAudit.latest` would return for a group in this state."""
    return None if state is None else latest(from_plain(group_id, state), facts)
