"""The client's `range` for members and replicas that name their racks, as loops (RangeAssignor.java, from 3.5).

Partitions are numbered topic by topic, by name. An audience is a set of members that subscribe to the same topics; its
members are in the order in which they are served, and are numbered in it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.questions.problems import Codes

Flags = NDArray[np.bool_]


@compiled(allocates=False, inlines=False)
def may_have(rack: int, number: int, set_starts: Longs, set_codes: Codes) -> bool:
    """Whether a replica of a partition is in a rack; a member without a rack may have any."""
    may = rack == NOTHING
    for at in range(set_starts[number], set_starts[number + 1]):
        may = may or bool(set_codes[at] == rack)
    return may


@compiled(allocates=False, inlines=False)
def may_have_all(rack: int, partition: int, firsts: Longs, set_starts: Longs, set_codes: Codes) -> bool:
    """The same for one partition of each topic; the first partitions of the topics are given."""
    num_wrong = 0
    for first in firsts:
        num_wrong += not may_have(rack, first + partition, set_starts, set_codes)
    return num_wrong == 0


@compiled(allocates=False, inlines=False)
def give_together(
    racks: Codes, firsts: Longs, set_starts: Longs, set_codes: Codes, quota: int, extra: int, held: Longs, owner: Longs
) -> int:
    """Gives a partition of all topics to the first member that may have it in each of them (assignCoPartitionedWithRack
    and so on); returns how many may still have one more than the quota."""
    for partition in range(len(owner)):
        for seat in range(len(racks)):
            if held[seat] < quota + (extra > 0) and may_have_all(racks[seat], partition, firsts, set_starts, set_codes):
                owner[partition] = seat
                held[seat] += 1
                extra -= held[seat] > quota
                break
    return extra


@compiled(allocates=False, inlines=False)
def give_ranges(
    racks: Codes, first: int, set_starts: Longs, set_codes: Codes, quota: int, extra: int, held: Longs, owner: Longs
) -> int:
    """Gives each member in turn the first free partitions that it may have (assignRanges); `first` NOTHING: any."""
    free = 0
    for seat in range(len(racks)):
        room = max(quota + (extra > 0) - held[seat], 0)
        for partition in range(free, len(owner) if room else free):
            if owner[partition] != NOTHING:
                # What is given at the beginning is not looked at again.
                free += partition == free
                continue
            if first != NOTHING and not may_have(racks[seat], first + partition, set_starts, set_codes):
                continue
            owner[partition] = seat
            held[seat] += 1
            extra -= held[seat] > quota
            room -= 1
            if room == 0:
                break
    return extra


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1]))"
    "(int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int32[::1])"
)
def rack_range_rows(
    audience_starts: Longs,
    audiences: Longs,
    audience_racks: Codes,
    by_name: Longs,
    audience_of_topic: Longs,
    counts: Longs,
    needs_racks: Flags,
    set_starts: Longs,
    set_codes: Codes,
) -> Any:
    """The rows of one group. Of each partition the racks of its replicas are given; of each topic, whether racks tell
    its partitions apart."""
    firsts, total = np.empty(len(by_name), np.int64), 0
    for place in range(len(by_name)):
        firsts[place] = total
        total += counts[by_name[place]]
    members, topics, partitions = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int32)
    is_given, alike = np.zeros(len(by_name), np.bool_), np.empty(len(by_name), np.int64)
    for place in range(len(by_name)):
        if is_given[place]:
            continue
        topic, num_alike = by_name[place], 0
        # Topics of the same members and as many partitions are divided alike.
        for other in range(place, len(by_name)):
            same_size = counts[by_name[other]] == counts[topic]
            if same_size and audience_of_topic[by_name[other]] == audience_of_topic[topic]:
                alike[num_alike], is_given[other] = other, True
                num_alike += 1
        start, end = audience_starts[audience_of_topic[topic]], audience_starts[audience_of_topic[topic] + 1]
        racks, owner = audience_racks[start:end], np.full(counts[topic], NOTHING)
        quota, extra, held = (
            counts[topic] // (end - start),
            counts[topic] % (end - start),
            np.zeros(end - start, np.int64),
        )
        if (racks != NOTHING).any():
            if num_alike > 1:
                extra = give_together(
                    racks, firsts[alike[:num_alike]], set_starts, set_codes, quota, extra, held, owner
                )
            elif needs_racks[topic]:
                extra = give_ranges(racks, firsts[place], set_starts, set_codes, quota, extra, held, owner)
        give_ranges(racks, NOTHING, set_starts, set_codes, quota, extra, held, owner)
        for at in range(num_alike):
            for partition in range(len(owner)):
                row = firsts[alike[at]] + partition
                members[row], topics[row] = audiences[start + owner[partition]], by_name[alike[at]]
                partitions[row] = partition
    return members, topics, partitions
