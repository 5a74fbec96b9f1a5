"""The algorithm of the sticky assignors if members subscribe to different topics (GeneralAssignmentBuilder of
AbstractStickyAssignor.java, from 3.0 on).

Kafka asks before each partition whether all is balanced, which takes it seconds for a thousand members with different
topics. Only a claim of an older generation, or a partition that two have, makes that question matter: elsewhere a
partition that cannot move shows it by itself, and the moves end (performReassignments, isBalanced).
"""

import heapq
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

from udfs.assignors.groups import NOBODY, AssignorFailed, Audiences, Group, Lists, Partition
from udfs.assignors.java.maps import JavaSet, filled, string_hash, topic_partition_keys
from udfs.assignors.sticky_claims import (
    Believed,
    Claims,
    Racks,
    TopicPartition,
    holders_by_generation,
    racks_of,
    rules_of,
    unassigned_partitions,
)

# Where Kafka's own loop does not end, the group never gets its assignment.
MOST_PASSES = 10_000

# A member by its size, its member by id, and its position.
Entry = tuple[int, int, int]
Pair = tuple[int, int]


def general(group: Group, claims: Claims, owned: Believed) -> Lists:
    prev = prev_assignment(group, claims, owned.highest_generation)
    return GeneralAssignmentBuilder(group, owned.lists).build(prev)


def prev_assignment(group: Group, claims: Claims, highest: int) -> dict[Partition, int]:
    """Of partitions that members of older generations claim, the member whose claim is the youngest; of equal ones the
    first."""
    found: dict[Partition, int] = {}
    for member in sorted(group.walked, key=lambda member: -claims.generations[member]):
        for partition in claims.lists[member] if claims.generations[member] < highest else ():
            if partition[0] in group.known and 0 <= partition[1] < group.counts[partition[0]]:
                found.setdefault(partition, member)
    return found


class GeneralAssignmentBuilder:
    """`owned`: by member; what it may keep stays in `lists` (currentAssignment). `owner` is currentPartitionConsumer of
    partitions that exist. A member that may not keep one stays its owner to Kafka, where another keeps it too."""

    def __init__(self, group: Group, owned: Sequence[Sequence[Partition]]) -> None:
        self.group = group
        # How many subscriptions name each topic.
        members_of, times = Counter(group.classes), Counter[int]()
        for own, listed in enumerate(group.subscriptions):
            for topic in listed:
                times[topic] += members_of[own]
        self.is_shared = {topic: number >= 2 for topic, number in times.items()}
        self.topics = topics = sorted(group.known_by_name, key=times.__getitem__)
        self.partitions = group.partitions_of(topics)
        racks = racks_of(group, self.partitions)
        self.racks = racks if racks is not None and racks.are_used else None
        self.takes = [group.known.intersection(listed) for listed in group.subscriptions]
        self.audiences = Audiences(group, group.walked)
        self.lists = [self.kept(member, own) for member, own in enumerate(owned)]
        self.revocation_required = any(len(own) < len(had) for own, had in zip(self.lists, owned, strict=True))
        real = [
            (each, member)
            for member in group.walked_again
            for each in owned[member]
            if 0 <= each[1] < group.counts[each[0]]
        ]
        self.owner = dict(real)
        kept = [each for own in self.lists for each in own]
        self.free = unassigned_partitions(self.partitions, kept, topics)
        # Whether somebody has what does not exist, or two have one partition.
        self.is_strange = len(self.owner) < len(real) or len(self.free) + len(kept) != len(self.partitions)
        self.could = self.max_assignment_sizes(topics)
        # Members that take no part in the moves.
        self.fixed = set[int]()
        self.prev: Mapping[Partition, int] = {}
        self.heaps: dict[int, list[Entry]] = {}
        self.movements = PartitionMovements(group)
        self.asks_always = False
        self.balanced: bool | None = None
        # A member that is too small, and a partition that it could take.
        self.uneven: tuple[int, Partition] | None = None

    def kept(self, member: int, own: Iterable[Partition]) -> list[Partition]:
        """What of it the member subscribes to, without what is in no rack that it names."""
        takes, racks = self.takes[self.group.classes[member]], self.racks
        return [each for each in own if each[0] in takes and not (racks is not None and racks.is_far(member, each))]

    def max_assignment_sizes(self, topics: list[int]) -> list[int]:
        """How many partitions each member could have; a topic that it lists twice counts twice
        (getMaxAssignmentSize)."""
        of_class = []
        for listed, known in zip(self.group.subscriptions, self.takes, strict=True):
            mine = [topic for topic in listed if topic in known]
            of_class.append(sum(self.group.counts[topic] for topic in (topics if len(mine) == len(topics) else mine)))
        return [of_class[own] for own in self.group.classes]

    def build(self, prev: Mapping[Partition, int], partitions: Sequence[Partition] | None = None) -> Lists:
        """`prev`: who had a partition in an older generation. `partitions`: all of them, as they are looked at."""
        self.prev = prev
        if partitions is None:
            partitions = self.partitions
        else:
            free = set(self.free)
            self.free = [each for each in partitions if each in free]
        self.balance(partitions)
        return self.lists

    def entry(self, member: int) -> Entry:
        return len(self.lists[member]), self.group.member_ranks[member], member

    def balance(self, partitions: Sequence[Partition]) -> None:
        is_initializing = not any(self.lists)
        for partition in self.free if self.racks is None else self.maybe_assign_near(self.free, self.racks):
            self.assign_partition(partition, self.smallest(partition[0]))
        # Those that have all that they could have and share none of it.
        self.fixed = {
            member
            for member, own in enumerate(self.lists)
            if len(own) >= self.could[member] and not any(self.is_shared[topic] for topic, _ in own)
        }
        self.heaps = {}
        before = [list(own) for own in self.lists]
        if not self.revocation_required:
            self.perform_reassignments([each for each in self.free if self.is_shared[each[0]]])
        was_moved = self.perform_reassignments([each for each in partitions if self.is_shared[each[0]]])
        if was_moved and not is_initializing and self.balance_score(self.lists) >= self.balance_score(before):
            self.lists = before

    def balance_score(self, lists: Lists) -> int:
        """The differences of all pairs, summed up in 32 bits (getBalanceScore)."""
        sizes = sorted(len(own) for member, own in enumerate(lists) if member not in self.fixed)
        total = sum(size * (2 * member + 1 - len(sizes)) for member, size in enumerate(sizes))
        return (total + 2**31) % 2**32 - 2**31

    def maybe_assign_near(self, free: Sequence[Partition], racks: Racks) -> list[Partition]:
        """Gives each partition to the smallest member that subscribes and is not in a rack without it; what is left."""
        members = sorted(map(self.entry, range(len(self.lists))))
        left = []
        for partition in free:
            fits = (entry for entry in members if self.kept(entry[2], [partition]))
            if (entry := next(fits, None)) is None:
                left.append(partition)
                continue
            del members[bisect_left(members, entry)]
            self.assign_partition(partition, entry[2])
            insort(members, self.entry(entry[2]))
        return left

    def assign_partition(self, partition: Partition, member: int) -> None:
        self.lists[member].append(partition)
        self.owner[partition] = member

    def smallest(self, topic: int) -> int:
        """The smallest member that subscribes. Kafka has one sorted set of all members: this is a heap for each
        audience, whose entries are put right when they come to the top."""
        audience = self.audiences.numbers[topic]
        if audience not in self.heaps:
            members = (member for member in self.audiences.members[audience] if member not in self.fixed)
            self.heaps[audience] = sorted(map(self.entry, members))
        heap, lists = self.heaps[audience], self.lists
        while heap[0][0] != len(lists[heap[0][2]]):
            heapq.heapreplace(heap, self.entry(heap[0][2]))
        return heap[0][2]

    # -- moves

    def perform_reassignments(self, partitions: Sequence[Partition]) -> bool:
        """Passes over the partitions until one moves none: whether any did (performReassignments)."""
        for passes in range(MOST_PASSES):
            if not self.reassign_once(partitions):
                return passes > 0
        raise AssignorFailed("moves do not end")

    def reassign_once(self, partitions: Sequence[Partition]) -> bool:
        """One pass. Kafka asks before each partition whether all is balanced; where it is, none could move."""
        is_asked, was_moved = self.asks_always or self.is_strange or bool(self.prev), False
        for partition in partitions:
            if is_asked and self.is_balanced():
                break
            target = self.target(partition)
            if target is not None:
                self.reassign_partition(partition, target)
                was_moved = True
        return was_moved

    def target(self, partition: Partition) -> int | None:
        lists, owner = self.lists, self.owner[partition]
        if owner in self.fixed:
            raise AssignorFailed("a partition's owner takes no part")
        size = len(lists[owner])
        previous = self.prev.get(partition)
        if previous is not None:
            if previous in self.fixed:
                raise AssignorFailed("a member that claims a partition of an older generation takes no part")
            # It need not even subscribe any more.
            if size > len(lists[previous]) + 1:
                return previous
        if self.is_strange:
            return self.smallest(partition[0]) if self.is_any_smaller(partition[0], size) else None
        smallest = self.smallest(partition[0])
        return smallest if size > len(lists[smallest]) + 1 else None

    def is_any_smaller(self, topic: int, size: int) -> bool:
        for member in self.audiences.of(topic):
            if member in self.fixed:
                raise AssignorFailed("a subscriber takes no part")
            if size > len(self.lists[member]) + 1:
                return True
        return False

    def reassign_partition(self, partition: Partition, target: int) -> None:
        """Moves the partition, or another of its topic that came the other way before (reassignPartition)."""
        partition = self.movements.actual_partition(partition, self.owner[partition], target)
        source = self.owner[partition]
        self.movements.move(partition, source, target)
        if not self.is_strange or partition in self.lists[source]:
            self.lists[source].remove(partition)
        self.assign_partition(partition, target)
        for audience in self.audiences_of[self.group.classes[source]]:
            if audience in self.heaps:
                # It is smaller now; entries that are too small show at the top.
                heapq.heappush(self.heaps[audience], self.entry(source))
        # What showed that it is not balanced mostly still does.
        if self.is_strange or self.uneven is None or not self.could_take(*self.uneven, margin=1):
            self.balanced = None

    @cached_property
    def audiences_of(self) -> list[set[int]]:
        """By class of members."""
        return [{self.audiences.numbers[topic] for topic in takes} for takes in self.takes]

    def could_take(self, member: int, partition: Partition, margin: int) -> bool:
        size = len(self.lists[member])
        return size != self.could[member] and size + margin < len(self.lists[self.owner[partition]])

    def is_balanced(self) -> bool:
        if self.balanced is None:
            self.balanced = self.find_balance()
        return self.balanced

    def find_balance(self) -> bool:
        """Whether no member that could have more could have it from one that has at least two more than it. Of two that
        have a partition, the one that is walked last counts."""
        sizes = list(map(len, self.lists))
        live = [member for member in self.group.walked_again if member not in self.fixed]
        if min(sizes[member] for member in live) >= max(sizes[member] for member in live) - 1:
            return True
        owner = {each: member for member in live for each in self.lists[member]}
        largest: dict[int, float] = {}
        for partition in self.partitions:
            size = sizes[owner[partition]] if partition in owner else inf
            largest[partition[0]] = max(largest.get(partition[0], 0), size)
        margin = rules_of(self.group.release).level_margin
        for member in sorted(live, key=self.entry):
            if sizes[member] == self.could[member]:
                continue
            has, takes = set(self.lists[member]), self.takes[self.group.classes[member]]
            topics = [topic for topic in self.topics if topic in takes and largest[topic] > sizes[member] + margin]
            for partition in self.group.partitions_of(topics):
                if partition in has:
                    continue
                if partition not in owner:
                    raise AssignorFailed("a partition's owner takes no part")
                if sizes[member] + margin < sizes[owner[partition]]:
                    self.uneven = member, partition
                    return False
        return True


class PartitionMovements:
    """By topic, what moved from one member to another in the end, so that partitions of one topic are not swapped back
    and forth."""

    def __init__(self, group: Group) -> None:
        self.keys = topic_partition_keys(group.topic_codes.__getitem__)
        self.of_partition: dict[Partition, Pair] = {}
        self.of_topic: dict[int, dict[Pair, JavaSet[Partition]]] = {}

    def move(self, partition: Partition, source: int, target: int) -> None:
        """movePartition."""
        pairs = self.of_topic.setdefault(partition[0], {})
        before = self.of_partition.pop(partition, None)
        if before is not None:
            pairs[before].remove(partition)
            if not pairs[before]:
                del pairs[before]
            source = before[0]
            if source == target:
                return
        self.of_partition[partition] = source, target
        pairs.setdefault((source, target), JavaSet(self.keys)).add(partition)

    def actual_partition(self, partition: Partition, source: int, target: int) -> Partition:
        """The partition to move in its member: one that once moved the other way, where there is one
        (getTheActualPartitionToBeMoved)."""
        pairs = self.of_topic.get(partition[0], {})
        if partition in self.of_partition:
            source = self.of_partition[partition][0]
        moved = pairs.get((target, source))
        return partition if moved is None else moved.first()


# -- before 3.0


def general_before_3(group: Group, is_cooperative: bool) -> Lists:
    """Topics are names here, since those that the group does not know take room in Kafka's maps too."""
    holders = holders_by_generation(group, is_cooperative)
    keys = topic_partition_keys({topic: string_hash(topic) for topic, _ in holders}.__getitem__)
    in_order = filled(keys, holders).walk()
    # Who holds each partition that exists, and who held it in the generation before.
    owned: Lists = [[] for _ in group.members]
    before: dict[Partition, int] = {}
    for each in in_order:
        newest, *older = (holders[each][generation] for generation in sorted(holders[each], reverse=True))
        if (partition := existing(group, each)) is not None:
            owned[newest].append(partition)
            if older:
                before[partition] = older[0]
    builder = GeneralAssignmentBuilder(group, owned)
    if rules_of(group.release).has_equal_way or not holders or any(takes != group.known for takes in builder.takes):
        return builder.build(before)
    # Equal subscriptions: first what another had before, one at a time from the member that has most left.
    earlier = filled(keys, (each for each in in_order if len(holders[each]) > 1)).walk()
    place_of = {existing(group, each): place for place, each in enumerate(earlier)}
    order = largest_first(group, owned, lambda each: place_of.get(each, len(earlier)))
    everything = filled(topic_partition_keys(group.topic_codes.__getitem__), group.partitions_of(group.topics_walked))
    return builder.build(before, list(dict.fromkeys([*order, *everything.walk()])))


def existing(group: Group, partition: TopicPartition) -> Partition | None:
    topic, number = group.topic_positions.get(partition[0], NOBODY), partition[1]
    return (topic, number) if topic in group.known and 0 <= number < group.counts[topic] else None


def largest_first(
    group: Group, lists: Sequence[Sequence[Partition]], order: Callable[[Partition], Any]
) -> list[Partition]:
    """One partition at a time from the member that has most left; of equal ones, from the last by id. Each member's own
    are in an order."""
    turns = []
    for rank, own in zip(group.member_ranks, lists, strict=True):
        turns += [(len(own) - at, rank, each) for at, each in enumerate(sorted(own, key=order))]
    return [each for _, _, each in sorted(turns, reverse=True)]
