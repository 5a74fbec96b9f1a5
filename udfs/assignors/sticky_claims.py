"""What members of the sticky assignors claim to own, who is believed, and what each client release changed in that
(AbstractStickyAssignor.java, from 3.0 on)."""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from udfs.assignors.groups import ABSENT, NO_RACKS, Group, Partition, partition_racks, racks_matter
from udfs.assignors.questions import Owned, Release

INT16 = struct.Struct(">h")
INT32 = struct.Struct(">i")


@dataclass(frozen=True)
class Rules:
    # Subscriptions carry generations (KIP-792).
    reads_generations: bool
    # Owned partitions count only for members of the newest generation, even if no newer member claims them.
    drops_old_generations: bool
    # A claim is held against the last claimant even when that one was not believed (KAFKA-14639, mended by 15106).
    remembers_losers: bool
    has_racks: bool
    # How many more partitions than a member its neighbour may have before the whole is not level.
    level_margin: int
    # Owned partitions are sorted by number before the surplus is cut off (KAFKA-16277).
    sorts_owned: bool
    # What racks take from a member is revoked too, and needs no wait when it comes back to it (KAFKA-15170).
    tells_revokers: bool


@cache
def rules_of(release: Release) -> Rules:
    return Rules(
        reads_generations=release >= (3, 4, 0),
        drops_old_generations=release < (3, 4, 1),
        remembers_losers=(3, 4, 1) <= release < (3, 5, 2),
        has_racks=release >= (3, 5, 0),
        level_margin=int(release >= (3, 5, 2)),
        sorts_owned=release >= (3, 7, 1),
        tells_revokers=release >= (3, 7, 1),
    )


def are_subscriptions_equal(group: Group) -> bool:
    """Against the first member that subscribes to something; members before it do not count, as in Kafka."""
    if len(group.subscriptions) == 1:
        # Kafka counts a topic that is listed twice.
        (listed,) = group.subscriptions
        return len(group.members) < 2 or len(set(listed)) == len(listed)
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
    """By member. `generations` are ABSENT where a member says none; `stated` those that the subscriptions themselves
    say."""

    lists: Sequence[Sequence[Partition]]
    generations: Sequence[int]
    stated: Sequence[int]


def sticky_claims(group: Group) -> Claims:
    """The eager assignor's members have given up what they owned: their user data says what it was."""
    said = [previous_assignment(data) for data in group.user_data]
    at = group.topic_positions
    lists = [
        [(at[topic], partition) for topic, partitions in owned if topic in at for partition in partitions]
        for owned, _ in said
    ]
    generations = [ABSENT if generation is None else generation for _, generation in said]
    return Claims(lists, generations, stated_generations(group))


def cooperative_claims(group: Group) -> Claims:
    """A member that states no generation has it in its user data."""
    stated = stated_generations(group)
    generations = [
        last_generation(data) if generation == ABSENT else generation
        for generation, data in zip(stated, group.user_data, strict=True)
    ]
    return Claims(group.owned, generations, stated)


def stated_generations(group: Group) -> Sequence[int]:
    return group.generations if rules_of(group.release).reads_generations else [ABSENT] * len(group.members)


@dataclass(frozen=True)
class Believed:
    """By member, in the order of its list; what two members of one generation claimed; the newest generation."""

    lists: list[dict[Partition, None]]
    contested: set[Partition]
    highest_generation: int


def believed(group: Group, claims: Claims) -> Believed:
    """Each claim is held against the last claimant's, not against all.

    Kafka compares what a member's data says with what the *other's subscription* says, which for the eager assignor is
    nothing. Where only one generation counts, all claims are equal.
    """
    rules, known = rules_of(group.release), group.known
    said, others = claims.generations, claims.generations if rules.drops_old_generations else claims.stated
    highest = max(group.leader_memory, max(said, default=ABSENT))
    lists: list[dict[Partition, None]] = [{} for _ in group.members]
    claimant: dict[Partition, int] = {}
    contested = set[Partition]()
    for member in group.walked:
        if rules.drops_old_generations and said[member] != highest:
            continue
        listed = [each for each in claims.lists[member] if each[0] in known]
        own, mine = dict.fromkeys(listed), said[member]
        if len(own) == len(listed) and claimant.keys().isdisjoint(own):
            claimant.update(dict.fromkeys(own, member))
            lists[member] = own
            continue
        lists[member] = own = {}
        for partition in listed:
            other = claimant.get(partition)
            if other is None:
                claimant[partition] = member
                own[partition] = None
                continue
            if mine >= others[other] or rules.remembers_losers:
                claimant[partition] = member
            if mine < others[other]:
                continue
            # Also the member itself, if it lists a partition twice.
            lists[other].pop(partition, None)
            if mine > others[other]:
                own[partition] = None
            else:
                contested.add(partition)
    return Believed(lists, contested, highest)


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


# -- user data


class Unreadable(Exception):
    """Bytes that are not what Kafka's assignor writes."""


def previous_assignment(data: bytes | None) -> tuple[Owned, int | None]:
    """The sticky assignor's lists and generation; without the latter before 2.3. Garbage says nothing at all
    (StickyAssignor.deserializeTopicPartitionAssignment)."""
    if not data:
        return (), None
    try:
        lists, end = read_lists(data)
    except Unreadable:
        return (), None
    return lists, INT32.unpack_from(data, end)[0] if end + INT32.size <= len(data) else None


def last_generation(data: bytes | None) -> int:
    """The cooperative one's: the generation that the member synced last."""
    return INT32.unpack_from(data)[0] if data and len(data) >= INT32.size else ABSENT


def read_lists(data: bytes) -> tuple[Owned, int]:
    count, at = read_size(data, 0, INT32)
    lists = []
    for _ in range(count):
        length, at = read_size(data, at, INT16)
        topic = data[at : at + length].decode("utf-8", "replace")
        size, at = read_size(data, at + length, INT32)
        if size * INT32.size > len(data) - at:
            raise Unreadable
        lists.append((topic, struct.unpack_from(f">{size}i", data, at)))
        at += size * INT32.size
    return tuple(lists), at


def read_size(data: bytes, at: int, number: struct.Struct) -> tuple[int, int]:
    """A length or count that what is left can hold, and where it ends."""
    if at + number.size > len(data):
        raise Unreadable
    size: int = number.unpack_from(data, at)[0]
    at += number.size
    if not 0 <= size <= len(data) - at:
        raise Unreadable
    return size, at


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
