"""Who gets what nobody keeps, as loops (assignRoundRobin and assignRackAwareRoundRobin of AbstractStickyAssignor.java).

Members are their places in the walk. `below` are those below the least quota, `even` those that have it and may get one
more; both are lists in the first cells of arrays.
"""

from typing import Any, Final

from udfs.arrays.compiled import compiled
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.questions.problems import Codes

# Why Kafka's assignor fails.
LEFT_BELOW: Final = 1
NO_ROOM: Final = 2


@compiled(allocates=False, inlines=False)
def is_near(member: int, number: int, rack_of: Codes, set_starts: Longs, set_codes: Codes) -> bool:
    """Whether a replica of a partition is in the member's rack; a member without a rack is near nothing."""
    is_in_rack = False
    for at in range(set_starts[number], set_starts[number + 1]):
        is_in_rack = is_in_rack or bool(set_codes[at] == rack_of[member])
    return is_in_rack


@compiled(allocates=False, inlines=False)
def next_near(
    members: Longs, size: int, first: int, number: int, rack_of: Codes, set_starts: Longs, set_codes: Codes
) -> int:
    """Where in a list the next member is that is near a partition, or NOTHING."""
    if set_starts[number] == set_starts[number + 1]:
        return NOTHING
    for step in range(size):
        at: int = (first + step) % size
        if is_near(members[at], number, rack_of, set_starts, set_codes):
            return at
    return NOTHING


@compiled(allocates=False, inlines=False)
def take_out(members: Longs, size: int, at: int) -> int:
    """Takes a member out of a list; returns how many are left."""
    for place in range(at, size - 1):
        members[place] = members[place + 1]
    return size - 1


@compiled(allocates=False, inlines=False)
def deal_near(
    numbers: Longs,
    below: Longs,
    num_below: int,
    even: Longs,
    num_even: int,
    held: Longs,
    least: int,
    extra: int,
    num_full: int,
    counts_full: bool,
    rack_of: Codes,
    set_starts: Longs,
    set_codes: Codes,
    given: Longs,
    receivers: Longs,
) -> Any:
    """Gives what it can to members that are near. Returns how many partitions it gave, and how many members are left
    below and even; the partitions that are left are then the first in `numbers`."""
    most, turn, num_given, num_left = least + (extra > 0), 0, 0, 0
    for place in range(len(numbers)):
        number = numbers[place]
        near = next_near(below, num_below, turn, number, rack_of, set_starts, set_codes)
        if near != NOTHING:
            member = below[near]
            held[member] += 1
            if held[member] < least:
                near += 1
            else:
                num_below = take_out(below, num_below, near)
                if held[member] < most and (num_full < extra or not counts_full):
                    even[num_even] = member
                    num_even += 1
            turn = near % num_below if num_below else 0
        else:
            near = next_near(even, num_even, 0, number, rack_of, set_starts, set_codes)
            if near == NOTHING:
                numbers[num_left] = number
                num_left += 1
                continue
            member = even[near]
            held[member] += 1
            if held[member] == most:
                num_even = take_out(even, num_even, near)
                num_full += 1
                if num_full == extra and counts_full:
                    num_even = 0
        given[num_given], receivers[num_given] = number, member
        num_given += 1
    return num_given, num_below, num_even


@compiled(allocates=False, inlines=False)
def deal(
    below: Longs, num_below: int, even: Longs, num_even: int, held: Longs, least: int, first: int, receivers: Longs
) -> int:
    """Who receives each partition from the first on: in turn those that miss some, then one more each. Returns why it
    fails, or 0."""
    certain, count = 0, len(receivers) - first
    for place in range(num_below):
        certain += least - held[below[place]]
    if count < certain:
        return LEFT_BELOW
    if count > certain + num_even + num_below:
        return NO_ROOM
    while num_below:
        num_left = 0
        for place in range(num_below):
            member = below[place]
            receivers[first] = member
            first += 1
            held[member] += 1
            if held[member] < least:
                below[num_left] = member
                num_left += 1
            else:
                even[num_even] = member
                num_even += 1
        num_below = num_left
    for place in range(first, len(receivers)):
        receivers[place] = even[place - first]
    return 0
