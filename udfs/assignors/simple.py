"""The `simple` assignor of share groups: of 4.2 (SimpleHomogeneousAssignmentBuilder.java,
SimpleHeterogeneousAssignmentBuilder.java), of the preview, 4.1, and of early access (SimpleAssignor.java).

Members are places in Kafka's walk of them, since Kafka numbers them so. A set that becomes empty stays in its target.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import compress
from operator import itemgetter

from udfs.assignors.groups import AssignorFailed, Group, Lists, Partition, Target, empty_target, recorded_targets
from udfs.assignors.java.maps import NUMBERS, JavaMap, JavaSet, Keys, filled, table_capacity, utf_16

Sharers = JavaMap[Partition, JavaSet[int]]
Owners = JavaMap[Partition, list[int]]

SIMPLE_BY_HASH = (4, 1, 0)
SIMPLE_BY_SHARES = (4, 2, 0)


def simple(group: Group) -> Lists:
    """SimpleAssignor.assign."""
    if group.release >= SIMPLE_BY_SHARES:
        walks = assign_homogeneous(group) if group.is_homogeneous else assign_heterogeneous(group)
    elif group.release >= SIMPLE_BY_HASH:
        walks = hash_homogeneous(group) if group.is_homogeneous else hash_heterogeneous(group)
    else:
        # All to everybody; which partitions may be assigned was no question then.
        listed = subscriptions_of(group)
        listed = listed[:1] * len(listed) if group.is_homogeneous else listed
        walks = [group.partitions_of(filled(group.topic_ids, topics).walk()) for topics in listed]
    lists = dict(zip(group.walked, walks, strict=True))
    return [lists[member] for member in range(len(walks))]


# -- from 4.2 on: what members had of a topic that nobody takes any more stays


def assign_homogeneous(group: Group) -> Lists:
    """Members with the same topics share all partitions at once (SimpleHomogeneousAssignmentBuilder)."""
    if not group.subscriptions[group.walked_classes[0]]:
        return [[] for _ in group.members]
    subscribed, targets = dict.fromkeys(subscriptions_of(group)[0]), targets_of(group)
    # What members had: a copy of a changed target is walked in another order.
    held = [(place, pair) for place, target in enumerate(targets) for pair in target.walk() if pair[0] in subscribed]
    for target in targets:
        for topic in target.topics:
            if topic not in subscribed:
                target.copy().remove(topic)
    wanted = target_partitions(group, subscribed)
    Sharing(targets, range(len(targets)), wanted, pair_keys(group), is_equal=True).build(held)
    return [target.walk() for target in targets]


def assign_heterogeneous(group: Group) -> Lists:
    """Others share them topic by topic (SimpleHeterogeneousAssignmentBuilder)."""
    takers: dict[int, list[int]] = {}
    for place, subscription in enumerate(subscriptions_of(group)):
        for topic in subscription:
            takers.setdefault(topic, []).append(place)
    if not takers:
        return [[] for _ in group.members]
    targets = targets_of(group)
    held: dict[int, list[tuple[int, Partition]]] = {}
    for place, target in enumerate(targets):
        for pair in target.walk():
            held.setdefault(pair[0], []).append((place, pair))
    # A partition of the only topic is its own hash code.
    keys = Keys[Partition](itemgetter(1), itemgetter(1))
    for topic in filled(group.topic_ids, takers).walk():
        wanted = target_partitions(group, [topic])
        Sharing(targets, takers[topic], wanted, keys, is_equal=False).build(held.get(topic, []))
    return [target.walk() for target in targets]


class Sharing:
    """Wanted partitions among members that may take them: what both builders do."""

    def __init__(
        self,
        targets: list[Target],
        takers: Iterable[int],
        wanted: list[Partition],
        keys: Keys[Partition],
        is_equal: bool,
    ) -> None:
        self.targets, self.takers, self.wanted, self.keys, self.is_equal = targets, list(takers), wanted, keys, is_equal
        # desiredSharing: so many members for each partition.
        self.most = -(-len(self.takers) // len(wanted)) if wanted else 0
        self.held = dict.fromkeys(self.takers, 0)
        # A map is made for a number of entries and one more (AssignorHelpers.newHashMap).
        self.sharers: Sharers = JavaMap(keys, table_capacity((len(wanted) + 1) * 4 // 3 + 1))
        # desiredAssignmentCounts, in Kafka's floating point: the larger shares are spread among the others.
        share, before = self.most * len(wanted) / len(self.takers), 0
        self.shares = {}
        for number, place in enumerate(self.takers):
            until = math.ceil(share * (number + 1))
            self.shares[place], before = until - before, until

    def build(self, held: list[tuple[int, Partition]]) -> None:
        """`held`: who has what, member by member."""
        by_member: dict[int, JavaSet[Partition]] = {}
        for place, pair in held:
            self.sharers_of(pair).add(place)
            by_member.setdefault(place, JavaSet(self.keys)).add(pair)
        for place, pairs in by_member.items():
            self.revoke_overfilled(place, pairs)
        self.revoke_overshared()
        for pair in self.wanted:
            self.sharers_of(pair)
        self.assign_remaining_partitions()

    def sharers_of(self, pair: Partition) -> JavaSet[int]:
        return self.sharers.compute_if_absent(pair, lambda: JavaSet(NUMBERS))

    def revoke_overfilled(self, place: int, pairs: JavaSet[Partition]) -> None:
        """What a member has beyond its share, or all if it takes no part (revokeOverfilledMembers)."""
        surplus = len(pairs) - self.shares.get(place, 0)
        if surplus == 0 and self.is_equal:
            # Kafka copies the target of a member that has just its share, too.
            self.targets[place].copy()
        self.held[place] = len(pairs)
        for pair in pairs.walk()[: max(surplus, 0)]:
            self.revoke(place, pair)

    def revoke_overshared(self) -> None:
        """From some of too many members (revokeOversharedPartitions)."""
        for pair in self.sharers.walk():
            sharers = self.sharers[pair]
            for place in sharers.walk()[: len(sharers) - self.most] if len(sharers) > self.most else ():
                self.revoke(place, pair)

    def revoke(self, place: int, pair: Partition) -> None:
        self.held[place] -= 1
        self.sharers[pair].remove(place)
        self.targets[place].copy()[pair[0]].remove(pair[1])

    def assign_remaining_partitions(self) -> None:
        """Each partition, as the map of sharers is walked, to the next members that have less than their share, round
        and round. The new sharer is not noted: in a second lap Kafka gives it the same partition once more, for
        nothing."""
        waiting = self.unfilled(self.takers)
        turn, was_given, num_unfilled = 0, False, len(waiting)
        for pair in self.sharers.walk():
            sharers, given = self.sharers[pair], set[int]()
            missing = self.most - len(sharers)
            while missing > 0:
                if turn == len(waiting):
                    if not was_given:
                        return
                    if not num_unfilled:
                        raise AssignorFailed("no member is left for a partition that more members should share")
                    waiting, turn, was_given = self.unfilled(waiting), 0, False
                    continue
                place = waiting[turn]
                turn += 1
                if place in sharers:
                    continue
                self.targets[place].add(*pair)
                self.held[place] += place not in given
                given.add(place)
                num_unfilled -= self.held[place] == self.shares[place]
                missing, was_given = missing - 1, True
            if not num_unfilled:
                return

    def unfilled(self, places: Sequence[int]) -> list[int]:
        return [place for place in places if self.held[place] < self.shares[place]]


# -- 4.1


def hash_homogeneous(group: Group) -> Lists:
    """Members with the same topics: each takes the partition that its id hashes to, then what it had, then the rest
    (newAssignmentHomogeneous)."""
    if not group.subscriptions[group.walked_classes[0]]:
        return [[] for _ in group.members]
    by_member = [JavaSet(pair_keys(group)) for _ in group.members]
    subscribed = subscriptions_of(group)[0]
    wanted = target_partitions(group, subscribed)
    share = -(-len(wanted) // len(by_member))
    by_hash: Owners = JavaMap(pair_keys(group), table_capacity(int((len(wanted) + 1) / 0.75 + 1)))
    member_hash_assignment(group, range(len(by_member)), wanted, by_hash)
    taken = set(by_hash)
    give_all(by_hash, by_member)
    before = current_assignment(group)
    for pair in before.walk():
        for place in before[pair] if pair[0] in subscribed and pair not in by_hash else ():
            if len(by_member[place]) < share:
                by_member[place].add(pair)
                taken.add(pair)
    # In turns. A member that has more than its share leaves the row, so a member may get one more
    # (roundRobinAssignmentWithCount).
    row, at = list(range(len(by_member))), 0
    for pair in (each for each in wanted if each not in taken):
        while at == len(row) or len(by_member[row[at]]) > share:
            if at < len(row):
                del row[at]
            elif row:
                at = 0
            else:
                raise AssignorFailed("every member has more than its share, and partitions are left")
        by_member[row[at]].add(pair)
        at += 1
    return by_topic(group, by_member)


def hash_heterogeneous(group: Group) -> Lists:
    """Members with different topics: each hashes among its own; what nobody got goes round the topic's subscribers
    (newAssignmentHeterogeneous)."""
    subscriptions, codes = subscriptions_of(group), [group.hash_codes[member] for member in group.walked]
    # Some of the members, put into a map in their order.
    keys = Keys[int](codes.__getitem__, lambda place: utf_16(group.members[group.walked[place]]))
    takes = [bool(group.subscriptions[own]) for own in group.walked_classes]
    order = filled(keys, compress(range(len(codes)), takes)).walk()
    wanted = {place: target_partitions(group, subscriptions[place]) for place in order}
    subscribers: dict[int, list[int]] = {}
    assigned: Owners = JavaMap(pair_keys(group))
    for place in order:
        for topic in dict.fromkeys(topic for topic, _ in wanted[place]):
            subscribers.setdefault(topic, []).append(place)
        member_hash_assignment(group, [place], wanted[place], assigned)
    before = current_assignment(group)
    free: JavaMap[int, list[Partition]] = JavaMap(group.topic_ids)
    for pair in dict.fromkeys(pair for place in order for pair in wanted[place]):
        if pair not in assigned and pair not in before:
            free.compute_if_absent(pair[0], list).append(pair)
    for topic in free.walk():
        for turn, pair in enumerate(free[topic]):
            assigned.compute_if_absent(pair, list).append(subscribers[topic][turn % len(subscribers[topic])])
    by_member = [JavaSet(pair_keys(group)) for _ in subscriptions]
    give_all(assigned, by_member)
    for pair in before.walk():
        for place in before[pair] if pair not in assigned else ():
            if place in subscribers.get(pair[0], ()):
                by_member[place].add(pair)
    return by_topic(group, by_member)


def member_hash_assignment(group: Group, places: Iterable[int], pairs: list[Partition], assigned: Owners) -> None:
    """The remainder of Java's signed hash code, without its sign (memberHashAssignment)."""
    for place in places if pairs else ():
        code = group.hash_codes[group.walked[place]]
        distance = abs(code - (code >> 31 << 32))
        assigned.compute_if_absent(pairs[distance % len(pairs)], list).append(place)


def give_all(owners: Owners, by_member: list[JavaSet[Partition]]) -> None:
    for pair in owners.walk():
        for place in owners[pair]:
            by_member[place].add(pair)


def current_assignment(group: Group) -> Owners:
    """Who had what (currentAssignment)."""
    owners: Owners = JavaMap(pair_keys(group))
    for place, target in enumerate(targets_of(group)):
        for pair in target.walk():
            owners.compute_if_absent(pair, list).append(place)
    return owners


def by_topic(group: Group, by_member: list[JavaSet[Partition]]) -> Lists:
    targets = [empty_target(group) for _ in by_member]
    for target, pairs in zip(targets, by_member, strict=True):
        for pair in pairs.walk():
            target.add(*pair)
    return [target.walk() for target in targets]


# -- of all releases


def targets_of(group: Group) -> list[Target]:
    targets = recorded_targets(group)
    return [targets[member] for member in group.walked]


def subscriptions_of(group: Group) -> list[list[int]]:
    """What the metadata knows of each member's topics, as a walk over its set of names meets them."""
    return [group.subscribed[own] for own in group.walked_classes]


def target_partitions(group: Group, topics: Iterable[int]) -> list[Partition]:
    """Those that may be assigned (computeTargetPartitions)."""
    everything, allowed = group.partitions_of(topics), group.assignable
    return everything if allowed is None else [pair for pair in everything if pair in allowed]


def pair_keys(group: Group) -> Keys[Partition]:
    """TopicIdPartition, which has no compareTo."""
    code = group.topic_ids.hash_code
    return Keys(lambda pair: 31 * code(pair[0]) + pair[1] & 0xFFFFFFFF, lambda pair: 0)
