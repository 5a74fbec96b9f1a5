"""A share group as its coordinator passes it to the assignor before 4.2: members in order, their targets as Java's
maps."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from udfs.assignors.java.hash_map import NUMBERS, JavaSet, JavaTable, Keys
from udfs.assignors.java.iteration_order import (
    by_text,
    copied_set_capacity,
    put_order,
    string_hashes,
    table_capacity,
    uuid_hashes,
)
from udfs.assignors.questions.specs import Owned, Release, Spec, Topic

Pair = tuple[str, int]
Target = JavaTable[str, JavaSet[int]]


@dataclass(frozen=True)
class TopicIds:
    """Topics are known by their names here, and by their ids to Kafka."""

    hashes: dict[str, int]
    values: dict[str, tuple[int, int]]

    @cached_property
    def topics(self) -> Keys[str]:
        return Keys(self.hashes.__getitem__, self.values.__getitem__)

    @cached_property
    def pairs(self) -> Keys[Pair]:
        # Pairs of one hash code have no order of their own: a tree of nine of them is shaped by chance in Java too.
        return Keys(lambda pair: 31 * self.hashes[pair[0]] + pair[1] & 0xFFFFFFFF, lambda pair: 0)


@dataclass(frozen=True)
class ShareGroup:
    """Members are numbered as Kafka walks them; `subscriptions` are what the metadata knows of each one's topics."""

    members: list[str]
    subscriptions: list[list[str]]
    num_names: list[int]
    is_homogeneous: bool
    targets: list[Target]
    counts: dict[str, int]
    assignable: dict[str, frozenset[int]] | None
    ids: TopicIds
    release: Release

    @cached_property
    def hash_codes(self) -> list[int]:
        """Of the members' ids, with their sign."""
        return string_hashes(self.members).astype(np.int32).tolist()  # type: ignore[no-any-return]

    def partitions_of(self, topics: list[str]) -> list[Pair]:
        """The assignable ones."""
        allowed = self.assignable
        return [
            (topic, partition)
            for topic in topics
            for partition in range(self.counts[topic])
            if allowed is None or partition in allowed.get(topic, ())
        ]


def share_group_of(spec: Spec) -> ShareGroup:
    names = [member.member_id for member in spec.members]
    members = [spec.members[m] for m in put_order(string_hashes(names), rank_of=by_text(names)).tolist()]
    # Sets to the coordinator, as targets are: a name that a record has twice counts once.
    subscribed = [tuple(dict.fromkeys(member.subscribed_topics)) for member in members]
    ids = topic_ids(spec.topics)
    counts = {topic.name: topic.partitions for topic in spec.topics if topic.partitions}
    return ShareGroup(
        members=[member.member_id for member in members],
        subscriptions=[known_topics(listed, counts, spec.jdk) for listed in subscribed],
        num_names=[len(listed) for listed in subscribed],
        is_homogeneous=len(set(map(frozenset, subscribed))) == 1,
        targets=[target_of(member.target, ids, spec.jdk) for member in members],
        counts=counts,
        assignable=None if spec.assignable is None else {name: frozenset(of) for name, of in spec.assignable},
        ids=ids,
        release=spec.release,
    )


def topic_ids(topics: tuple[Topic, ...]) -> TopicIds:
    raw = b"".join(base64.urlsafe_b64decode(f"{topic.topic_id}==") for topic in topics)
    values = np.frombuffer(raw, ">i8").astype(np.int64).reshape(-1, 2)
    hashes = uuid_hashes(values[:, 0], values[:, 1]).tolist()
    names = [topic.name for topic in topics]
    pairs = [(most, least) for most, least in values.tolist()]
    return TopicIds(dict(zip(names, hashes, strict=True)), dict(zip(names, pairs, strict=True)))


def known_topics(names: tuple[str, ...], counts: dict[str, int], jdk: int) -> list[str]:
    """As a walk over Kafka's set of the names meets them."""
    order = put_order(string_hashes(names), copied_set_capacity(len(names), jdk), by_text(names)).tolist()
    return [names[n] for n in order if names[n] in counts]


def target_of(owned: Owned, ids: TopicIds, jdk: int) -> Target:
    listed: dict[str, dict[int, None]] = {}
    for topic, partitions in owned:
        listed.setdefault(topic, {}).update(dict.fromkeys(partitions))
    target: Target = JavaTable(ids.topics)
    for topic, each_once in listed.items():
        target.put(topic, JavaSet(NUMBERS, copied_set_capacity(len(each_once), jdk), each_once))
    return target


def pairs_of(target: Target) -> Iterator[Pair]:
    return ((topic, partition) for topic, partitions in target.items() for partition in partitions)


def roomy_capacity(size: int) -> int:
    """Buckets of the maps and sets that this assignor makes for a number of entries."""
    return table_capacity(int((size + 1) / 0.75 + 1))
