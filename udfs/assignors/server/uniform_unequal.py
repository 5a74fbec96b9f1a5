"""The coordinator's `uniform` for members that subscribe to different topics, from 4.0 on (KAFKA-17710).

Members keep what they had, and the rest goes to the least loaded subscriber. Then, topic by topic, partitions move from
the most loaded subscriber to the least loaded one, until the subscribers of no topic differ by more than one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.questions.partition_numbers import NOBODY
from udfs.assignors.questions.problems import Assignment, AssignorFailed, Numbers, Rows, joined, within
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.load_balancer import LoadBalancer
from udfs.assignors.server.member_maps import packed_order
from udfs.assignors.server.moved_lists import Move, with_moves
from udfs.assignors.server.uniform import NOTHING, by_member, held_targets, listed, maps_of

MOST_SWEEPS = 16


# A topic with fewer subscribers and partitions together is dealt faster by itself than by arrays.
SMALL_TOPIC = 400


@dataclass(frozen=True)
class Board:
    """Who has what, changed as the algorithm goes on; members are places in the walk of members.

    `audiences` are the distinct sets of subscribers, `audience_of` their number for each topic.
    """

    loads: Numbers
    owners: Numbers  # of all partitions, topic by topic, or NOBODY
    starts: Numbers  # of each topic's partitions
    counts: Numbers
    audiences: list[NDArray[np.int64]]
    audience_of: list[int]

    def subscribers(self, topic: int) -> NDArray[np.int64]:
        return self.audiences[self.audience_of[topic]]

    def owners_of(self, topic: int) -> Numbers:
        return self.owners[self.starts[topic] : self.starts[topic] + self.counts[topic]]


def uniform_unequal(problem: ServerProblem) -> Assignment:
    maps = maps_of(problem)
    held = held_targets(maps, problem.walked_targets)
    takes = problem.takes[problem.class_of_member[problem.walked]]
    kept = takes[held.rows.members, held.rows.topics]
    owned = held.rows.take(kept)
    if (owned.partitions >= problem.counts[owned.topics]).any():
        raise AssignorFailed("a target holds a partition beyond its topic's count")
    board = board_of(problem, takes, owned)
    # Where a partition has two owners, or a table has trees, it matters in which order sets lose and get.
    is_odd = np.count_nonzero(board.owners != NOBODY) < len(owned) or len(held.crowded) > 0
    order = topics_by_load(problem, board)
    given = dealt(order, board)
    moves = balanced([topic for topic in order if len(board.subscribers(topic)) >= 2], board)
    made_for = opened_sizes(problem, board)
    are_plain = not moves or (not is_odd and are_one_way(moves, given))
    if moves and are_plain:
        # As if who lost a partition had never kept it, and who got it had been given it at the end.
        kept[kept] = board.owners[board.starts[owned.topics] + owned.partitions] == owned.members
        topics, partitions, _, destinations = np.array(moves, np.int32).T
        given = by_member(joined(given, Rows(destinations, topics, partitions)))
    rows = listed(maps, held, kept, given, made_for)
    found = problem.listed(rows.members, rows.topics, rows.partitions)
    return found if are_plain else with_moves(problem, held, kept, given, moves, made_for, found)


def are_one_way(moves: Sequence[Move], given: Rows) -> bool:
    """Whether nobody lost partitions who also got some: the sizes in between made no table larger."""
    sources = {move.source for move in moves}
    return sources.isdisjoint(move.destination for move in moves) and sources.isdisjoint(given.members.tolist())


def board_of(problem: ServerProblem, takes: NDArray[np.bool_], owned: Rows) -> Board:
    starts = np.cumsum(problem.counts) - problem.counts
    owners = np.full(int(problem.counts.sum()), NOBODY, np.int64)
    owners[starts[owned.topics] + owned.partitions] = owned.members
    packed = np.ascontiguousarray(np.packbits(problem.takes, axis=0).T)
    numbers: dict[bytes, int] = {}
    rows = packed.view(f"V{packed.shape[1]}").ravel().tolist()
    audience_of = [numbers.setdefault(row, len(numbers)) for row in rows]
    first = [audience_of.index(number) for number in range(len(numbers))]
    return Board(
        np.bincount(owned.members, minlength=len(problem.members)),
        owners,
        starts,
        problem.counts,
        [np.flatnonzero(takes[:, topic]) for topic in first],
        audience_of,
    )


def topics_by_load(problem: ServerProblem, board: Board) -> list[int]:
    """Those with most partitions for each subscriber first."""
    sizes = audience_sizes(board)
    topics = np.flatnonzero(sizes)
    counts, sizes, (most, least) = problem.counts[topics], sizes[topics], problem.ids[topics].T
    order: list[int] = topics[np.lexsort((least, most, sizes, -(counts / sizes)))].tolist()
    return order


def audience_sizes(board: Board) -> Numbers:
    """How many subscribers each topic has."""
    return np.array([len(subscribers) for subscribers in board.audiences], np.int64)[board.audience_of]


def opened_sizes(problem: ServerProblem, board: Board) -> Numbers:
    """For how many partitions the set is made with which a topic comes to a member."""
    sizes = np.maximum(audience_sizes(board), 1)
    return np.asarray(np.ceil(problem.counts / sizes) / 0.75 + 1, dtype=np.int64)


def dealt(order: list[int], board: Board) -> Rows:
    """Gives what nobody has to the least loaded; the rows stand in the order in which each member got them."""
    counts = board.counts[order]
    numbers = np.repeat(board.starts[order], counts) + within(counts)
    is_free = board.owners[numbers] < 0
    if not is_free.any():
        return NOTHING
    numbers = numbers[is_free]
    topics = np.repeat(np.array(order, np.int32), counts)[is_free]
    wanted = np.bincount(np.repeat(np.arange(len(order)), counts)[is_free], minlength=len(order)).tolist()
    size = len(numbers) + int(audience_sizes(board)[order].sum())
    members = (dealt_one_by_one if size < SMALL_TOPIC * len(order) else dealt_by_topic)(order, wanted, board)
    board.owners[numbers] = members
    partitions = (numbers - board.starts[topics]).astype(np.int32)
    rows = packed_order(members)
    return Rows(members[rows].astype(np.int32), topics[rows], partitions[rows])


def dealt_by_topic(order: list[int], wanted: list[int], board: Board) -> Numbers:
    """The members that get the wanted numbers of partitions of the topics, one after the other."""
    deals = [np.zeros(0, np.int64)]
    for topic, count in zip(order, wanted, strict=True):
        if count:
            got = least_loaded(board.subscribers(topic), board.loads, count)
            board.loads[:] += np.bincount(got, minlength=len(board.loads))
            deals.append(got)
    return np.concatenate(deals)


def dealt_one_by_one(order: list[int], wanted: list[int], board: Board) -> Numbers:
    """The same, for small topics."""
    loads = board.loads.tolist()
    audiences = [audience.tolist() for audience in board.audiences]
    members: list[int] = []
    for topic, count in zip(order, wanted, strict=True):
        if not count:
            continue
        left = count
        subscribers = sorted(audiences[board.audience_of[topic]], key=loads.__getitem__)
        level, most = loads[subscribers[0]], loads[subscribers[-1]]
        end = 0
        while left:
            end = len(subscribers) if level >= most else bisect_right(subscribers, level, end, key=loads.__getitem__)
            lap = subscribers[: min(end, left)]
            members += lap
            for member in lap:
                loads[member] += 1
            left -= len(lap)
            level += 1
    board.loads[:] = loads
    return np.array(members, np.int64)


def least_loaded(subscribers: NDArray[np.int64], loads: Numbers, wanted: int) -> NDArray[np.int64]:
    """Whom LoadBalancer.least names, one call after the other, where each named one gets a partition."""
    order = subscribers[np.argsort(loads[subscribers], kind="stable")]
    levels = loads[order]
    laps = []
    level, left = int(levels[0]), wanted
    while left and level < levels[-1]:
        lap = order[: np.searchsorted(levels, level, side="right")][:left]
        laps.append(lap)
        left -= len(lap)
        level += 1
    laps.append(np.resize(order, left))
    return np.concatenate(laps)


def balanced(order: list[int], board: Board) -> list[Move]:
    """Sweeps over the topics until a whole sweep moved nothing, or often enough."""
    moves: list[Move] = []
    last_moved = -1
    # Without another move they stay level.
    level: set[int] = set()
    for _ in range(MOST_SWEEPS):
        for place, topic in enumerate(order):
            if place == last_moved:
                return moves
            if last_moved < 0:
                last_moved = place
            audience = board.audience_of[topic]
            if audience in level:
                continue
            if is_level(board.loads[board.audiences[audience]]):
                level.add(audience)
            elif found := balanced_topic(topic, board):
                moves += found
                last_moved = place
                level.clear()
    return moves


def is_level(loads: Numbers) -> bool:
    return bool(loads.max() - loads.min() <= 1)


def balanced_topic(topic: int, board: Board) -> list[Move]:
    subscribers, owners = board.subscribers(topic), board.owners_of(topic)
    loads = board.loads[subscribers]
    balancer = LoadBalancer(loads.tolist())
    # What each has of the topic: its last partitions go first.
    by_owner = packed_order(owners)
    first, end = (np.searchsorted(owners[by_owner], subscribers, side=side).tolist() for side in ("left", "right"))
    moves = []
    while not balancer.is_balanced():
        source = balancer.most()
        while source >= 0 and first[source] == end[source]:
            balancer.exclude_last_most()
            source = balancer.most()
        if source < 0:
            break
        destination = balancer.least()
        if balancer.is_balanced():
            break
        end[source] -= 1
        partition = int(by_owner[end[source]])
        balancer.loads[source] -= 1
        balancer.loads[destination] += 1
        owners[partition] = subscribers[destination]
        moves.append(Move(topic, partition, int(subscribers[source]), int(subscribers[destination])))
    board.loads[subscribers] = balancer.loads
    return moves
