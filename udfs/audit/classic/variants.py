"""Finds the release of Kafka's clients, and the leader's view of the cluster, that give a recorded generation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.words.assignments import Algorithm, Verdict
from udfs.assignors.answers import ASSIGNORS, LISTS_AS_ASSIGNED
from udfs.assignors.groups import ABSENT, Answer, AssignorFailed, Codes, Group, Rows
from udfs.assignors.java.maps import JavaMap, Keys, no_order
from udfs.assignors.librdkafka import Undecidable
from udfs.assignors.questions import NEWEST_PATCH, NEWEST_RELEASE, GroupProtocol, Release
from udfs.assignors.ranges import RACKS_SINCE, is_rack_aware
from udfs.assignors.sticky_claims import are_subscriptions_equal
from udfs.audit.checks.assignments import tuples
from udfs.audit.checks.facts import REPRODUCED
from udfs.audit.checks.results import Comparison, by_member, compare
from udfs.audit.classic import librdkafka
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.librdkafka import LibraryVariant
from udfs.audit.classic.partition_counts import Counts

COOPERATIVE: Final = "cooperative-sticky"
# Members of these assignors claim what they had, and the answer depends on it.
STICKY: Final = frozenset({"sticky", COOPERATIVE})
EQUAL_WAY_SINCE: Final = (2, 5, 1)


@dataclass(frozen=True)
class Line:
    """Client releases whose assignor gives the same answers; `release` stands for all of them."""

    name: str
    release: Release


def until(*release: int) -> Release:
    """The last release of the line."""
    return (release[0], release[1], NEWEST_PATCH)


# Newest first: they are tried in this order.
ROUNDROBIN_LINES: Final = (
    Line("3.4-4.4", NEWEST_RELEASE),
    Line("3.0-3.3", until(3, 3)),
    Line("2.4-2.8", until(2, 8)),
)
RANGE_LINES: Final = (
    Line("3.5-4.4", NEWEST_RELEASE),
    Line("3.4", until(3, 4)),
    Line("3.0-3.3", until(3, 3)),
    Line("2.4-2.8", until(2, 8)),
)
STICKY_LINES: Final = (
    Line("3.7.1-4.4", NEWEST_RELEASE),
    Line("3.5.2-3.7.0", (3, 7, 0)),
    Line("3.5.0-3.5.1", (3, 5, 1)),
    Line("3.4.1", (3, 4, 1)),
    Line("3.4.0", (3, 4, 0)),
    Line("3.0-3.3", until(3, 3)),
    Line("2.8.1-2.8.2", until(2, 8)),
    Line("2.5.1-2.8.0", (2, 8, 0)),
    Line("2.4.0-2.5.0", (2, 5, 0)),
)
LINES: Final[Mapping[str, Sequence[Line]]] = MappingProxyType(
    {"range": RANGE_LINES, "roundrobin": ROUNDROBIN_LINES, "sticky": STICKY_LINES, COOPERATIVE: STICKY_LINES}
)
# From this release on Java clients write subscriptions of version 3; before, of version 1.
GENERATIONS_SINCE: Final = (3, 4, 0)
FIRST_NEW_VERSION: Final = 2


def lines_of(generation: Generation) -> Sequence[Line]:
    """Lines that match the leader's own subscription come first. Older releases never wrote newer versions. But other
    libraries may write older versions and follow newer rules."""
    lines = LINES[generation.protocol or ""]
    try:
        version = generation.versions[generation.members.index(generation.leader or "")]
    except ValueError:
        return lines
    newer = [line for line in lines if line.release >= GENERATIONS_SINCE]
    return newer if version >= FIRST_NEW_VERSION else [*lines[len(newer) :], *newer]


@dataclass(frozen=True)
class Variant:
    line: Line
    counts: Counts
    leader_memory: int = ABSENT
    is_without_racks: bool = False

    @property
    def is_newest(self) -> bool:
        return self.line.release == NEWEST_RELEASE

    @property
    def text(self) -> str:
        parts = [f"clients {self.line.name}"]
        if self.is_without_racks:
            parts.append("without racks")
        if self.leader_memory != ABSENT:
            parts.append(f"the leader still has its assignment of generation {self.leader_memory}")
        if self.counts.label is not None:
            parts.append(self.counts.label)
        return "; ".join(parts)


@dataclass(frozen=True)
class TriedVariant:
    """An assignor's answer for a variant, compared with the record. `rows` None: it fails, or librdkafka's answer is
    not known; `failure` says why."""

    variant: Variant | LibraryVariant
    compared: Comparison | None
    rows: Rows | None
    failure: str | None = None

    @property
    def is_same(self) -> bool:
        return self.compared is not None and self.compared.verdict == Verdict.SAME

    @property
    def is_reproduced(self) -> bool:
        return self.compared is not None and self.compared.verdict in REPRODUCED

    @property
    def is_undecided(self) -> bool:
        return self.compared is None and isinstance(self.variant, LibraryVariant)


def first_variant(generation: Generation, counts: Counts) -> Variant:
    return Variant(lines_of(generation)[0], counts)


def other_variants(
    group: Group, generation: Generation, candidates: Sequence[Counts], last_line: str | None, before: int | None
) -> Iterator[Variant]:
    """All but the first. `last_line`: the line that gave the group's previous generation; `before`: the number of that
    generation."""
    first_line, *_ = lines = lines_of(generation)
    lines = sorted(lines, key=lambda line: line.name != last_line)
    memories = memories_of(group, generation, before)
    for counts in candidates:
        for is_without_racks in (False, True) if counts.racks is not None and any(generation.racks) else (False,):
            for memory in memories:
                for line in lines:
                    is_first = line is first_line and counts is candidates[0] and memory == ABSENT
                    variant = Variant(line, counts, memory, is_without_racks)
                    if is_sensible(variant) and (is_without_racks or not is_first):
                        yield variant


def is_sensible(variant: Variant) -> bool:
    """Older releases never look at racks."""
    return not variant.is_without_racks or variant.line.release >= RACKS_SINCE


def memories_of(group: Group, generation: Generation, before: int | None) -> Sequence[int]:
    """A leader remembers the newest generation that it ever saw. This matters if all members are at an older one."""
    if generation.protocol not in STICKY or before is None or are_subscriptions_equal(group):
        return (ABSENT,)
    return (ABSENT, before)


def group_of(generation: Generation, variant: Variant) -> Group:
    counts = variant.counts
    return Group(
        members=generation.members,
        instances=generation.instances,
        racks=generation.racks,
        topics=generation.topics,
        counts=counts.numbers,
        class_of_member=generation.class_of_member,
        topics_of_class=generation.topics_of_class,
        owned=generation.owned,
        generations=generation.generation_ids.tolist(),
        user_data=generation.user_data,
        partition_racks=None if variant.is_without_racks else counts.racks,
        leader_memory=variant.leader_memory,
        release=variant.line.release,
    )


def algorithm_of(generation: Generation, variant: Variant | LibraryVariant) -> Algorithm:
    if isinstance(variant, LibraryVariant):
        return librdkafka.algorithm_of(generation)
    return algorithm(group_of(generation, variant), str(generation.protocol))


def algorithm(group: Group, assignor: str) -> Algorithm:
    """Which of an assignor's algorithms the input needs."""
    if assignor in STICKY:
        if group.release < EQUAL_WAY_SINCE:
            return Algorithm.GENERAL
        is_equal = len(group.subscriptions) == 1 or are_subscriptions_equal(group)
        return Algorithm.CONSTRAINED if is_equal else Algorithm.GENERAL
    return Algorithm.RACK_AWARE if assignor == "range" and is_rack_aware(group) else Algorithm.PLAIN


def compare_answer(generation: Generation, group: Group, variant: Variant, answer: Answer) -> TriedVariant:
    if isinstance(answer, AssignorFailed):
        return TriedVariant(variant, None, None, str(answer))
    written = as_written(group, answer)
    return TriedVariant(variant, compare(generation.members, generation.topics, generation.assigned, written), written)


def try_variant(generation: Generation, variant: Variant) -> TriedVariant:
    group = group_of(generation, variant)
    answer = ASSIGNORS[GroupProtocol.CLASSIC, generation.protocol or ""].answer(group)
    return compare_answer(generation, group, variant, answer)


def try_librdkafka(
    generation: Generation, candidates: Sequence[Counts], last_line: str | None
) -> Sequence[TriedVariant]:
    """None if the leader cannot use the library. The last one gives the record, if any does."""
    tried = []
    for question in librdkafka.questions(generation, candidates, last_line):
        try:
            rows = librdkafka.answer(generation, question)
        except Undecidable as failure:
            tried.append(TriedVariant(question.variant, None, None, str(failure)))
            continue
        compared = compare(generation.members, generation.topics, generation.assigned, rows)
        tried.append(TriedVariant(question.variant, compared, rows))
        if tried[-1].is_same:
            break
    return tried


def answer_of_librdkafka(generation: Generation, tried: Sequence[TriedVariant]) -> TriedVariant:
    """The closest to the record. It is undecided if the library's answer depends on what is in no record: if the likely
    orders of topics give different sets, for one."""
    first = tried[0].variant
    sets = {
        frozenset(tuples(each.rows))
        for each in tried
        if each.rows is not None and isinstance(each.variant, LibraryVariant)
        and each.variant.line is first.line and each.variant.counts is first.counts
        and each.variant.topic_order in librdkafka.LIKELY_ORDERS
    }  # fmt: skip
    are_decided = all(each.rows is not None for each in tried) and len(sets) == 1
    closest = best(tried)
    if are_decided and librdkafka.is_input_known(generation):
        return closest
    return TriedVariant(closest.variant, None, None)


def best(tried: Sequence[TriedVariant]) -> TriedVariant:
    """The closest to the record: same lists, same sets, fewest differences; the first of equals."""
    order = (Verdict.SAME, Verdict.SAME_MEMBERS_OTHER_ORDER, Verdict.DRIFT)

    def distance(each: TriedVariant) -> tuple[int, int]:
        if each.compared is None:
            return len(order), 0
        return order.index(each.compared.verdict), each.compared.num_different

    return min(tried, key=distance)


def as_written(group: Group, rows: Rows) -> Rows:
    """The lists as a leader of this release writes them."""
    rows = by_member(rows)
    if group.release >= LISTS_AS_ASSIGNED:
        return rows
    edges = [0, *(np.flatnonzero(np.diff(rows.members)) + 1).tolist(), len(rows)] if len(rows) else []
    keys = Keys[int](group.topic_codes.__getitem__, no_order)
    order = [start + map_order(keys, rows.topics[start:end]) for start, end in pairwise(edges)]
    return rows.take(np.concatenate(order)) if order else rows


def map_order(keys: Keys[int], topics: Codes) -> NDArray[np.intp]:
    """One member's rows in the iteration order of a map of their topics that computeIfAbsent filled."""
    rows: JavaMap[int, list[int]] = JavaMap(keys)
    for row, topic in enumerate(topics.tolist()):
        rows.compute_if_absent(topic, list).append(row)
    return np.array([row for topic in rows.walk() for row in rows[topic]], np.intp)
