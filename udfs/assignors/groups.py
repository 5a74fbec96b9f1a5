"""The question to an assignor as it sees it, and its answer: positions of members and topics instead of names.

A leader and a coordinator ask about the same kind of group. Each leaves fields empty that only the other knows.
"""

import base64
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.maps import (
    DEFAULT_CAPACITY,
    NUMBERS,
    JavaMap,
    JavaSet,
    Keys,
    copied_set,
    filled,
    java_sorted,
    may_make_trees,
    ranks,
    string_hashes,
    table_capacity,
    utf_16,
    uuid_hash,
    walked,
)
from udfs.assignors.questions import JDKS, NEWEST_RELEASE, GroupProtocol, Release, Spec

ABSENT: Final = -1
NOBODY: Final = -1
NO_RACKS: Final[frozenset[str]] = frozenset()
Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Positions = NDArray[np.intp]
# A topic's position, and the partition's number.
Partition = tuple[int, int]
# By member: what it has, or gets.
Lists = list[list[Partition]]
PartitionRacks = Sequence[Sequence[str | None]]


class AssignorFailed(Exception):
    """Kafka's own assignor throws here, so the group gets no assignment; the text says why."""


@dataclass(frozen=True)
class Rows:
    """Partitions of members. What a member has is its rows, in the order of the rows."""

    members: Codes
    topics: Codes
    partitions: Codes

    def __len__(self) -> int:
        return len(self.members)

    @staticmethod
    def of_lists(lists: Sequence[Sequence[Partition]]) -> "Rows":
        """Of each member in turn its topics and partitions."""
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(lists)), np.int32).reshape(-1, 2).T.copy()
        return Rows(np.repeat(np.arange(len(lists), dtype=np.int32), list(map(len, lists))), flat[0], flat[1])

    def triples(self) -> list[tuple[int, int, int]]:
        """Each row's member, topic and partition."""
        return list(zip(self.members.tolist(), self.topics.tolist(), self.partitions.tolist(), strict=True))

    def lists(self, num_members: int) -> Lists:
        """By member, its topics and partitions."""
        lists: Lists = [[] for _ in range(num_members)]
        for member, topic, partition in self.triples():
            lists[member].append((topic, partition))
        return lists

    def take(self, chosen: NDArray[np.bool_] | Positions) -> "Rows":
        return Rows(self.members[chosen], self.topics[chosen], self.partitions[chosen])


def each_once(rows: Rows) -> Rows:
    """Without rows that were there before: a member has a partition once, whatever a list says."""
    first: dict[tuple[int, int, int], int] = {}
    for place, row in enumerate(rows.triples()):
        first.setdefault(row, place)
    return rows if len(first) == len(rows) else rows.take(np.array(list(first.values()), np.intp))


Answer = Lists | AssignorFailed


@dataclass(frozen=True)
class Group:
    """`members` are in the order of the JoinGroup response, or in that in which the coordinator puts them into its map.

    `topics` holds every topic that somebody subscribes to or had; one that the metadata lacks has a count of 0. Members
    that subscribe to the same topics share a class: `classes` are those of the members, `subscriptions` the topics of
    each class as they were listed. `owned` is what each member had: to a leader, the owned partitions of its
    subscription; to a coordinator, its target of the epoch before, where a share group's topic without partitions has
    the partition ABSENT.
    """

    members: Sequence[str]
    instances: Sequence[str | None]
    topics: Sequence[str]
    counts: Sequence[int]
    classes: Sequence[int]
    subscriptions: Sequence[Sequence[int]]
    owned: Sequence[Sequence[Partition]]
    release: Release = NEWEST_RELEASE

    # What only leaders look at: by member, the generation (ABSENT where there is none) and the user data of its
    # subscription, and racks; and the newest generation that the leader itself remembers.
    generations: Sequence[int] = ()
    user_data: Sequence[bytes | None] = ()
    racks: Sequence[str | None] = ()
    partition_racks: Sequence[PartitionRacks | None] | None = None
    leader_memory: int = ABSENT

    # What only coordinators look at: topic ids as pairs of 64 bits, big-endian; what a share group may assign, None
    # where that is everything.
    ids: Sequence[tuple[int, int]] = ()
    assignable: Collection[Partition] | None = None
    # Some members subscribe by a pattern, and not all by the same: they never count as equal.
    is_mixed: bool = False
    jdk: int = JDKS[0]

    # -- Java's hash codes and orders

    @cached_property
    def hash_codes(self) -> list[int]:
        """Of the members, then of the topics' names."""
        return string_hashes([*self.members, *self.topics]).tolist()  # type: ignore[no-any-return]

    @cached_property
    def topic_positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.topics)}

    @property
    def topic_codes(self) -> list[int]:
        return self.hash_codes[len(self.members) :]

    @cached_property
    def names(self) -> Keys[int]:
        """Of topics. They do not refer to the group: it would be a cycle, which only Python's collector frees."""
        topics = self.topics
        return Keys(self.topic_codes.__getitem__, lambda topic: utf_16(topics[topic]))

    @cached_property
    def topic_ids(self) -> Keys[int]:
        """Uuid.hashCode and Uuid.compareTo."""
        codes = [uuid_hash(*bits) for bits in self.ids]
        return Keys(codes.__getitem__, self.ids.__getitem__)

    @cached_property
    def walked(self) -> list[int]:
        """The members as Kafka walks its map of them."""
        return walked(self.hash_codes[: len(self.members)], lambda member: utf_16(self.members[member]))

    @cached_property
    def walked_again(self) -> list[int]:
        """As Kafka walks a map that it fills while it walks the first. The two differ only where a bucket is a tree."""
        first, codes = self.walked, self.hash_codes
        if not may_make_trees(codes[: len(first)]):
            return first
        again = walked([codes[member] for member in first], lambda place: utf_16(self.members[first[place]]))
        return [first[place] for place in again]

    @cached_property
    def walked_classes(self) -> list[int]:
        """Of each member in that walk."""
        return [self.classes[member] for member in self.walked]

    @cached_property
    def member_ranks(self) -> list[int]:
        """The place of each member by id."""
        return ranks(java_sorted(self.members))

    @cached_property
    def statically_sorted(self) -> list[int]:
        """The members by instance id, then those without one by member id: so range and round robin take them."""
        if not any(instance is not None for instance in self.instances):
            return java_sorted(self.members)
        keys = [
            (1, utf_16(member)) if instance is None else (0, utf_16(instance))
            for member, instance in zip(self.members, self.instances, strict=True)
        ]
        # Two with one instance id are equal to Kafka: its sort leaves them as its map is walked.
        return sorted(self.walked, key=keys.__getitem__)

    # -- who subscribes to what

    def partitions_of(self, topics: Iterable[int]) -> list[Partition]:
        return [(topic, partition) for topic in topics for partition in range(self.counts[topic])]

    @cached_property
    def known(self) -> set[int]:
        """Topics that somebody subscribes to and the metadata knows."""
        return {topic for topics in self.subscriptions for topic in topics if self.counts[topic]}

    @cached_property
    def known_by_name(self) -> list[int]:
        return sorted(self.known, key=self.names.rank)

    @cached_property
    def is_homogeneous(self) -> bool:
        """To a coordinator, which counts subscribers of each name, known or not: the order of lists is not looked
        at."""
        return not self.is_mixed and len(set(map(frozenset, self.subscriptions))) == 1

    @cached_property
    def subscribed(self) -> list[list[int]]:
        """For each class the topics that the metadata knows, as a walk over the coordinator's set of names meets
        them."""
        return [
            [topic for topic in copied_set(self.names, listed, self.jdk).walk() if self.counts[topic]]
            for listed in self.subscriptions
        ]

    @cached_property
    def topics_walked(self) -> list[int]:
        """The topics to assign, as a leader walks its map of them: it is filled from a set of all subscribed ones,
        which a walk over the members fills."""
        walks = self.walked_classes if len(self.subscriptions) > 1 else (0,)
        met = [topic for own in dict.fromkeys(walks) for topic in self.subscriptions[own]]
        walk = filled(self.names, met).walk()
        return filled(self.names, (topic for topic in walk if self.counts[topic])).walk()


def group_of(spec: Spec) -> Group:
    places = {topic.name: place for place, topic in enumerate(spec.topics)}
    classes: dict[tuple[str, ...], int] = {}
    is_led, is_shared = (spec.group_protocol == each for each in (GroupProtocol.CLASSIC, GroupProtocol.SHARE))
    # Sets to the coordinator: a name that a record has twice counts once.
    listed = [
        each.subscribed_topics if is_led else tuple(dict.fromkeys(each.subscribed_topics)) for each in spec.members
    ]
    of_member = [classes.setdefault(topics, len(classes)) for topics in listed]
    # Names that no topic has get a place as they are met.
    subscriptions = [[places.setdefault(name, len(places)) for name in topics] for topics in classes]
    # Only coordinators of share groups write topics without partitions, which take room in Java's maps.
    nothing: tuple[int, ...] = (ABSENT,) if is_shared else ()
    owned = [
        [
            (places.setdefault(topic, len(places)), partition)
            for topic, partitions in (member.owned if is_led else member.target)
            for partition in partitions or nothing
        ]
        for member in spec.members
    ]
    unknown = len(places) - len(spec.topics)
    has_racks = any(topic.racks is not None for topic in spec.topics)
    ids = b"".join(base64.urlsafe_b64decode(f"{topic.topic_id}==") for topic in spec.topics if not is_led)
    return Group(
        members=[member.member_id for member in spec.members],
        instances=[member.group_instance_id for member in spec.members],
        topics=list(places),
        counts=[topic.partitions for topic in spec.topics] + [0] * unknown,
        classes=of_member,
        subscriptions=subscriptions,
        owned=owned,
        release=spec.release,
        generations=[ABSENT if member.generation is None else member.generation for member in spec.members],
        user_data=[member.user_data for member in spec.members],
        racks=[member.rack_id or None for member in spec.members],
        partition_racks=[topic.racks for topic in spec.topics] + [None] * unknown if has_racks else None,
        leader_memory=ABSENT if spec.leader_memory is None else spec.leader_memory,
        ids=() if is_led else [*struct.iter_unpack(">qq", ids), *repeat((0, 0), unknown)],
        assignable=None if spec.assignable is None else {
            (places[topic], partition)
            for topic, partitions in spec.assignable if topic in places
            for partition in partitions
        },
        jdk=spec.jdk,
    )  # fmt: skip


class Audiences:
    """Who subscribes to each topic that the metadata knows, in a given order of members. `numbers` are those of the
    topics' audiences; topics of the same classes have one, and one list in `members`."""

    def __init__(self, group: Group, order: Sequence[int]) -> None:
        classes: dict[int, list[int]] = {}
        for own, topics in enumerate(group.subscriptions):
            for topic in dict.fromkeys(topics):
                if group.counts[topic]:
                    classes.setdefault(topic, []).append(own)
        known: dict[tuple[int, ...], int] = {}
        self.numbers = {topic: known.setdefault(tuple(of), len(known)) for topic, of in classes.items()}
        self.members = [
            [member for member in order if group.classes[member] in chosen] for chosen in map(frozenset, known)
        ]

    def of(self, topic: int) -> list[int]:
        return self.members[self.numbers[topic]]


# -- racks, in the assignors of leaders


def partition_racks(group: Group, topic: int) -> list[frozenset[str]]:
    """The distinct racks of each partition's replicas; nodes without a rack add none. As many as there are partitions,
    since loops go by that."""
    count = group.counts[topic]
    stated = (group.partition_racks[topic] if group.partition_racks else None) or ()
    racks = [frozenset(rack for rack in replicas if rack is not None) for replicas in islice(stated, count)]
    return [*racks, *repeat(NO_RACKS, count - len(racks))]


def racks_matter(members: Collection[str], partitions: Sequence[frozenset[str]]) -> bool:
    """Not where no member is near any replica, nor where every rack has every partition."""
    everywhere = NO_RACKS.union(*partitions)
    return not everywhere.isdisjoint(members) and any(racks != everywhere for racks in partitions)


# -- what members have, as a coordinator hands it to an assignor, and how an assignor changes it


class Target:
    """A map of topic ids to sets of partitions. `recorded`: a record's lists, of which the coordinator made a default
    map with a copied set for each (ModernGroup.updateTargetAssignment). An assignor copies the map as soon as it
    changes something in it; what it does nothing to is walked as it was made."""

    def __init__(self, group: Group, recorded: Mapping[int, Collection[int]]) -> None:
        self.topic_ids, self.jdk, self.recorded = group.topic_ids, group.jdk, recorded
        self.changed: JavaMap[int, JavaSet[int]] | None = None
        self.rows: list[Partition] | None = None

    @property
    def topics(self) -> list[int]:
        """In the order of its map."""
        return (filled(self.topic_ids, self.recorded) if self.changed is None else self.changed).walk()

    def walk(self) -> list[Partition]:
        """Topics and partitions."""
        if self.rows is None:
            self.rows = [(topic, partition) for topic in self.topics for partition in self.walk_of(topic)]
        return self.rows

    def walk_of(self, topic: int) -> Collection[int]:
        if self.changed is not None:
            return self.changed[topic].walk()
        partitions = self.recorded[topic]
        if max(partitions, default=0) < DEFAULT_CAPACITY:
            # Each has a bucket of its own, as in most groups.
            return sorted(partitions)
        return copied_set(NUMBERS, partitions, self.jdk).walk()

    def copy(self) -> JavaMap[int, JavaSet[int]]:
        """The map that may be changed: a copy is made once, for its size (AssignorHelpers.deepCopyAssignment)."""
        if self.changed is None:
            changed: JavaMap[int, JavaSet[int]] = JavaMap(self.topic_ids, table_capacity(len(self.recorded)))
            for topic in self.topics:
                changed.put(topic, copied_set(NUMBERS, self.walk_of(topic), self.jdk))
            self.changed = changed
        self.rows = None
        return self.changed

    def add(self, topic: int, partition: int, capacity: int = DEFAULT_CAPACITY) -> None:
        """To a new set of so many buckets, if there is none (addPartitionToTargetAssignment)."""
        self.copy().compute_if_absent(topic, lambda: JavaSet(NUMBERS, capacity)).put(partition, None)

    def take(self, topic: int, partition: int) -> None:
        """And the topic with its last partition (removePartitionFromTargetAssignment)."""
        changed = self.copy()
        changed[topic].remove(partition)
        if not changed[topic]:
            changed.remove(topic)


def empty_target(group: Group) -> Target:
    """A default map, which may be changed as it is."""
    target = Target(group, {})
    target.changed = JavaMap(group.topic_ids)
    return target


def recorded_targets(group: Group) -> list[Target]:
    """By member. In a map of sets each partition is once, and those of a topic are where the first of them is, whatever
    a record lists."""
    recorded: list[dict[int, dict[int, None]]] = [{} for _ in group.members]
    for topics, own in zip(recorded, group.owned, strict=True):
        for topic, partition in own:
            partitions = topics.setdefault(topic, {})
            if partition != ABSENT:
                partitions[partition] = None
    return [Target(group, topics) for topics in recorded]
