"""Infers the names of topic ids that no record and no snapshot names, as far as the log proves them.

Consumer and share groups of 4.1 and later name topics by id, their members by name. Each target assignment shows which
ids belong to topics that members subscribe to, and how many partitions these have: every partition has an owner. There
are three proofs, from the most certain one to the least:

- The hash in the group's record matches only for the right pairing of names and ids.
- One name is left for an id.
- Brokers take commits by name only of partitions that exist, so a topic has no fewer than were committed. What all
  pairings have in common that fit these numbers is likely.

Names proved by one group help with others, so this repeats until nothing new is found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, product
from math import prod
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from schemas.words.history import Confidence, TopicSource
from udfs.arrays.nullable import numbers
from udfs.arrays.texts import listed
from udfs.assignors.java.maps import java_sorted
from udfs.assignors.questions import Topic
from udfs.topics.metadata_hash import hash_of, packed_hash

# Names that are tried for one target to find its hash, about a second's work: all pairings of 8 names with 8 ids are
# fewer. And for all targets of a log: where brokers have racks, these are hashed too, and no pairing has the hash.
MOST_NAMES = 1_000_000
MOST_NAMES_OF_ALL = 25 * MOST_NAMES
# The same for one target whose names numbers of partitions may decide.
MOST_COUNTED = 240_000
# One topic may have up to so many partitions more than any member was assigned.
MOST_BEYOND = 8
# Members of consumer groups ask at least this often for a new target. It is the default of the brokers' setting
# group.consumer.max.heartbeat.interval.ms.
NOTICED_WITHIN = 15_000_000


class Reign(NamedTuple):
    """While a target is in force, in microseconds. `until` is None if nothing has ended it."""

    since: int
    until: int | None = None


@dataclass(frozen=True)
class TargetNames:
    """What the records of a target assignment show of names and ids of its topics. `is_whole`: no earlier record of
    the group is missing."""

    # That members subscribe to.
    names: tuple[str, ...]
    # By id, one more than the highest partition that members have.
    counts: Mapping[str, int]
    # By id without a name, those that all its owners subscribe to, sorted.
    possible: Mapping[str, Sequence[str]]
    metadata_hash: int | None
    is_whole: bool
    time: int | None = None
    # While no record shows that its topics may have changed; None: unknown.
    reign: Reign | None = None

    def left(self, known: Mapping[str, str]) -> dict[str, list[str]]:
        """Possible names of ids that are not `known`: two ids of one target have different names."""
        taken = {known[topic_id] for topic_id in self.counts if topic_id in known}
        return {
            topic_id: [name for name in names if name not in taken]
            for topic_id, names in self.possible.items()
            if topic_id not in known
        }


class TooManyNames(Exception):
    """There are more names to try than are worth the time."""


@dataclass
class Work:
    """How many names may still be tried."""

    left: int

    def spend(self, names: int = 1) -> None:
        self.left -= names
        if self.left < 0:
            raise TooManyNames


def pairings(choices: Sequence[Sequence[str]], work: Work) -> Iterator[list[str]]:
    """One name of each choice, never the same one twice, in the order of the choices. It is always the same list.
    Raises `TooManyNames`: names may also fit together in no way."""
    if not choices:
        yield []
        return
    # Of the choices so far, what is left to try. No recursion: a target may have thousands of ids without a name.
    picked: dict[str, None] = {}
    left = [iter(choices[0])]
    while left:
        name = next(left[-1], None)
        if name is None:
            left.pop()
            if picked:
                picked.popitem()
            continue
        work.spend()
        if name in picked:
            continue
        picked[name] = None
        if len(picked) < len(choices):
            left.append(iter(choices[len(picked)]))
        else:
            yield [*picked]
            picked.popitem()


@dataclass(frozen=True)
class InferredName:
    name: str
    source: TopicSource
    confidence: Confidence
    num_partitions: int | None = None


Inferred = tuple[str, InferredName]


@dataclass
class CommittedPartitions:
    """Partitions that were committed by name alone, each with the times of its first and its last commit."""

    # By name: partitions, the highest first, with both times in columns.
    by_name: Mapping[str, np.ndarray] = field(default_factory=dict)

    def least(self, name: str, during: Reign) -> int:
        """How many partitions the topic had at least; 0 if nothing shows that it existed.

        Two numbers are compared that may be of different times. So only commits count that were possible while the
        target was in force, and not shortly before it ended: a topic that has just grown may be committed by another
        group before this group has a new target.
        """
        if (of_topic := self.by_name.get(name)) is None:
            return 0
        partition, first, last = of_topic
        there = last >= during.since
        if during.until is not None:
            there &= first <= during.until - NOTICED_WITHIN
        at = int(np.argmax(there))
        return int(partition[at]) + 1 if there[at] else 0


# Reads what was committed of topics with these names.
ReadCommitted = Callable[[set[str]], CommittedPartitions]


def committed_partitions(rows: pa.Table) -> CommittedPartitions:
    """`rows`: topic, partition, first_time and last_time, in any order."""
    by_name: dict[str, list[int]] = {}
    for row, name in enumerate(listed(rows["topic"])):
        by_name.setdefault(name, []).append(row)
    columns = np.array([numbers(rows[name]) for name in ("partition", "first_time", "last_time")])
    order = {name: sorted(of, key=lambda row: -columns[0, row]) for name, of in by_name.items()}
    return CommittedPartitions({name: columns[:, of] for name, of in order.items()})


def names_by_id(
    computed: Sequence[TargetNames], known: Mapping[str, str], read: ReadCommitted | None = None
) -> dict[str, InferredName]:
    """Names by id, for ids that are not `known`. The order of targets does not change the result. `read`: called only
    if ids are left that nothing else names."""
    inferred: dict[str, InferredName] = {}
    refuted: set[str] = set()
    texts = {repr(each): each for each in computed}
    ordered = [texts[text] for text in sorted(texts, key=lambda text: (texts[text].time or 0, text))]
    search, counted = HashSearch(), None if read is None else CountedNames(ordered, read)
    while True:
        names = {**known, **{topic_id: each.name for topic_id, each in inferred.items()}}
        likely = {topic_id for topic_id, each in inferred.items() if each.confidence != Confidence.CERTAIN}
        new = agreeing(by_hash(ordered, names, search), refuted)
        new = new or agreeing(by_elimination(ordered, names, likely), refuted)
        if not new and counted is not None:
            new = agreeing([*counted.names(names, refuted)], refuted)
        if not new:
            return inferred
        inferred |= new


def agreeing(candidates: Iterable[Inferred], refuted: set[str]) -> dict[str, InferredName]:
    """Names that no two sources contradict; for the same name the most certain source, then the newest."""
    inferred: dict[str, InferredName] = {}
    for topic_id, each in candidates:
        other = inferred.setdefault(topic_id, each)
        if other.name != each.name:
            refuted.add(topic_id)
        elif each.confidence == Confidence.CERTAIN:
            inferred[topic_id] = each
    return {topic_id: each for topic_id, each in inferred.items() if topic_id not in refuted}


# By the hash


class Choice(NamedTuple):
    """Names that an id may have, and how many partitions its target shows."""

    topic_id: str
    num_partitions: int
    names: tuple[str, ...]


Choices = tuple[Choice, ...]


def by_hash(computed: Sequence[TargetNames], known: Mapping[str, str], search: "HashSearch") -> Iterator[Inferred]:
    of_targets = [(choices_of(each, known), each.metadata_hash) for each in computed if each.metadata_hash is not None]
    hashes: defaultdict[Choices, set[int]] = defaultdict(set)
    for choices, its_hash in of_targets:
        hashes[choices].add(its_hash)
    # Those with few pairings first, since the work for all is limited.
    in_order = sorted(hashes, key=lambda each: (prod(len(one.names) for one in each), repr(each)))
    topics = {choices: search.topics_of(choices, frozenset(hashes[choices])) for choices in in_order if choices}
    for choices, its_hash in of_targets:
        for topic in topics.get(choices, {}).get(its_hash, ()):
            if topic.topic_id is not None and topic.topic_id not in known:
                name = InferredName(topic.name, TopicSource.METADATA_HASH, Confidence.CERTAIN, topic.partitions)
                yield topic.topic_id, name


def choices_of(of: TargetNames, known: Mapping[str, str]) -> Choices:
    """Ids with few possible names first; none where all names are known, or two ids have the same name."""
    named = [known[topic_id] for topic_id in of.counts if topic_id in known]
    if len(named) == len(of.counts) or len(set(named)) < len(named):
        return ()
    left = of.left(known)
    choices = [
        # Without a name if only the group's own records name it: then nothing matches.
        Choice(topic_id, count, (known[topic_id],) if topic_id in known else tuple(left.get(topic_id, ())))
        for topic_id, count in of.counts.items()
    ]
    return tuple(sorted(choices, key=lambda each: (len(each.names), each.topic_id)))


@dataclass
class HashSearch:
    """Finds the topics of hashes, and searches for the same ones only once."""

    names_left: int = MOST_NAMES_OF_ALL
    # By choices and wanted hashes: what an earlier search gave.
    known: dict[tuple[Choices, frozenset[int]], Mapping[int, list[Topic]]] = field(default_factory=dict)

    def topics_of(self, choices: Choices, wanted: frozenset[int]) -> Mapping[int, list[Topic]]:
        """By hash, the topics that have it."""
        if (choices, wanted) not in self.known:
            self.known[choices, wanted] = self.search(choices, wanted)
        return self.known[choices, wanted]

    def search(self, choices: Choices, wanted: AbstractSet[int]) -> dict[int, list[Topic]]:
        """First with the numbers of partitions that the target shows. Then one of the topics has partitions that no
        member was assigned."""
        names = sorted({name for each in choices for name in each.names})
        rank = {names[at]: place for place, at in enumerate(java_sorted(names))}
        ways = [each.names for each in choices]
        found: dict[int, list[Topic]] = {}
        most = min(MOST_NAMES, self.names_left)
        left, work = set(wanted), Work(most)

        @cache
        def hashed(at: int, name: str, more: int) -> tuple[int, bytes, Topic]:
            topic = Topic(name, choices[at].num_partitions + more, choices[at].topic_id)
            return rank[name], packed_hash(topic), topic

        def compare(pairing: Sequence[str], wider: int = -1, more: int = 0) -> None:
            """The group's hash has its topics in Java's order of their names."""
            work.spend(len(pairing))
            slots = sorted([hashed(at, name, more if at == wider else 0) for at, name in enumerate(pairing)])
            if (its_hash := hash_of([packed for _, packed, _ in slots])) in left:
                left.remove(its_hash)
                found[its_hash] = [topic for _, _, topic in slots]

        with suppress(TooManyNames):
            for pairing in pairings(ways, work):
                compare(pairing)
                if not left:
                    break
            if left and (most - work.left) * MOST_BEYOND * len(choices) <= work.left:
                for pairing in pairings(ways, work):
                    for at, more in product(range(len(choices)), range(1, MOST_BEYOND + 1)):
                        compare(pairing, at, more)
        self.names_left -= most - max(0, work.left)
        return found


# By what is left


def by_elimination(
    computed: Iterable[TargetNames], known: Mapping[str, str], likely: AbstractSet[str]
) -> list[Inferred]:
    """Only the most certain, so that nothing less certain can rule it out. `likely`: ids whose known names are no more
    than that."""
    found: dict[bool, list[Inferred]] = {True: [], False: []}
    for each in computed:
        is_certain = each.is_whole and likely.isdisjoint(each.counts)
        confidence = Confidence.CERTAIN if is_certain else Confidence.LIKELY
        for topic_id, names in each.left(known).items():
            if len(names) == 1:
                name = InferredName(names[0], TopicSource.SINGLE_SUBSCRIPTION, confidence)
                found[is_certain].append((topic_id, name))
    return found[True] or found[False]


# By numbers of partitions


class CountedNames:
    """Reads what was committed once, of all names that may be needed."""

    def __init__(self, computed: Sequence[TargetNames], read: ReadCommitted) -> None:
        self.computed = [(each, each.reign) for each in computed if each.reign is not None]
        self.read = cache(lambda: read({name for each, _ in self.computed for name in each.names}))
        self.common_names = cache(common_names)

    def names(self, known: Mapping[str, str], refuted: set[str]) -> Iterator[Inferred]:
        """Adds to `refuted` the ids of targets that contradict the commits or each other."""
        found: list[tuple[dict[str, list[str]], Mapping[str, str]]] = []
        ids_of: defaultdict[str, set[str]] = defaultdict(set)
        wrong: set[str] = set()
        for of, reign in self.computed:
            left = of.left(known)
            # A name that another id has may be that of a topic which was deleted: then numbers say nothing.
            if left and {*chain(*left.values())}.isdisjoint(known.values()):
                names = self.names_in(of, reign, left)
                wrong.update(left if names is None else ())
                found.append((left, names or {}))
                for topic_id, name in (names or {}).items():
                    ids_of[name].add(topic_id)
        for name, ids in ids_of.items():
            wrong |= {each for each in ids if len(ids) > 1 or not self.fits(each, name)}
        for left, names in found:
            # One wrong name leaves the others of the pairing without proof.
            if not wrong.isdisjoint(left):
                refuted.update(left)
            for topic_id, name in names.items():
                yield topic_id, InferredName(name, TopicSource.PARTITION_COUNTS, Confidence.LIKELY)

    def names_in(self, of: TargetNames, reign: Reign, left: Mapping[str, list[str]]) -> Mapping[str, str] | None:
        least = {name: self.read().least(name, reign) for name in {*chain(*left.values())}}
        fitting = {
            topic_id: tuple(name for name in left[topic_id] if least[name] <= count)
            for topic_id, count in of.counts.items()
            if topic_id in left
        }
        # Ids with few names first: most ways end soon.
        in_order = sorted(fitting.items(), key=lambda each: (len(each[1]), each[0]))
        return self.common_names(tuple(in_order), frozenset(name for name, number in least.items() if number))

    def fits(self, topic_id: str, name: str) -> bool:
        """Whether no target contradicts the name."""
        return all(
            name in names and self.read().least(name, reign) <= of.counts[topic_id]
            for of, reign in self.computed
            if (names := of.possible.get(topic_id)) is not None
        )


def common_names(fitting: Sequence[tuple[str, Sequence[str]]], needed: AbstractSet[str]) -> dict[str, str] | None:
    """The names that ids have in all pairings; None: there is no pairing. Topics that exist are assigned as a whole, so
    each pairing has all names with commits: those that are `needed`."""
    found: list[set[str]] = [set() for _ in fitting]
    work = Work(MOST_COUNTED)
    try:
        for pairing in pairings([names for _, names in fitting], work):
            work.spend(len(pairing))
            if needed <= {*pairing}:
                for names, name in zip(found, pairing, strict=True):
                    names.add(name)
                if all(len(names) > 1 for names in found):
                    return {}
    except TooManyNames:
        return {}
    if not all(found):
        return None
    return {topic_id: next(iter(names)) for (topic_id, _), names in zip(fitting, found, strict=True) if len(names) == 1}
