"""Infers the names of topic ids that no record and no snapshot names, as far as the log proves them.

Consumer and share groups of 4.1 and later name topics by id, their members by name. Each target assignment shows which
ids belong to topics that members subscribe to, and how many partitions these have: every partition has an owner. The
hash in the group's record shows which id has which name, since it matches only for the right pairing. So does a group
in which one name and one id are left. Names proved by one group help with others, so this repeats until nothing new is
found.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from schemas.words.history import Confidence, TopicSource
from udfs.assignors.questions.specs import Topic
from udfs.topics.metadata_hash import group_hash

# Pairings of names and ids that are tried for one hash, each with the numbers of partitions that the targets show.
MOST_PAIRINGS = 40_320
# Limits: more partitions than any member was assigned are tried up to this number, with this many hashes in total.
MOST_BEYOND = 8


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
    ordered = sorted(set(computed), key=lambda each: (each.time or 0, repr(each)))
    while True:
        names = {**known, **{topic_id: each.name for topic_id, each in inferred.items()}}
        new = agreeing(by_hash(ordered, names), refuted) or agreeing(by_elimination(ordered, names), refuted)
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


def by_hash(computed: Iterable[TargetNames], known: Mapping[str, str]) -> Iterator[tuple[str, InferredName]]:
    for each in computed:
        if each.metadata_hash is None or all(topic_id in known for topic_id, _ in each.counts):
            continue
        for topic in matching(each, known) or ():
            if topic.topic_id is not None and topic.topic_id not in known:
                yield (
                    topic.topic_id,
                    InferredName(topic.name, TopicSource.METADATA_HASH, Confidence.CERTAIN, topic.partitions),
                )


def matching(of: TargetNames, known: Mapping[str, str]) -> list[Topic] | None:
    """The only pairing whose hash is the group's."""
    tried = 0
    for pairing in islice(pairings(of, known), MOST_PAIRINGS):
        topics = [Topic(pairing[topic_id], count, topic_id) for topic_id, count in of.counts]
        if group_hash(topics) == of.metadata_hash:
            return topics
        tried += 1
    if tried * MOST_BEYOND * len(of.counts) > MOST_PAIRINGS:
        return None
    for pairing in pairings(of, known):
        topics = [Topic(pairing[topic_id], count, topic_id) for topic_id, count in of.counts]
        for at, topic in enumerate(topics):
            for more in range(1, MOST_BEYOND + 1):
                wider = [*topics[:at], Topic(topic.name, topic.partitions + more, topic.topic_id), *topics[at + 1 :]]
                if group_hash(wider) == of.metadata_hash:
                    return wider
    return None


def pairings(of: TargetNames, known: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Each id with a different name; ids with few possible names first."""
    settled = {topic_id: known[topic_id] for topic_id, _ in of.counts if topic_id in known}
    if len(set(settled.values())) < len(settled):
        return
    left = possible_names(of, known)
    yield from extend_pairing(settled, sorted(left, key=lambda topic_id: (len(left[topic_id]), topic_id)), left)


def extend_pairing(
    settled: dict[str, str], ids: Sequence[str], left: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, str]]:
    if not ids:
        yield settled
        return
    taken = set(settled.values())
    for name in left[ids[0]]:
        if name not in taken:
            yield from extend_pairing({**settled, ids[0]: name}, ids[1:], left)


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
