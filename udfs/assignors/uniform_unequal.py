"""The coordinator's `uniform` where members subscribe to different topics, from 4.0 on (KAFKA-17710).

Members keep what they had, the rest goes to the least loaded subscriber, then partitions move from the most loaded
subscriber of a topic to the least loaded, topic by topic, until no topic's subscribers differ by more than one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.load_balancer import LoadBalancer
from udfs.assignors.moved_lists import Move, with_moves
from udfs.assignors.problems import Assignment, AssignorFailed, Numbers, Rows
from udfs.assignors.server_problems import ServerProblem
from udfs.assignors.uniform import held_targets, listed, maps_of

MOST_SWEEPS = 16


@dataclass(frozen=True)
class Board:
    """Who has what, changed as the algorithm goes on; members are places in the walk of members."""

    loads: Numbers
    owners: list[NDArray[np.int64]]  # of each topic's partitions, -1 for nobody
    subscribers: list[NDArray[np.int64]]


def uniform_unequal(problem: ServerProblem) -> Assignment:
    maps = maps_of(problem)
    held = held_targets(maps, problem.walked_targets, np.ones(len(problem.members), np.bool_))
    takes = problem.takes[problem.class_of_member[problem.walked]]
    kept = takes[held.rows.members, held.rows.topics]
    owned = held.rows.take(kept)
    if (owned.partitions >= problem.counts[owned.topics]).any():
        raise AssignorFailed("a target holds a partition beyond its topic's count")
    board = board_of(problem, takes, owned)
    order = topics_by_load(problem, board)
    given = dealt(order, board)
    moves = balanced([topic for topic in order if len(board.subscribers[topic]) >= 2], board)
    made_for = opened_sizes(problem, board)
    rows = listed(maps, held, kept, given, made_for)
    found = problem.listed(rows.members, rows.topics, rows.partitions)
    return with_moves(problem, held, kept, given, moves, made_for, found) if moves else found


def board_of(problem: ServerProblem, takes: NDArray[np.bool_], owned: Rows) -> Board:
    starts = np.cumsum(problem.counts) - problem.counts
    owners = np.full(int(problem.counts.sum()), -1, np.int64)
    owners[starts[owned.topics] + owned.partitions] = owned.members
    return Board(
        np.bincount(owned.members, minlength=len(problem.members)),
        np.split(owners, starts[1:]),
        [np.flatnonzero(column) for column in takes.T],
    )


def topics_by_load(problem: ServerProblem, board: Board) -> list[int]:
    """Those with most partitions for each subscriber first."""
    ids, counts = problem.ids.tolist(), problem.counts.tolist()
    sizes = [len(subscribers) for subscribers in board.subscribers]
    topics = [topic for topic in range(len(counts)) if sizes[topic]]
    return sorted(topics, key=lambda topic: (-(counts[topic] / sizes[topic]), sizes[topic], ids[topic]))


def opened_sizes(problem: ServerProblem, board: Board) -> Numbers:
    """For how many partitions the set is made with which a topic comes to a member."""
    sizes = np.maximum([len(subscribers) for subscribers in board.subscribers], 1)
    return np.asarray(np.ceil(problem.counts / sizes) / 0.75 + 1, dtype=np.int64)


def dealt(order: list[int], board: Board) -> Rows:
    """Gives what nobody has to the least loaded; the rows stand in the order in which each member got them."""
    members: list[NDArray[np.int64]] = []
    topics: list[NDArray[np.int64]] = []
    partitions: list[NDArray[np.int64]] = []
    for topic in order:
        free = np.flatnonzero(board.owners[topic] < 0)
        if len(free):
            got = least_loaded(board.subscribers[topic], board.loads, len(free))
            board.owners[topic][free] = got
            board.loads[:] += np.bincount(got, minlength=len(board.loads))
            members.append(got)
            topics.append(np.full(len(free), topic))
            partitions.append(free)
    if not members:
        return Rows(*(np.zeros(0, np.int32) for _ in range(3)))
    owner = np.concatenate(members).astype(np.int32)
    rows = np.argsort(owner, kind="stable")
    return Rows(
        owner[rows],
        np.concatenate(topics).astype(np.int32)[rows],
        np.concatenate(partitions).astype(np.int32)[rows],
    )


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
    for _ in range(MOST_SWEEPS):
        for place, topic in enumerate(order):
            if place == last_moved:
                return moves
            found = balanced_topic(topic, board)
            moves += found
            if found or last_moved < 0:
                last_moved = place
    return moves


def balanced_topic(topic: int, board: Board) -> list[Move]:
    subscribers, owners = board.subscribers[topic], board.owners[topic]
    loads = board.loads[subscribers]
    if loads.max() - loads.min() <= 1:
        return []
    balancer = LoadBalancer(loads.tolist())
    # What each has of the topic, its last partition first.
    owned: list[list[int]] = [[] for _ in subscribers]
    for partition, owner in enumerate(np.searchsorted(subscribers, owners).tolist()):
        owned[owner].append(partition)
    moves = []
    while not balancer.is_balanced():
        source = balancer.most()
        while source >= 0 and not owned[source]:
            balancer.exclude_last_most()
            source = balancer.most()
        if source < 0:
            break
        destination = balancer.least()
        if balancer.is_balanced():
            break
        partition = owned[source].pop()
        balancer.loads[source] -= 1
        balancer.loads[destination] += 1
        owners[partition] = subscribers[destination]
        moves.append(Move(topic, partition, int(subscribers[source]), int(subscribers[destination])))
    board.loads[subscribers] = balancer.loads
    return moves
