"""The `simple` assignor of share groups before 4.2: 4.1 hashes members to partitions; 4.0 and 3.9 assign all partitions
to all members."""

from collections.abc import Iterable

from udfs.assignors.java.hash_map import NUMBERS, JavaSet, JavaTable
from udfs.assignors.java.iteration_order import by_text, put_order, string_hashes
from udfs.assignors.questions.problems import AssignorFailed
from udfs.assignors.share.groups import Pair, ShareGroup, Target, pairs_of, roomy_capacity

Partitions = JavaTable[Pair, list[int]]


def all_to_everybody(group: ShareGroup) -> list[list[Pair]]:
    """Of what each member subscribes to; which partitions may be assigned was no question then."""
    lists = []
    for member in range(len(group.members)):
        topics = group.subscriptions[0 if group.is_homogeneous else member]
        target: JavaTable[str, int] = JavaTable(group.ids.topics)
        for topic in topics:
            target.put(topic, group.counts[topic])
        lists.append([(topic, partition) for topic, count in target.items() for partition in range(count)])
    return lists


def assign_by_hash(group: ShareGroup) -> list[list[Pair]]:
    """Members with the same topics: each takes the partition that its id hashes to, then what it had, then the rest."""
    if not group.num_names[0]:
        return [[] for _ in group.members]
    wanted = group.partitions_of(group.subscriptions[0])
    share = -(-len(wanted) // len(group.members))
    by_hash: Partitions = JavaTable(group.ids.pairs, roomy_capacity(len(wanted)))
    hash_to(group, range(len(group.members)), wanted, by_hash)
    by_member: list[JavaSet[Pair]] = [JavaSet(group.ids.pairs) for _ in group.members]
    taken = set(by_hash)
    for pair, members in by_hash.items():
        for member in members:
            by_member[member].add(pair)
    subscribed = frozenset(group.subscriptions[0])
    for pair, members in holders(group).items():
        for member in members if pair[0] in subscribed and pair not in by_hash else ():
            if len(by_member[member]) < share:
                by_member[member].add(pair)
                taken.add(pair)
    deal_up_to([pair for pair in wanted if pair not in taken], by_member, share)
    return [java_list(group, pairs) for pairs in by_member]


def deal_up_to(pairs: list[Pair], by_member: list[JavaSet[Pair]], share: int) -> None:
    """In turns; a member that has more than its share leaves the row, so a member may get one more."""
    row = list(range(len(by_member)))
    at = 0
    for pair in pairs:
        while at == len(row) or len(by_member[row[at]]) > share:
            if at < len(row):
                del row[at]
            elif row:
                at = 0
            else:
                raise AssignorFailed("every member has more than its share, and partitions are left")
        by_member[row[at]].add(pair)
        at += 1


def hashed_by_subscription(group: ShareGroup) -> list[list[Pair]]:
    """Members with different topics: each hashes among its own; what nobody got goes round the topic's subscribers."""
    takers = [member for member, count in enumerate(group.num_names) if count]
    names = [group.members[member] for member in takers]
    order = [takers[at] for at in put_order(string_hashes(names), rank_of=by_text(names))]
    wanted = {member: group.partitions_of(group.subscriptions[member]) for member in order}
    subscribers: dict[str, list[int]] = {}
    for member in order:
        for topic in dict.fromkeys(topic for topic, _ in wanted[member]):
            subscribers.setdefault(topic, []).append(member)
    assigned: Partitions = JavaTable(group.ids.pairs)
    for member in order:
        hash_to(group, [member], wanted[member], assigned)
    before = holders(group)
    free: JavaTable[str, list[Pair]] = JavaTable(group.ids.topics)
    for pair in dict.fromkeys(pair for member in order for pair in wanted[member]):
        if pair not in assigned and pair not in before:
            free.compute_if_absent(pair[0], list).append(pair)
    for topic, pairs in free.items():
        for turn, pair in enumerate(pairs):
            assigned.compute_if_absent(pair, list).append(subscribers[topic][turn % len(subscribers[topic])])
    by_member: list[JavaSet[Pair]] = [JavaSet(group.ids.pairs) for _ in group.members]
    for pair, members in assigned.items():
        for member in members:
            by_member[member].add(pair)
    for pair, members in before.items():
        for member in members if pair not in assigned else ():
            if member in subscribers.get(pair[0], ()):
                by_member[member].add(pair)
    return [java_list(group, pairs) for pairs in by_member]


def hash_to(group: ShareGroup, members: Iterable[int], pairs: list[Pair], assigned: Partitions) -> None:
    """The remainder of Java's signed hash code, without its sign."""
    for member in members if pairs else ():
        assigned.compute_if_absent(pairs[abs(group.hash_codes[member]) % len(pairs)], list).append(member)


def holders(group: ShareGroup) -> Partitions:
    """Who had what."""
    members_of: Partitions = JavaTable(group.ids.pairs)
    for member, target in enumerate(group.targets):
        for pair in pairs_of(target):
            members_of.compute_if_absent(pair, list).append(member)
    return members_of


def java_list(group: ShareGroup, pairs: JavaSet[Pair]) -> list[Pair]:
    target: Target = JavaTable(group.ids.topics)
    for topic, partition in pairs:
        target.compute_if_absent(topic, lambda: JavaSet(NUMBERS)).add(partition)
    return list(pairs_of(target))
