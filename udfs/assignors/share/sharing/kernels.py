"""Partitions that members share, as loops: the steps of Kafka's SimpleHomogeneousAssignmentBuilder, which
SimpleHeterogeneousAssignmentBuilder does for each topic by itself.

A member is its place in the coordinator's walk. A key is a partition of a topic: keys are numbered as they first come
into the map of sharers (finalAssignmentByPartition). A note says that a member had a key; notes are in the order of
members, those of one member as its map is walked.
"""

from typing import Any, Final

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import clear, compute, make_room, set_key, table_capacity, walk, walk_puts
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes
from udfs.assignors.server.maps.sets.kernels import ADD, TAKE, walk_changed
from udfs.assignors.server.maps.steps.kernels import ADD_AGAIN, COPY, LEAVE_SET

# The rows of what is kept: of keys, of notes, of members, and of steps in the order in which they are done.
KEY_TOPIC, KEY_PARTITION, KEY_HASH, NUM_SHARERS, NOTES_END, KEY_ROWS = range(6)
NOTE_MEMBER, NOTE_KEY, IS_GONE, BY_KEY, NOTE_ROWS = range(5)
NUM_HELD, SHARE, SHARES_KEY, GIVEN_KEY, WAITING, MEMBER_ROWS = range(6)
STEP_MEMBER, STEP_KIND, STEP_TOPIC, STEP_PARTITION, STEP_ROWS = range(5)
# Any odd number: keys that follow each other go to slots that do not.
SCATTER: Final = 0x9E3779B1
# Kafka compares no two keys of one hash code: any tree of theirs is shaped by chance, in Java too.
SAME_RANK: Final = 0
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


@compiled(allocates=False)
def sharers_key(
    table: Longs, keys: Longs, num_keys: int, slots: Longs, last_slot: int, topic: int, partition: int, topic_hash: int
) -> int:
    """Asks the map of sharers for a key (computeIfAbsent), and returns its number: the next one for a new key. The hash
    code is that of TopicIdPartition for a topic's hash code, and the partition itself without one."""
    slot = ((topic * SCATTER + partition) * SCATTER >> 15) & last_slot
    make_room(table)
    while slots[slot] != NOTHING:
        number = slots[slot]
        if keys[KEY_PARTITION, number] == partition and keys[KEY_TOPIC, number] == topic:
            return int(number)
        slot = (slot + 1) & last_slot
    slots[slot] = num_keys
    keys[KEY_TOPIC, num_keys], keys[KEY_PARTITION, num_keys] = topic, partition
    keys[KEY_HASH, num_keys] = (31 * topic_hash + partition) & 0xFFFFFFFF
    keys[NUM_SHARERS, num_keys] = 0
    compute(table, set_key(table, num_keys, keys[KEY_HASH, num_keys], SAME_RANK))
    return num_keys


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
            walk_puts(cells, own_hashes[: end - first], ranks, DEFAULT_CAPACITY, order)
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


@compiled(allocates=False, inlines=False)
def group_notes(notes: Longs, num_notes: int, keys: Longs, num_keys: int) -> None:
    """Writes the notes key by key, in their order, and where those of each key end: there those of the next one
    start."""
    for key in range(num_keys):
        keys[NOTES_END, key] = 0
    for note in range(num_notes):
        keys[NOTES_END, notes[NOTE_KEY, note]] += 1
    start = 0
    for key in range(num_keys):
        start, keys[NOTES_END, key] = start + keys[NOTES_END, key], start
    for note in range(num_notes):
        key = notes[NOTE_KEY, note]
        notes[BY_KEY, keys[NOTES_END, key]] = note
        keys[NOTES_END, key] += 1


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
    cells: Longs,
    desk: Longs,
    table: Longs,
    slots: Longs,
    order: Longs,
    noted: Codes,
    first_note: int,
    num_notes: int,
    wanted: Codes,
    first_wanted: int,
    num_wanted: int,
    takers: Codes,
    first_taker: int,
    end_taker: int,
    hashes: Longs,
    is_equal: bool,
    notes: Longs,
    keys: Longs,
    members: Longs,
    steps: Longs,
    num_steps: int,
) -> Any:
    """Shares wanted keys among the takers. Returns the steps, and how many they are then, or FAILED. `noted`: members,
    topics and partitions of the notes; `wanted`: topics and partitions."""
    most = (end_taker - first_taker + num_wanted - 1) // num_wanted if num_wanted else 0
    set_shares(takers, first_taker, end_taker, most * num_wanted, members)
    last_slot = table_capacity(2 * (num_notes + num_wanted + 1)) - 1
    for slot in range(last_slot + 1):
        slots[slot] = NOTHING
    # Maps are made for a number of entries and one more (AssignorHelpers.newHashMap).
    clear(table, table_capacity((num_wanted + 1) * 4 // 3 + 1))
    num_keys = 0
    for note in range(num_notes):
        at = first_note + note
        member, topic, partition = noted[0, at], int(noted[1, at]), int(noted[2, at])
        key = sharers_key(table, keys, num_keys, slots, last_slot, topic, partition, hashes[topic])
        num_keys = max(num_keys, key + 1)
        notes[NOTE_MEMBER, note], notes[NOTE_KEY, note], notes[IS_GONE, note] = member, key, 0
        keys[NUM_SHARERS, key] += 1
    # A copy and a partition taken, at most, for each.
    steps = with_room(steps, num_steps + 2 * num_notes)
    num_steps = trim(cells, desk, notes, num_notes, keys, members, is_equal, steps, num_steps)
    group_notes(notes, num_notes, keys, num_keys)
    walk(table, order)
    for place in range(num_keys):
        if keys[NUM_SHARERS, order[place]] > most:
            num_steps = thin_out(cells, desk, notes, keys, order[place], most, members, steps, num_steps)
    for at in range(first_wanted, first_wanted + num_wanted):
        topic, partition = int(wanted[0, at]), int(wanted[1, at])
        key = sharers_key(table, keys, num_keys, slots, last_slot, topic, partition, hashes[topic])
        if key == num_keys:
            keys[NOTES_END, key] = num_notes
            num_keys += 1
    walk(table, order)
    for at in range(first_taker, end_taker):
        members[WAITING, at - first_taker] = takers[at]
    steps, num_steps = hand_out(
        notes, keys, order, num_keys, most, members, end_taker - first_taker, steps, num_steps
    )  # fmt: skip
    for at in range(first_taker, end_taker):
        members[SHARE, takers[at]] = 0
    return steps, num_steps
