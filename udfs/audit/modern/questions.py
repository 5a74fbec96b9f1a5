"""The input of a coordinator's assignor at a target epoch as arrays, and the result by the records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import Codes, Group, Numbers, Positions, Rows, each_once
from udfs.assignors.java.maps import JavaSet, Keys, no_order, string_hashes, timeline_walked, walked
from udfs.assignors.questions import Release
from udfs.audit.checks.results import GONE
from udfs.audit.modern.group import ModernGroup
from udfs.audit.modern.subscribed_topics import SubscribedTopics, TargetSubscriptions
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.recorded_lists import ByRole, Partitions, join_lists, partitions_of
from udfs.topics.ids import bits_of
from udfs.topics.partition_codes import TopicCodes

MOST_ORDERS = 24
DEFAULT_TABLE = 16


class Unanswerable(Exception):
    """Raised with the reason why nothing can be recomputed."""


@dataclass(frozen=True)
class MemberInputs:
    """Members are in the order in which the coordinator sees them; those in `written` have a record of this epoch."""

    members: tuple[str, ...]
    abouts: tuple[About, ...]
    subscriptions: tuple[tuple[str, ...], ...]
    before: tuple[Partitions, ...]
    after: tuple[Partitions, ...]
    written: tuple[str, ...]
    is_mixed: bool
    # Places of members that have left since the inputs were copied: what an assignor gives them is not written.
    gone: frozenset[int] = frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(self.subscriptions))))


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
        is_mixed=are_mixed(ordered),
    )


def subscription(group: ModernGroup, about: About) -> tuple[str, ...]:
    """A pattern that is not resolved yet matches nothing."""
    matched = () if about.regex is None else group.patterns.get(about.regex, ())
    return tuple(dict.fromkeys((*(about.topics or ()), *matched)))


def are_mixed(abouts: Sequence[About]) -> bool:
    patterns = {about.regex for about in abouts}
    return patterns != {None} and (len(patterns) > 1 or any(about.topics for about in abouts))


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
    return [list(bucket) for bucket in table.buckets.values() if len(list(bucket)) > 1]


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


@dataclass(frozen=True)
class Question:
    """`topics`: the subscribed ones, then those that only targets of this epoch or the previous one have."""

    inputs: MemberInputs
    subscribed: SubscribedTopics
    topics: tuple[str, ...]
    counts: Numbers
    ids: Sequence[tuple[int, int]]
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    before: Rows
    recorded: Rows
    # Targets of the previous epoch; members that left since then are GONE.
    base: Rows
    assignable: Rows | None = None

    def group(self, release: Release, jdk: int, order: Positions | None = None) -> Group:
        places = range(len(self.inputs.members)) if order is None else order.tolist()
        before = self.before
        if order is not None:
            place = np.empty(len(order), np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            moved = Rows(place[before.members], before.topics, before.partitions)
            before = moved.take(np.argsort(moved.members, kind="stable"))
        return Group(
            members=[self.inputs.members[at] for at in places],
            instances=[self.inputs.abouts[at].group_instance_id for at in places],
            topics=self.topics,
            counts=self.counts,
            ids=self.ids,
            class_of_member=self.class_of_member[list(places)],
            topics_of_class=self.topics_of_class,
            owned=before,
            assignable=self.assignable,
            is_mixed=self.inputs.is_mixed,
            release=release,
            jdk=jdk,
        )


def question(
    inputs: MemberInputs,
    subscribed: SubscribedTopics,
    codes: TopicCodes,
    assignable: Mapping[str, tuple[int, ...]] | None,
    base: Mapping[str, ByRole],
) -> Question:
    """Topics are numbered by what the group subscribes to. The others have no partitions that could be assigned."""
    numbers = {topic.name: place for place, topic in enumerate(subscribed.topics)}
    by_id = {topic.topic_id: place for place, topic in enumerate(subscribed.topics) if topic.topic_id is not None}
    labels, ids = [topic.name for topic in subscribed.topics], [topic.topic_id for topic in subscribed.topics]
    of_code = np.full(len(codes.topics), -1, np.int64)
    previous = {member_id: partitions_of(target) for member_id, target in base.items()}
    all_held = (*inputs.before, *inputs.after, *previous.values())
    for code in np.unique(join_lists(all_held).topics).tolist():
        name, topic_id = codes.topics[code]
        if str(topic_id) not in by_id:
            by_id[str(topic_id)] = len(labels)
            # A topic with the same name may be another, recreated one.
            labels.append(name if name is not None and name not in numbers else str(topic_id))
            ids.append(topic_id)
        of_code[code] = by_id[str(topic_id)]
    classes = dict.fromkeys(inputs.subscriptions)
    class_numbers = {listed: number for number, listed in enumerate(classes)}
    counts = np.zeros(len(labels), np.int64)
    counts[: len(subscribed.topics)] = [topic.partitions for topic in subscribed.topics]
    return Question(
        inputs=inputs,
        subscribed=subscribed,
        topics=tuple(labels),
        counts=counts,
        ids=[(0, 0) if each is None else bits_of(each) for each in ids],
        class_of_member=np.array([class_numbers[listed] for listed in inputs.subscriptions], np.int32),
        topics_of_class=[np.array([numbers[name] for name in listed], np.int32) for listed in classes],
        before=each_once(rows_of(inputs.before, of_code)),
        recorded=rows_of(inputs.after, of_code),
        base=base_rows(inputs, previous, of_code),
        assignable=assignable_rows(assignable, numbers),
    )


def rows_of(held: Sequence[Partitions], of_code: NDArray[np.int64]) -> Rows:
    together = join_lists(held)
    members = np.repeat(np.arange(len(held), dtype=np.int32), [len(each) for each in held])
    return Rows(members, of_code[together.topics].astype(np.int32), together.partitions)


def base_rows(inputs: MemberInputs, base: Mapping[str, Partitions], of_code: NDArray[np.int64]) -> Rows:
    places = {member_id: place for place, member_id in enumerate(inputs.members)}
    rows = rows_of(list(base.values()), of_code)
    places_now = np.array([places.get(member_id, GONE) for member_id in base], np.int32)
    return Rows(places_now[rows.members], rows.topics, rows.partitions)


def assignable_rows(assignable: Mapping[str, tuple[int, ...]] | None, numbers: Mapping[str, int]) -> Rows | None:
    if assignable is None:
        return None
    # Sets to the coordinator: a partition that a record has twice counts once.
    known = {numbers[name]: dict.fromkeys(partitions) for name, partitions in assignable.items() if name in numbers}
    sizes = [len(each) for each in known.values()]
    topics = np.repeat(np.array(list(known), np.int32), sizes)
    return Rows(np.zeros(len(topics), np.int32), topics, np.array(list(chain.from_iterable(known.values())), np.int32))


def seen_of(group: ModernGroup, inputs: MemberInputs, codes: TopicCodes, time: int | None) -> TargetSubscriptions:
    together = join_lists(inputs.after)
    topic_codes, which = np.unique(together.topics, return_inverse=True)
    most = np.full(len(topic_codes), -1, np.int64)
    np.maximum.at(most, which, together.partitions)
    ids = [str(codes.topics[code][1]) for code in topic_codes.tolist()]
    unnamed = {
        topic_id: code
        for topic_id, code in zip(ids, topic_codes.tolist(), strict=True)
        if codes.topics[code][0] is None and topic_id not in group.names
    }
    possible = {topic_id: subscribed_by_all(inputs, code) for topic_id, code in unnamed.items()}
    return TargetSubscriptions(inputs.names, dict(zip(ids, (most + 1).tolist(), strict=True)), time, possible)


def subscribed_by_all(inputs: MemberInputs, code: int) -> frozenset[str]:
    """Names that are subscribed by every member that has partitions of the topic."""
    lists = {listed for held, listed in zip(inputs.after, inputs.subscriptions, strict=True) if code in held.topics}
    return frozenset.intersection(*map(frozenset, lists))
