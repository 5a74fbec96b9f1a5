"""The question that a coordinator asks its assignor at a target epoch, as far as the log shows it: the members in
order, the topics that they subscribe to, and what they had.

Most targets are computed from the group as it is. From 4.5 on an assignor may run beside the coordinator (KIP-1263),
with inputs that were copied when it began, some epochs before the target is written. The record shows what has changed
since then: members that left have no target, a static member that came back under another id gets the target of the one
that it replaced, and members that joined have no target yet.

Names, ids and numbers of partitions of the topics are in records in parts. Type 4 (before 4.1) and type 15 have all of
it. From 4.1 on, targets have ids, members have names, and a hash can confirm what snapshots say. What is still unknown
is tried in the order of `options`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.words.assignments import Algorithm, PartitionCountsSource
from schemas.words.history import TaskRole
from schemas.words.records import GroupType
from udfs.assignors.groups import Codes, Group, Numbers, Positions, Rows, each_once
from udfs.assignors.java.maps import JavaSet, Keys, no_order, string_hashes, timeline_walked, walked
from udfs.assignors.questions import MOST_PARTITIONS, Member, Release, Topic
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import (
    UNKNOWN,
    ByLog,
    Confirmation,
    Facts,
    UsedTopic,
    confirmation,
    most_believed,
)
from udfs.audit.checks.results import GONE, Latest
from udfs.audit.modern.group import Inputs, ModernGroup
from udfs.audit.modern.topic_names import TargetNames, TooManyNames, Work, pairings
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Tasks, join_lists, partitions_of
from udfs.topics.ids import bits_of
from udfs.topics.metadata_hash import group_hash
from udfs.topics.partition_codes import TopicCodes

MOST_ORDERS = 24
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


class Unanswerable(Exception):
    """Raised with the reason why nothing can be recomputed."""


# -- the members


@dataclass(frozen=True)
class MemberInputs:
    """Members are in the order in which the coordinator sees them; those in `written` have a record of this epoch."""

    of: Inputs
    members: tuple[str, ...]
    abouts: tuple[About, ...]
    subscriptions: tuple[tuple[str, ...], ...]
    before: tuple[Partitions, ...]
    after: tuple[Partitions, ...]
    written: tuple[str, ...]
    # Of earlier inputs: by member then, who has its target now. Others have left: what an assignor gives them is not
    # written. None: these are the inputs of the group as it is.
    heirs: Mapping[str, str] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(self.subscriptions))))

    @cached_property
    def is_mixed(self) -> bool:
        """Some members subscribe by a pattern, and not all by the same."""
        patterns = {about.regex for about in self.abouts}
        return patterns != {None} and (len(patterns) > 1 or any(about.topics for about in self.abouts))

    @cached_property
    def gone(self) -> list[int]:
        """Places of members that have left since."""
        return [] if self.heirs is None else [at for at, each in enumerate(self.members) if each not in self.heirs]

    @cached_property
    def shown(self) -> tuple[Partitions, ...]:
        """What shows topics: of members that have left, no target shows them any more, but what they had."""
        if self.heirs is None:
            return self.after
        return tuple(join_lists(each) for each in zip(self.after, self.before, strict=True))


def member_inputs(
    of: Inputs, targets: Mapping[str, ByRole], written: Iterable[str], heirs: Mapping[str, str] | None = None
) -> MemberInputs:
    """`targets`: of the members that there are now."""
    missing = [member_id for member_id, about in of.members.items() if about is None]
    if missing:
        raise Unanswerable(f"member {missing[0]}: what it subscribes to is missing")
    written = tuple(each for each in written if each in of.members)
    members = tuple(member_order(of, written))
    abouts = tuple(about for each in members if (about := of.members[each]) is not None)
    now = members if heirs is None else tuple(heirs.get(each, "") for each in members)
    return MemberInputs(
        of=of,
        members=members,
        abouts=abouts,
        subscriptions=tuple(map(of.subscription, abouts)),
        before=tuple(partitions_of(of.targets.get(each, {})) for each in members),
        after=tuple(partitions_of(targets.get(each, {})) for each in now),
        written=written,
        heirs=heirs,
    )


def member_order(of: Inputs, written: Sequence[str] = ()) -> list[str]:
    """The iteration order of the coordinator's own map; members that join in this operation come last. Among ids that
    share a chain of the map they are copied to, the order of their records is Kafka's own."""
    joined = dict.fromkeys(each for each in of.joined if each in of.members)
    present = [each for each in of.members if each not in joined]
    walk = timeline_walked(string_hashes(present).tolist(), max(of.room, len(present)))
    order = [*(present[at] for at in walk), *joined]
    places = {member_id: place for place, member_id in enumerate(written)}
    for chain_ in chains(order):
        positions = [at for at in chain_ if order[at] in places]
        by_record = sorted((order[at] for at in positions), key=places.__getitem__)
        for at, member_id in zip(positions, by_record, strict=True):
            order[at] = member_id
    return order


def chains(members: Sequence[str]) -> list[list[int]]:
    """Positions of members that share a bucket in a HashMap of default size for all of them."""
    table = JavaSet(Keys(string_hashes(members).tolist().__getitem__, no_order))
    for place in range(len(members)):
        table.add(place)
    return [list(bucket) for bucket in table.laid_out().values() if len(list(bucket)) > 1]


def other_orders(inputs: MemberInputs) -> Iterator[Positions]:
    """All orders of members that share a chain, if their records do not rule them out."""
    written = set(inputs.written)
    free = [each for each in chains(inputs.members) if any(inputs.members[at] not in written for at in each)]
    # The first of all is the current order.
    for picked in islice(product(*(permutations(each) for each in free)), 1, MOST_ORDERS + 1):
        order = np.arange(len(inputs.members))
        for places, permuted in zip(free, picked, strict=True):
            order[places] = permuted
        if is_as_written(order, inputs):
            yield order


def is_as_written(order: Positions, inputs: MemberInputs) -> bool:
    members = [inputs.members[at] for at in order]
    walk = [members[at] for at in walked(string_hashes(members).tolist())]
    places = {member_id: place for place, member_id in enumerate(inputs.written)}
    positions = [places[each] for each in walk if each in places]
    return positions == sorted(positions)


def earlier_inputs(group: ModernGroup, epoch: int) -> Iterator[MemberInputs]:
    """Of the epochs since the previous target up to this one, newest first; only those that may have given it. Raises
    `Unanswerable` where a subscription is missing."""
    now = group.now()
    for was in reversed(group.inputs):
        is_now = (was.epoch, was.members, was.metadata_hash, was.targets) == (
            now.epoch, now.members, now.metadata_hash, now.targets,
        )  # fmt: skip
        if is_now or not was.members or was.epoch > epoch:
            continue
        heirs = group.heirs_of(was)
        former = {heir: each for each, heir in heirs.items()}
        late = (partitions_of(group.targets.get(each, {})) for each in group.members if each not in former)
        # Every member with a target of this epoch was there; others only have what they joined with: nothing.
        if former.keys() >= group.operation.replaced.keys() and not any(map(len, late)):
            yield member_inputs(was, group.targets, [former[each] for each in group.operation.replaced], heirs)


def most_voted(assignors: Iterable[str | None]) -> str | None:
    """The assignor that most members ask for is the one that the coordinator runs. Among several with equal votes, the
    first in Java's iteration order of its map. None: no member asks for one."""
    votes = Counter(each for each in assignors if each is not None)
    names: list[str] = list(votes)
    in_order = [names[at] for at in walked(string_hashes(names).tolist())]
    return max(in_order, key=votes.__getitem__, default=None)


# -- the topics


class SubscribedTopics(NamedTuple):
    topics: tuple[Topic, ...]
    source: PartitionCountsSource | None
    # Whether this is the only possibility; else others are tried.
    is_sure: bool
    by_log: ByLog
    # Some names and ids might be paired differently.
    is_mixed_up: bool = False


class Option(NamedTuple):
    topic: Topic
    source: PartitionCountsSource


def inferred(name: str, count: int, topic_id: str | None = None) -> Option:
    return Option(Topic(name, count, topic_id), PartitionCountsSource.INFERRED)


def questions_to_ask(
    group: ModernGroup, inputs: MemberInputs, time: int | None, codes: TopicCodes, facts: Facts
) -> "Iterator[Question]":
    """With the most likely topics first. `time`: of the target's record."""
    partitions = join_lists((*inputs.shown, *inputs.before)).partitions
    most = min(MOST_INFERRED, most_believed(len(partitions)))
    if len(partitions) and (partitions.min() < 0 or partitions.max() > most):
        raise Unanswerable("a target has a partition that no topic has")
    key = (inputs.of.metadata_hash, inputs.names)
    if group.confirmed is not None and group.confirmed[0] == key:
        yield question_of(group, inputs, group.confirmed[1], time, codes, facts)
        return
    for subscribed in findings(group, inputs, names_shown(group, inputs, time, codes), facts):
        if any(topic.partitions < 0 for topic in subscribed.topics):
            raise Unanswerable("a record gives a topic fewer than 0 partitions")
        if sum(topic.partitions for topic in subscribed.topics) > MOST_PARTITIONS:
            raise Unanswerable("more partitions than a cluster has")
        if subscribed.source == PartitionCountsSource.METADATA_HASH:
            group.confirmed = key, subscribed
        yield question_of(group, inputs, subscribed, time, codes, facts)


def names_shown(group: ModernGroup, inputs: MemberInputs, time: int | None, codes: TopicCodes) -> TargetNames:
    """What the records of the computation itself show."""
    together = join_lists(inputs.shown)
    topic_codes, which = np.unique(together.topics, return_inverse=True)
    most = np.full(len(topic_codes), -1, np.int64)
    np.maximum.at(most, which, together.partitions)
    counts, possible = {}, {}
    for code, highest in zip(topic_codes.tolist(), most.tolist(), strict=True):
        name, topic_id = codes.topics[code]
        counts[str(topic_id)] = highest + 1
        if name is None and str(topic_id) not in group.names:
            lists = {of for held, of in zip(inputs.shown, inputs.subscriptions, strict=True) if code in held.topics}
            possible[str(topic_id)] = sorted(frozenset.intersection(*map(frozenset, lists)))
    return TargetNames(inputs.names, counts, possible, inputs.of.metadata_hash, group.missing_now is None, time)


def findings(group: ModernGroup, inputs: MemberInputs, shown: TargetNames, facts: Facts) -> Iterator[SubscribedTopics]:
    recorded = inputs.of.topics
    if recorded is not None and inputs.of.has_listed_topics and shown.metadata_hash is None:
        # Coordinators kept them up to date until they used hashes instead.
        by_name = {topic.name: topic for topic in recorded.topics}
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
        for each in (*([[option] for option in pick] for pick in as_assigned), *choices):
            if (confirmed := confirmed_by_hash(each, shown.metadata_hash)) is not None:
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
        for pick in (*islice(picks(each), MOST_TRIED), assigned):
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
) -> tuple[Option, ...]:
    """Every partition of an existing topic has an owner, so targets show which topics exist and how many partitions
    they have."""
    ids = {name: topic_id for topic_id, name in named.items()} | dict(way)

    def option(name: str) -> Option:
        if (topic_id := ids.get(name)) is None:
            return inferred(name, ABSENT)
        count = shown.counts[topic_id]
        racks = (each.topic.racks for each in reversed(facts.topics.get(name, ()))
                 if each.topic.topic_id in (None, topic_id) and each.topic.partitions == count)  # fmt: skip
        return Option(Topic(name, count, topic_id, next(racks, None)), PartitionCountsSource.INFERRED)

    return tuple(map(option, shown.names))


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
        topic, count = each.topic, shown.counts.get(each.topic.topic_id or "", 0)
        choices.append(Option(topic, PartitionCountsSource.SNAPSHOT))
        # Topics only grow: the number in the targets is between those of the snapshots before and after.
        later = (other.topic.partitions for other in after if other.topic.topic_id == topic.topic_id)
        fits = topic.partitions < count <= min(later, default=count)
        if 0 < count < topic.partitions if each in after else fits:
            choices.append(Option(with_count(topic, count), PartitionCountsSource.INFERRED))
    if not before or len({each.topic.topic_id for each in known}) > 1:
        choices.append(inferred(name, ABSENT))
    return list(dict.fromkeys(choices))


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
    return next(
        (each for each in (PartitionCountsSource.INFERRED, PartitionCountsSource.SNAPSHOT) if each in sources), None
    )


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


# -- both, as the assignor sees them


@dataclass(frozen=True, kw_only=True)
class Question:
    """Of a `Group`, in columns. `topics`: the subscribed ones, then those that only targets of this epoch or the
    previous one have."""

    topics: Sequence[str]
    counts: Numbers
    ids: Sequence[tuple[int, int]]
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    # Targets of the epoch before.
    owned: Rows
    # None: all may be assigned.
    assignable: Rows | None
    inputs: MemberInputs
    # Of the subscribed topics, and what confirms it.
    metadata: SubscribedTopics
    confirmation: Confirmation
    recorded: Rows
    # Targets of the previous epoch; members that left since then are GONE.
    base: Rows

    @property
    def algorithm(self) -> Algorithm:
        is_equal = len({frozenset(listed) for listed in set(self.inputs.subscriptions)}) == 1
        return Algorithm.HOMOGENEOUS if is_equal and not self.inputs.is_mixed else Algorithm.HETEROGENEOUS

    def asked(self, release: Release, jdk: int, order: Positions | None = None) -> Group:
        """`order`: of the members, if not theirs."""
        inputs, lists, assignable = self.inputs, self.owned.lists(len(self.members)), self.assignable
        places = range(len(lists)) if order is None else order.tolist()
        return Group(
            members=[inputs.members[at] for at in places],
            instances=[inputs.abouts[at].group_instance_id for at in places],
            topics=self.topics,
            counts=self.counts.tolist(),
            classes=self.class_of_member[places].tolist(),
            subscriptions=[listed.tolist() for listed in self.topics_of_class],
            owned=[lists[at] for at in places],
            release=release,
            ids=self.ids,
            assignable=None if assignable is None else frozenset(assignable.lists(1)[0]),
            is_mixed=inputs.is_mixed,
            jdk=jdk,
        )

    @property
    def members(self) -> Sequence[str]:
        return self.inputs.members

    @property
    def instances(self) -> Sequence[str | None]:
        return [about.group_instance_id for about in self.inputs.abouts]


def question_of(
    group: ModernGroup, inputs: MemberInputs, subscribed: SubscribedTopics, time: int | None, codes: TopicCodes,
    facts: Facts,
) -> Question:  # fmt: skip
    """Topics are numbered by what the group subscribes to. The others have no partitions that could be assigned."""
    numbers = {topic.name: place for place, topic in enumerate(subscribed.topics)}
    by_id = {topic.topic_id: place for place, topic in enumerate(subscribed.topics) if topic.topic_id is not None}
    labels, ids = [topic.name for topic in subscribed.topics], [topic.topic_id for topic in subscribed.topics]
    of_code = np.full(len(codes.topics), -1, np.int64)
    base = group.base if inputs.heirs is None else {}
    previous = [partitions_of(target) for target in base.values()]
    for code in np.unique(join_lists((*inputs.before, *inputs.after, *previous)).topics).tolist():
        name, topic_id = codes.topics[code]
        if str(topic_id) not in by_id:
            by_id[str(topic_id)] = len(labels)
            # A topic with the same name may be another, recreated one.
            labels.append(name if name is not None and name not in numbers else str(topic_id))
            ids.append(topic_id)
        of_code[code] = by_id[str(topic_id)]
    classes = {listed: number for number, listed in enumerate(dict.fromkeys(inputs.subscriptions))}
    counts = np.zeros(len(labels), np.int64)
    counts[: len(subscribed.topics)] = [topic.partitions for topic in subscribed.topics]
    recorded, owned = rows_of(inputs.after, of_code), each_once(rows_of(inputs.before, of_code))
    least = np.zeros(len(labels), np.int64)
    for rows in (recorded, owned):
        np.maximum.at(least, rows.topics, rows.partitions.astype(np.int64) + 1)
    used = (UsedTopic(each.name, each.partitions, int(least[at])) for at, each in enumerate(subscribed.topics))
    places = {member_id: place for place, member_id in enumerate(inputs.members)}
    return Question(
        topics=tuple(labels),
        counts=counts,
        ids=[(0, 0) if each is None else bits_of(each) for each in ids],
        class_of_member=np.array([classes[listed] for listed in inputs.subscriptions], np.int32),
        topics_of_class=[np.array([numbers[name] for name in listed], np.int32) for listed in classes],
        owned=owned,
        assignable=assignable_rows(group.group_type, inputs.of, numbers),
        inputs=inputs,
        metadata=subscribed,
        confirmation=confirmation(subscribed.by_log, used, time, facts),
        recorded=recorded,
        base=rows_of(previous, of_code, [places.get(member_id, GONE) for member_id in base]),
    )


def rows_of(held: Sequence[Partitions], of_code: NDArray[np.int64], places: Sequence[int] | None = None) -> Rows:
    """`places`: of the members that have them, if they are not one after the other."""
    together = join_lists(held)
    members = np.array(range(len(held)) if places is None else places, np.int32)
    of_rows = np.repeat(members, [len(each) for each in held])
    return Rows(of_rows, of_code[together.topics].astype(np.int32), together.partitions)


def assignable_rows(group_type: GroupType, of: Inputs, numbers: Mapping[str, int]) -> Rows | None:
    """Partitions with share state; None: all may be assigned."""
    if group_type != GroupType.SHARE or (of.topics is None and of.metadata_hash is None):
        return None
    listed = () if of.topics is None else zip(of.topics.topics, of.topics.assignable or (), strict=True)
    # Sets to the coordinator: a partition that a record has twice counts once.
    known = {numbers[topic.name]: dict.fromkeys(has) for topic, has in listed if topic.name in numbers}
    topics = np.repeat(np.array(list(known), np.int32), [len(each) for each in known.values()])
    return Rows(np.zeros(len(topics), np.int32), topics, np.array(list(chain.from_iterable(known.values())), np.int32))


# -- what a target shows of its own


def recorded_targets(group: ModernGroup, codes: TopicCodes) -> RecordedAssignment:
    """Targets by member, if neither the subscriptions nor the numbers of partitions are known. Of streams groups the
    active tasks, by subtopology."""
    numbers: dict[str, int] = {}
    rows = []
    for place, target in enumerate(group.targets.values()):
        tasks = target.get(TaskRole.ACTIVE)
        held = tasks.listed if isinstance(tasks, Tasks) else pairs(partitions_of(target), {}, codes)
        rows += [(place, numbers.setdefault(topic, len(numbers)), partition) for topic, partition in held]
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    return RecordedAssignment(
        members=tuple(group.targets),
        topics=tuple(numbers),
        counts=np.full(len(numbers), UNKNOWN, np.int64),
        class_of_member=np.zeros(len(group.targets), np.int32),
        topics_of_class=[np.arange(len(numbers), dtype=np.int32)],
        rows=Rows(columns[0], columns[1], columns[2]),
    )


def pairs(held: Partitions, names: Mapping[str, str], codes: TopicCodes) -> Iterator[tuple[str, int]]:
    """`names`: by id, where they are known better than by the codes."""
    for code, partition in zip(held.topics.tolist(), held.partitions.tolist(), strict=True):
        name, topic_id = codes.topics[code]
        yield names.get(topic_id or "") or name or str(topic_id), partition


def latest_of_group(group_id: str, group: ModernGroup | None, codes: TopicCodes) -> Latest | None:
    """The group's newest target assignment, for what-ifs."""
    if group is None or group.newest is None or not group.members:
        return None
    newest, now = group.newest, group.now()
    names = {topic_id: name for name, (_, topic_id) in newest.topics.items() if topic_id is not None}

    def member_of(member_id: str) -> Member:
        by_topic: dict[str, list[int]] = {}
        for topic, partition in pairs(partitions_of(group.targets.get(member_id, {})), names, codes):
            by_topic.setdefault(topic, []).append(partition)
        has = tuple((topic, tuple(partitions)) for topic, partitions in by_topic.items())
        if (about := now.members[member_id]) is None:
            return Member(member_id, owned=has, target=has)
        listed = now.subscription(about)
        return Member(member_id, about.group_instance_id, about.rack_id or None, listed, owned=has, target=has)

    return Latest(
        group_id=group_id,
        group_type=group.group_type,
        assignment_offset=newest.assignment_offset,
        record_time=newest.record_time,
        assignor=newest.assignor,
        topics=tuple(Topic(name, count, topic_id) for name, (count, topic_id) in newest.topics.items()),
        members=() if group.group_type == GroupType.STREAMS else tuple(map(member_of, member_order(now))),
        counts_source=next((each for each in PartitionCountsSource if each == newest.counts_source), None),
        evidence_first_offset=newest.first_offset,
        reason=newest.reason,
    )
