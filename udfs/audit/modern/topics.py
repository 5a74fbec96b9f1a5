"""Names, ids and numbers of partitions of the topics that a consumer or share group subscribes to.

Records contain this in parts. Type 4 (before 4.1) and type 15 have all of it. From 4.1 on, targets have ids, members
have names, and a hash can confirm what snapshots say. What is still unknown is tried in the order of `options`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from schemas.words.assignments import PartitionCountsSource
from udfs.assignors.questions import MOST_PARTITIONS, Topic
from udfs.audit.checks.facts import ByLog, Facts, KnownTopic, most_believed
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.questions import MemberInputs, Question, SubscribedTopics, Unanswerable, question_of
from udfs.audit.modern.topic_names import TargetNames, TooManyNames, Work, pairings
from udfs.groups.readers.recorded_lists import join_lists
from udfs.topics.metadata_hash import group_hash
from udfs.topics.partition_codes import TopicCodes

# More partitions than any topic has: a garbage record would only fill the memory.
MOST_INFERRED = 200_000
# For a topic that the metadata lacks.
ABSENT = 0
# Limits: combinations of options and pairings of names and ids that are tried without a hash; names that are tried to
# find these pairings, and combinations to find a hash. With a hash, this many partitions beyond the highest assigned
# one are tried.
MOST_TRIED = 6
MOST_PAIRINGS = 6
MOST_HASHED = 4096
MOST_BEYOND = 32


class Option(NamedTuple):
    topic: Topic
    source: PartitionCountsSource


def inferred(name: str, count: int, topic_id: str | None = None) -> Option:
    return Option(Topic(name, count, topic_id), PartitionCountsSource.INFERRED)


def questions_to_ask(
    group: ModernGroup, inputs: MemberInputs, metadata_hash: int | None, time: int | None, codes: TopicCodes,
    facts: Facts, shown: MemberInputs | None = None,
) -> Iterator[Question]:  # fmt: skip
    """With the most likely topics first. `time`: of the target's record. `shown`: what shows the topics, if not the
    inputs themselves."""
    shown = shown or inputs
    partitions = join_lists((*shown.after, *shown.before)).partitions
    most = min(MOST_INFERRED, most_believed(len(partitions)))
    if len(partitions) and (partitions.min() < 0 or partitions.max() > most):
        raise Unanswerable("a target has a partition that no topic has")
    key = (metadata_hash, shown.names)
    if group.confirmed is not None and group.confirmed[0] == key:
        yield question_of(group, inputs, group.confirmed[1], time, codes, facts)
        return
    for subscribed in findings(group, names_shown(group, shown, metadata_hash, time, codes), facts):
        if any(topic.partitions < 0 for topic in subscribed.topics):
            raise Unanswerable("a record gives a topic fewer than 0 partitions")
        if sum(topic.partitions for topic in subscribed.topics) > MOST_PARTITIONS:
            raise Unanswerable("more partitions than a cluster has")
        if subscribed.source == PartitionCountsSource.METADATA_HASH:
            group.confirmed = key, subscribed
        yield question_of(group, inputs, subscribed, time, codes, facts)


def names_shown(
    group: ModernGroup, inputs: MemberInputs, metadata_hash: int | None, time: int | None, codes: TopicCodes
) -> TargetNames:
    """What the records of the computation itself show."""
    together = join_lists(inputs.after)
    topic_codes, which = np.unique(together.topics, return_inverse=True)
    most = np.full(len(topic_codes), -1, np.int64)
    np.maximum.at(most, which, together.partitions)
    counts, possible = {}, {}
    for code, highest in zip(topic_codes.tolist(), most.tolist(), strict=True):
        name, topic_id = codes.topics[code]
        counts[str(topic_id)] = highest + 1
        if name is None and str(topic_id) not in group.names:
            lists = {of for held, of in zip(inputs.after, inputs.subscriptions, strict=True) if code in held.topics}
            possible[str(topic_id)] = sorted(frozenset.intersection(*map(frozenset, lists)))
    return TargetNames(inputs.names, counts, possible, metadata_hash, group.missing_now is None, time)


def findings(group: ModernGroup, shown: TargetNames, facts: Facts) -> Iterator[SubscribedTopics]:
    if group.topics is not None and group.topics.assignable is None and shown.metadata_hash is None:
        # Type 4, which coordinators kept up to date until they used hashes instead.
        by_name = {topic.name: topic for topic in group.topics.topics}
        listed = tuple(by_name.get(name) or Topic(name, ABSENT) for name in shown.names)
        yield SubscribedTopics(listed, PartitionCountsSource.RECORD, True, ByLog.LISTED)
        return
    of_ids = ((each, group.names.get(each) or facts.names.get(each)) for each in shown.counts)
    named = {topic_id: name for topic_id, name in of_ids if name is not None}
    left = unnamed(group, shown, named)
    ways: list[dict[str, str]] = []
    with suppress(TooManyNames):
        for names in islice(pairings([left[each] for each in sorted(left)], Work(MOST_HASHED)), MOST_PAIRINGS):
            ways.append(dict(zip(names, sorted(left), strict=True)))
    ways = ways or [{}]
    choices = [[options(group, name, named, way.get(name), shown, facts) for name in shown.names] for way in ways]
    as_assigned = [as_targets_say(named, way, shown, facts) for way in ways]
    if shown.metadata_hash is not None:
        for each in (*as_assigned, *choices):
            confirmed = confirmed_by_hash(each, shown.metadata_hash)
            if confirmed is not None:
                group.names |= {
                    topic.topic_id: topic.name
                    for topic in confirmed
                    if topic.topic_id and topic.name not in facts.topics
                }
                yield SubscribedTopics(confirmed, PartitionCountsSource.METADATA_HASH, True, ByLog.HASH_MATCHES)
                return
    by_log = ByLog.NOTHING if shown.metadata_hash is None else ByLog.HASH_DIFFERS
    tried: set[tuple[Topic, ...]] = set()
    for each, assigned in zip(choices, as_assigned, strict=True):
        for pick in (*islice(picks(each), MOST_TRIED), *picks(assigned)):
            topics = tuple(option.topic for option in pick)
            if topics not in tried:
                tried.add(topics)
                yield SubscribedTopics(topics, weakest(pick), False, by_log, len(choices) > 1)


def unnamed(group: ModernGroup, shown: TargetNames, named: dict[str, str]) -> dict[str, list[str]]:
    """Ids without a name, with the possible ones. If only one name remains, the group remembers it."""
    while True:
        left = shown.left(named)
        single = min((topic_id for topic_id, names in left.items() if len(names) == 1), default=None)
        if single is None:
            return left
        (named[single],) = (group.names[single],) = left[single]


def as_targets_say(
    named: Mapping[str, str], way: Mapping[str, str], shown: TargetNames, facts: Facts
) -> list[list[Option]]:
    """Every partition of an existing topic has an owner, so targets show which topics exist and how many partitions
    they have."""
    ids = {name: topic_id for topic_id, name in named.items()} | dict(way)
    choices = []
    for name in shown.names:
        option = inferred(name, ABSENT)
        if (topic_id := ids.get(name)) is not None:
            count = shown.counts[topic_id]
            fitting = (each.topic.racks for each in reversed(facts.topics.get(name, ()))
                       if each.topic.topic_id in (None, topic_id) and each.topic.partitions == count)  # fmt: skip
            option = Option(Topic(name, count, topic_id, next(fitting, None)), PartitionCountsSource.INFERRED)
        choices.append([option])
    return choices


def options(
    group: ModernGroup, name: str, named: Mapping[str, str], paired_id: str | None, shown: TargetNames, facts: Facts
) -> list[Option]:
    """In this order: the newest snapshot up to then; more partitions, as far as the targets show and the next snapshot
    allows; the next snapshot; other snapshots; no such topic."""
    of_group = [topic_id for topic_id, own in group.names.items() if own == name]
    in_targets = [topic_id for topic_id, own in named.items() if own == name]
    own_id = next(reversed(in_targets or of_group), paired_id)
    known = [
        # A snapshot without an id means the topic that has the name elsewhere.
        each if each.topic.topic_id is not None else replace(each, topic=replace(each.topic, topic_id=own_id))
        for each in facts.topics.get(name, ())
    ]
    if not known:
        ids = [*in_targets, *([paired_id] if paired_id else [])]
        return [inferred(name, shown.counts[each], each) for each in reversed(ids)] or [inferred(name, ABSENT)]
    before = [each for each in known if shown.time is not None and each.first_time <= shown.time][::-1]
    after = [each for each in known if each not in before]
    choices = []
    for each in sorted([*before, *after], key=lambda each: each.topic.topic_id not in shown.counts):
        choices.append(Option(each.topic, PartitionCountsSource.SNAPSHOT))
        count = shown.counts.get(each.topic.topic_id or "", 0)
        if may_have(each, count, None if each in after else after):
            choices.append(Option(with_count(each.topic, count), PartitionCountsSource.INFERRED))
    if not before or len({each.topic.topic_id for each in known}) > 1:
        choices.append(inferred(name, ABSENT))
    return list(dict.fromkeys(choices))


def may_have(known: KnownTopic, count: int, after: Sequence[KnownTopic] | None) -> bool:
    """Topics only grow: whether the number of partitions in the targets is between the snapshots before and after.
    `after`: later snapshots; None: this one is later itself."""
    topic = known.topic
    if after is None:
        return 0 < count < topic.partitions
    later = (each.topic.partitions for each in after if each.topic.topic_id == topic.topic_id)
    return topic.partitions < count <= min(later, default=count)


def with_count(topic: Topic, count: int) -> Topic:
    racks = None if topic.racks is None or count > len(topic.racks) else topic.racks[:count]
    return Topic(topic.name, count, topic.topic_id, racks)


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
    def ways() -> Iterator[tuple[Option, ...]]:
        # Most groups need no more than the first options.
        yield tuple(options_[0] for options_ in choices)
        yield from islice(picks([with_more(options_) for options_ in choices]), MOST_HASHED)

    for pick in ways():
        topics = tuple(option.topic for option in pick)
        known = [topic for topic in topics if topic.partitions]
        if all(topic.topic_id is not None for topic in known) and group_hash(known) == wanted:
            return topics
    return None


def with_more(options_: Sequence[Option]) -> list[Option]:
    """If only the targets show the number, it may be higher."""
    (newest, source), choices = options_[0], list(options_)
    if source == PartitionCountsSource.INFERRED and newest.partitions:
        choices += [
            Option(with_count(newest, newest.partitions + more), PartitionCountsSource.INFERRED)
            for more in range(1, MOST_BEYOND + 1)
        ]
    if newest.partitions:
        choices.append(inferred(newest.name, ABSENT))
    return choices
