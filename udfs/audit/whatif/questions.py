"""The questions to an assignor about groups in their current state: members claim what they have, all in one
generation."""

import struct
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from udfs.assignors.groups import Codes, Group, group_of
from udfs.assignors.questions import GroupProtocol, Member, Owned, Spec, Topic, stand_in_id
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.whatif.limits import known_id, why_impossible

TopicPartition = tuple[str, int]
# All claims are of the same generation.
GENERATION = 1


@dataclass(frozen=True)
class Question:
    latest: Latest
    facts: Facts

    @cached_property
    def topics(self) -> tuple[Topic, ...]:
        """Topics that members have but that are deleted, or that no member subscribes to, come last: a coordinator
        knows them as deleted."""
        present = [topic for topic in self.latest.topics if topic.name not in self.facts.deleted_topics]
        others = {name for member in self.latest.members for name, _ in member.owned} - {each.name for each in present}
        return tuple(with_id(topic, self.facts) for topic in (*present, *(Topic(name, 0) for name in sorted(others))))

    @cached_property
    def members(self) -> tuple[Member, ...]:
        return tuple(map(claiming, self.latest.members))

    @cached_property
    def obstacle(self) -> str | None:
        return why_impossible(self.latest)

    @cached_property
    def class_of_member(self) -> Codes:
        """The same number for members that subscribe to the same topics."""
        known: dict[frozenset[str], int] = {}
        subscribed = (frozenset(member.subscribed_topics) for member in self.latest.members)
        return np.array([known.setdefault(topics, len(known)) for topics in subscribed], np.int32)

    @cached_property
    def of_leader(self) -> Group:
        """One subscription for all assignors: the sticky one reads user data, the cooperative one reads owned
        partitions, the others read neither."""
        return group_of(self.spec(GroupProtocol.CLASSIC, "sticky"))

    @cached_property
    def of_coordinator(self) -> Group:
        return group_of(self.spec(GroupProtocol.CONSUMER, "uniform"))

    def spec(self, protocol: GroupProtocol, assignor: str) -> Spec:
        return Spec(protocol, assignor, self.topics, self.members)


def claiming(member: Member) -> Member:
    """The member as it would join: it claims what it has now, in the form of every assignor."""
    owned = in_order(member.owned)
    return Member(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        rack_id=member.rack_id,
        subscribed_topics=member.subscribed_topics,
        owned=owned,
        generation=GENERATION,
        user_data=sticky_data(owned),
        target=owned,
    )


def in_order(owned: Owned) -> Owned:
    """Clients sort what they own by topic and partition."""
    return tuple((topic, tuple(sorted(partitions))) for topic, partitions in sorted(owned))


def sticky_data(owned: Owned) -> bytes:
    """What the sticky assignor remembers of its last assignment; see sticky_user_data."""
    parts = [struct.pack(">i", len(owned))]
    for topic, partitions in owned:
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions))
    return b"".join((*parts, struct.pack(">i", GENERATION)))


def with_id(topic: Topic, facts: Facts) -> Topic:
    """Classic groups know only names. So the id is that of the newest snapshot, else a stand-in."""
    if topic.topic_id is not None:
        return topic
    return replace(topic, topic_id=known_id(topic.name, facts) or stand_in_id(topic.name))
