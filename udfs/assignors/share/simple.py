"""The `simple` assignor of share groups from 4.2 on. Members are spread evenly over partitions, and partitions evenly
over members.

Members with the same topics share all partitions at once; others share them topic by topic.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from udfs.assignors.java.hash_map import NUMBERS, JavaSet, JavaTable, Keys
from udfs.assignors.questions.problems import AssignorFailed
from udfs.assignors.share.groups import Pair, ShareGroup, Target, pairs_of, roomy_capacity

K = TypeVar("K", bound=Hashable)


class Changed:
    """The members' new targets: a member's is copied as soon as something may change in it."""

    def __init__(self, group: ShareGroup) -> None:
        self.group = group
        self.copies: dict[int, Target] = {}

    def copy(self, member: int) -> Target:
        if member not in self.copies:
            self.copies[member] = self.group.copied(self.group.targets[member])
        return self.copies[member]

    def lists(self) -> list[list[Pair]]:
        targets = self.group.targets
        return [list(pairs_of(self.copies.get(member, targets[member]))) for member in range(len(targets))]


class Sharing(Generic[K]):
    """Some partitions, and how they are shared by members who all want them."""

    def __init__(
        self,
        changed: Changed,
        wanted: Sequence[K],
        members: Sequence[int],
        keys: Keys[K],
        pair_of: Callable[[K], Pair],
    ) -> None:
        self.changed, self.wanted, self.members, self.pair_of = changed, wanted, members, pair_of
        self.most = -(-len(members) // len(wanted)) if wanted else 0
        self.shares = dict(zip(members, equal_shares(self.most * len(wanted), len(members)), strict=True))
        self.keys = keys
        self.sharers: JavaTable[K, JavaSet[int]] = JavaTable(keys, roomy_capacity(len(wanted)))
        self.held: dict[int, JavaSet[K]] = {}

    def add(self, member: int, key: K) -> None:
        self.sharers.compute_if_absent(key, lambda: JavaSet(NUMBERS)).add(member)
        self.held.setdefault(member, JavaSet(self.keys)).add(key)

    def num_held(self, member: int) -> int:
        return len(self.held.get(member, ()))

    def settle(self) -> None:
        for member in self.held:
            self.trim(member)
        for key in self.sharers:
            self.thin_out(key)
        for key in self.wanted:
            self.sharers.compute_if_absent(key, lambda: JavaSet(NUMBERS))
        self.hand_out()

    def trim(self, member: int) -> None:
        """Takes from a member what it has beyond its share, or all if it no longer takes part."""
        held = self.held[member]
        for key in list(held)[: max(len(held) - self.shares.get(member, 0), 0)]:
            topic, partition = self.pair_of(key)
            self.changed.copy(member)[topic].remove(partition)
            self.sharers[key].remove(member)
            held.remove(key, by_iterator=True)

    def thin_out(self, key: K) -> None:
        """Takes a partition from some of too many sharers."""
        sharers = self.sharers[key]
        topic, partition = self.pair_of(key)
        for member in list(sharers)[: max(len(sharers) - self.most, 0)]:
            self.changed.copy(member)[topic].remove(partition)
            sharers.remove(member, by_iterator=True)
            self.held[member].remove(key)

    def hand_out(self) -> None:
        """Gives each partition to the next members that have less than their share, round and round."""
        unfilled = {member: None for member in self.members if self.num_held(member) < self.shares[member]}
        turn = iter(list(unfilled))
        was_given = False
        for key, sharers in self.sharers.items():
            missing = self.most - len(sharers)
            while missing > 0:
                member = next(turn, None)
                if member is None:
                    if not was_given:
                        break
                    if not unfilled:
                        raise AssignorFailed("no member is left for a partition that more members should share")
                    turn, was_given = iter(list(unfilled)), False
                elif member not in sharers:
                    self.give(member, key)
                    missing, was_given = missing - 1, True
                    if self.num_held(member) >= self.shares[member]:
                        del unfilled[member]
            if not unfilled:
                break

    def give(self, member: int, key: K) -> None:
        # The new sharer is not noted: in a second lap Kafka gives it the same partition once more, for nothing.
        topic, partition = self.pair_of(key)
        self.changed.copy(member).compute_if_absent(topic, lambda: JavaSet(NUMBERS)).add(partition)
        self.held.setdefault(member, JavaSet(self.keys)).add(key)


def equal_shares(total: int, members: int) -> list[int]:
    """The larger ones spread among the others, in the floating point that Kafka does it in."""
    ends = np.ceil(total / members * np.arange(members + 1)).astype(np.int64)
    return np.diff(ends).tolist()  # type: ignore[no-any-return]


def shared_by_all(group: ShareGroup) -> list[list[Pair]]:
    """Members with the same topics."""
    if not group.num_names[0]:
        return [[] for _ in group.members]
    changed = Changed(group)
    subscribed = frozenset(group.subscriptions[0])
    wanted = group.partitions_of(group.subscriptions[0])
    sharing = Sharing(changed, wanted, range(len(group.members)), group.ids.pairs, lambda pair: pair)
    for member, target in enumerate(group.targets):
        for pair in pairs_of(target):
            if pair[0] in subscribed:
                sharing.add(member, pair)
        gone = [topic for topic in target if topic not in subscribed]
        # Kafka copies the target of a member that has its share, though nothing may change in it.
        if gone or sharing.num_held(member) >= max(sharing.shares[member], 1):
            for topic in gone:
                changed.copy(member).remove(topic)
            changed.copy(member)
    sharing.settle()
    return changed.lists()


def shared_by_topic(group: ShareGroup) -> list[list[Pair]]:
    """Members with different topics. What they had of a topic that nobody takes any more stays, as in Kafka."""
    changed = Changed(group)
    everything: JavaSet[str] = JavaSet(group.ids.topics)
    for topics in group.subscriptions:
        for topic in topics:
            everything.add(topic)
    if not len(everything):
        return [[] for _ in group.members]
    subscribers: dict[str, list[int]] = {topic: [] for topic in everything}
    for member, topics in enumerate(group.subscriptions):
        for topic in topics:
            subscribers[topic].append(member)
    for topic in everything:
        share_topic(group, changed, topic, subscribers[topic])
    return changed.lists()


def share_topic(group: ShareGroup, changed: Changed, topic: str, subscribers: list[int]) -> None:
    wanted = [partition for _, partition in group.partitions_of([topic])]
    sharing = Sharing(changed, wanted, subscribers, NUMBERS, lambda partition: (topic, partition))
    for member, target in enumerate(group.targets):
        for partition in target.get(topic) or ():
            sharing.add(member, partition)
    sharing.settle()
