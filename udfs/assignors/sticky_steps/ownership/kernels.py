"""Which claims of the members of a sticky group are believed (AbstractStickyAssignor.java), as loops.

Partitions are numbered topic by topic. Those that their topics do not have get numbers after all
existing ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import rows_by_member
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.questions.problems import Codes

Flags = NDArray[np.bool_]


@compiled(inlines=False)
def claimed_numbers(topics: Codes, partitions: Codes, firsts: Longs, counts: Longs, total: int) -> Any:
    """The number of each claimed partition, NOTHING where nobody subscribes to the topic; and how many numbers there
    are."""
    numbers, num_strange = np.full(len(topics), NOTHING), 0
    keys = np.empty(len(topics), np.int64)
    for row in range(len(topics)):
        first, partition = firsts[topics[row]], int(partitions[row])
        if first != NOTHING and 0 <= partition < counts[topics[row]]:
            numbers[row] = first + partition
        elif first != NOTHING:
            keys[num_strange] = (int(topics[row]) << 32) + partition
            num_strange += 1
    if num_strange:
        keys = np.sort(keys[:num_strange])
        for row in range(len(topics)):
            if firsts[topics[row]] != NOTHING and numbers[row] == NOTHING:
                numbers[row] = total + np.searchsorted(keys, (int(topics[row]) << 32) + int(partitions[row]))
    return numbers, total + num_strange


@compiled(allocates=False, inlines=False)
def forget(number: int, first_row: int, end_row: int, newest: Longs, before: Longs, is_believed: Flags) -> None:
    """Takes the believed claims of one member, whose rows these are, out of the list of a partition's."""
    last, row = NOTHING, newest[number]
    while row != NOTHING:
        if not first_row <= row < end_row:
            last = row
        elif last == NOTHING:
            newest[number] = before[row]
        else:
            before[last] = before[row]
        is_believed[row] = not first_row <= row < end_row
        row = before[row]


@compiled(inlines=False)
def believe(
    walked: Longs,
    row_starts: Longs,
    numbers: Longs,
    num_numbers: int,
    generations: Longs,
    others: Longs,
    highest: int,
    drops_old: bool,
    remembers_losers: bool,
) -> Any:
    """Which rows are believed, and which partitions two members of one generation claimed. Each claim is held against
    the one before it, not against all. `highest`: the only generation that counts, if old ones are dropped.

    Kafka compares what a member's data says with what the *other's subscription* says, which for the eager assignor
    is nothing.
    """
    claimant, newest = np.full(num_numbers, NOTHING), np.full(num_numbers, NOTHING)
    before, is_believed = np.full(len(numbers), NOTHING), np.zeros(len(numbers), np.bool_)
    is_contested = np.zeros(num_numbers, np.bool_)
    for member in walked:
        if drops_old and generations[member] != highest:
            continue
        for row in range(row_starts[member], row_starts[member + 1]):
            number = numbers[row]
            if number == NOTHING:
                continue
            other = claimant[number]
            if other == NOTHING:
                claimant[number], newest[number], is_believed[row] = member, row, True
                continue
            mine, theirs = generations[member], others[other]
            if mine >= theirs or remembers_losers:
                claimant[number] = member
            if mine < theirs:
                continue
            forget(number, row_starts[other], row_starts[other + 1], newest, before, is_believed)
            if mine > theirs:
                before[row], newest[number], is_believed[row] = newest[number], row, True
            else:
                is_contested[number] = True
    return is_believed, is_contested


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1]))"
    "(int64[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, boolean,"
    " boolean)"
)
def believed_rows(
    walked: Longs,
    row_members: Codes,
    row_topics: Codes,
    row_partitions: Codes,
    firsts: Longs,
    counts: Longs,
    generations: Longs,
    others: Longs,
    highest: int,
    drops_old: bool,
    remembers_losers: bool,
) -> Any:
    """The believed claims of one group, in the order of the walk. `firsts`: see `number_topics`."""
    total = 0
    for topic in range(len(firsts)):
        total += counts[topic] if firsts[topic] != NOTHING else 0
    row_starts, topics, partitions = rows_by_member(len(walked), row_members, row_topics, row_partitions)
    numbers, num_numbers = claimed_numbers(topics, partitions, firsts, counts, total)
    is_believed, _ = believe(
        walked, row_starts, numbers, num_numbers, generations, others, highest, drops_old, remembers_losers
    )
    believed = np.empty((3, len(topics)), np.int32)
    at = 0
    for member in walked:
        for row in range(row_starts[member], row_starts[member + 1]):
            if is_believed[row]:
                believed[0, at], believed[1, at], believed[2, at] = member, topics[row], partitions[row]
                at += 1
    return believed[0, :at].copy(), believed[1, :at].copy(), believed[2, :at].copy()
