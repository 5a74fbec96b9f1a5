"""The question to a client-side assignor as arrays, and its answer: positions instead of names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hashes import Positions, java_sorted, ranks, string_hashes, utf_16
from udfs.assignors.java.maps import walked
from udfs.assignors.questions.member_order import statically_sorted
from udfs.assignors.questions.specs import NEWEST_RELEASE, Member, Owned, Release, Spec, Topic

ABSENT: Final = -1
Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
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
    def of_lists(lists: Sequence[Sequence[tuple[int, int]]]) -> "Rows":
        """Of each member in turn its topics and partitions."""
        return Rows(
            np.array([member for member, rows in enumerate(lists) for _ in rows], np.int32),
            np.array([topic for rows in lists for topic, _ in rows], np.int32),
            np.array([partition for rows in lists for _, partition in rows], np.int32),
        )

    def lists(self, num_members: int) -> list[list[tuple[int, int]]]:
        """By member, its topics and partitions."""
        lists: list[list[tuple[int, int]]] = [[] for _ in range(num_members)]
        pairs = zip(self.topics.tolist(), self.partitions.tolist(), strict=True)
        for member, pair in zip(self.members.tolist(), pairs, strict=True):
            lists[member].append(pair)
        return lists

    def take(self, chosen: NDArray[np.bool_] | Positions) -> "Rows":
        return Rows(self.members[chosen], self.topics[chosen], self.partitions[chosen])


def joined(first: Rows, second: Rows) -> Rows:
    return Rows(
        np.concatenate([first.members, second.members]),
        np.concatenate([first.topics, second.topics]),
        np.concatenate([first.partitions, second.partitions]),
    )


def as_sets(rows: Rows) -> Rows:
    """Each partition of a member once, and those of a topic together, where the first of them is. So the coordinator
    has what a record lists, in maps of sets; loops over such maps rely on it."""
    keys = rows.members.astype(np.int64) << 32 | rows.topics
    # Most lists rise within a topic, which costs less to see than to sort them.
    starts = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    is_rising = bool((starts[1:] | (rows.partitions[1:] > rows.partitions[:-1])).all())
    if is_rising and len(np.unique(keys[starts])) == np.count_nonzero(starts):
        return rows
    order = np.lexsort((rows.partitions, keys))
    ordered, partitions = keys[order], rows.partitions[order]
    is_other_set = ordered[1:] != ordered[:-1]
    is_first = is_other_set | (partitions[1:] != partitions[:-1])
    if is_first.all() and np.count_nonzero(keys[1:] != keys[:-1]) == np.count_nonzero(is_other_set):
        return rows
    kept = np.sort(order[np.append(True, is_first)])
    _, first, which = np.unique(keys[kept], return_index=True, return_inverse=True)
    return rows.take(kept[np.argsort(first[which], kind="stable")])


Assignment = Rows
Answer = Assignment | AssignorFailed


def only_answer(answers: Sequence[Answer]) -> Assignment:
    (answer,) = answers
    if isinstance(answer, AssignorFailed):
        raise answer
    return answer


@dataclass(frozen=True)
class Problem:
    """Members are in the order of the JoinGroup response.

    `topics` holds every topic that somebody subscribes to or owns; one that the leader's metadata lacks has a count of
    0. Members that subscribe to the same topics share a class: `topics_of_class` are its topics as they were listed.
    `owned` are the subscriptions' owned partitions, `generations` their generations, ABSENT where there is none.
    """

    members: Sequence[str]
    instances: Sequence[str | None]
    racks: Sequence[str | None]
    topics: Sequence[str]
    counts: Numbers
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    owned: Rows
    generations: Numbers
    user_data: Sequence[bytes | None]
    partition_racks: Sequence[PartitionRacks | None] | None = None
    leader_memory: int = ABSENT
    release: Release = NEWEST_RELEASE

    @cached_property
    def member_hashes(self) -> NDArray[np.uint32]:
        return string_hashes(self.members)

    @cached_property
    def topic_hashes(self) -> NDArray[np.uint32]:
        return string_hashes(self.topics)

    @cached_property
    def topic_positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.topics)}

    @cached_property
    def walked(self) -> Positions:
        """The members as Kafka walks its map of subscriptions."""
        return np.array(walked(self.member_hashes.tolist(), lambda member: utf_16(self.members[member])), np.intp)

    @cached_property
    def member_ranks(self) -> Positions:
        """The place of each member by id."""
        return ranks(java_sorted(self.members))

    @cached_property
    def topic_ranks(self) -> Positions:
        return ranks(java_sorted(self.topics))

    @cached_property
    def takes(self) -> NDArray[np.bool_]:
        """Class by topic: who subscribes to what the leader knows."""
        is_subscribed = np.zeros((len(self.topics_of_class), len(self.topics)), np.bool_)
        for row, topics in zip(is_subscribed, self.topics_of_class, strict=True):
            row[topics] = True
        return is_subscribed & (self.counts > 0)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Topics that somebody subscribes to and the leader knows."""
        return np.asarray(self.takes.any(axis=0), dtype=np.bool_)

    @cached_property
    def members_by_class(self) -> Sequence[Positions]:
        """The members of each class, in their order."""
        order = np.argsort(self.class_of_member, kind="stable")
        sizes = np.bincount(self.class_of_member, minlength=len(self.topics_of_class))
        return np.split(order, np.cumsum(sizes)[:-1])

    @cached_property
    def audiences(self) -> tuple[NDArray[np.intp], Sequence[Positions]]:
        """For each topic the number of its set of subscribers, and the members of each such set."""
        if len(self.topics_of_class) == 1:
            return np.zeros(len(self.topics), np.intp), [np.arange(len(self.members))]
        packed = np.packbits(self.takes, axis=0).T
        numbers: dict[bytes, int] = {}
        of_topic = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in packed], np.intp)
        first = {number: topic for topic, number in reversed(list(enumerate(of_topic.tolist())))}
        sets = [np.flatnonzero(self.takes[:, first[number]][self.class_of_member]) for number in range(len(numbers))]
        return of_topic, sets

    @cached_property
    def subscribed_in_order(self) -> Positions:
        """The subscribed topics, known or not, in the order in which a walk over the members meets them first."""
        if len(self.topics_of_class) == 1:
            listed = self.topics_of_class[0]
        else:
            _, first = np.unique(self.class_of_member[self.walked], return_index=True)
            listed = np.concatenate([self.topics_of_class[k] for k in np.argsort(first)])
        topics, first = np.unique(listed, return_index=True)
        return topics[np.argsort(first)].astype(np.intp)

    @cached_property
    def topics_walked(self) -> Positions:
        """The topics to assign, as Kafka walks its map of them: it is filled from a set of all subscribed ones."""
        met = self.put_topics(self.subscribed_in_order)
        return self.put_topics(met[self.known[met]])

    def put_topics(self, topics: Positions) -> Positions:
        """Topics as a table is walked in which they were put."""
        return topics[walked(self.topic_hashes[topics].tolist(), lambda at: utf_16(self.topics[topics[at]]))]

    @cached_property
    def statically_sorted(self) -> Positions:
        return statically_sorted(self.members, self.instances, lambda: self.walked)


def within(counts: Numbers) -> Numbers:
    """0, 1, … for each count, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)


def problem_of(spec: Spec) -> Problem:
    names: dict[str, int] = {topic.name: position for position, topic in enumerate(spec.topics)}
    classes: dict[tuple[str, ...], int] = {}
    class_of_member = [classes.setdefault(member.subscribed_topics, len(classes)) for member in spec.members]
    topics_of_class = [
        np.array([names.setdefault(name, len(names)) for name in listed], np.int32) for listed in classes
    ]
    owned = owned_rows([member.owned for member in spec.members], names)
    unknown = len(names) - len(spec.topics)
    return Problem(
        members=[member.member_id for member in spec.members],
        instances=[member.group_instance_id for member in spec.members],
        racks=[member.rack_id or None for member in spec.members],
        topics=list(names),
        counts=np.array([topic.partitions for topic in spec.topics] + [0] * unknown, np.int64),
        class_of_member=np.array(class_of_member, np.int32),
        topics_of_class=topics_of_class,
        owned=owned,
        generations=np.array([generation_of(member) for member in spec.members], np.int64),
        user_data=[member.user_data for member in spec.members],
        partition_racks=racks_of(spec.topics, unknown),
        leader_memory=ABSENT if spec.leader_memory is None else spec.leader_memory,
        release=spec.release,
    )


def generation_of(member: Member) -> int:
    return ABSENT if member.generation is None else member.generation


def racks_of(topics: Sequence[Topic], unknown: int) -> Sequence[PartitionRacks | None] | None:
    if all(topic.racks is None for topic in topics):
        return None
    return [topic.racks for topic in topics] + [None] * unknown


def owned_rows(lists: Sequence[Owned], names: dict[str, int]) -> Rows:
    """Topics that `names` lacks are added to it."""
    members: list[int] = []
    topics: list[int] = []
    sizes: list[int] = []
    partitions: list[int] = []
    for member, owned in enumerate(lists):
        for topic, indexes in owned:
            members.append(member)
            topics.append(names.setdefault(topic, len(names)))
            sizes.append(len(indexes))
            partitions.extend(indexes)
    return Rows(
        np.repeat(np.array(members, np.int32), sizes),
        np.repeat(np.array(topics, np.int32), sizes),
        np.array(partitions, np.int32),
    )
