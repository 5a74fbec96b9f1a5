"""Names, ids and numbers of partitions of the topics that a consumer or share group subscribes to.

Records contain this in parts. Type 4 (before 4.1) and type 15 have all of it. From 4.1 on, targets have ids, members
have names, and a hash can confirm what snapshots say. What is still unknown is tried in the order of `options`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import NamedTuple

from schemas.words.assignments import PartitionCountsSource
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import ByLog, Facts, KnownTopic
from udfs.audit.modern.group import ModernGroup
from udfs.topics.metadata_hash import group_hash

# For a topic that the metadata lacks.
ABSENT = 0
MOST_TRIED = 6
MOST_PAIRINGS = 6
MOST_HASHED = 4096
# With a hash, this many partitions beyond the highest assigned one are tried.
MOST_BEYOND = 32


class Option(NamedTuple):
    topic: Topic
    source: PartitionCountsSource


@dataclass(frozen=True)
class TargetSubscriptions:
    """What the records of the computation itself show: names that members subscribe to, and by topic id one more than
    the highest assigned partition."""

    names: tuple[str, ...]
    counts: Mapping[str, int]
    time: int | None
    # By topic id without a name: the names that are subscribed by all members with partitions of it.
    possible: Mapping[str, frozenset[str]]


class SubscribedTopics(NamedTuple):
    topics: tuple[Topic, ...]
    source: PartitionCountsSource | None
    # Whether this is the only possibility; else others are tried.
    is_sure: bool
    by_log: ByLog
    # Some names and ids might be paired differently.
    is_mixed_up: bool = False


def findings(
    group: ModernGroup, metadata_hash: int | None, seen: TargetSubscriptions, facts: Facts
) -> Iterator[SubscribedTopics]:
    """The most likely first."""
    by_record = recorded_topics(group, metadata_hash, seen)
    if by_record is not None:
        yield SubscribedTopics(by_record, PartitionCountsSource.RECORD, True, ByLog.LISTED)
        return
    all_ = pairings(possible_names(group, seen, facts))
    choices = [[options(group, name, names.get(name), seen, facts) for name in seen.names] for names in all_]
    if metadata_hash is not None:
        for each in (*(as_targets_say(group, names, seen, facts) for names in all_), *choices):
            confirmed = confirmed_by_hash(each, metadata_hash)
            if confirmed is not None:
                group.names |= {
                    topic.topic_id: topic.name
                    for topic in confirmed
                    if topic.topic_id and topic.name not in facts.topics
                }
                yield SubscribedTopics(confirmed, PartitionCountsSource.METADATA_HASH, True, ByLog.HASH_MATCHES)
                return
    by_log = ByLog.NOTHING if metadata_hash is None else ByLog.HASH_DIFFERS
    tried: set[tuple[Topic, ...]] = set()
    for each, names in zip(choices, all_, strict=True):
        all_picks = [*islice(picks(each), MOST_TRIED), *picks(as_targets_say(group, names, seen, facts))]
        for pick in all_picks:
            topics = tuple(option.topic for option in pick)
            if topics not in tried:
                tried.add(topics)
                yield SubscribedTopics(topics, weakest(pick), False, by_log, len(choices) > 1)


def as_targets_say(
    group: ModernGroup, paired: Mapping[str, str], seen: TargetSubscriptions, facts: Facts
) -> list[list[Option]]:
    """Every partition of an existing topic has an owner, so targets show which topics exist and how many partitions
    they have."""
    ids = {name: topic_id for topic_id in seen.counts if (name := name_of(group, topic_id, facts)) is not None}
    ids |= paired
    return [[as_target_says(name, ids.get(name), seen, facts)] for name in seen.names]


def as_target_says(name: str, topic_id: str | None, seen: TargetSubscriptions, facts: Facts) -> Option:
    if topic_id is None:
        return Option(Topic(name, ABSENT), PartitionCountsSource.INFERRED)
    count = seen.counts[topic_id]
    fitting = (each.topic.racks for each in reversed(facts.topics.get(name, ())) if fits(each, topic_id, count))
    return Option(Topic(name, count, topic_id, next(fitting, None)), PartitionCountsSource.INFERRED)


def fits(known: KnownTopic, topic_id: str, count: int) -> bool:
    return known.topic.topic_id in (None, topic_id) and known.topic.partitions == count


def recorded_topics(
    group: ModernGroup, metadata_hash: int | None, seen: TargetSubscriptions
) -> tuple[Topic, ...] | None:
    """From type 4, which coordinators kept up to date until they used hashes instead."""
    if group.topics is None or group.topics.assignable is not None or metadata_hash is not None:
        return None
    by_name = {topic.name: topic for topic in group.topics.topics}
    return tuple(by_name.get(name) or Topic(name, ABSENT) for name in seen.names)


def possible_names(group: ModernGroup, seen: TargetSubscriptions, facts: Facts) -> dict[str, set[str]]:
    """Ids without a known name, with the possible ones: names that all their members subscribe to. If only one name
    remains, the group remembers it."""
    known = {name for topic_id in seen.counts if (name := name_of(group, topic_id, facts)) is not None}
    left = {
        topic_id: set(names) - known
        for topic_id, names in seen.possible.items()
        if name_of(group, topic_id, facts) is None
    }
    while any(len(names) == 1 for names in left.values()):
        topic_id = min(each for each, names in left.items() if len(names) == 1)
        (name,) = left.pop(topic_id)
        group.names[topic_id] = name
        for others in left.values():
            others.discard(name)
    return left


def pairings(possible: Mapping[str, set[str]]) -> list[dict[str, str]]:
    """All possible pairings of names and ids; only the first ones if there are many."""
    ids = sorted(possible)
    ways = (
        dict(zip(names, ids, strict=True))
        for names in islice(product(*(sorted(possible[each]) for each in ids)), MOST_HASHED)
        if len(set(names)) == len(ids)
    )
    return list(islice(ways, MOST_PAIRINGS)) or [{}]


def name_of(group: ModernGroup, topic_id: str, facts: Facts) -> str | None:
    return group.names.get(topic_id) or facts.names.get(topic_id)


def options(
    group: ModernGroup, name: str, paired_id: str | None, seen: TargetSubscriptions, facts: Facts
) -> list[Option]:
    """In this order: the newest snapshot up to then; more partitions, as far as the targets show and the next snapshot
    allows; the next snapshot; other snapshots; no such topic."""
    of_group = [topic_id for topic_id, own in group.names.items() if own == name]
    in_targets = [each for each in seen.counts if name_of(group, each, facts) == name]
    own_id = next(reversed(in_targets or of_group), paired_id)
    known = [with_id(each, own_id) for each in facts.topics.get(name, ())]
    if not known:
        ids = dict.fromkeys([*of_group, *in_targets, *([paired_id] if paired_id else [])])
        return without_snapshot(name, list(ids), seen)
    time = seen.time
    before = [each for each in known if time is not None and each.first_time <= time][::-1]
    after = [each for each in known if each not in before]
    in_order = sorted([*before, *after], key=lambda each: each.topic.topic_id not in seen.counts)
    choices = []
    for each in in_order:
        choices.append(Option(each.topic, PartitionCountsSource.SNAPSHOT))
        grown = grown_topic(each, after if each in before else (), seen, is_later=each in after)
        if grown is not None:
            choices.append(Option(grown, PartitionCountsSource.INFERRED))
    if not before or len({each.topic.topic_id for each in known}) > 1:
        choices.append(Option(Topic(name, ABSENT), PartitionCountsSource.INFERRED))
    return list(dict.fromkeys(choices))


def with_id(known: KnownTopic, topic_id: str | None) -> KnownTopic:
    """A snapshot without an id means the topic that has the name elsewhere."""
    if known.topic.topic_id is not None:
        return known
    return replace(known, topic=replace(known.topic, topic_id=topic_id))


def grown_topic(
    each: KnownTopic, after: Sequence[KnownTopic], seen: TargetSubscriptions, is_later: bool
) -> Topic | None:
    """Topics only grow: the number of partitions in the targets, if it is between the snapshots before and after."""
    topic = each.topic
    count = seen.counts.get(topic.topic_id or "", 0)
    most = min((next_.topic.partitions for next_ in after if next_.topic.topic_id == topic.topic_id), default=count)
    is_possible = 0 < count < topic.partitions if is_later else topic.partitions < count <= most
    return with_count(topic, count) if is_possible else None


def with_count(topic: Topic, count: int) -> Topic:
    racks = None if topic.racks is None or count > len(topic.racks) else topic.racks[:count]
    return Topic(topic.name, count, topic.topic_id, racks)


def without_snapshot(name: str, ids: Sequence[str], seen: TargetSubscriptions) -> list[Option]:
    topics = [Topic(name, seen.counts[each], each) for each in reversed(ids) if each in seen.counts]
    return [Option(topic, PartitionCountsSource.INFERRED) for topic in (*topics, Topic(name, ABSENT))][
        : len(topics) or 1
    ]


def picks(choices: Sequence[Sequence[Option]]) -> Iterator[tuple[Option, ...]]:
    """First the first option of each topic, then another option for one topic, then for several."""
    first = tuple(each[0] for each in choices)
    yield first
    for at, options_ in enumerate(choices):
        for option in options_[1:]:
            yield (*first[:at], option, *first[at + 1 :])
    if sum(len(each) > 1 for each in choices) > 1:
        yield from (
            pick
            for pick in product(*choices)
            if sum(option is not chosen for option, chosen in zip(pick, first, strict=True)) > 1
        )


def weakest(pick: Sequence[Option]) -> PartitionCountsSource | None:
    """Topics that do not exist have no partitions, so no source."""
    sources = {option.source for option in pick if option.topic.partitions}
    order = (PartitionCountsSource.INFERRED, PartitionCountsSource.SNAPSHOT)
    return next((source for source in order if source in sources), None)


def confirmed_by_hash(choices: Sequence[Sequence[Option]], wanted: int) -> tuple[Topic, ...] | None:
    first = tuple(options_[0].topic for options_ in choices)
    if hash_of(first) == wanted:
        return first
    wider = [with_more(options_) for options_ in choices]
    for pick in islice(picks(wider), MOST_HASHED):
        topics = tuple(option.topic for option in pick)
        if hash_of(topics) == wanted:
            return topics
    return None


def with_more(options_: Sequence[Option]) -> list[Option]:
    """If only the targets show the number, it may be higher."""
    choices = list(options_)
    newest = options_[0].topic
    if options_[0].source == PartitionCountsSource.INFERRED and newest.partitions:
        choices += [
            Option(with_count(newest, newest.partitions + more), PartitionCountsSource.INFERRED)
            for more in range(1, MOST_BEYOND + 1)
        ]
    if newest.partitions:
        choices.append(Option(Topic(newest.name, ABSENT), PartitionCountsSource.INFERRED))
    return choices


def hash_of(topics: Sequence[Topic]) -> int | None:
    known = [topic for topic in topics if topic.partitions]
    if any(topic.topic_id is None for topic in known):
        return None
    return group_hash(known)
