"""The audit of classic groups: compares each generation with what Kafka's assignor gives for the same input."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records import CONSUMER
from schemas.words.assignments import PartitionCountsSource, Verdict
from udfs.assignors.groups import Numbers
from udfs.audit.checks.facts import ByLog, Confirmation, Facts, UsedTopic, confirmation, moments
from udfs.audit.checks.results import AuditRow, Latest, audit_row
from udfs.audit.classic_defects import defect_of_generation
from udfs.audit.classic_generations import Before, Generation, are_alike, generations_of, latest
from udfs.audit.classic_results import GenerationResult, judge, not_even_another
from udfs.audit.classic_variants import MOST_PARTITIONS, Counts
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import NO_BATCH, fill_absent, micros, one_piece, shared_texts

TABLE: Final = "classic_group_metadata"
# The tombstones that a conversion to the classic protocol writes.
EPOCHS_TABLE: Final = "group_metadata"
BYTES_AT_ONCE: Final = 1 << 24

Operation = tuple[str, int, int | None]


class ClassicAudit:
    def __init__(self, facts: Facts, states: Mapping[str, Before]) -> None:
        self.facts = facts
        self.restored = states
        # For groups with records in this run.
        self.now: dict[str, Before | None] = {}
        # By group, what was asked last, and the answer.
        self.confirmed: dict[str, tuple[tuple[Any, ...], Confirmation]] = {}
        self.moments = moments(facts)

    def take(self, tables: Mapping[str, pa.Table]) -> list[AuditRow]:
        rows = tables.get(TABLE)
        if rows is None or not rows.num_rows:
            return []
        with uncollected():
            copied = downgrades(tables)
            # One by one: results are much larger than their rows.
            results = (each for some in slices(rows) for each in self.results_of(some, copied))
            return [audit_row(each, self.facts, defect_of_generation) for each in results]

    def states(self) -> dict[str, Before | None]:
        return self.now

    def latest(self) -> dict[str, Latest | None]:
        return {group_id: None if of is None else latest(of, self.facts) for group_id, of in self.now.items()}

    def results_of(self, rows: pa.Table, copied: frozenset[Operation]) -> Iterator[GenerationResult]:
        met = set()
        for group_id, generation in generations_of(rows):
            met.add(group_id)
            before = self.now[group_id] if group_id in self.now else self.restored.get(group_id)
            if generation is None:
                self.now[group_id] = None
            elif not generation.members:
                line = None if before is None else before.line
                self.now[group_id] = Before(generation, generation.counts, None, line, None)
            else:
                is_copied = (group_id, generation.batch, generation.time) in copied
                confirm = partial(self.confirmation, generation, before)
                result = judge(generation, before, self.facts, confirm, is_copied=is_copied)
                self.now[group_id] = next_before(result)
                yield result
        for group_id in met:
            before = self.now[group_id]
            self.now[group_id] = None if before is None else before.without_window()

    def confirmation(self, generation: Generation, before: Before | None, counts: Counts) -> Confirmation:
        """For topics that some member subscribes to. The previous generation names partitions too. Most generations of
        a group ask the same between the same snapshots as the one before: they need no look at each topic."""
        least = least_of(generation, before)
        time, numbers = generation.time, (counts.numbers, generation.is_subscribed, least)
        place = None if time is None else (bisect_left(self.moments, time), bisect_right(self.moments, time))
        asked = place, generation.topics, b"".join(each.tobytes() for each in numbers)
        known = self.confirmed.get(generation.group_id)
        if known is None or known[0] != asked:
            used = (
                UsedTopic(name, number, at_least)
                for name, number, at_least, is_subscribed in zip(
                    generation.topics, counts.numbers.tolist(), least.tolist(), generation.is_subscribed.tolist(),
                    strict=True,
                )
                if is_subscribed
            )  # fmt: skip
            shown = confirmation(ByLog.NOTHING, used, time, self.facts, is_by_leader=True)
            known = self.confirmed[generation.group_id] = asked, shown
        return known[1]


def least_of(generation: Generation, before: Before | None) -> Numbers:
    """By topic, one more than the highest partition that this value or the one before names."""
    least = np.where(generation.counts <= MOST_PARTITIONS, generation.counts, 0)
    if before is None:
        return least
    if before.generation.topics == generation.topics:
        return np.maximum(least, before.least)
    named = before.by_topic(before.least)
    return np.maximum(least, [named.get(name, 0) for name in generation.topics])


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


def next_before(one: GenerationResult) -> Before:
    before, counts = one.before, one.counts
    is_certain = one.is_reproduced or one.confirmation.why is None
    source = None if counts is None else counts.source if is_certain else PartitionCountsSource.INFERRED
    if counts is None:
        # More partitions than can be computed.
        numbers = np.zeros(len(one.generation.topics), np.int64)
    elif one.verdict == Verdict.STALE_INPUT:
        # What-ifs compute with the topics as they are, whatever the leader took them for.
        numbers = np.maximum(one.recorded.counts, 0)
    else:
        numbers = counts.numbers
    line = None if before is None else before.line
    return Before(
        generation=one.generation,
        counts=numbers,
        source=source,
        line=one.closest.variant.line.name if one.closest is not None and one.is_same else line,
        reason=one.reason if counts is None else not_even_another(one.generation),
        is_repeat=before is not None and are_alike(before.generation, one.generation),
    )
