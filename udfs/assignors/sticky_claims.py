"""What members of the sticky assignors claim to own, who is believed, and what each client release changed in that
(AbstractStickyAssignor.java, from 3.0 on)."""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat

from udfs.assignors.groups import ABSENT, NO_RACKS, Group, Partition, partition_racks, racks_matter
from udfs.assignors.questions import Release

TopicPartition = tuple[str, int]
INT16 = struct.Struct(">h")
INT32 = struct.Struct(">i")


class Rules:
    """What client releases changed."""

    def __init__(self, release: Release) -> None:
        # Before, one algorithm for all groups.
        self.has_equal_way = release >= (2, 5, 1)
        # Before, only the eager assignor's user data had generations, and what two claimed, both kept.
        self.takes_contested = release >= (2, 8, 1)
        self.is_rewritten = release >= (3, 0, 0)
        # Subscriptions carry generations (KIP-792).
        self.reads_generations = release >= (3, 4, 0)
        # Owned partitions count only for members of the newest generation, even if no newer member claims them.
        self.drops_old_generations = release < (3, 4, 1)
        # A claim is held against the last claimant even when that one was not believed (KAFKA-14639, mended by 15106).
        self.remembers_losers = (3, 4, 1) <= release < (3, 5, 2)
        self.has_racks = release >= (3, 5, 0)
        # How many more partitions than a member its neighbour may have before the whole is not level.
        self.level_margin = int(release >= (3, 5, 2))
        # Owned partitions are sorted by number before the surplus is cut off (KAFKA-16277).
        self.sorts_owned = release >= (3, 7, 1)
        # What racks take from a member is revoked too, and needs no wait when it comes back to it (KAFKA-15170).
        self.tells_revokers = release >= (3, 7, 1)


rules_of = cache(Rules)


def are_subscriptions_equal(group: Group) -> bool:
    """Against the first member that subscribes to something; members before it do not count, as in Kafka."""
    return first_difference(group) is None


def first_difference(group: Group) -> int | None:
    """Which member's subscription, in the walk, is the first to differ from the first that is not empty."""
    reference: frozenset[int] = frozenset()
    same = set[int]()
    for place, own in enumerate(group.walked_classes):
        topics = group.subscriptions[own]
        if not reference:
            reference = frozenset(topics)
        elif own not in same:
            if len(topics) != len(reference) or not reference.issuperset(topics):
                return place
            same.add(own)
    return None


@dataclass(frozen=True)
class Claims:
    """By member. `generations` are ABSENT where a member says none."""

    lists: Sequence[Sequence[Partition]]
    generations: Sequence[int]


def sticky_claims(group: Group) -> Claims:
    """The eager assignor's members have given up what they owned: their user data says what it was."""
    said, at = [previous_assignment(data) for data in group.user_data], group.topic_positions
    lists = [[(at[topic], partition) for topic, partition in owned if topic in at] for owned, _ in said]
    return Claims(lists, [ABSENT if generation is None else generation for _, generation in said])


def cooperative_claims(group: Group) -> Claims:
    """A member that states no generation has it in its user data."""
    stated = stated_generations(group)
    if ABSENT in stated:
        both = zip(stated, group.user_data, strict=True)
        stated = [last_generation(data) if generation == ABSENT else generation for generation, data in both]
    return Claims(group.owned, stated)


def stated_generations(group: Group) -> Sequence[int]:
    """What the subscriptions themselves say."""
    return group.generations if rules_of(group.release).reads_generations else [ABSENT] * len(group.members)


@dataclass(frozen=True)
class Believed:
    """By member, in the order of its list; what two members of one generation claimed; the newest generation."""

    lists: list[Sequence[Partition]]
    contested: set[Partition]
    highest_generation: int


def believed(group: Group, claims: Claims) -> Believed:
    """Each claim is held against the last claimant's, not against all.

    Kafka compares what a member's data says with what the *other's subscription* says, which for the eager assignor is
    nothing. Where only one generation counts, all claims are equal.
    """
    rules, known, said = rules_of(group.release), group.known, claims.generations
    others = said if rules.drops_old_generations else stated_generations(group)
    highest = max([group.leader_memory if rules.is_rewritten else ABSENT, *said])
    lists = list(claims.lists)
    if len(known) < len(group.topics):
        lists = [[each for each in own if each[0] in known] for own in lists]
    if rules.drops_old_generations:
        lists = [own if generation == highest else () for own, generation in zip(lists, said, strict=True)]
    contested = set[Partition]()
    if not rules.takes_contested or sum(map(len, lists)) == len(set(chain.from_iterable(lists))):
        return Believed(lists, contested, highest)
    kept: list[dict[Partition, None]] = [{} for _ in lists]
    claimant: dict[Partition, int] = {}
    for member in group.walked:
        mine = said[member]
        for partition in lists[member]:
            other = claimant.get(partition)
            if other is None or mine >= others[other] or rules.remembers_losers:
                claimant[partition] = member
            if other is not None and mine >= others[other]:
                # Also the member itself, if it lists a partition twice.
                kept[other].pop(partition, None)
                if mine == others[other]:
                    contested.add(partition)
            if other is None or mine > others[other]:
                kept[member][partition] = None
    return Believed([list(own) for own in kept], contested, highest)


def unassigned_partitions(partitions: list[Partition], kept: list[Partition], topics: list[int]) -> list[Partition]:
    """Of topics in this order. Kafka walks two sorted lists side by side (getUnassignedPartitions). A partition that
    its topic does not have, or that two members keep, is never met: every partition that is kept after it counts as
    unassigned too."""
    is_kept = set(kept)
    free = [each for each in partitions if each not in is_kept]
    if len(free) + len(kept) == len(partitions):
        return free
    walk = iter(sorted(kept, key=lambda each: (topics.index(each[0]), each[1])))
    next_kept, free = next(walk, None), []
    for partition in partitions:
        if partition == next_kept:
            next_kept = next(walk, None)
        else:
            free.append(partition)
    return free


# -- before 3.0


def holders_by_generation(group: Group, is_cooperative: bool) -> dict[TopicPartition, dict[int, int]]:
    """For each partition claimed, by generation, the member that claims it. User data is read to its end, so of members
    that were looked at before two subscriptions differed, nothing is left to read."""
    rules = rules_of(group.release)
    looked_at = first_difference(group) or 0 if rules.has_equal_way else 0
    holders: dict[TopicPartition, dict[int, int]] = {}
    for turn, member in enumerate(group.walked):
        data = b"" if group.user_data[member] and turn < looked_at else group.user_data[member]
        owned, generation = previous_assignment(data)
        if is_cooperative:
            owned = [(group.topics[topic], partition) for topic, partition in group.owned[member]]
            generation = last_generation(data) if data is not None and rules.takes_contested else None
        for partition in owned:
            held = holders.setdefault(partition, {})
            # Of two in one generation the first counts, of two that say none the last. None is not -1 here.
            if generation is None or generation not in held:
                held[ABSENT if generation is None else generation] = member
    return holders


# -- user data


def previous_assignment(data: bytes | None) -> tuple[Sequence[TopicPartition], int | None]:
    """The sticky assignor's partitions and generation; without the latter before 2.3. Garbage says nothing at all
    (StickyAssignor.deserializeTopicPartitionAssignment)."""
    if not data:
        return (), None
    owned, at = list[TopicPartition](), INT32.size
    try:
        for _ in range(size_at(data, 0, INT32)):
            length = size_at(data, at, INT16)
            at += INT16.size + length
            size = size_at(data, at, INT32)
            topic = data[at - length : at].decode("utf-8", "replace")
            owned += zip(repeat(topic), struct.unpack_from(f">{size}i", data, at + INT32.size), strict=False)
            at += INT32.size * (1 + size)
    except struct.error:
        return (), None
    return owned, INT32.unpack_from(data, at)[0] if at + INT32.size <= len(data) else None


def size_at(data: bytes, at: int, number: struct.Struct) -> int:
    """A length, or how many follow."""
    size: int = number.unpack_from(data, at)[0]
    if size < 0:
        raise struct.error
    return size


def last_generation(data: bytes | None) -> int:
    """The cooperative one's: the generation that the member synced last."""
    return INT32.unpack_from(data)[0] if data and len(data) >= INT32.size else ABSENT


# -- racks


@dataclass(frozen=True)
class Racks:
    """`near`: how many members are in the racks of a partition's replicas. It sorts even where racks are not used."""

    are_used: bool
    of_member: list[str | None]
    of_partition: dict[Partition, frozenset[str]]
    near: dict[Partition, int]

    def is_far(self, member: int, partition: Partition) -> bool:
        """Whether a member names a rack that has no replica. A partition that the topic does not have is near
        nobody."""
        rack = self.of_member[member]
        return rack is not None and rack not in self.of_partition.get(partition, NO_RACKS)

    def is_near(self, member: int, partition: Partition) -> bool:
        """A member without a rack is near nothing."""
        return self.of_member[member] in self.of_partition[partition]


def racks_of(group: Group, partitions: Iterable[Partition]) -> Racks | None:
    """None where no member names a rack."""
    if not any(group.racks) or not rules_of(group.release).has_racks:
        return None
    of_topic = {topic: partition_racks(group, topic) for topic in group.known}
    of_partition = {(topic, partition): of_topic[topic][partition] for topic, partition in partitions}
    members = Counter(filter(None, group.racks))
    near = {each: sum(members[rack] for rack in racks) for each, racks in of_partition.items()}
    are_used = racks_matter(members.keys(), list(of_partition.values()))
    return Racks(are_used, [rack or None for rack in group.racks], of_partition, near)
