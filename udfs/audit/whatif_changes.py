"""A group with other members or more partitions than it has; what a change of its assignment costs, and which assignor
costs least."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, NamedTuple

from udfs.assignors.questions import MOST_PARTITIONS, Member, Topic
from udfs.audit.checks.results import Latest
from udfs.sentences.counts import counted
from udfs.sentences.suggestions import near

TopicPartition = tuple[str, int]


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


NO_CHANGE = GroupChange()


def apply_change(latest: Latest, change: GroupChange) -> Latest:
    if not change:
        return latest
    topics = with_partitions(latest.topics, change.partitions)
    known = [member.member_id for member in latest.members]
    removed = {member_named(each, known) for each in change.removed_members}
    # Only classic members have versions.
    versions = latest.subscription_versions or (None,) * len(known)
    pairs = [each for each in zip(latest.members, versions, strict=True) if each[0].member_id not in removed]
    if not pairs and not change.num_added:
        all_named = "the only member, which" if len(known) == 1 else f"all {len(known)} members, one or more"
        raise WrongChange(f"--remove-member: names {all_named} must stay")
    members, versions = zip(*pairs, *((each, None) for each in new_members(latest, change.num_added)), strict=True)
    return replace(latest, topics=topics, members=members, subscription_versions=versions)


def member_named(text: str, known: list[str]) -> str:
    """By its id, or by the beginning of an id that no other member has: terminals show shortened ids."""
    begun = [text] if text in known else [each for each in known if each.startswith(text)]
    if len(begun) > 1:
        longer = f"give a longer one, such as {min(begun)}"
        raise WrongChange(f"--remove-member {text}: {len(begun)} member ids begin with it; {longer}")
    if not begun:
        raise WrongChange(f"--remove-member {text}: the group has no such member; {one_of('members', text, known)}")
    return begun[0]


def with_partitions(topics: tuple[Topic, ...], numbers: Mapping[str, int]) -> tuple[Topic, ...]:
    known, grown = {topic.name: topic for topic in topics}, dict[str, Topic]()
    for name, number in numbers.items():
        flag = f"--partitions {name}={number}"
        if name not in known:
            raise WrongChange(f"{flag}: no member subscribes to this topic; {one_of('topics', name, list(known))}")
        if number < (now := known[name].partitions):
            raise WrongChange(f"{flag}: {name} has {now} and Kafka takes none away; give {now} or more")
        if number > MOST_PARTITIONS:
            raise WrongChange(f"{flag}: more than a cluster can hold; give up to {MOST_PARTITIONS}")
        # The brokers of new partitions' replicas are unknown.
        grown[name] = known[name] if number == now else replace(known[name], partitions=number, racks=None)
    return tuple(grown.get(topic.name, topic) for topic in topics)


def new_members(latest: Latest, number: int) -> list[Member]:
    """They subscribe to what most members subscribe to. They have no rack and no partitions yet."""
    subscriptions = Counter(member.subscribed_topics for member in latest.members)
    (topics, _), *_ = subscriptions.most_common(1) or [((), 0)]
    taken = {member.member_id for member in latest.members}
    free = (name for place in count(1) if (name := f"new-{place}") not in taken)
    return [Member(name, subscribed_topics=topics) for name in islice(free, number)]


def one_of(what: str, wanted: str, known: list[str]) -> str:
    if not known:
        return f"the group has no {what}"
    if len(known) == 1:
        return f"the only one is {known[0]}"
    return f"give one of its {len(known)} {what}, such as {near(wanted, known) or min(known)}"


# -- moves and costs


class Move(NamedTuple):
    """A partition and who has it, before and after. All members, in share groups and with assignors that assign a
    partition to several."""

    partition: TopicPartition
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        return self.before != self.after


def moves_between(
    before: Mapping[str, Sequence[TopicPartition]], after: Mapping[str, Sequence[TopicPartition]]
) -> list[Move]:
    """Every partition that a member has before or after, in order."""
    owners: dict[TopicPartition, tuple[set[str], set[str]]] = {}
    for side, lists in enumerate((before, after)):
        for member, partitions in lists.items():
            for partition in partitions:
                owners.setdefault(partition, (set(), set()))[side].add(member)
    return [Move(each, tuple(sorted(old)), tuple(sorted(new))) for each, (old, new) in sorted(owners.items())]


def costs(before: Set[tuple[Any, ...]], after: Set[tuple[Any, ...]], *, is_eager: bool) -> tuple[int, int]:
    """How many partitions a member loses, and how many are unread until their new owner reads them: with an eager
    assignor all that a member has, else those that no member keeps. Each side: members with what they have, as member,
    topic, partition."""
    moved = {each[1:] for each in before - after}
    if is_eager:
        return len(moved), len({each[1:] for each in before})
    return len(moved), len(moved - {each[1:] for each in before & after}) if moved else 0


# -- sentences


def best(rows: Sequence[Mapping[str, Any]], in_force: tuple[str, str] | None) -> str | None:
    """The sentence that says which assignor is best and what it costs; None: none is possible. `in_force`: protocol and
    name."""
    possible = [row for row in rows if row["is_possible"]]
    if not possible:
        return None

    def is_other(row: Mapping[str, Any]) -> bool:
        return (row["group_protocol"], row["assignor"]) != in_force

    evenest = min(possible, key=lambda row: (*balance_first(row), is_other(row)))
    cheapest = min(possible, key=lambda row: (*cost_first(row), is_other(row)))
    if evenest is cheapest:
        parts = [f"{name_of(evenest, in_force)} has the best balance and moves the fewest partitions: {price(evenest)}"]
    else:
        parts = [
            f"{name_of(evenest, in_force)} has the best balance: {price(evenest)}",
            f"{name_of(cheapest, in_force)} moves and stops the fewest partitions: {price(cheapest)}",
        ]
    others = [row for row in possible if row is not evenest and row is not cheapest and not is_other(row)]
    parts += [f"{name_of(row, in_force)}: {price(row)}" for row in others]
    return "; ".join(parts) + "."


def balance_first(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["imbalance"], row["partitions_stopped"], row["moves_from_current"]


def cost_first(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["partitions_stopped"], row["moves_from_current"], row["imbalance"]


def name_of(row: Mapping[str, Any], in_force: tuple[str, str] | None) -> str:
    named = f"{row['assignor']} of the {row['group_protocol']} protocol"
    return f"{named} (in force)" if (row["group_protocol"], row["assignor"]) == in_force else named


def price(row: Mapping[str, Any]) -> str:
    moved, stopped = row["moves_from_current"], row["partitions_stopped"]
    changes = "changes its owner" if moved == 1 else "change their owner"
    stops = f"{stopped} not read during the rebalance"
    return f"members with the same topics {spread(row['imbalance'])}, {counted(moved, 'partition')} {changes}, {stops}"


def balance(sizes: Sequence[int], imbalance: int) -> str:
    """Members with other topics may rightly have other numbers, so only those with the same topics are compared."""
    least, most = min(sizes, default=0), max(sizes, default=0)
    each = counted(most, "partition") if least == most else f"{least} to {counted(most, 'partition')}"
    return f"{each} a member; members with the same topics {spread(imbalance)}"


def spread(imbalance: int) -> str:
    return f"differ by up to {counted(imbalance, 'partition')}" if imbalance else "have equally many"


def reasons(rows: Sequence[Mapping[str, Any]], in_force: tuple[str, str] | None) -> list[str]:
    """Why assignors are not possible, or their answers not certain: a sentence for each reason, with all it is for."""
    named: dict[tuple[bool, str], list[str]] = {}
    for row in rows:
        if row["reason"] is not None:
            named.setdefault((row["is_possible"], row["reason"]), []).append(name_of(row, in_force))
    return [
        f"{'Not certain' if is_possible else 'Not possible'}: "
        f"{'any assignor' if len(names) == len(rows) else ', '.join(names)}: {reason}."
        for (is_possible, reason), names in named.items()
    ]
