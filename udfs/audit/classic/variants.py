"""Finds the release of a client library, and the leader's view of the cluster, that give a recorded generation. The
log records neither, so they are tried in a fixed order: numbers of partitions, then releases of Kafka's clients, and
those of librdkafka where its bytes allow it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from schemas.words.assignments import Algorithm, PartitionCountsSource, Verdict
from udfs.assignors import librdkafka
from udfs.assignors.answers import ASSIGNORS, LISTS_AS_ASSIGNED
from udfs.assignors.groups import ABSENT, AssignorFailed, Codes, Group, Numbers, PartitionRacks, Rows
from udfs.assignors.java.maps import JavaMap, Keys, no_order
from udfs.assignors.librdkafka import TOPIC_ORDERS, GroupMember, Rules, Undecidable
from udfs.assignors.questions import NEWEST_PATCH, NEWEST_RELEASE, GroupProtocol, Release
from udfs.assignors.ranges import RACKS_SINCE, is_rack_aware
from udfs.assignors.sticky_claims import are_subscriptions_equal
from udfs.audit.checks.facts import REPRODUCED, Facts, KnownTopic, most_believed
from udfs.audit.checks.results import Comparison, by_member, compare
from udfs.audit.classic.generations import Generation
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


class TopicCounts:
    """Numbers by topic and time, from snapshots."""

    def __init__(self, facts: Facts) -> None:
        self.known: Mapping[str, Sequence[KnownTopic]] = facts.topics
        self.times = {name: [each.first_time for each in known] for name, known in facts.topics.items()}

    def at(self, name: str, time: int | None, *, is_next_first: bool = False) -> KnownTopic | None:
        """The topic in the newest snapshot up to the time, else in the next one; or the other way round."""
        known = self.known.get(name)
        if not known:
            return None
        after = len(known) if time is None else bisect_right(self.times[name], time)
        return known[min(after, len(known) - 1) if is_next_first else max(after - 1, 0)]

    def from_snapshots(self, generation: Generation, *, is_next_first: bool = False) -> Counts:
        known_topics = [self.at(name, generation.time, is_next_first=is_next_first) for name in generation.topics]
        numbers = generation.lower_bounds.copy()
        num_inferred = 0
        for at, known in enumerate(known_topics):
            if known is None:
                num_inferred += int(numbers[at])
            else:
                numbers[at] = known.topic.partitions
        is_from_snapshot = not num_inferred and any(known is not None for known in known_topics)
        source = PartitionCountsSource.SNAPSHOT if is_from_snapshot else PartitionCountsSource.INFERRED
        racks = None
        if any(known is not None and known.topic.racks is not None for known in known_topics):
            racks = [None if known is None else known.topic.racks for known in known_topics]
        label = "with partition counts of the next snapshot" if is_next_first else None
        return Counts(numbers, source, racks, label, are_believed(generation, num_inferred))

    def candidates(self, first: Counts, generation: Generation, before: Mapping[str, int]) -> Iterator[Counts]:
        """Each different candidate once, in the order in which they are tried. `before`: numbers of the previous
        generation."""
        bounds = generation.lower_bounds
        had = np.array([before.get(name, 0) for name in generation.topics], np.int64)
        is_believed = are_believed(generation, int(bounds[bounds > had].sum()))
        remembered = Counts(
            np.maximum(had, bounds), PartitionCountsSource.INFERRED, None, "topics as before", is_believed
        )
        tried: set[bytes] = set()
        for counts in (
            first,
            self.from_snapshots(generation, is_next_first=True),
            inferred_counts(generation),
            remembered,
            *left_out_counts(generation, first),
        ):
            if counts.are_possible and counts.numbers.tobytes() not in tried:
                tried.add(counts.numbers.tobytes())
                yield counts

    def floor(self, generation: Generation, before: Mapping[str, int]) -> Numbers:
        """Lower bounds, since topics only grow: from snapshots up to then, else from the previous generation."""
        time, lower_bounds = generation.time, []
        for name in generation.topics:
            known = self.at(name, time)
            is_earlier = known is not None and time is not None and known.first_time <= time
            lower_bounds.append(known.topic.partitions if known is not None and is_earlier else before.get(name, 0))
        return np.array(lower_bounds, np.int64)


def inferred_counts(generation: Generation) -> Counts:
    """One more than the highest partition that is assigned or claimed. Partitions without an owner are not counted."""
    bounds = generation.lower_bounds
    is_believed = are_believed(generation, int(bounds.sum()))
    return Counts(bounds, PartitionCountsSource.INFERRED, None, "topics as assigned", is_believed)


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


# -- releases of Kafka's clients


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


# -- releases of librdkafka

# Subscriptions of librdkafka have version 3 since 2.2.0, and before that version 1 since 1.6.0.
FIRST_LIBRARY_VERSION: Final = 1
LIBRARY_ASSIGNORS: Final = {
    "range": librdkafka.ranges,
    "roundrobin": librdkafka.in_circles,
    COOPERATIVE: librdkafka.cooperative_sticky,
}
# Kafka's brokers answer in one of these; the last one is for others.
LIKELY_ORDERS: Final = frozenset(text for text, _ in TOPIC_ORDERS[:-1])


@dataclass(frozen=True)
class LibraryLine:
    """Releases of librdkafka whose assignor gives the same answers."""

    name: str
    rules: Rules


NEWEST: Final = Rules()
# Newest first.
STICKY_LIBRARY_LINES: Final = (
    LibraryLine("2.6.1 and later", NEWEST),
    LibraryLine("2.2.0-2.6.0", Rules(skips_members=True)),
)
PLAIN_LIBRARY_LINES: Final = (LibraryLine("2.2.0 and later", NEWEST),)
# 1.6 has other defects, and its subscriptions are the same.
OLD_LIBRARY_LINES: Final = (LibraryLine("1.7.0-2.1.1", Rules(has_generations=False, skips_members=True)),)


def library_lines_of(generation: Generation) -> Sequence[LibraryLine]:
    """By the leader's own subscription; none if it cannot be of a release that is known."""
    if generation.leader_at is None or generation.protocol not in LIBRARY_ASSIGNORS:
        return ()
    version = generation.versions[generation.leader_at]
    if version < FIRST_LIBRARY_VERSION or not generation.libraries & LIBRDKAFKA:
        return ()
    if version < FIRST_NEW_VERSION:
        return OLD_LIBRARY_LINES
    return STICKY_LIBRARY_LINES if generation.protocol == COOPERATIVE else PLAIN_LIBRARY_LINES


@dataclass(frozen=True)
class LibraryVariant:
    line: LibraryLine
    counts: Counts
    topic_order: str | None
    # Nothing is wrong with an older release's answer, as far as it is known.
    is_newest: ClassVar[bool] = True

    @property
    def text(self) -> str:
        parts = (f"librdkafka {self.line.name}", self.topic_order, self.counts.label)
        return "; ".join(part for part in parts if part is not None)


def is_input_known(generation: Generation) -> bool:
    """Whether what the library assigns follows from the record and numbers of partitions."""
    if generation.leader_at is None or generation.versions[generation.leader_at] < FIRST_NEW_VERSION:
        return False
    # All generations below 0 are one for the audit, but not for the library.
    claimants = np.unique(generation.owned.members)
    if (generation.generation_ids[claimants] < 0)[generation.versions[claimants] >= FIRST_NEW_VERSION].any():
        return False
    if generation.protocol == "roundrobin" or not any(generation.racks):
        is_static = [instance is not None for instance in generation.instances]
        return generation.protocol == COOPERATIVE or all(is_static) or not any(is_static)
    return False


# -- tries


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


def search(
    generation: Generation, candidates: Sequence[Counts], last_line: str | None, before: int | None,
    first: TriedVariant | None = None,
) -> TriedVariant:  # fmt: skip
    """The first variant that gives the record, in the fixed order; else the closest one. `last_line`: the line that
    gave the group's previous generation; `before`: the number of that generation; `first`: the first try, if made."""
    if first is None or first.variant.counts is not candidates[0]:
        first = try_variant(generation, first_variant(generation, candidates[0]))
    of_library = () if first.is_same else try_librdkafka(generation, candidates, last_line)
    tried = [first, *of_library]
    for variant in other_variants(generation, candidates, last_line, before):
        if tried[-1].is_same:
            break
        tried.append(try_variant(generation, variant))
    closest = best(tried)
    return closest if closest.is_reproduced or not of_library else answer_of_librdkafka(generation, of_library)


def first_variant(generation: Generation, counts: Counts) -> Variant:
    return Variant(lines_of(generation)[0], counts)


def other_variants(
    generation: Generation, candidates: Sequence[Counts], last_line: str | None, before: int | None
) -> Iterator[Variant]:
    """All but the first."""
    first_line, *_ = lines = lines_of(generation)
    lines = sorted(lines, key=lambda line: line.name != last_line)
    # A leader remembers the newest generation that it ever saw. This matters if all members are at an older one.
    memories: Sequence[int] = (ABSENT,)
    if generation.protocol in STICKY and before is not None:
        group = group_of(generation, first_variant(generation, candidates[0]))
        memories = memories if are_subscriptions_equal(group) else (ABSENT, before)
    for counts in candidates:
        for is_without_racks in (False, True) if counts.racks is not None and any(generation.racks) else (False,):
            for memory, line in product(memories, lines):
                # Older releases never look at racks.
                is_sensible = not is_without_racks or line.release >= RACKS_SINCE
                is_first = line is first_line and counts is candidates[0] and memory == ABSENT
                if is_sensible and (is_without_racks or not is_first):
                    yield Variant(line, counts, memory, is_without_racks)


def try_variant(generation: Generation, variant: Variant) -> TriedVariant:
    group = group_of(generation, variant)
    answer = ASSIGNORS[GroupProtocol.CLASSIC, generation.protocol or ""].answer(group)
    if isinstance(answer, AssignorFailed):
        return TriedVariant(variant, None, None, str(answer))
    written = as_written(group, answer)
    return TriedVariant(variant, compare(generation.members, generation.topics, generation.assigned, written), written)


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
    """Which of an assignor's algorithms the input needs."""
    if isinstance(variant, LibraryVariant):
        return Algorithm.GENERAL if generation.protocol == COOPERATIVE else Algorithm.PLAIN
    if generation.protocol not in STICKY:
        is_by_racks = generation.protocol == "range" and is_rack_aware(group_of(generation, variant))
        return Algorithm.RACK_AWARE if is_by_racks else Algorithm.PLAIN
    if variant.line.release < EQUAL_WAY_SINCE:
        return Algorithm.GENERAL
    is_equal = len(generation.topics_of_class) == 1 or are_subscriptions_equal(group_of(generation, variant))
    return Algorithm.CONSTRAINED if is_equal else Algorithm.GENERAL


def try_librdkafka(
    generation: Generation, candidates: Sequence[Counts], last_line: str | None
) -> Sequence[TriedVariant]:
    """None if the leader cannot use the library. The last one gives the record, if any does."""
    lines = sorted(library_lines_of(generation), key=lambda line: line.name != last_line)
    tried: list[TriedVariant] = []
    if not lines:
        return tried
    members = members_of(generation)
    orders: dict[tuple[str, ...], str | None] = {}
    for text, order in TOPIC_ORDERS:
        orders.setdefault(tuple(order(members)), text)
    for counts, line, (topics, text) in product(candidates, lines, orders.items()):
        variant = LibraryVariant(line, counts, text)
        try:
            rows = library_answer(generation, members, variant, topics)
        except Undecidable as failure:
            tried.append(TriedVariant(variant, None, None, str(failure)))
            continue
        compared = compare(generation.members, generation.topics, generation.assigned, rows)
        tried.append(TriedVariant(variant, compared, rows))
        if tried[-1].is_same:
            break
    return tried


def library_answer(
    generation: Generation, members: Sequence[GroupMember], variant: LibraryVariant, topics: Sequence[str]
) -> Rows:
    """`topics`: in the order in which the leader may have seen them."""
    counts = dict(zip(generation.topics, variant.counts.numbers.tolist(), strict=True))
    if any(name.startswith("^") for name in topics):
        raise Undecidable("the leader takes a name that begins with ^ for a pattern")
    if generation.protocol == COOPERATIVE and (generation.versions < FIRST_LIBRARY_VERSION).any():
        raise Undecidable("the library fails if a subscription has no list of owned partitions")
    group = librdkafka.LibraryGroup(members, {name: counts[name] for name in topics}, variant.line.rules)
    lists = LIBRARY_ASSIGNORS[str(generation.protocol)](group)
    numbers = {name: at for at, name in enumerate(generation.topics)}
    return Rows.of_lists(
        [[(numbers[topic], each) for topic, each in lists.get(member_id, ())] for member_id in generation.members]
    )


def members_of(generation: Generation) -> list[GroupMember]:
    """The library passes over members without topics."""
    names = generation.topics
    listed = [[names[at] for at in topics.tolist()] for topics in generation.topics_of_class]
    owned = [[(names[topic], each) for topic, each in own] for own in generation.owned.lists(len(generation.members))]
    fields = zip(
        generation.members, generation.instances, generation.class_of_member.tolist(), owned,
        generation.generation_ids.tolist(), strict=True,
    )  # fmt: skip
    return [GroupMember(who, instance, listed[k], own, number) for who, instance, k, own, number in fields if listed[k]]


def answer_of_librdkafka(generation: Generation, tried: Sequence[TriedVariant]) -> TriedVariant:
    """The closest to the record. It is undecided if the library's answer depends on what is in no record: if the likely
    orders of topics give different sets, for one."""
    first = tried[0].variant
    sets = {
        frozenset(each.rows.triples())
        for each in tried
        if each.rows is not None and isinstance(each.variant, LibraryVariant)
        and each.variant.line is first.line and each.variant.counts is first.counts
        and each.variant.topic_order in LIKELY_ORDERS
    }  # fmt: skip
    are_decided = all(each.rows is not None for each in tried) and len(sets) == 1
    closest = best(tried)
    if are_decided and is_input_known(generation):
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
