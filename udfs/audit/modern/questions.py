"""The question that a coordinator asks its assignor at a target epoch, as arrays, and the result by the records.

Most targets are computed from the group as it is. From 4.5 on an assignor may run beside the coordinator (KIP-1263),
with inputs that were copied when it began, some epochs before the target is written. The record shows what has changed
since then: members that left have no target, a static member that came back under another id gets the target of the one
that it replaced, and members that joined have no target yet.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from udfs.assignors.questions import Member, Owned, Release, Topic
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import UNKNOWN, ByLog, Confirmation, Facts, UsedTopic, confirmation
from udfs.audit.checks.results import GONE, Latest
from udfs.audit.modern.group import ModernGroup
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import Partitions, Tasks, join_lists, partitions_of
from udfs.topics.ids import bits_of
from udfs.topics.partition_codes import TopicCodes

MOST_ORDERS = 24


class Unanswerable(Exception):
    """Raised with the reason why nothing can be recomputed."""


class SubscribedTopics(NamedTuple):
    topics: tuple[Topic, ...]
    source: PartitionCountsSource | None
    # Whether this is the only possibility; else others are tried.
    is_sure: bool
    by_log: ByLog
    # Some names and ids might be paired differently.
    is_mixed_up: bool = False


@dataclass(frozen=True)
class MemberInputs:
    """Members are in the order in which the coordinator sees them; those in `written` have a record of this epoch."""

    members: tuple[str, ...]
    abouts: tuple[About, ...]
    subscriptions: tuple[tuple[str, ...], ...]
    before: tuple[Partitions, ...]
    after: tuple[Partitions, ...]
    written: tuple[str, ...]
    # Places of members that have left since the inputs were copied: what an assignor gives them is not written.
    gone: frozenset[int] = frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(self.subscriptions))))

    @cached_property
    def is_mixed(self) -> bool:
        """Some members subscribe by a pattern, and not all by the same."""
        patterns = {about.regex for about in self.abouts}
        return patterns != {None} and (len(patterns) > 1 or any(about.topics for about in self.abouts))

    @cached_property
    def algorithm(self) -> Algorithm:
        is_equal = len({frozenset(listed) for listed in set(self.subscriptions)}) == 1
        return Algorithm.HOMOGENEOUS if is_equal and not self.is_mixed else Algorithm.HETEROGENEOUS


def member_inputs(
    group: ModernGroup, abouts: Mapping[str, About | None], written: Sequence[str] | None = None
) -> MemberInputs:
    """`written`: members with a record of this epoch, in the order of their records, if not those of the operation."""
    missing = [member_id for member_id, about in abouts.items() if about is None]
    if missing:
        raise Unanswerable(f"member {missing[0]}: what it subscribes to is missing")
    known = {member_id: about for member_id, about in abouts.items() if about is not None}
    written = tuple(group.operation.replaced) if written is None else written
    members = tuple(member_order(group, list(known), written))
    before = group.targets_before()
    ordered = tuple(known[each] for each in members)
    return MemberInputs(
        members=members,
        abouts=ordered,
        subscriptions=tuple(subscription(group, about) for about in ordered),
        before=tuple(partitions_of(before.get(each, {})) for each in members),
        after=tuple(partitions_of(group.targets.get(each, {})) for each in members),
        written=tuple(each for each in written if each in known),
    )


def subscription(group: ModernGroup, about: About) -> tuple[str, ...]:
    """A pattern that is not resolved yet matches nothing."""
    matched = () if about.regex is None else group.patterns.get(about.regex, ())
    return tuple(dict.fromkeys((*(about.topics or ()), *matched)))


def member_order(group: ModernGroup, members: Sequence[str], written: Sequence[str]) -> list[str]:
    """The iteration order of the coordinator's own map; members that join in this operation come last. Among ids that
    share a chain of the map they are copied to, the order of their records is Kafka's own."""
    chosen = set(members)
    joined = [each for each in group.operation.joined if each in chosen]
    present = [each for each in group.members if each in chosen and each not in joined]
    gone = [each for each in members if each not in group.members]
    walk = timeline_walked(string_hashes(present).tolist(), max(group.room, len(present)))
    order = [present[at] for at in walk] + gone + joined
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
    free = [each for each in chains(inputs.members) if sum(inputs.members[at] not in written for at in each) >= 1]
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
    previous = {member_id: partitions_of(target) for member_id, target in group.base.items()}
    all_held = (*inputs.before, *inputs.after, *previous.values())
    for code in np.unique(join_lists(all_held).topics).tolist():
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
        assignable=assignable_rows(group, numbers),
        inputs=inputs,
        metadata=subscribed,
        confirmation=confirmation(subscribed.by_log, used, time, facts),
        recorded=recorded,
        base=rows_of(list(previous.values()), of_code, [places.get(member_id, GONE) for member_id in previous]),
    )


def rows_of(held: Sequence[Partitions], of_code: NDArray[np.int64], places: Sequence[int] | None = None) -> Rows:
    """`places`: of the members that have them, if they are not one after the other."""
    together = join_lists(held)
    members = np.array(range(len(held)) if places is None else places, np.int32)
    of_rows = np.repeat(members, [len(each) for each in held])
    return Rows(of_rows, of_code[together.topics].astype(np.int32), together.partitions)


def assignable_rows(group: ModernGroup, numbers: Mapping[str, int]) -> Rows | None:
    """Partitions with share state; None: all may be assigned."""
    if group.group_type != GroupType.SHARE or (group.topics is None and group.metadata_hash is None):
        return None
    listed = () if group.topics is None else zip(group.topics.topics, group.topics.assignable or (), strict=True)
    # Sets to the coordinator: a partition that a record has twice counts once.
    known = {numbers[topic.name]: dict.fromkeys(has) for topic, has in listed if topic.name in numbers}
    topics = np.repeat(np.array(list(known), np.int32), [len(each) for each in known.values()])
    return Rows(np.zeros(len(topics), np.int32), topics, np.array(list(chain.from_iterable(known.values())), np.int32))


def most_voted(assignors: Iterable[str | None]) -> str | None:
    """The assignor that most members ask for is the one that the coordinator runs. Among several with equal votes, the
    first in Java's iteration order of its map. None: no member asks for one."""
    votes = Counter(each for each in assignors if each is not None)
    names: list[str] = list(votes)
    in_order = [names[at] for at in walked(string_hashes(names).tolist())]
    return max(in_order, key=votes.__getitem__, default=None)


class Earlier(NamedTuple):
    """`group`: as it was."""

    epoch: int
    group: ModernGroup
    inputs: MemberInputs
    # By member then, who has its target now.
    heirs: Mapping[str, str]
    # Also with partitions that the members had before: of those who have left no target shows them any more.
    with_previous: MemberInputs


def earlier_inputs(group: ModernGroup, epoch: int) -> Iterator[Earlier]:
    """Of the epochs since the previous target up to this one, newest first; only those that may have given it. Raises
    `Unanswerable` where a subscription is missing."""
    now = group.epoch, group.abouts, group.metadata_hash, group.targets_before()
    for was in reversed(group.inputs):
        if was.epoch > epoch or not was.members or (was.epoch, was.members, was.metadata_hash, was.targets) == now:
            continue
        heirs = group.heirs_of(was)
        former = {heir: each for each, heir in heirs.items()}
        late = (partitions_of(group.targets.get(each, {})) for each in group.members if each not in former)
        # Every member with a target of this epoch was there; others only have what they joined with: nothing.
        if not former.keys() >= group.operation.replaced.keys() or any(map(len, late)):
            continue
        past = group.as_it_was(was)
        known = member_inputs(past, was.members, tuple(former[each] for each in group.operation.replaced))
        after = tuple(partitions_of(group.targets.get(heirs.get(each, ""), {})) for each in known.members)
        gone = frozenset(place for place, each in enumerate(known.members) if each not in heirs)
        both = tuple(join_lists(each) for each in zip(after, known.before, strict=True))
        inputs = replace(known, after=after, gone=gone)
        yield Earlier(was.epoch, past, inputs, heirs, replace(inputs, after=both))


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
    newest = group.newest
    names = {topic_id: name for name, (_, topic_id) in newest.topics.items() if topic_id is not None}
    members = () if group.group_type == GroupType.STREAMS else tuple(
        member_of(group, member_id, names, codes) for member_id in member_order(group, list(group.members), ())
    )  # fmt: skip
    return Latest(
        group_id=group_id,
        group_type=group.group_type,
        assignment_offset=newest.assignment_offset,
        record_time=newest.record_time,
        assignor=newest.assignor,
        topics=tuple(Topic(name, count, topic_id) for name, (count, topic_id) in newest.topics.items()),
        members=members,
        counts_source=next((each for each in PartitionCountsSource if each == newest.counts_source), None),
        evidence_first_offset=newest.first_offset,
        reason=newest.reason,
    )


def member_of(group: ModernGroup, member_id: str, names: Mapping[str, str], codes: TopicCodes) -> Member:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in pairs(partitions_of(group.targets.get(member_id, {})), names, codes):
        by_topic.setdefault(topic, []).append(partition)
    has: Owned = tuple((topic, tuple(partitions)) for topic, partitions in by_topic.items())
    about = group.members[member_id].about
    if about is None:
        return Member(member_id, owned=has, target=has)
    listed = subscription(group, about)
    return Member(member_id, about.group_instance_id, about.rack_id or None, listed, owned=has, target=has)
