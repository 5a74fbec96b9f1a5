"""Infers the names of topic ids that no record and no snapshot names, as far as the log proves them.

Consumer and share groups of 4.1 and later name topics by id, their members by name. Each target assignment shows which
ids belong to topics that members subscribe to, and how many partitions these have: every partition has an owner. The
hash in the group's record shows which id has which name, since it matches only for the right pairing. So does a group
in which one name and one id are left. Names proved by one group help with others, so this repeats until nothing new is
found.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.words.history import Confidence, TopicSource
from udfs.audit.hashed_names import Choice, Choices, HashSearch


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


@dataclass(frozen=True)
class InferredName:
    name: str
    source: TopicSource
    confidence: Confidence
    num_partitions: int | None = None


def names_by_id(computed: Sequence[TargetNames], known: Mapping[str, str]) -> dict[str, InferredName]:
    """Names by id, for ids that are not `known`. The order of targets does not change the result."""
    inferred: dict[str, InferredName] = {}
    refuted: set[str] = set()
    search = HashSearch()
    ordered = sorted(set(computed), key=lambda each: (each.time or 0, repr(each)))
    while True:
        names = {**known, **{topic_id: each.name for topic_id, each in inferred.items()}}
        new = agreeing(by_hash(ordered, names, search), refuted) or agreeing(by_elimination(ordered, names), refuted)
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


def by_elimination(computed: Iterable[TargetNames], known: Mapping[str, str]) -> Iterator[tuple[str, InferredName]]:
    """The most certain first, so that nothing less certain can rule it out."""
    for is_whole, confidence in ((True, Confidence.CERTAIN), (False, Confidence.LIKELY)):
        candidates = [
            (topic_id, InferredName(names[0], TopicSource.SINGLE_SUBSCRIPTION, confidence))
            for each in computed
            if each.is_whole == is_whole
            for topic_id, names in possible_names(each, known).items()
            if len(names) == 1
        ]
        if candidates:
            yield from candidates
            return
