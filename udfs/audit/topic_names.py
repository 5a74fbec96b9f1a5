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
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice, product
from math import prod
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from schemas.words.history import Confidence, TopicSource
from udfs.arrays.nullable import numbers
from udfs.arrays.texts import listed
from udfs.assignors.java.maps import java_sorted
from udfs.assignors.questions import Topic
from udfs.audit.modern.topics import pairings
from udfs.topics.metadata_hash import hash_of, packed_hash

# Pairings that are hashed for one target, each with the numbers of partitions that the target shows.
MOST_PAIRINGS = 40_320
# For all targets of a log: where brokers have racks, these are hashed too, and no pairing has the hash.
MOST_PAIRINGS_OF_ALL = 25 * MOST_PAIRINGS
# Names that are tried for an id to find these pairings: names may fit together in no way.
MOST_NAMES = 25 * MOST_PAIRINGS
# Limits: more partitions than any member was assigned are hashed up to this number, with this many hashes in total.
MOST_BEYOND = 8
# Names that are tried for an id, over all pairings of one target that numbers of partitions may decide.
MOST_TRIED = 40_320
# Members of consumer groups ask at least this often for a new target. It is the default of the brokers' setting
# group.consumer.max.heartbeat.interval.ms.
NOTICED_WITHIN = 15_000_000


class Reign(NamedTuple):
    """While a target is in force, in microseconds. `until` is None if nothing has ended it."""

    since: int
    until: int | None = None


@dataclass(frozen=True)
class TargetNames:
    """What a target assignment shows. `is_whole`: no earlier record of the group is missing."""

    names: tuple[str, ...]
    # By id, one more than the highest partition that members have.
    counts: tuple[tuple[str, int], ...]
    # By id, names that all its owners subscribe to.
    possible: tuple[tuple[str, tuple[str, ...]], ...]
    metadata_hash: int | None
    is_whole: bool
    time: int | None = None
    # While no record shows that its topics may have changed; None: unknown.
    reign: Reign | None = None


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
    ordered = sorted(set(computed), key=lambda each: (each.time or 0, repr(each)))
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


def possible_names(of: TargetNames, known: Mapping[str, str]) -> dict[str, list[str]]:
    """Possible names of ids without a name: two ids of one target have different names."""
    taken = {known[topic_id] for topic_id, _ in of.counts if topic_id in known}
    return {
        topic_id: [name for name in names if name not in taken]
        for topic_id, names in of.possible
        if topic_id not in known
    }


# By the hash


class Choice(NamedTuple):
    """Names that an id may have, and how many partitions its target shows."""

    topic_id: str
    num_partitions: int
    names: tuple[str, ...]


Choices = tuple[Choice, ...]


def by_hash(computed: Sequence[TargetNames], known: Mapping[str, str], search: "HashSearch") -> Iterator[Inferred]:
    choices = [(choices_of(each, known), each.metadata_hash) for each in computed if each.metadata_hash is not None]
    wanted: defaultdict[Choices, set[int]] = defaultdict(set)
    for its_choices, its_hash in choices:
        if its_choices:
            wanted[its_choices].add(its_hash)
    topics = search.topics_of(wanted)
    for its_choices, its_hash in choices:
        for topic in topics.get(its_choices, {}).get(its_hash, ()):
            if topic.topic_id is not None and topic.topic_id not in known:
                name = InferredName(topic.name, TopicSource.METADATA_HASH, Confidence.CERTAIN, topic.partitions)
                yield topic.topic_id, name


def choices_of(of: TargetNames, known: Mapping[str, str]) -> Choices:
    """Ids with few possible names first; none where all names are known, or two ids have the same name."""
    named = [known[topic_id] for topic_id, _ in of.counts if topic_id in known]
    if len(named) == len(of.counts) or len(set(named)) < len(named):
        return ()
    left = possible_names(of, known)
    choices = [
        # Without a name if only the group's own records name it: then nothing matches.
        Choice(topic_id, count, (known[topic_id],) if topic_id in known else tuple(left.get(topic_id, ())))
        for topic_id, count in of.counts
    ]
    return tuple(sorted(choices, key=lambda each: (len(each.names), each.topic_id)))


@dataclass
class HashSearch:
    """Finds the topics of hashes, and searches for the same ones only once."""

    pairings_left: int = MOST_PAIRINGS_OF_ALL
    # By choices and wanted hashes: what an earlier search gave.
    known: dict[tuple[Choices, frozenset[int]], Mapping[int, list[Topic]]] = field(default_factory=dict)

    def topics_of(self, wanted: Mapping[Choices, AbstractSet[int]]) -> dict[Choices, Mapping[int, list[Topic]]]:
        """By hash, the topics that have it. Those with few pairings first, since the number of all is limited."""
        in_order = sorted(wanted, key=lambda each: (prod(len(one.names) for one in each), repr(each)))
        keys = [(choices, frozenset(wanted[choices])) for choices in in_order]
        for key in keys:
            if key not in self.known:
                self.known[key] = self.search(*key)
        return {key[0]: self.known[key] for key in keys}

    def search(self, choices: Choices, wanted: AbstractSet[int]) -> dict[int, list[Topic]]:
        """First with the numbers of partitions that the target shows. Then one of the topics has partitions that no
        member was assigned."""
        names = sorted({name for each in choices for name in each.names})
        rank = {names[at]: place for place, at in enumerate(java_sorted(names))}

        @cache
        def hashed(at: int, name: str, more: int) -> tuple[int, bytes, Topic]:
            topic = Topic(name, choices[at].num_partitions + more, choices[at].topic_id)
            return rank[name], packed_hash(topic), topic

        def compare(pairing: Sequence[str], wider: int = -1, more: int = 0) -> None:
            """The group's hash has its topics in Java's order of their names."""
            slots = sorted([hashed(at, name, more if at == wider else 0) for at, name in enumerate(pairing)])
            if (its_hash := hash_of([packed for _, packed, _ in slots])) in left:
                left.remove(its_hash)
                found[its_hash] = [topic for _, _, topic in slots]

        found: dict[int, list[Topic]] = {}
        left, tried, most = set(wanted), 0, min(MOST_PAIRINGS, self.pairings_left)
        ways = [each.names for each in choices]
        for pairing in islice(pairings(ways, MOST_NAMES), most):
            if pairing is None:
                # Names that fit together in no way cost as much as pairings.
                tried = most
                break
            tried += 1
            compare(pairing)
            if not left:
                break
        self.pairings_left -= tried
        beyond = tried * MOST_BEYOND * len(choices)
        if left and tried < most and beyond <= min(MOST_PAIRINGS, self.pairings_left):
            self.pairings_left -= beyond
            for pairing in pairings(ways, MOST_NAMES):
                for at, more in product(range(len(choices)), range(1, MOST_BEYOND + 1)):
                    compare(pairing or (), at, more)
        return found


# By what is left


def by_elimination(
    computed: Iterable[TargetNames], known: Mapping[str, str], likely: AbstractSet[str]
) -> Iterator[Inferred]:
    """The most certain first, so that nothing less certain can rule it out. `likely`: ids whose known names are no
    more than that."""
    for is_certain, confidence in ((True, Confidence.CERTAIN), (False, Confidence.LIKELY)):
        candidates = [
            (topic_id, InferredName(names[0], TopicSource.SINGLE_SUBSCRIPTION, confidence))
            for each in computed
            if (each.is_whole and likely.isdisjoint(dict(each.counts))) == is_certain
            for topic_id, names in possible_names(each, known).items()
            if len(names) == 1
        ]
        if candidates:
            yield from candidates
            return


# By numbers of partitions


class CountedNames:
    """Reads what was committed once, of all names that may be needed."""

    def __init__(self, computed: Sequence[TargetNames], read: ReadCommitted) -> None:
        self.computed = [(each, each.reign) for each in computed if each.reign is not None]
        self.read = cache(lambda: read({name for each, _ in self.computed for name in each.names}))
        self.common_names = cache(common_names)

    def least(self, name: str, reign: Reign) -> int:
        return self.read().least(name, reign)

    def names(self, known: Mapping[str, str], refuted: set[str]) -> Iterator[Inferred]:
        """Adds to `refuted` the ids of targets that contradict the commits or each other."""
        found = []
        for of, reign in self.computed:
            left = possible_names(of, known)
            # A name that another id has may be that of a topic which was deleted: then numbers say nothing.
            if left and {*chain(*left.values())}.isdisjoint(known.values()):
                found.append((left, self.names_in(of, reign, left)))
        ids_of: defaultdict[str, set[str]] = defaultdict(set)
        for _, names in found:
            for topic_id, name in (names or {}).items():
                ids_of[name].add(topic_id)
        wrong = {topic_id for left, names in found if names is None for topic_id in left}
        for name, ids in ids_of.items():
            wrong |= {each for each in ids if len(ids) > 1 or not self.fits(each, name)}
        for left, _ in found:
            # One wrong name leaves the others of the pairing without proof.
            if not wrong.isdisjoint(left):
                refuted.update(left)
        for _, names in found:
            for topic_id, name in (names or {}).items():
                yield topic_id, InferredName(name, TopicSource.PARTITION_COUNTS, Confidence.LIKELY)

    def names_in(self, of: TargetNames, reign: Reign, left: Mapping[str, list[str]]) -> Mapping[str, str] | None:
        least = {name: self.least(name, reign) for name in {*chain(*left.values())}}
        fitting = {
            topic_id: tuple(name for name in left[topic_id] if least[name] <= count)
            for topic_id, count in of.counts
            if topic_id in left
        }
        # Ids with few names first: most ways end soon.
        in_order = sorted(fitting.items(), key=lambda each: (len(each[1]), each[0]))
        return self.common_names(tuple(in_order), frozenset(name for name, number in least.items() if number))

    def fits(self, topic_id: str, name: str) -> bool:
        """Whether no target contradicts the name."""
        return all(
            name in names and self.least(name, reign) <= dict(of.counts)[topic_id]
            for of, reign in self.computed
            if (names := dict(of.possible).get(topic_id)) is not None
        )


def common_names(fitting: Sequence[tuple[str, Sequence[str]]], needed: AbstractSet[str]) -> dict[str, str] | None:
    """The names that ids have in all pairings; None: there is no pairing. Topics that exist are assigned as a whole, so
    each pairing has all names with commits: those that are `needed`."""
    found: list[set[str]] = [set() for _ in fitting]
    for pairing in pairings([names for _, names in fitting], MOST_TRIED):
        if pairing is None:
            return {}
        if needed <= {*pairing}:
            for names, name in zip(found, pairing, strict=True):
                names.add(name)
            if all(len(names) > 1 for names in found):
                return {}
    if not all(found):
        return None
    return {topic_id: next(iter(names)) for (topic_id, _), names in zip(fitting, found, strict=True) if len(names) == 1}
