"""The least and the most loaded members of a topic, in turn, as loops (MemberAssignmentBalancer in
UniformHeterogeneousAssignmentBuilder.java)."""

from typing import Final

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import Longs

NOBODY: Final = -1
# The state of a balancer. The least loaded are a range at the front of the order, which grows by those whose load
# is the next level; the most loaded at the end. The order itself is that of the beginning.
LEAST_END, NEXT_LEAST, LEAST_LEVEL, MOST_START, MOST_END, NEXT_MOST, MOST_LEVEL = range(7)


@compiled(inlines=False)
def sort_by_load(members: Longs, loads: Longs, tallies: Longs, order: Longs) -> None:
    """The least loaded first; equal ones keep their order (memberComparator)."""
    lowest, highest = loads[members[0]], loads[members[0]]
    for member in members:
        lowest, highest = min(lowest, loads[member]), max(highest, loads[member])
    levels = highest - lowest + 2
    if levels > len(tallies):
        by_load = np.argsort(loads[members], kind="mergesort")
        for place in range(len(members)):
            order[place] = members[by_load[place]]
        return
    tallies[:levels] = 0
    for member in members:
        tallies[loads[member] - lowest + 1] += 1
    for level in range(1, levels):
        tallies[level] += tallies[level - 1]
    for member in members:
        order[tallies[loads[member] - lowest]] = member
        tallies[loads[member] - lowest] += 1


@compiled(allocates=False, inlines=False)
def start_balancer(state: Longs, order: Longs, members: int, loads: Longs) -> None:
    """Both ranges are empty, so that the next least and most loaded member begins one (initialize)."""
    state[LEAST_END] = state[NEXT_LEAST] = 0
    state[LEAST_LEVEL] = loads[order[0]] - 1
    state[MOST_START] = state[MOST_END] = members
    state[NEXT_MOST] = members - 1
    state[MOST_LEVEL] = loads[order[members - 1]] + 1


@compiled(allocates=False, inlines=False)
def least(state: Longs, order: Longs, members: int, loads: Longs) -> int:
    """The next of the least loaded members, in turn (nextLeastLoadedMember)."""
    if state[NEXT_LEAST] >= state[LEAST_END]:
        state[LEAST_LEVEL] += 1
        end = state[LEAST_END]
        while end < members and loads[order[end]] == state[LEAST_LEVEL]:
            end += 1
        state[LEAST_END] = end
        state[NEXT_LEAST] = 0
    state[NEXT_LEAST] += 1
    return int(order[state[NEXT_LEAST] - 1])


@compiled(allocates=False, inlines=False)
def most(state: Longs, order: Longs, loads: Longs) -> int:
    """The next of the most loaded members, in turn; NOBODY when none is left (nextMostLoadedMember)."""
    if state[NEXT_MOST] < state[MOST_START]:
        start = state[MOST_START]
        is_used_up = state[MOST_END] <= start and start > 0
        state[MOST_LEVEL] = loads[order[start - 1]] if is_used_up else state[MOST_LEVEL] - 1
        while start > 0 and loads[order[start - 1]] == state[MOST_LEVEL]:
            start -= 1
        state[MOST_START] = start
        state[NEXT_MOST] = state[MOST_END] - 1
    if state[NEXT_MOST] < 0:
        return NOBODY
    state[NEXT_MOST] -= 1
    return int(order[state[NEXT_MOST] + 1])


@compiled(allocates=False, inlines=False)
def exclude_last_most(state: Longs, order: Longs) -> None:
    """The member that `most` gave last is not given again (excludeMostLoadedMember)."""
    last, end = state[NEXT_MOST] + 1, state[MOST_END] - 1
    order[last], order[end] = order[end], order[last]
    state[MOST_END] -= 1


@compiled(allocates=False, inlines=False)
def is_balanced(state: Longs) -> bool:
    """Whether the most and the least loaded members differ by one partition or none (isBalanced)."""
    return bool(state[MOST_LEVEL] - state[LEAST_LEVEL] <= 1)
