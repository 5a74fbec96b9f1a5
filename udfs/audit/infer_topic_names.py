"""Infers the names of topic ids that no record and no snapshot names, as far as the log proves them.

Consumer and share groups of 4.1 and later name topics by id, their members by name. Each target assignment shows which
ids belong to topics that members subscribe to, and how many partitions these have: every partition has an owner. The
hash in the group's record shows which id has which name, since it matches only for the right pairing. So does a group
in which one name and one id are left. If neither does, numbers of partitions may leave one pairing only. Names proved
by one group help with others, so this repeats until nothing new is found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from schemas.words.history import Confidence, TopicSource
from udfs.audit.counted_names import CommittedPartitions, CountedTarget, Reign, common_names
from udfs.audit.hashed_names import Choice, Choices, HashSearch

# Reads what was committed of topics with these names.
ReadCommitted = Callable[[set[str]], CommittedPartitions]


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


def names_by_id(
    computed: Sequence[TargetNames], known: Mapping[str, str], read: ReadCommitted | None = None
) -> dict[str, InferredName]:
    """Names by id, for ids that are not `known`. The order of targets does not change the result. `read`: called only
    if ids are left that nothing else names."""
    inferred: dict[str, InferredName] = {}
    refuted: set[str] = set()
    search = HashSearch()
    ordered = sorted(set(computed), key=lambda each: (each.time or 0, repr(each)))
    counted = CountedNames(ordered, read) if read is not None else None
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


def agreeing(candidates: Iterable[tuple[str, InferredName]], refuted: set[str]) -> dict[str, InferredName]:
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


def by_hash(
    computed: Sequence[TargetNames], known: Mapping[str, str], search: HashSearch
) -> Iterator[tuple[str, InferredName]]:
    choices: list[tuple[Choices, int]] = []
    wanted: defaultdict[Choices, set[int]] = defaultdict(set)
    for each in computed:
        if each.metadata_hash is not None and (its_choices := choices_of(each, known)):
            choices.append((its_choices, each.metadata_hash))
            wanted[its_choices].add(each.metadata_hash)
    topics = search.topics_of(wanted)
    for its_choices, its_hash in choices:
        for topic in topics[its_choices].get(its_hash, ()):
            if topic.topic_id is not None and topic.topic_id not in known:
                yield (
                    topic.topic_id,
                    InferredName(topic.name, TopicSource.METADATA_HASH, Confidence.CERTAIN, topic.partitions),
                )


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


def possible_names(of: TargetNames, known: Mapping[str, str]) -> dict[str, list[str]]:
    """Possible names of ids without a name: two ids of one target have different names."""
    taken = {known[topic_id] for topic_id, _ in of.counts if topic_id in known}
    return {
        topic_id: [name for name in names if name not in taken]
        for topic_id, names in of.possible
        if topic_id not in known
    }


# By what is left


def by_elimination(
    computed: Iterable[TargetNames], known: Mapping[str, str], likely: AbstractSet[str]
) -> Iterator[tuple[str, InferredName]]:
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
        self.read = read
        self.committed: CommittedPartitions | None = None
        # By what targets show: the names that it leaves.
        self.tried: dict[CountedTarget, Mapping[str, str] | None] = {}

    def names(self, known: Mapping[str, str], refuted: set[str]) -> Iterator[tuple[str, InferredName]]:
        """Adds to `refuted` the ids of targets that contradict the commits or each other."""
        found = [(left, self.names_in(of, reign, left)) for of, reign in self.computed if (left := asked_in(of, known))]
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
        target = CountedTarget(
            tuple((topic_id, count) for topic_id, count in of.counts if topic_id in left),
            tuple((topic_id, tuple(names)) for topic_id, names in left.items()),
            tuple((name, self.least(name, reign)) for name in sorted({*chain(*left.values())})),
        )
        if target not in self.tried:
            self.tried[target] = common_names(target)
        return self.tried[target]

    def fits(self, topic_id: str, name: str) -> bool:
        """Whether no target contradicts the name."""
        return all(
            name in names and self.least(name, reign) <= dict(of.counts)[topic_id]
            for of, reign in self.computed
            if (names := dict(of.possible).get(topic_id)) is not None
        )

    def least(self, name: str, reign: Reign) -> int:
        if self.committed is None:
            self.committed = self.read({name for each, _ in self.computed for name in each.names})
        return self.committed.least(name, reign)


def asked_in(of: TargetNames, known: Mapping[str, str]) -> dict[str, list[str]]:
    """A name that another id has may be that of a topic which was deleted: then numbers say nothing."""
    left = possible_names(of, known)
    return left if {*chain(*left.values())}.isdisjoint(known.values()) else {}
