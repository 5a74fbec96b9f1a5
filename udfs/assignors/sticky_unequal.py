"""The algorithm of the sticky assignors if members subscribe to different topics (GeneralAssignmentBuilder of
AbstractStickyAssignor.java, from 3.0 on).

Kafka asks before each partition whether all is balanced, which takes it seconds for a thousand members with different
topics. Only a claim of an older generation, or a partition that two have, makes that question matter: elsewhere the
moves end by themselves, and partitions that cannot move are passed over (performReassignments, isBalanced).
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.groups import (
    NOBODY,
    AssignorFailed,
    Codes,
    Group,
    Numbers,
    Positions,
    Rows,
)  # fmt: skip
from udfs.assignors.java.maps import JavaSet, Keys, no_order, ranks, topic_partition_hashes
from udfs.assignors.sticky_claims import Believed, Claims, Racks, racks_of, rules_of

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


def unassigned_partitions(topics: NumberedTopics, kept: Rows, are_strange: NDArray[np.bool_]) -> tuple[Positions, bool]:
    """All partitions that nobody keeps; and whether what is kept is other than distinct partitions that exist.

    Kafka walks two sorted lists side by side. A partition that its topic does not have, or that two members keep, is
    never met: every partition that is kept after it counts as unassigned too.
    """
    places, partitions = topics.places[kept.topics], kept.partitions
    is_free = np.ones(topics.total, np.bool_)
    if not are_strange.any():
        is_free[topics.starts[places] + partitions] = False
        free = np.flatnonzero(is_free)
        if len(free) + len(kept) == topics.total:
            return free, False
        is_free[:] = True
    order = np.lexsort((partitions, places))
    places, partitions = places[order], partitions[order]
    is_never_met = are_strange[order]
    is_never_met[1:] |= (places[1:] == places[:-1]) & (partitions[1:] == partitions[:-1])
    met = slice(int(np.flatnonzero(is_never_met)[0]))
    is_free[topics.starts[places[met]] + partitions[met]] = False
    return np.flatnonzero(is_free), True


@dataclass(frozen=True)
class Ownership:
    """Who is believed to own what. Rows are in the order in which Kafka walks the members; those of a
    member are in the order of its list.

    `are_strange`: partitions beyond their topics' counts.
    """

    rows: Rows
    are_strange: NDArray[np.bool_]


def ownership_of(group: Group, owned: Believed) -> Ownership:
    listed = [(member, *partition) for member in group.walked for partition in owned.lists[member]]
    rows = Rows(*np.array(listed, np.int32).reshape(-1, 3).T.copy())
    return Ownership(rows, (rows.partitions < 0) | (rows.partitions >= group.counts[rows.topics]))


@dataclass
class State:
    """Who has what while the general algorithm runs. Members are numbered as Kafka walks them.

    `kept` are the partitions that stay with their `keepers`, `free` the others. A kept partition that its topic does
    not have gets a number after all existing ones; `topic_of` knows it too. `audience_of` a partition is the number of
    its set of subscribers.
    """

    topics: NumberedTopics
    id_ranks: list[int]
    sizes: list[int]
    owner: list[int]
    kept: Positions
    keepers: Positions
    free: Positions
    topic_of: Positions
    audience_of: list[int]
    audiences: Sequence[list[int]]
    is_strange: bool
    to_give: list[int]
    given: list[int] = field(default_factory=list)
    receivers: list[int] = field(default_factory=list)

    def entry(self, member: int) -> Entry:
        return self.sizes[member], self.id_ranks[member], member

    def take(self, number: int, member: int) -> None:
        self.sizes[member] += 1
        self.owner[number] = member
        self.given.append(number)
        self.receivers.append(member)


def heaps_of(state: State, audiences: Sequence[list[int]]) -> list[list[Entry]]:
    heaps = [[state.entry(member) for member in audience] for audience in audiences]
    for heap in heaps:
        heapq.heapify(heap)
    return heaps


def general(group: Group, claims: Claims, believed: Believed) -> Rows:
    owned = ownership_of(group, believed)
    times = listed_times(group)
    topics = number_partitions(group, sorted(group.known_by_name, key=times.__getitem__))
    racks = racks_of(group, topics.order.tolist())
    is_kept = group.takes[group.class_of_member[owned.rows.members], owned.rows.topics]
    if racks is not None and racks.are_used and len(owned.rows):
        is_kept &= ~are_far(racks, owned.rows)
    kept, strange = owned.rows.take(is_kept), owned.are_strange[is_kept]
    free, is_strange = unassigned_partitions(topics, kept, strange)
    state = start(group, topics, owned, is_kept, free, is_strange)
    if racks is not None and racks.are_used:
        give_near(group, state, racks)
    give(state)
    before = previous_owners(group, topics, claims, believed.highest_generation)
    lists = fairer_lists(group, state, times[topics.order] >= 2, before, is_anything_revoked=not is_kept.all())
    return rows_of(group, topics, kept, state, lists)


def are_far(racks: Racks, rows: Rows) -> NDArray[np.bool_]:
    columns = (rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist())
    return np.array([racks.is_far(member, (topic, at)) for member, topic, at in zip(*columns, strict=True)], np.bool_)


def listed_times(group: Group) -> Numbers:
    """How many subscriptions name each topic."""
    times = np.zeros(len(group.topics), np.int64)
    for topics, size in zip(group.topics_of_class, np.bincount(group.class_of_member), strict=True):
        np.add.at(times, topics, size)
    return times


def start(
    group: Group,
    topics: NumberedTopics,
    owned: Ownership,
    is_kept: NDArray[np.bool_],
    free: Positions,
    is_strange: bool,
) -> State:
    walk = np.array(ranks(group.walked), np.intp)
    kept, strange = owned.rows.take(is_kept), owned.are_strange[is_kept]
    keepers = walk[kept.members]
    numbers = topics.starts[topics.places[kept.topics]] + kept.partitions
    # Partitions that their topics do not have get numbers after all existing ones.
    numbers[strange] = topics.total + np.arange(np.count_nonzero(strange))
    owner = np.full(topics.total + np.count_nonzero(strange), NOBODY, np.int64)
    # A member that may not keep a partition stays its owner to Kafka, where another keeps it too.
    real = owned.rows.take(~owned.are_strange)
    owner[topics.starts[topics.places[real.topics]] + real.partitions] = walk[real.members]
    is_strange |= int(np.count_nonzero(owner[: topics.total] != NOBODY)) < len(real)
    audience_of_topic, audiences = audiences_of(group)
    return State(
        topics=topics,
        id_ranks=[group.member_ranks[member] for member in group.walked],
        sizes=np.bincount(keepers, minlength=len(group.members)).tolist(),
        owner=owner.tolist(),
        kept=numbers,
        keepers=keepers,
        free=free,
        topic_of=np.concatenate(
            [np.repeat(np.arange(len(topics.order)), topics.counts), topics.places[kept.topics[strange]]]
        ),
        audience_of=np.repeat(audience_of_topic[topics.order], topics.counts).tolist(),
        audiences=[walk[members].tolist() for members in audiences],
        is_strange=is_strange,
        to_give=free.tolist(),
    )


def audiences_of(group: Group) -> tuple[NDArray[np.intp], list[Positions]]:
    """For each topic the number of its set of subscribers, and the members of each such set."""
    if len(group.topics_of_class) == 1:
        return np.zeros(len(group.topics), np.intp), [np.arange(len(group.members))]
    packed = np.packbits(group.takes, axis=0).T
    numbers: dict[bytes, int] = {}
    of_topic = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in packed], np.intp)
    first = {number: topic for topic, number in reversed(list(enumerate(of_topic.tolist())))}
    sets = [np.flatnonzero(group.takes[:, first[number]][group.class_of_member]) for number in range(len(numbers))]
    return of_topic, sets


def give_near(group: Group, state: State, racks: Racks) -> None:
    """Gives each partition to the smallest member that subscribes and is not in a rack without it."""
    members = sorted(state.entry(member) for member in range(len(state.sizes)))
    subscribers = [set(audience) for audience in state.audiences]
    walked, topics, left = group.walked, state.topics, []
    for number in state.to_give:
        place = int(state.topic_of[number])
        partition = int(topics.order[place]), number - int(topics.starts[place])
        subscribed = subscribers[state.audience_of[number]]
        for entry in members:
            if entry[2] in subscribed and not racks.is_far(walked[entry[2]], partition):
                break
        else:
            left.append(number)
            continue
        del members[bisect_left(members, entry)]
        state.take(number, entry[2])
        insort(members, state.entry(entry[2]))
    state.to_give = left


def give(state: State) -> None:
    """Gives each partition to the smallest member that subscribes: Kafka's sorted set, as a heap for each audience."""
    heaps = heaps_of(state, state.audiences)
    sizes, replace = state.sizes, heapq.heapreplace
    for number in state.to_give:
        heap = heaps[state.audience_of[number]]
        while True:
            size, rank, member = heap[0]
            # Entries are put right when they come to the top: a member may have grown by another audience's topic.
            if size == sizes[member]:
                break
            replace(heap, (sizes[member], rank, member))
        state.take(number, member)
        replace(heap, (size + 1, rank, member))


def previous_owners(group: Group, topics: NumberedTopics, claims: Claims, highest: int) -> dict[int, int]:
    """Of partitions that members of older generations claim, the member whose claim is the youngest; of equal ones the
    first."""
    found: dict[int, Pair] = {}
    if min(claims.generations, default=highest) == highest:
        return {}
    known, counts = group.known.tolist(), group.counts.tolist()
    for place, member in enumerate(group.walked):
        generation = claims.generations[member]
        for topic, partition in claims.lists[member] if generation < highest else ():
            if known[topic] and 0 <= partition < counts[topic]:
                number = int(topics.starts[topics.places[topic]]) + partition
                if number not in found or generation > found[number][0]:
                    found[number] = generation, place
    return {number: place for number, (_, place) in found.items()}


def rows_of(group: Group, topics: NumberedTopics, kept: Rows, state: State, lists: list[list[int]] | None) -> Rows:
    if lists is None:
        new = topics.rows(np.array(group.walked)[state.receivers], np.array(state.given, np.intp))
        return Rows(*(np.concatenate([getattr(kept, name), getattr(new, name)]) for name in Rows.__annotations__))
    numbers = np.array([number for numbers in lists for number in numbers], np.intp)
    members = np.array(group.walked)[np.repeat(np.arange(len(lists)), [len(numbers) for numbers in lists])]
    if not state.is_strange:
        return topics.rows(members, numbers)
    real = numbers < topics.total
    rows = topics.rows(members, np.where(real, numbers, 0))
    row_of = {number: row for row, number in enumerate(state.kept.tolist())}
    for at in np.flatnonzero(~real).tolist():
        row = row_of[int(numbers[at])]
        rows.topics[at], rows.partitions[at] = kept.topics[row], kept.partitions[row]
    return rows


# -- balance


def fairer_lists(
    group: Group,
    state: State,
    is_topic_shared: NDArray[np.bool_],
    before: dict[int, int],
    is_anything_revoked: bool,
    numbers: Positions | None = None,
) -> list[list[int]] | None:
    """Each member's list when moves have made it fairer; None where it stays what was kept and given."""
    is_shared = is_topic_shared[state.topic_of]
    could = most_possible(group, state)
    balance = Balance(group, state, before, could, fixed_members(state, is_shared, could))
    sizes_before = np.array(state.sizes)
    if not is_anything_revoked:
        balance.repeat(state.free[is_shared[state.free]])
    numbers = np.arange(state.topics.total) if numbers is None else numbers
    if not balance.repeat(numbers[is_shared[numbers]]):
        return balance.lists
    is_fairer = score(balance.sizes[~balance.fixed]) < score(sizes_before[~balance.fixed])
    return balance.lists if is_fairer or not len(state.kept) else None


def most_possible(group: Group, state: State) -> Numbers:
    """How many partitions each member could have; a topic that it lists twice counts twice, as in Kafka."""
    of_class = [topics[group.known[topics]] for topics in group.topics_of_class]
    possible = [
        state.topics.total if len(topics) == len(state.topics.order) else int(group.counts[topics].sum())
        for topics in of_class
    ]
    return np.array(possible, np.int64)[group.walked_classes]


def fixed_members(state: State, is_shared: NDArray[np.bool_], could: Numbers) -> NDArray[np.bool_]:
    """Members that have all that they could have and share none of it."""
    numbers = np.concatenate([state.kept, np.array(state.given, np.intp)])
    holders = np.concatenate([state.keepers, np.array(state.receivers, np.intp)])
    shares = np.bincount(holders[is_shared[numbers]], minlength=len(could)) > 0
    return np.asarray((np.array(state.sizes) >= could) & ~shares, dtype=np.bool_)


def score(sizes: Numbers) -> int:
    """The differences of all pairs, summed up in 32 bits."""
    ascending = np.sort(sizes)
    places = np.arange(len(ascending))
    total = int((ascending * places - (np.cumsum(ascending) - ascending)).sum())
    return (total + 2**31) % 2**32 - 2**31


@dataclass
class Balance:
    group: Group
    state: State
    before: dict[int, int]
    could: Numbers
    fixed: NDArray[np.bool_]
    lists: list[list[int]] | None = None
    heaps: list[list[Entry]] | None = None
    is_level: bool | None = None

    def __post_init__(self) -> None:
        self.margin = rules_of(self.group.release).level_margin
        self.sizes = np.array(self.state.sizes, np.int64)
        self.owner = np.array(self.state.owner, np.int64)
        self.audience_of = np.array(self.state.audience_of, np.intp)
        self.audiences = [
            np.array([member for member in audience if not self.fixed[member]], np.intp)
            for audience in self.state.audiences
        ]
        self.in_audiences: dict[int, list[int]] = {}
        for number, audience in enumerate(self.state.audiences):
            for member in audience:
                self.in_audiences.setdefault(member, []).append(number)
        self.had_before = np.zeros(self.state.topics.total, np.bool_)
        self.had_before[list(self.before)] = True

    def repeat(self, numbers: Positions) -> bool:
        """Passes over the partitions until one moves none: whether any did."""
        for passes in range(MOST_PASSES):
            if not self.run(numbers):
                return passes > 0
        raise AssignorFailed("moves do not end")

    def run(self, numbers: Positions) -> bool:
        """One pass. Kafka asks before each partition whether all is level; where it is, none could move.

        Only a claim of an older generation, or a partition that two have, makes that question matter.
        """
        has_moved = False
        at = 0
        is_asked = bool(self.before) or self.state.is_strange
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
                    self.move(number, target)
                    has_moved = True
            at += STRIDE
        return has_moved

    def may_move(self, numbers: Positions) -> NDArray[np.bool_]:
        if self.state.is_strange:
            return np.ones(len(numbers), np.bool_)
        lowest = np.array([self.sizes[audience].min(initial=2**40) for audience in self.audiences])
        movable = self.sizes[self.owner[numbers]] > lowest[self.audience_of[numbers]] + 1
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
        if self.state.is_strange and not self.is_any_smaller(audience, int(size)):
            return None
        smallest = self.smallest(audience)
        return smallest if size > self.sizes[smallest] + 1 or self.state.is_strange else None

    def is_any_smaller(self, audience: int, size: int) -> bool:
        for member in sorted(self.state.audiences[audience]):
            if self.fixed[member]:
                raise AssignorFailed("a subscriber takes no part")
            if size > self.sizes[member] + 1:
                return True
        return False

    def smallest(self, audience: int) -> int:
        if self.heaps is None:
            self.state.sizes = self.sizes.tolist()
            self.heaps = heaps_of(self.state, [audience.tolist() for audience in self.audiences])
        heap = self.heaps[audience]
        while heap[0][0] != self.sizes[heap[0][2]]:
            heapq.heappop(heap)
        return heap[0][2]

    def move(self, number: int, target: int) -> None:
        """Moves the partition, or another of its topic that came the other way before."""
        if self.lists is None:
            self.start_lists()
        assert self.lists is not None
        number = self.moves.instead_of(number, int(self.owner[number]), target)
        source = int(self.owner[number])
        self.moves.add(number, source, target)
        if not self.state.is_strange or number in self.lists[source]:
            self.lists[source].remove(number)
            self.sizes[source] -= 1
        self.lists[target].append(number)
        self.owner[number] = target
        self.sizes[target] += 1
        self.is_level = None
        if self.heaps is not None:
            for member in (source, target):
                entry = int(self.sizes[member]), self.state.id_ranks[member], member
                for audience in self.in_audiences.get(member, ()):
                    heapq.heappush(self.heaps[audience], entry)

    def start_lists(self) -> None:
        state = self.state
        self.lists = [[] for _ in state.sizes]
        for number, member in zip(state.kept.tolist(), state.keepers.tolist(), strict=True):
            self.lists[member].append(number)
        for number, member in zip(state.given, state.receivers, strict=True):
            self.lists[member].append(number)
        topics = state.topics
        places = state.topic_of[: topics.total]
        partitions = np.arange(topics.total) - topics.starts[places]
        hashes = topic_partition_hashes(np.array(self.group.topic_codes, np.uint32)[topics.order[places]], partitions)
        self.moves = Moves(state.topic_of.tolist(), hashes.tolist())

    def is_balanced(self) -> bool:
        if self.is_level is None:
            live = self.sizes[~self.fixed]
            if live.min() >= live.max() - 1:
                self.is_level = True
            else:
                self.is_level = self.is_level_when_strange() if self.state.is_strange else self.is_level_for_all()
        return self.is_level

    def is_level_for_all(self) -> bool:
        """Whether no member that could have more could have it from one that has at least two more than it."""
        topics = self.state.topics
        largest = np.maximum.reduceat(self.sizes[self.owner[: topics.total]], topics.starts)
        by_topic = np.zeros(len(self.group.topics), np.int64)
        by_topic[topics.order] = largest
        by_class = np.where(self.group.takes, by_topic, 0).max(axis=1)
        reachable = by_class[self.group.walked_classes]
        return not ((self.sizes + self.margin < reachable) & (self.sizes != self.could) & ~self.fixed).any()

    def is_level_when_strange(self) -> bool:
        """The same from the lists, where two may have one partition: the one that is walked last counts."""
        if self.lists is None:
            self.start_lists()
        assert self.lists is not None
        live = np.flatnonzero(~self.fixed).tolist()
        owner = {number: member for member in live for number in self.lists[member]}
        topics, takes = self.state.topics, self.group.takes[:, self.state.topics.order]
        for member in sorted(live, key=lambda each: (self.sizes[each], self.state.id_ranks[each])):
            if self.sizes[member] == self.could[member]:
                continue
            has = set(self.lists[member])
            for topic in np.flatnonzero(takes[self.group.walked_classes[member]]).tolist():
                for number in range(int(topics.starts[topic]), int(topics.starts[topic] + topics.counts[topic])):
                    if number in has:
                        continue
                    if number not in owner:
                        raise AssignorFailed("a partition's owner takes no part")
                    if self.sizes[member] + self.margin < self.sizes[owner[number]]:
                        return False
        return True


@dataclass
class Moves:
    """By topic, what moved from one member to another in the end, so that partitions of one topic are not swapped back
    and forth (PartitionMovements). `codes` are the hash codes of all partitions."""

    topic_of: list[int]
    codes: list[int]
    of_partition: dict[int, Pair] = field(default_factory=dict)
    of_topic: dict[int, dict[Pair, JavaSet[int]]] = field(default_factory=dict)

    def add(self, number: int, source: int, target: int) -> None:
        before = self.of_partition.pop(number, None)
        if before is not None:
            self.forget(number, before)
            source = before[0]
            if source == target:
                return
        self.of_partition[number] = source, target
        pairs = self.of_topic.setdefault(self.topic_of[number], {})
        if (source, target) not in pairs:
            pairs[source, target] = JavaSet(Keys(self.codes.__getitem__, no_order))
        pairs[source, target].add(number)

    def forget(self, number: int, pair: Pair) -> None:
        pairs = self.of_topic[self.topic_of[number]]
        pairs[pair].remove(number)
        if not pairs[pair]:
            del pairs[pair]

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
