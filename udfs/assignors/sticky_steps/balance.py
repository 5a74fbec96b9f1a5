"""The moves with which the general algorithm of the sticky assignors balances members."""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, topic_partition_hashes
from udfs.assignors.questions.problems import AssignorFailed, Numbers, Problem
from udfs.assignors.sticky_steps.moves import Moves
from udfs.assignors.sticky_steps.release_rules import rules_of
from udfs.assignors.sticky_steps.state import Entry, State, heaps_of

# So many partitions are looked at one by one once one of them may move.
STRIDE = 1024
# Where Kafka's own loop does not end, the group never gets its assignment.
MOST_PASSES = 10_000


def fairer_lists(
    problem: Problem,
    state: State,
    is_topic_shared: NDArray[np.bool_],
    before: dict[int, int],
    is_anything_revoked: bool,
    numbers: Positions | None = None,
) -> list[list[int]] | None:
    """Each member's list when moves have made it fairer; None where it stays what was kept and given."""
    is_shared = is_topic_shared[state.topic_of]
    could = most_possible(problem, state)
    balance = Balance(problem, state, before, could, fixed_members(state, is_shared, could))
    sizes_before = np.array(state.sizes)
    if not is_anything_revoked:
        balance.repeat(state.free[is_shared[state.free]])
    numbers = np.arange(state.topics.total) if numbers is None else numbers
    if not balance.repeat(numbers[is_shared[numbers]]):
        return balance.lists
    is_fairer = score(balance.sizes[~balance.fixed]) < score(sizes_before[~balance.fixed])
    return balance.lists if is_fairer or not len(state.kept) else None


def most_possible(problem: Problem, state: State) -> Numbers:
    """How many partitions each member could have; a topic that it lists twice counts twice, as in Kafka."""
    of_class = [topics[problem.known[topics]] for topics in problem.topics_of_class]
    possible = [
        state.topics.total if len(topics) == len(state.topics.order) else int(problem.counts[topics].sum())
        for topics in of_class
    ]
    return np.array(possible, np.int64)[problem.class_of_member[problem.walked]]


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
    problem: Problem
    state: State
    before: dict[int, int]
    could: Numbers
    fixed: NDArray[np.bool_]
    lists: list[list[int]] | None = None
    heaps: list[list[Entry]] | None = None
    is_level: bool | None = None

    def __post_init__(self) -> None:
        self.margin = rules_of(self.problem.release).level_margin
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
        hashes = topic_partition_hashes(self.problem.topic_hashes[topics.order[places]], partitions)
        self.moves = Moves(state.topic_of.tolist(), hashes)

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
        by_topic = np.zeros(len(self.problem.topics), np.int64)
        by_topic[topics.order] = largest
        by_class = np.where(self.problem.takes, by_topic, 0).max(axis=1)
        reachable = by_class[self.problem.class_of_member[self.problem.walked]]
        return not ((self.sizes + self.margin < reachable) & (self.sizes != self.could) & ~self.fixed).any()

    def is_level_when_strange(self) -> bool:
        """The same from the lists, where two may have one partition: the one that is walked last counts."""
        if self.lists is None:
            self.start_lists()
        assert self.lists is not None
        live = np.flatnonzero(~self.fixed).tolist()
        owner = {number: member for member in live for number in self.lists[member]}
        topics, takes = self.state.topics, self.problem.takes[:, self.state.topics.order]
        for member in sorted(live, key=lambda each: (self.sizes[each], self.state.id_ranks[each])):
            if self.sizes[member] == self.could[member]:
                continue
            has = set(self.lists[member])
            for topic in np.flatnonzero(takes[self.problem.class_of_member[self.problem.walked[member]]]).tolist():
                for number in range(int(topics.starts[topic]), int(topics.starts[topic] + topics.counts[topic])):
                    if number in has:
                        continue
                    if number not in owner:
                        raise AssignorFailed("a partition's owner takes no part")
                    if self.sizes[member] + self.margin < self.sizes[owner[number]]:
                        return False
        return True
