"""Partitions that members share, as loops: the steps of Kafka's SimpleHomogeneousAssignmentBuilder, which
SimpleHeterogeneousAssignmentBuilder does for each topic by itself.

A member is its place in the coordinator's walk. Keys and notes: see udfs/assignors/share/keys/kernels.py.
"""

from typing import Any, Final

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import clear, table_capacity, walk, walk_puts
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes
from udfs.assignors.server.maps.sets.kernels import ADD, TAKE, walk_changed
from udfs.assignors.server.maps.steps.kernels import ADD_AGAIN, COPY, LEAVE_SET
from udfs.assignors.share.keys.kernels import (
    BY_KEY,
    IS_GONE,
    KEY_HASH,
    KEY_PARTITION,
    KEY_TOPIC,
    NOTE_KEY,
    NOTE_MEMBER,
    NOTES_END,
    NUM_SHARERS,
    SAME_RANK,
    add_wanted,
    group_notes,
    note_all,
)

# The rows of what is kept of members, and of steps in the order in which they are done.
NUM_HELD, SHARE, SHARES_KEY, GIVEN_KEY, WAITING, MEMBER_ROWS = range(6)
STEP_MEMBER, STEP_KIND, STEP_TOPIC, STEP_PARTITION, STEP_ROWS = range(5)
FAILED: Final = -1


@compiled(allocates=False)
def write_step(steps: Longs, step: int, member: int, kind: int, topic: int, partition: int) -> int:
    """One more step that is done to a member's map; returns how many steps there are then."""
    steps[STEP_MEMBER, step], steps[STEP_KIND, step] = member, kind
    steps[STEP_TOPIC, step], steps[STEP_PARTITION, step] = topic, partition
    return step + 1


@compiled(inlines=False)
def with_room(steps: Longs, needed: int) -> Longs:
    """The same steps, with room for so many."""
    if needed <= steps.shape[1]:
        return steps
    larger = np.empty((STEP_ROWS, 2 * needed), np.int64)
    larger[:, : steps.shape[1]] = steps
    return larger


@compiled(allocates=False, inlines=False)
def set_shares(takers: Codes, first: int, end: int, total: int, members: Longs) -> None:
    """Equal shares of so many places, the larger ones spread among the others, in the floating point of the builder."""
    share, before = total / (end - first), 0
    for at in range(first, end):
        until = int(np.ceil(share * (at - first + 1)))
        member = takers[at]
        members[SHARE, member], members[NUM_HELD, member] = until - before, 0
        members[SHARES_KEY, member] = members[GIVEN_KEY, member] = NOTHING
        before = until


@compiled(inlines=False)
def trim(
    cells: Longs, desk: Longs, notes: Longs, num_notes: int, keys: Longs, members: Longs, is_equal: bool, steps: Longs,
    num_steps: int,
) -> int:  # fmt: skip
    """Takes from members what they have beyond their share, or all if they take no part (revokeOverfilledMembers), in
    the order of each one's set of keys; returns how many steps there are then. For equal subscriptions the target is
    copied of a member that has just its share too."""
    own_hashes, order, ranks, end = desk[0], desk[1], desk[2], 0
    while end < num_notes:
        first, member = end, notes[NOTE_MEMBER, end]
        while end < num_notes and notes[NOTE_MEMBER, end] == member:
            own_hashes[end - first], ranks[end - first] = keys[KEY_HASH, notes[NOTE_KEY, end]], SAME_RANK
            end += 1
        surplus = end - first - members[SHARE, member]
        members[NUM_HELD, member] = end - first - max(surplus, 0)
        if surplus > 0:
            walk_puts(cells, own_hashes, end - first, ranks, DEFAULT_CAPACITY, order)
        elif surplus == 0 and is_equal:
            num_steps = write_step(steps, num_steps, member, COPY, keys[KEY_TOPIC, notes[NOTE_KEY, first]], NOTHING)
        for turn in range(surplus):
            num_steps = revoke(notes, first + order[turn], keys, steps, num_steps)
    return num_steps


@compiled(allocates=False, inlines=False)
def revoke(notes: Longs, note: int, keys: Longs, steps: Longs, num_steps: int) -> int:
    """Takes a key from a member that had it; returns how many steps there are then."""
    key = notes[NOTE_KEY, note]
    notes[IS_GONE, note] = 1
    keys[NUM_SHARERS, key] -= 1
    return int(
        write_step(
            steps, num_steps, notes[NOTE_MEMBER, note], LEAVE_SET, keys[KEY_TOPIC, key], keys[KEY_PARTITION, key]
        )
    )


@compiled(inlines=False)
def thin_out(
    cells: Longs, desk: Longs, notes: Longs, keys: Longs, key: int, most: int, members: Longs, steps: Longs,
    num_steps: int,
) -> int:  # fmt: skip
    """Takes a key from some of too many sharers (revokeOversharedPartitions), in the order of the set of their places;
    returns how many steps there are then. That set had all who had the key, and then lost those who were trimmed."""
    numbers, order, kinds = desk[0], desk[1], desk[2]
    first, end = keys[NOTES_END, key - 1] if key else 0, keys[NOTES_END, key]
    added = count = end - first
    for at in range(added):
        note = notes[BY_KEY, first + at]
        numbers[at], kinds[at] = notes[NOTE_MEMBER, note], ADD
        if notes[IS_GONE, note]:
            numbers[count], kinds[count] = notes[NOTE_MEMBER, note], TAKE
            count += 1
    walk_changed(cells, DEFAULT_CAPACITY, count, added, numbers, kinds, order)
    for turn in range(keys[NUM_SHARERS, key] - most):
        member, low, high = numbers[order[turn]], first, end - 1
        while low < high:
            middle = (low + high) // 2
            if notes[NOTE_MEMBER, notes[BY_KEY, middle]] < member:
                low = middle + 1
            else:
                high = middle
        members[NUM_HELD, member] -= 1
        num_steps = revoke(notes, notes[BY_KEY, low], keys, steps, num_steps)
    return num_steps


@compiled(allocates=False, inlines=False)
def mark_sharers(notes: Longs, keys: Longs, key: int, members: Longs) -> None:
    """Marks the members that have a key still."""
    for at in range(keys[NOTES_END, key - 1] if key else 0, keys[NOTES_END, key]):
        note = notes[BY_KEY, at]
        if not notes[IS_GONE, note]:
            members[SHARES_KEY, notes[NOTE_MEMBER, note]] = key


@compiled(allocates=False, inlines=False)
def unfilled(members: Longs, waiting: int) -> int:
    """Keeps of the waiting members those that have less than their share; returns how many they are."""
    left = 0
    for at in range(waiting):
        member = members[WAITING, at]
        if members[NUM_HELD, member] < members[SHARE, member]:
            members[WAITING, left] = member
            left += 1
    return left


@compiled(inlines=False)
def hand_out(
    notes: Longs, keys: Longs, order: Longs, num_keys: int, most: int, members: Longs, waiting: int, steps: Longs,
    num_steps: int,
) -> Any:  # fmt: skip
    """Gives each key, as the map of sharers is walked, to the next members that have less than their share, round and
    round (assignRemainingPartitions). Returns the steps, and how many they are; FAILED where nobody is left.

    The new sharer is not noted: in a second lap Kafka gives it the same partition once more, for nothing."""
    turn, was_given = 0, False
    waiting = num_unfilled = unfilled(members, waiting)
    for place in range(num_keys):
        key = order[place]
        missing = most - keys[NUM_SHARERS, key]
        if missing <= 0:
            continue
        steps = with_room(steps, num_steps + missing)
        mark_sharers(notes, keys, key, members)
        while missing > 0:
            if turn == waiting:
                if not was_given:
                    return steps, num_steps
                if not num_unfilled:
                    return steps, FAILED
                waiting, turn, was_given = unfilled(members, waiting), 0, False
                continue
            member = members[WAITING, turn]
            turn += 1
            if members[SHARES_KEY, member] != key:
                is_new = members[GIVEN_KEY, member] != key
                kind = ADD if is_new else ADD_AGAIN
                num_steps = write_step(steps, num_steps, member, kind, keys[KEY_TOPIC, key], keys[KEY_PARTITION, key])
                members[GIVEN_KEY, member] = key
                members[NUM_HELD, member] += is_new
                num_unfilled -= members[NUM_HELD, member] == members[SHARE, member]
                missing, was_given = missing - 1, True
        if not num_unfilled:
            break
    return steps, num_steps


@compiled(inlines=False)
def share(
    cells: Longs, desk: Longs, table: Longs, slots: Longs, order: Longs, noted: Codes, first_note: int, num_notes: int,
    wanted: Codes, first_wanted: int, num_wanted: int, takers: Codes, first_taker: int, end_taker: int, hashes: Longs,
    is_equal: bool, notes: Longs, keys: Longs, members: Longs, steps: Longs, num_steps: int,
) -> Any:  # fmt: skip
    """Shares wanted keys among the takers. Returns the steps, and how many they are then, or FAILED. `noted`: members,
    topics and partitions of the notes; `wanted`: topics and partitions."""
    most = (end_taker - first_taker + num_wanted - 1) // num_wanted if num_wanted else 0
    set_shares(takers, first_taker, end_taker, most * num_wanted, members)
    last_slot = table_capacity(2 * (num_notes + num_wanted + 1)) - 1
    for slot in range(last_slot + 1):
        slots[slot] = NOTHING
    # Maps are made for a number of entries and one more (AssignorHelpers.newHashMap).
    clear(table, table_capacity((num_wanted + 1) * 4 // 3 + 1))
    num_keys = note_all(table, slots, last_slot, noted, first_note, num_notes, hashes, notes, keys)
    # A copy and a partition taken, at most, for each.
    steps = with_room(steps, num_steps + 2 * num_notes)
    num_steps = trim(cells, desk, notes, num_notes, keys, members, is_equal, steps, num_steps)
    group_notes(notes, num_notes, keys, num_keys)
    walk(table, order)
    for place in range(num_keys):
        if keys[NUM_SHARERS, order[place]] > most:
            num_steps = thin_out(cells, desk, notes, keys, order[place], most, members, steps, num_steps)
    num_keys = add_wanted(
        table, slots, last_slot, wanted, first_wanted, num_wanted, hashes, num_notes, keys, num_keys
    )  # fmt: skip
    walk(table, order)
    for at in range(first_taker, end_taker):
        members[WAITING, at - first_taker] = takers[at]
    steps, num_steps = hand_out(
        notes, keys, order, num_keys, most, members, end_taker - first_taker, steps, num_steps
    )  # fmt: skip
    for at in range(first_taker, end_taker):
        members[SHARE, takers[at]] = 0
    return steps, num_steps
