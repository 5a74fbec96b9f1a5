"""A group with other members or more partitions than it has."""

import difflib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from udfs.assignors.questions import MOST_PARTITIONS, Member, Topic
from udfs.audit.checks.results import Latest


class WrongChange(Exception):
    """A change that no group can make: what is wrong, with which value, and what was expected."""


@dataclass(frozen=True)
class GroupChange:
    """Members by their ids; and by topic the wanted number of partitions."""

    removed_members: Collection[str] = ()
    num_added: int = 0
    partitions: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.removed_members or self.num_added or self.partitions)


def apply_change(latest: Latest, change: GroupChange) -> Latest:
    if not change:
        return latest
    topics = with_partitions(latest.topics, change.partitions)
    known = [member.member_id for member in latest.members]
    removed = {member_named(each, known) for each in change.removed_members}
    stays = [member_id not in removed for member_id in known]
    if not any(stays) and not change.num_added:
        is_one = len(known) == 1
        all_named = "the only member, which" if is_one else f"all {len(known)} members, one or more"
        raise WrongChange(f"--remove-member: names {all_named} must stay")
    # Only classic members have versions.
    versions = latest.subscription_versions or (None,) * len(known)
    kept = [(member, version) for member, version, each in zip(latest.members, versions, stays, strict=True) if each]
    added = new_members(latest, change.num_added)
    return replace(
        latest,
        topics=topics,
        members=(*(member for member, _ in kept), *added),
        subscription_versions=(*(version for _, version in kept), *(None for _ in added)),
    )


def member_named(text: str, known: list[str]) -> str:
    """By its id, or by the beginning of an id that no other member has: terminals show shortened ids."""
    begun = [text] if text in known else [each for each in known if each.startswith(text)]
    if len(begun) > 1:
        raise WrongChange(
            f"--remove-member {text}: {len(begun)} member ids begin with it; give a longer one, such as "
            f"{sorted(begun)[0]}"
        )
    if not begun:
        raise WrongChange(f"--remove-member {text}: the group has no such member; {one_of('members', text, known)}")
    return begun[0]


def with_partitions(topics: tuple[Topic, ...], numbers: Mapping[str, int]) -> tuple[Topic, ...]:
    known = {topic.name: topic for topic in topics}
    for name, number in numbers.items():
        flag = f"--partitions {name}={number}"
        if name not in known:
            raise WrongChange(f"{flag}: no member subscribes to this topic; {one_of('topics', name, list(known))}")
        if number < (now := known[name].partitions):
            raise WrongChange(f"{flag}: {name} has {now} and Kafka takes none away; give {now} or more")
        if number > MOST_PARTITIONS:
            raise WrongChange(f"{flag}: more than a cluster can hold; give up to {MOST_PARTITIONS}")
    return tuple(
        # The brokers of new partitions' replicas are unknown.
        replace(topic, partitions=numbers[topic.name], racks=None)
        if numbers.get(topic.name, topic.partitions) != topic.partitions
        else topic
        for topic in topics
    )


def new_members(latest: Latest, number: int) -> list[Member]:
    """They subscribe to what most members subscribe to. They have no rack and no partitions yet."""
    if not number:
        return []
    subscriptions = Counter(member.subscribed_topics for member in latest.members)
    (topics, _), *_ = subscriptions.most_common(1) or [((), 0)]
    taken = {member.member_id for member in latest.members}
    names = (f"new-{place}" for place in range(1, number + len(taken) + 1))
    free = [name for name in names if name not in taken]
    return [Member(name, subscribed_topics=topics) for name in free[:number]]


def one_of(what: str, wanted: str, known: list[str]) -> str:
    if not known:
        return f"the group has no {what}"
    if len(known) == 1:
        return f"the only one is {known[0]}"
    begun = [each for each in known if each.startswith(wanted)]
    near = begun or difflib.get_close_matches(wanted, known, n=1) or sorted(known)
    return f"give one of its {len(known)} {what}, such as {near[0]}"


def assumptions(change: GroupChange) -> list[str]:
    """The assumptions of an answer about the change."""
    if not change.num_added:
        return []
    return ["assumed member ids new-1 and so on; assignors order members by id, so the real assignment may differ"]
