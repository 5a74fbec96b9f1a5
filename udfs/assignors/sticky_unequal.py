"""The algorithm of the sticky assignors if members subscribe to different topics (GeneralAssignmentBuilder of
AbstractStickyAssignor.java, from 3.0 on).

Kafka asks before each partition whether all is balanced, which takes it seconds for a thousand members with different
topics. Only a claim of an older generation, or a partition that two have, makes that question matter: elsewhere the
moves end by themselves, and partitions that cannot move are passed over (performReassignments, isBalanced).
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import NOBODY, AssignorFailed, Audiences, Codes, Group, Numbers, Positions, Rows
from udfs.assignors.java.maps import JavaSet, Keys, no_order, ranks, topic_partition_hashes
from udfs.assignors.sticky_claims import Believed, Claims, Racks, racks_of, rules_of, unassigned_partitions

# So many partitions are looked at one by one once one of them may move.
STRIDE = 1024
# Where Kafka's own loop does not end, the group never gets its assignment.
MOST_PASSES = 10_000

# A member by its size, its place by id, and its number.
Entry = tuple[int, int, int]
Pair = tuple[int, int]


@dataclass(frozen=True)
class NumberedTopics:
    """The topics to assign in an order, and the numbers of their partitions in that order."""

    order: Codes
    places: Positions
    counts: Numbers
    starts: Numbers

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def numbers(self, rows: Rows) -> Positions:
        return np.asarray(self.starts[self.places[rows.topics]] + rows.partitions, np.intp)

    def rows(self, members: Positions, numbers: Positions) -> Rows:
        topics = np.repeat(np.arange(len(self.order), dtype=np.int32), self.counts)[numbers]
        partitions = numbers - self.starts[topics]
        return Rows(members.astype(np.int32), self.order[topics], partitions.astype(np.int32))


def number_partitions(group: Group, topics: list[int]) -> NumberedTopics:
    order = np.array(topics, np.int32)
    counts = group.counts[order]
    places = np.full(len(group.topics), NOBODY, np.intp)
    places[order] = np.arange(len(order))
    return NumberedTopics(order, places, counts, np.cumsum(counts) - counts)


def general(group: Group, claims: Claims, believed: Believed) -> Rows:
    owned = [(member, *partition) for member in group.walked for partition in believed.lists[member]]
    builder = GeneralAssignmentBuilder(group, Rows.of_triples(owned))
    return builder.build(previous_owners(group, builder.topics, claims, believed.highest_generation))


def previous_owners(group: Group, topics: NumberedTopics, claims: Claims, highest: int) -> dict[int, int]:
    """Of partitions that members of older generations claim, the member whose claim is the youngest; of equal ones the
    first."""
    found: dict[int, Pair] = {}
    if min(claims.generations, default=highest) == highest:
        return {}
    known, counts = group.known.tolist(), group.num_partitions
    for place, member in enumerate(group.walked):
        generation = claims.generations[member]
        for topic, partition in claims.lists[member] if generation < highest else ():
            if known[topic] and 0 <= partition < counts[topic]:
                number = int(topics.starts[topics.places[topic]]) + partition
                if number not in found or generation > found[number][0]:
                    found[number] = generation, place
    return {number: place for number, (_, place) in found.items()}


class GeneralAssignmentBuilder:
    """Members are numbered as Kafka walks them, partitions topic by topic: those of topics with fewest subscribers
    first. A kept partition that its topic does not have gets a number after all existing ones; `topic_of` knows it too.

    `owned` is in the order of the walk, and of each member's list. What a member may keep stays with it: `kept` by
    `keepers`; `given` to `receivers` is the rest. `audience_of` a partition is the number of its set of subscribers.
    """

    def __init__(self, group: Group, owned: Rows) -> None:
        self.group = group
        # How many subscriptions name each topic.
        times = np.zeros(len(group.topics), np.int64)
        sizes_of_classes = np.bincount(group.class_of_member, minlength=len(group.topics_of_class))
        for listed, size in zip(group.topics_of_class, sizes_of_classes, strict=True):
            np.add.at(times, listed, size)
        self.topics = topics = number_partitions(group, sorted(group.known_by_name, key=times.__getitem__))
        racks = racks_of(group, topics.order.tolist())
        self.racks = racks if racks is not None and racks.are_used else None
        is_kept = group.takes[group.class_of_member[owned.members], owned.topics] & ~self.are_far(owned)
        self.is_anything_revoked = not is_kept.all()
        are_strange = (owned.partitions < 0) | (owned.partitions >= group.counts[owned.topics])
        self.kept_rows, strange = owned.take(is_kept), np.flatnonzero(are_strange[is_kept])
        self.is_free, self.is_strange = self.free_partitions()

        walk = np.array(ranks(group.walked), np.intp)
        self.kept, self.keepers = topics.numbers(self.kept_rows), walk[self.kept_rows.members]
        self.kept[strange] = topics.total + np.arange(len(strange))
        self.given: list[int] = []
        self.receivers: list[int] = []
        self.sizes: list[int] = np.bincount(self.keepers, minlength=len(walk)).tolist()
        self.id_ranks = [group.member_ranks[member] for member in group.walked]
        # A member that may not keep a partition stays its owner to Kafka, where another keeps it too.
        real = owned.take(~are_strange)
        self.owner = np.full(topics.total + len(strange), NOBODY, np.intp)
        self.owner[topics.numbers(real)] = walk[real.members]
        self.is_strange |= int(np.count_nonzero(self.owner != NOBODY)) < len(real)
        of_existing = np.repeat(np.arange(len(topics.order)), topics.counts)
        self.topic_of = np.concatenate([of_existing, topics.places[self.kept_rows.topics[strange]]])
        self.is_shared = (times[topics.order] >= 2)[self.topic_of]
        audiences, numbers = Audiences(group, group.walked_classes, range(len(walk))), dict[tuple[int, ...], int]()
        of_topic = [numbers.setdefault(audiences.classes[topic], len(numbers)) for topic in topics.order.tolist()]
        self.audience_of = np.repeat(np.array(of_topic, np.intp), topics.counts)
        self.audiences = [audiences.of_classes(classes) for classes in numbers]

    def are_far(self, rows: Rows) -> NDArray[np.bool_]:
        racks = self.racks
        if racks is None:
            return np.zeros(len(rows), np.bool_)
        return np.array([racks.is_far(member, (topic, at)) for member, topic, at in rows.triples()], np.bool_)

    def free_partitions(self) -> tuple[NDArray[np.bool_], bool]:
        """By number; and whether what is kept is other than distinct partitions that exist."""
        topics = self.topics
        everything = [(topic, at) for topic in topics.order.tolist() for at in range(self.group.num_partitions[topic])]
        kept = [(topic, partition) for _, topic, partition in self.kept_rows.triples()]
        free = unassigned_partitions(everything, kept, topics.places.tolist())
        is_free = np.zeros(len(everything), np.bool_)
        is_free[topics.numbers(Rows.of_lists([free]))] = True
        return is_free, len(free) + len(kept) != len(everything)

    def build(self, before: dict[int, int], numbers: Positions | None = None) -> Rows:
        """`before`: who had a partition in an older generation. `numbers`: all partitions, as they are looked at."""
        numbers = np.arange(self.topics.total) if numbers is None else numbers
        free = numbers[self.is_free[numbers]]
        self.give(free if self.racks is None else self.give_near(free, self.racks))
        lists = self.balance(before, numbers, free)
        walked = np.array(self.group.walked)
        if lists is None:
            given = self.topics.rows(walked[self.receivers], np.array(self.given, np.intp))
            return self.kept_rows.joined(given)
        numbers = np.array([number for own in lists for number in own], np.intp)
        members = walked[np.repeat(np.arange(len(lists)), [len(own) for own in lists])]
        real = numbers < self.topics.total
        rows = self.topics.rows(members, np.where(real, numbers, 0))
        row_of = {number: row for row, number in enumerate(self.kept.tolist())} if not real.all() else {}
        for at in np.flatnonzero(~real).tolist():
            row = row_of[int(numbers[at])]
            rows.topics[at], rows.partitions[at] = self.kept_rows.topics[row], self.kept_rows.partitions[row]
        return rows

    def entry(self, member: int) -> Entry:
        return self.sizes[member], self.id_ranks[member], member

    def take(self, number: int, member: int) -> None:
        self.sizes[member] += 1
        self.given.append(number)
        self.receivers.append(member)

    def give_near(self, free: Positions, racks: Racks) -> Positions:
        """Gives each partition to the smallest member that subscribes and is not in a rack without it; what is left."""
        members = sorted(self.entry(member) for member in range(len(self.sizes)))
        subscribers = [set(audience) for audience in self.audiences]
        walked, topics, left = self.group.walked, self.topics, []
        for number in free.tolist():
            place = int(self.topic_of[number])
            partition = int(topics.order[place]), number - int(topics.starts[place])
            subscribed = subscribers[self.audience_of[number]]
            for entry in members:
                if entry[2] in subscribed and not racks.is_far(walked[entry[2]], partition):
                    break
            else:
                left.append(number)
                continue
            del members[bisect_left(members, entry)]
            self.take(number, entry[2])
            insort(members, self.entry(entry[2]))
        return np.array(left, np.intp)

    def give(self, free: Positions) -> None:
        """Gives each partition to the smallest member that subscribes (assignPartition): Kafka's sorted set, as a heap
        for each audience."""
        heaps, sizes, replace = self.heaps_of(self.audiences), self.sizes, heapq.heapreplace
        for number, audience in zip(free.tolist(), self.audience_of[free].tolist(), strict=True):
            heap = heaps[audience]
            while True:
                size, rank, member = heap[0]
                # Entries are put right when they come to the top: a member may have grown by another audience's topic.
                if size == sizes[member]:
                    break
                replace(heap, (sizes[member], rank, member))
            self.take(number, member)
            replace(heap, (size + 1, rank, member))

    def heaps_of(self, audiences: Iterable[Iterable[int]]) -> list[list[Entry]]:
        heaps = [[self.entry(member) for member in audience] for audience in audiences]
        for heap in heaps:
            heapq.heapify(heap)
        return heaps

    # -- balance

    def balance(self, before: dict[int, int], numbers: Positions, free: Positions) -> list[list[int]] | None:
        """Each member's list when moves have made it fairer; None where it stays what was kept and given."""
        self.owner[np.array(self.given, np.intp)] = self.receivers
        self.could = self.most_possible()
        self.fixed = self.fixed_members()
        self.before = before
        self.had_before = np.zeros(self.topics.total, np.bool_)
        self.had_before[list(before)] = True
        audiences = [np.array(audience, np.intp) for audience in self.audiences]
        self.live_audiences = [audience[~self.fixed[audience]] for audience in audiences]
        self.lists: list[list[int]] | None = None
        self.heaps: list[list[Entry]] | None = None
        self.is_level: bool | None = None
        sizes_before = list(self.sizes)
        if not self.is_anything_revoked:
            self.perform_reassignments(free[self.is_shared[free]])
        if not self.perform_reassignments(numbers[self.is_shared[numbers]]):
            return self.lists
        is_fairer = score(np.array(self.sizes)[~self.fixed]) < score(np.array(sizes_before)[~self.fixed])
        return self.lists if is_fairer or not len(self.kept) else None

    def most_possible(self) -> Numbers:
        """How many partitions each member could have; a topic that it lists twice counts twice, as in Kafka."""
        group, topics = self.group, self.topics
        of_class = [listed[group.known[listed]] for listed in group.topics_of_class]
        possible = [
            topics.total if len(listed) == len(topics.order) else int(group.counts[listed].sum()) for listed in of_class
        ]
        return np.array(possible, np.int64)[group.walked_classes]

    def fixed_members(self) -> NDArray[np.bool_]:
        """Members that have all that they could have and share none of it."""
        numbers = np.concatenate([self.kept, np.array(self.given, np.intp)])
        holders = np.concatenate([self.keepers, np.array(self.receivers, np.intp)])
        shares = np.bincount(holders[self.is_shared[numbers]], minlength=len(self.could)) > 0
        return np.asarray((np.array(self.sizes) >= self.could) & ~shares, dtype=np.bool_)

    def perform_reassignments(self, numbers: Positions) -> bool:
        """Passes over the partitions until one moves none: whether any did (performReassignments)."""
        for passes in range(MOST_PASSES):
            if not self.reassign_once(numbers):
                return passes > 0
        raise AssignorFailed("moves do not end")

    def reassign_once(self, numbers: Positions) -> bool:
        """One pass. Kafka asks before each partition whether all is level; where it is, none could move.

        Only a claim of an older generation, or a partition that two have, makes that question matter.
        """
        has_moved = False
        at = 0
        is_asked = bool(self.before) or self.is_strange
        while at < len(numbers):
            (movable,) = np.nonzero(self.may_move(numbers[at:]))
            if not len(movable):
                break
            at += int(movable[0])
            for number in numbers[at : at + STRIDE].tolist():
                if is_asked and self.is_balanced():
                    return has_moved
                target = self.target(number)
                if target is not None:
                    self.reassign_partition(number, target)
                    has_moved = True
            at += STRIDE
        return has_moved

    def may_move(self, numbers: Positions) -> NDArray[np.bool_]:
        if self.is_strange:
            return np.ones(len(numbers), np.bool_)
        sizes = np.array(self.sizes)
        lowest = np.array([sizes[audience].min(initial=2**40) for audience in self.live_audiences])
        movable = sizes[self.owner[numbers]] > lowest[self.audience_of[numbers]] + 1
        return np.asarray(movable | self.had_before[numbers], dtype=np.bool_)

    def target(self, number: int) -> int | None:
        if self.fixed[self.owner[number]]:
            raise AssignorFailed("a partition's owner takes no part")
        size = self.sizes[self.owner[number]]
        previous = self.before.get(number)
        if previous is not None:
            if self.fixed[previous]:
                raise AssignorFailed("a member that claims a partition of an older generation takes no part")
            # It need not even subscribe any more.
            if size > self.sizes[previous] + 1:
                return previous
        audience = int(self.audience_of[number])
        if self.is_strange and not self.is_any_smaller(audience, size):
            return None
        smallest = self.smallest(audience)
        return smallest if size > self.sizes[smallest] + 1 or self.is_strange else None

    def is_any_smaller(self, audience: int, size: int) -> bool:
        for member in sorted(self.audiences[audience]):
            if self.fixed[member]:
                raise AssignorFailed("a subscriber takes no part")
            if size > self.sizes[member] + 1:
                return True
        return False

    def smallest(self, audience: int) -> int:
        if self.heaps is None:
            self.heaps = self.heaps_of(audience.tolist() for audience in self.live_audiences)
            self.in_audiences: dict[int, list[int]] = {}
            for number, members in enumerate(self.audiences):
                for member in members:
                    self.in_audiences.setdefault(member, []).append(number)
        heap = self.heaps[audience]
        while heap[0][0] != self.sizes[heap[0][2]]:
            heapq.heappop(heap)
        return heap[0][2]

    def reassign_partition(self, number: int, target: int) -> None:
        """Moves the partition, or another of its topic that came the other way before (reassignPartition)."""
        lists = self.started_lists()
        number = self.moves.instead_of(number, int(self.owner[number]), target)
        source = int(self.owner[number])
        self.moves.add(number, source, target)
        if not self.is_strange or number in lists[source]:
            lists[source].remove(number)
            self.sizes[source] -= 1
        lists[target].append(number)
        self.owner[number] = target
        self.sizes[target] += 1
        self.is_level = None
        if self.heaps is not None:
            for member in (source, target):
                for audience in self.in_audiences.get(member, ()):
                    heapq.heappush(self.heaps[audience], self.entry(member))

    def started_lists(self) -> list[list[int]]:
        if self.lists is None:
            self.lists = [[] for _ in self.sizes]
            for numbers, members in ((self.kept.tolist(), self.keepers.tolist()), (self.given, self.receivers)):
                for number, member in zip(numbers, members, strict=True):
                    self.lists[member].append(number)
            topics = self.topics
            places = self.topic_of[: topics.total]
            partitions = np.arange(topics.total) - topics.starts[places]
            codes = np.array(self.group.topic_codes, np.uint32)[topics.order[places]]
            self.moves = PartitionMovements(self.topic_of.tolist(), topic_partition_hashes(codes, partitions).tolist())
        return self.lists

    def is_balanced(self) -> bool:
        if self.is_level is None:
            live = np.array(self.sizes)[~self.fixed]
            if live.min() >= live.max() - 1:
                self.is_level = True
            else:
                self.is_level = self.is_level_when_strange() if self.is_strange else self.is_level_for_all()
        return self.is_level

    @property
    def margin(self) -> int:
        return rules_of(self.group.release).level_margin

    def is_level_for_all(self) -> bool:
        """Whether no member that could have more could have it from one that has at least two more than it."""
        topics, sizes = self.topics, np.array(self.sizes)
        largest = np.maximum.reduceat(sizes[self.owner[: topics.total]], topics.starts)
        by_topic = np.zeros(len(self.group.topics), np.int64)
        by_topic[topics.order] = largest
        reachable = np.where(self.group.takes, by_topic, 0).max(axis=1)[self.group.walked_classes]
        return not ((sizes + self.margin < reachable) & (sizes != self.could) & ~self.fixed).any()

    def is_level_when_strange(self) -> bool:
        """The same from the lists, where two may have one partition: the one that is walked last counts."""
        lists = self.started_lists()
        live = np.flatnonzero(~self.fixed).tolist()
        owner = {number: member for member in live for number in lists[member]}
        topics, takes = self.topics, self.group.takes[:, self.topics.order]
        for member in sorted(live, key=self.entry):
            if self.sizes[member] == self.could[member]:
                continue
            has = set(lists[member])
            for topic in np.flatnonzero(takes[self.group.walked_classes[member]]).tolist():
                for number in range(int(topics.starts[topic]), int(topics.starts[topic] + topics.counts[topic])):
                    if number in has:
                        continue
                    if number not in owner:
                        raise AssignorFailed("a partition's owner takes no part")
                    if self.sizes[member] + self.margin < self.sizes[owner[number]]:
                        return False
        return True


def score(sizes: Numbers) -> int:
    """The differences of all pairs, summed up in 32 bits (getBalanceScore)."""
    ascending = np.sort(sizes)
    places = np.arange(len(ascending))
    total = int((ascending * places - (np.cumsum(ascending) - ascending)).sum())
    return (total + 2**31) % 2**32 - 2**31


@dataclass
class PartitionMovements:
    """By topic, what moved from one member to another in the end, so that partitions of one topic are not swapped back
    and forth. `codes` are the hash codes of all partitions."""

    topic_of: list[int]
    codes: list[int]
    of_partition: dict[int, Pair] = field(default_factory=dict)
    of_topic: dict[int, dict[Pair, JavaSet[int]]] = field(default_factory=dict)

    def add(self, number: int, source: int, target: int) -> None:
        pairs = self.of_topic.setdefault(self.topic_of[number], {})
        before = self.of_partition.pop(number, None)
        if before is not None:
            pairs[before].remove(number)
            if not pairs[before]:
                del pairs[before]
            source = before[0]
            if source == target:
                return
        self.of_partition[number] = source, target
        pairs.setdefault((source, target), JavaSet(Keys(self.codes.__getitem__, no_order))).add(number)

    def instead_of(self, number: int, source: int, target: int) -> int:
        """The partition to move in its place: one that once moved the other way, where there is one
        (getTheActualPartitionToBeMoved)."""
        pairs = self.of_topic.get(self.topic_of[number])
        if not pairs:
            return number
        if number in self.of_partition:
            source = self.of_partition[number][0]
        moved = pairs.get((target, source))
        return number if moved is None else moved.first()
