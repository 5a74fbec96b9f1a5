"""The assignment that a group would have in the end under another assignor."""

import base64
import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace

from udfs.assignors.registry import known_assignor
from udfs.assignors.specs import GroupProtocol, Member, Owned, Spec, Topic
from udfs.recomputing.audited import Latest
from udfs.recomputing.facts import Facts

TopicPartition = tuple[str, int]
Given = Mapping[str, Sequence[TopicPartition]]
# All members say the same one: nobody's claim is older than another's.
GENERATION = 1
# A second round gives what the first withheld; with unequal subscriptions a third may come.
MOST_ROUNDS = 10
WITHHOLDS = "cooperative-sticky"


def held(latest: Latest) -> dict[str, list[TopicPartition]]:
    """What each member has now."""
    return {
        member.member_id: [(topic, each) for topic, some in member.owned for each in some] for member in latest.members
    }


def answer(latest: Latest, facts: Facts, protocol: GroupProtocol, assignor: str) -> Given:
    now: Given = held(latest)
    topics = tuple(with_id(topic, facts) for topic in latest.topics)
    if protocol != GroupProtocol.CLASSIC:
        topics = with_owned(topics, now, facts)
    given = assigned(latest, topics, protocol, assignor, now)
    if assignor != WITHHOLDS:
        return given
    for _ in range(MOST_ROUNDS):
        if not is_anything_revoked(now, given):
            break
        # Who gave something up joins once more, and then it is handed out.
        now, given = given, assigned(latest, topics, protocol, assignor, given)
    return given


def is_anything_revoked(before: Given, after: Given) -> bool:
    return any(not set(after[member]).issuperset(had) for member, had in before.items())


def assigned(latest: Latest, topics: tuple[Topic, ...], protocol: GroupProtocol, assignor: str, now: Given) -> Given:
    members = tuple(claiming(member, now[member.member_id], assignor) for member in latest.members)
    spec = Spec(protocol, assignor, topics, members)
    return {member: sorted(partitions) for member, partitions in known_assignor(spec).answer(spec)}


def claiming(member: Member, has: Sequence[TopicPartition], assignor: str) -> Member:
    """The member as it would ask: it says that it has what it has now, in every assignor's own way."""
    owned = listed(has)
    return replace(
        member,
        owned=owned,
        target=owned,
        generation=GENERATION,
        user_data=sticky_data(owned) if assignor == "sticky" else None,
    )


def listed(partitions: Sequence[TopicPartition]) -> Owned:
    found: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        found.setdefault(topic, []).append(partition)
    return tuple((topic, tuple(numbers)) for topic, numbers in found.items())


def sticky_data(owned: Owned) -> bytes:
    """What the sticky assignor remembers of its last assignment; see sticky_data.previous_assignment."""
    parts = [struct.pack(">i", len(owned))]
    for topic, partitions in owned:
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions))
    return b"".join((*parts, struct.pack(">i", GENERATION)))


def with_id(topic: Topic, facts: Facts) -> Topic:
    """Classic groups know names alone: the id is that of the newest snapshot, else one of our making."""
    if topic.topic_id is not None:
        return topic
    return replace(topic, topic_id=known_id(topic.name, facts) or made_up_id(topic.name))


def known_id(name: str, facts: Facts) -> str | None:
    known = (each.topic.topic_id for each in reversed(facts.topics.get(name, ())))
    return next((topic_id for topic_id in known if topic_id is not None), None)


def made_up_id(name: str) -> str:
    return base64.urlsafe_b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest()).decode()[:22]


def with_owned(topics: tuple[Topic, ...], now: Given, facts: Facts) -> tuple[Topic, ...]:
    """Also those that members have and nobody subscribes to: a coordinator knows them as gone."""
    missing = {topic for some in now.values() for topic, _ in some} - {topic.name for topic in topics}
    return (*topics, *(with_id(Topic(name, 0), facts) for name in sorted(missing)))
