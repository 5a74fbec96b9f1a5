"""Finds the release of a client library, and the leader's view of the cluster, that give a recorded generation. The
log records neither, so they are tried in a fixed order: numbers of partitions, then releases of Kafka's clients, and
those of librdkafka where its bytes allow it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, product
from types import MappingProxyType
from typing import Final

import numpy as np

from schemas.words.assignments import Algorithm, PartitionCountsSource, Verdict
from udfs.assignors import librdkafka
from udfs.assignors.answers import ASSIGNORS, LISTS_AS_ASSIGNED
from udfs.assignors.groups import ABSENT, AssignorFailed, Group, Numbers, PartitionRacks, Rows
from udfs.assignors.java.maps import JavaMap, Keys, no_order
from udfs.assignors.librdkafka import TOPIC_ORDERS, Rules, Undecidable
from udfs.assignors.questions import NEWEST_PATCH, NEWEST_RELEASE, GroupProtocol, Release
from udfs.assignors.ranges import RACKS_SINCE, is_rack_aware, round_robin
from udfs.assignors.sticky_claims import are_subscriptions_equal
from udfs.audit.checks.facts import REPRODUCED, Facts, KnownTopic, most_believed
from udfs.audit.checks.results import Comparison, compare
from udfs.audit.classic_generations import Generation
from udfs.groups.readers.client_libraries import LIBRDKAFKA

COOPERATIVE: Final = "cooperative-sticky"
# Members of these assignors claim what they had, and the answer depends on it.
STICKY: Final = frozenset({"sticky", COOPERATIVE})
EQUAL_WAY_SINCE: Final = (2, 5, 1)
# The largest number in real clusters; a larger partition number is garbage.
MOST_PARTITIONS: Final = 4_000_000


# -- how many partitions topics had for the leader


@dataclass(frozen=True)
class Counts:
    """Numbers of partitions of a generation's topics; 0 for an unknown topic."""

    numbers: Numbers
    source: PartitionCountsSource | None
    racks: Sequence[PartitionRacks | None] | None
    # How these numbers differ from the first choice; None: they are the first choice.
    label: str | None = None
    # Whether the record names enough partitions for the highest ones to be more than garbage.
    are_believed: bool = True

    @property
    def are_possible(self) -> bool:
        return self.are_believed and int(self.numbers.sum()) <= MOST_PARTITIONS


def known_at(name: str, time: int | None, facts: Facts, *, is_next_first: bool = False) -> KnownTopic | None:
    """The topic in the newest snapshot up to the time, else in the next one; or the other way round."""
    known = facts.topics.get(name)
    if not known:
        return None
    after = len(known) if time is None else bisect_right(known, time, key=lambda each: each.first_time)
    return known[min(after, len(known) - 1) if is_next_first else max(after - 1, 0)]


def counts_of_snapshots(generation: Generation, facts: Facts, *, is_next_first: bool = False) -> Counts:
    known_topics = [known_at(name, generation.time, facts, is_next_first=is_next_first) for name in generation.topics]
    numbers = generation.counts.copy()
    num_inferred = 0
    for at, known in enumerate(known_topics):
        if known is None:
            num_inferred += int(numbers[at])
        else:
            numbers[at] = known.topic.partitions
    racks = [None if known is None else known.topic.racks for known in known_topics]
    is_from_snapshot = not num_inferred and any(known is not None for known in known_topics)
    return Counts(
        numbers,
        PartitionCountsSource.SNAPSHOT if is_from_snapshot else PartitionCountsSource.INFERRED,
        racks if any(each is not None for each in racks) else None,
        "with partition counts of the next snapshot" if is_next_first else None,
        are_believed(generation, num_inferred),
    )


def candidates(first: Counts, generation: Generation, before: Mapping[str, int], facts: Facts) -> Iterator[Counts]:
    """Each different one once, in the order in which they are tried. `before`: numbers of the previous generation."""
    named, had = generation.counts, np.array([before.get(name, 0) for name in generation.topics], np.int64)
    is_believed = are_believed(generation, int(named[named > had].sum()))
    tried: set[bytes] = set()
    for counts in (
        first,
        counts_of_snapshots(generation, facts, is_next_first=True),
        inferred_counts(generation),
        Counts(np.maximum(had, named), PartitionCountsSource.INFERRED, None, "topics as before", is_believed),
        *left_out_counts(generation, first),
    ):
        if counts.are_possible and counts.numbers.tobytes() not in tried:
            tried.add(counts.numbers.tobytes())
            yield counts


def floor_of(generation: Generation, before: Mapping[str, int], facts: Facts) -> Numbers:
    """Lower bounds, since topics only grow: from snapshots up to then, else from the previous generation."""
    time, floor = generation.time, []
    for name in generation.topics:
        known = known_at(name, time, facts)
        is_earlier = known is not None and time is not None and known.first_time <= time
        floor.append(known.topic.partitions if known is not None and is_earlier else before.get(name, 0))
    return np.array(floor, np.int64)


def inferred_counts(generation: Generation) -> Counts:
    """One more than the highest partition that is assigned or claimed. Partitions without an owner are not counted."""
    is_believed = are_believed(generation, int(generation.counts.sum()))
    return Counts(generation.counts, PartitionCountsSource.INFERRED, None, "topics as assigned", is_believed)


def left_out_counts(generation: Generation, first: Counts) -> Iterator[Counts]:
    """Members of cooperative groups claim partitions of topics that the leader may not know: of these it assigns
    nothing. Mostly it does not know topics that only other members subscribe to. Of its own ones it may assign nothing
    because all of their partitions wait for their owners."""
    is_left_out = generation.is_subscribed.copy()
    is_left_out[generation.assigned.topics] = False
    is_own = np.zeros(len(generation.topics), np.bool_)
    if generation.leader_at is not None:
        is_own[generation.topics_of_class[int(generation.class_of_member[generation.leader_at])]] = True
    for unknown in (is_left_out & ~is_own, is_left_out):
        numbers = np.where(unknown, 0, first.numbers)
        yield replace(first, numbers=numbers, label="without topics of which nothing is assigned")


def are_believed(generation: Generation, num_inferred: int) -> bool:
    return num_inferred <= most_believed(len(generation.assigned) + len(generation.owned))


# -- releases


@dataclass(frozen=True)
class Line:
    """Releases whose assignor gives the same answers. `release` stands for all of Kafka's clients; librdkafka's have
    `rules` instead."""

    name: str
    release: Release = NEWEST_RELEASE
    rules: Rules | None = None


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
    if generation.leader_at is None:
        return lines
    newer = [line for line in lines if line.release >= GENERATIONS_SINCE]
    return newer if generation.versions[generation.leader_at] >= FIRST_NEW_VERSION else [*lines[len(newer) :], *newer]


# Subscriptions of librdkafka have version 3 since 2.2.0, and before that version 1 since 1.6.0.
FIRST_LIBRARY_VERSION: Final = 1
LIBRARY_ASSIGNORS: Final = {
    "range": librdkafka.library_range,
    "roundrobin": round_robin,
    COOPERATIVE: librdkafka.library_sticky,
}
# Newest first.
STICKY_LIBRARY_LINES: Final = (
    Line("2.6.1 and later", rules=Rules()),
    Line("2.2.0-2.6.0", rules=Rules(skips_members=True)),
)
PLAIN_LIBRARY_LINES: Final = (Line("2.2.0 and later", rules=Rules()),)
# 1.6 has other defects, and its subscriptions are the same.
OLD_LIBRARY_LINES: Final = (Line("1.7.0-2.1.1", rules=Rules(has_generations=False, skips_members=True)),)
# Kafka's brokers answer in one of these; the last one is for others.
LIKELY_ORDERS: Final = frozenset(text for text, _ in TOPIC_ORDERS[:-1])


def library_lines_of(generation: Generation) -> Sequence[Line]:
    """By the leader's own subscription; none if it cannot be of a release that is known."""
    if generation.leader_at is None or generation.protocol not in LIBRARY_ASSIGNORS:
        return ()
    version = generation.versions[generation.leader_at]
    if version < FIRST_LIBRARY_VERSION or not generation.libraries & LIBRDKAFKA:
        return ()
    if version < FIRST_NEW_VERSION:
        return OLD_LIBRARY_LINES
    return STICKY_LIBRARY_LINES if generation.protocol == COOPERATIVE else PLAIN_LIBRARY_LINES


# -- variants, and what they give


@dataclass(frozen=True)
class Variant:
    """By which rules, and for which input, an assignment may have been computed."""

    line: Line
    counts: Counts
    # Of Kafka's clients.
    leader_memory: int = ABSENT
    is_without_racks: bool = False
    # Of librdkafka: topics in the order in which the leader may have seen them, and the name of that order.
    topics: tuple[int, ...] = ()
    topic_order: str | None = None

    @property
    def is_of_librdkafka(self) -> bool:
        return self.line.rules is not None

    @property
    def is_newest(self) -> bool:
        """Nothing is wrong with an older librdkafka's answer, as far as it is known."""
        return self.line.release == NEWEST_RELEASE

    @property
    def text(self) -> str:
        parts = (
            f"{'librdkafka' if self.is_of_librdkafka else 'clients'} {self.line.name}",
            "without racks" if self.is_without_racks else None,
            f"the leader still has its assignment of generation {self.leader_memory}"
            if self.leader_memory != ABSENT
            else None,
            self.topic_order,
            self.counts.label,
        )
        return "; ".join(filter(None, parts))


@dataclass(frozen=True)
class Outcome:
    """An assignor's answer for a variant, compared with the record. `rows` None: it fails, or librdkafka's answer is
    not known; `failure` says why."""

    variant: Variant
    rows: Rows | None = None
    compared: Comparison | None = None
    failure: str | None = None

    @property
    def is_same(self) -> bool:
        return self.compared is not None and self.compared.verdict == Verdict.SAME

    @property
    def is_reproduced(self) -> bool:
        return self.compared is not None and self.compared.verdict in REPRODUCED


def search(
    generation: Generation, counts: Sequence[Counts], last_line: str | None, before: int | None,
    first: Outcome | None = None,
) -> Outcome:  # fmt: skip
    """The first variant that gives the record, in the fixed order; else the closest one. `last_line`: the line that
    gave the group's previous generation; `before`: the number of that generation; `first`: the outcome of the first
    variant, if it is known."""
    if first is None or first.variant.counts is not counts[0]:
        first = try_variant(generation, first_variant(generation, counts[0]))
    outcomes = [first]
    for variant in chain(
        library_variants(generation, counts, last_line), other_variants(generation, counts, last_line, before)
    ):
        if outcomes[-1].is_same:
            break
        outcomes.append(try_variant(generation, variant))
    closest = best(outcomes)
    of_library = [each for each in outcomes if each.variant.is_of_librdkafka]
    return closest if closest.is_reproduced or not of_library else answer_of_librdkafka(generation, of_library)


def first_variant(generation: Generation, counts: Counts) -> Variant:
    return Variant(lines_of(generation)[0], counts)


def other_variants(
    generation: Generation, candidates: Sequence[Counts], last_line: str | None, before: int | None
) -> Iterator[Variant]:
    """All of Kafka's clients but the first."""
    first_line, *_ = lines = lines_of(generation)
    lines = sorted(lines, key=lambda line: line.name != last_line)
    # A leader remembers the newest generation that it ever saw. This matters if all members are at an older one.
    memories = [ABSENT]
    if generation.protocol in STICKY and before is not None:
        group = asked(generation, first_variant(generation, candidates[0]))
        memories += [] if are_subscriptions_equal(group) else [before]
    for counts in candidates:
        for is_without_racks in (False, True) if counts.racks is not None and any(generation.racks) else (False,):
            for memory, line in product(memories, lines):
                # Older releases never look at racks.
                is_sensible = not is_without_racks or line.release >= RACKS_SINCE
                is_first = line is first_line and counts is candidates[0] and memory == ABSENT
                if is_sensible and (is_without_racks or not is_first):
                    yield Variant(line, counts, memory, is_without_racks)


def library_variants(generation: Generation, candidates: Sequence[Counts], last_line: str | None) -> Iterator[Variant]:
    """None if the leader cannot use librdkafka."""
    if lines := sorted(library_lines_of(generation), key=lambda line: line.name != last_line):
        orders: dict[tuple[int, ...], str | None] = {}
        for text, order in TOPIC_ORDERS:
            orders.setdefault(tuple(order(generation.as_asked)), text)
        for counts, line, (topics, text) in product(candidates, lines, orders.items()):
            yield Variant(line, counts, topics=topics, topic_order=text)


def try_variant(generation: Generation, variant: Variant) -> Outcome:
    try:
        if variant.is_of_librdkafka:
            rows = answer_of_library(generation, variant)
        else:
            group = asked(generation, variant)
            answer = ASSIGNORS[GroupProtocol.CLASSIC, generation.protocol or ""].assign(group)
            rows = as_written(group, Rows.of_lists(answer))
    except AssignorFailed as failure:
        return Outcome(variant, failure=str(failure))
    return Outcome(variant, rows, compare(generation.members, generation.topics, generation.assigned, rows))


def asked(generation: Generation, variant: Variant) -> Group:
    """The question to an assignor of Kafka's."""
    return replace(
        generation.as_asked,
        counts=variant.counts.numbers.tolist(),
        partition_racks=None if variant.is_without_racks else variant.counts.racks,
        leader_memory=variant.leader_memory,
        release=variant.line.release,
    )


def algorithm_of(generation: Generation, variant: Variant) -> Algorithm:
    """Which of an assignor's algorithms the input needs."""
    if variant.is_of_librdkafka:
        return Algorithm.GENERAL if generation.protocol == COOPERATIVE else Algorithm.PLAIN
    if generation.protocol not in STICKY:
        is_by_racks = generation.protocol == "range" and is_rack_aware(asked(generation, variant))
        return Algorithm.RACK_AWARE if is_by_racks else Algorithm.PLAIN
    if variant.line.release < EQUAL_WAY_SINCE:
        return Algorithm.GENERAL
    is_equal = len(generation.topics_of_class) == 1 or are_subscriptions_equal(asked(generation, variant))
    return Algorithm.CONSTRAINED if is_equal else Algorithm.GENERAL


def best(outcomes: Sequence[Outcome]) -> Outcome:
    """The closest to the record: same lists, same sets, fewest differences; the first of equals."""
    order = (Verdict.SAME, Verdict.SAME_MEMBERS_OTHER_ORDER, Verdict.DRIFT)

    def distance(each: Outcome) -> tuple[int, int]:
        if each.compared is None:
            return len(order), 0
        return order.index(each.compared.verdict), each.compared.num_different

    return min(outcomes, key=distance)


def as_written(group: Group, rows: Rows) -> Rows:
    """The lists as a leader of this release writes them: before 3.0, in the iteration order of a map of their topics
    that computeIfAbsent filled."""
    if group.release >= LISTS_AS_ASSIGNED or not len(rows):
        return rows
    keys = Keys[int](group.topic_codes.__getitem__, no_order)
    order: list[int] = []
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(rows.members)) + 1).tolist(), len(rows)]):
        by_topic: JavaMap[int, list[int]] = JavaMap(keys)
        for at, topic in enumerate(rows.topics[start:end].tolist(), start):
            by_topic.compute_if_absent(topic, list).append(at)
        order += [at for topic in by_topic.walk() for at in by_topic[topic]]
    return rows.take(np.array(order, np.intp))


# -- librdkafka


def answer_of_library(generation: Generation, variant: Variant) -> Rows:
    if any(generation.topics[topic].startswith("^") for topic in variant.topics):
        raise Undecidable("the leader takes a name that begins with ^ for a pattern")
    if generation.protocol == COOPERATIVE and (generation.versions < FIRST_LIBRARY_VERSION).any():
        raise Undecidable("the library fails if a subscription has no list of owned partitions")
    counts, rules = variant.counts.numbers.tolist(), variant.line.rules or Rules()
    group = librdkafka.library_group(generation.as_asked, counts, variant.topics, rules)
    return Rows.of_lists(LIBRARY_ASSIGNORS[str(generation.protocol)](group))


def answer_of_librdkafka(generation: Generation, outcomes: Sequence[Outcome]) -> Outcome:
    """The closest to the record. It is undecided if the library's answer depends on what is in no record: if the likely
    orders of topics give different sets, for one."""
    first = outcomes[0].variant
    sets = {
        frozenset(each.rows.triples())
        for each in outcomes
        if each.rows is not None and each.variant.topic_order in LIKELY_ORDERS
        and each.variant.line is first.line and each.variant.counts is first.counts
    }  # fmt: skip
    are_decided = all(each.rows is not None for each in outcomes) and len(sets) == 1
    closest = best(outcomes)
    return closest if are_decided and is_input_known(generation) else Outcome(closest.variant)


def is_input_known(generation: Generation) -> bool:
    """Whether what the library assigns follows from the record and numbers of partitions."""
    if generation.leader_at is None or generation.versions[generation.leader_at] < FIRST_NEW_VERSION:
        return False
    # All generations below 0 are one for the audit, but not for the library.
    for at in set(generation.owned.members.tolist()):
        if generation.generations[at] < 0 and generation.versions[at] >= FIRST_NEW_VERSION:
            return False
    if generation.protocol == "roundrobin" or not any(generation.racks):
        is_static = [instance is not None for instance in generation.instances]
        return generation.protocol == COOPERATIVE or all(is_static) or not any(is_static)
    return False
