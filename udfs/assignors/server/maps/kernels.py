"""Members' maps of topic ids to sets of partitions, as loops over Java's tables.

Kafka's assignors pass such maps on and walk them, so their order decides who keeps what. An assignor copies a member's
map as soon as it changes something in it (AssignorHelpers.deepCopyAssignment). What nothing is done to is walked as it
was made of its record.

What each member has is its rows; a set is rows of one topic, one after another. Topics are numbers.
"""

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.java.kernels import (
    COMPUTE,
    FULL_CHAIN_COMPUTED,
    REMOVE,
    Hashes,
    clear,
    compute,
    grown,
    made,
    make_room,
    put,
    remove,
    set_key,
    spread_of,
    table_capacity,
    walk,
)
from udfs.assignors.java.tree.kernels import NODE, NODES, NOTHING, TIES, UNRANKED, Longs
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes, Flags, copy_as_recorded, walk_record
from udfs.assignors.server.maps.sets.kernels import (
    ADD,
    BOARD_ROWS,
    SET_OPEN,
    SET_TOPIC,
    copy_sets,
    group_entries,
    walk_rising,
    write_sets,
)
from udfs.assignors.server.maps.steps.kernels import CLOSED, EVENT, EVENT_SET, do_steps


@compiled(allocates=False)
def change_map(
    cells: Longs,
    board: Longs,
    topics: Codes,
    partitions: Codes,
    rows: int,
    steps: Longs,
    own_steps: range,
    hashes: Hashes,
    ranks: Longs,
    made_for: Longs,
    is_new_copy: bool,
    may_repeat: bool,
    open_sets: Longs,
    events: Longs,
    walked: Longs,
) -> int:
    """Does to a member's map what its steps say. Writes its sets as the map is walked; returns how many they are."""
    entries, num_old = copy_sets(board, topics, partitions, rows, is_new_copy)
    for number in range(num_old):
        open_sets[board[SET_TOPIC, number]] = number
    entries, sets, num_events = do_steps(
        board, steps, own_steps, entries, num_old, open_sets, made_for, may_repeat, events
    )
    for number in range(sets):
        open_sets[board[SET_TOPIC, number]] = CLOSED
    group_entries(board, entries, sets)
    if sets <= FULL_CHAIN_COMPUTED:
        return walk_few_topics(board, num_old, sets, hashes, events, num_events, walked)
    return walk_topics(cells, board, num_old, sets, hashes, ranks, events, num_events, walked)


@compiled(allocates=False)
def walk_few_topics(
    board: Longs, num_old: int, sets: int, hashes: Hashes, events: Longs, num_events: int, walked: Longs
) -> int:
    """The sets of a map that had so few topics that no bucket can be crowded; returns how many are left.

    The copy is made for as many topics as it takes over (deepCopyAssignment). What was computed stands first in its
    chain (computeIfAbsent)."""
    capacity, size = grown(table_capacity(num_old), num_old), num_old
    for turn in range(num_events):
        event = events[EVENT, turn]
        if event == REMOVE:
            size -= 1
        else:
            capacity *= 2 if size > capacity * 3 >> 2 else 1
            size += event == COMPUTE
    end_place = 0
    for turn in range(sets):
        number = sets - 1 - turn if turn < sets - num_old else turn - (sets - num_old)
        if not board[SET_OPEN, number]:
            continue
        bucket = spread_of(int(hashes[board[SET_TOPIC, number]])) & (capacity - 1)
        at = end_place
        while at > 0 and spread_of(int(hashes[board[SET_TOPIC, walked[at - 1]]])) & (capacity - 1) > bucket:
            walked[at] = walked[at - 1]
            at -= 1
        walked[at] = number
        end_place += 1
    return end_place


@compiled(allocates=False, inlines=False)
def walk_topics(
    cells: Longs,
    board: Longs,
    num_old: int,
    sets: int,
    hashes: Hashes,
    ranks: Longs,
    events: Longs,
    num_events: int,
    walked: Longs,
) -> int:
    """The sets of any map, as HashMap walks their topics after the events; returns how many are left."""
    for number in range(sets):
        topic = board[SET_TOPIC, number]
        set_key(cells, number, int(hashes[topic]), ranks[topic] if len(ranks) else UNRANKED)
    clear(cells, table_capacity(num_old))
    put(cells, cells[NODES], cells[NODES] + num_old * NODE)
    for turn in range(num_events):
        node = cells[NODES] + events[EVENT_SET, turn] * NODE
        if events[EVENT, turn] == REMOVE:
            remove(cells, node)
        else:
            make_room(cells)
            if events[EVENT, turn] == COMPUTE:
                compute(cells, node)
    return int(walk(cells, walked))


@compiled(allocates=False, inlines=False)
def write_rising_set(
    steps: Longs,
    own_steps: range,
    made_for: Longs,
    numbers: Longs,
    keys: Longs,
    topics: Codes,
    partitions: Codes,
    written: int,
) -> int:
    """Writes the rows of a map that had nothing, and got partitions of one topic in rising order; returns where they
    end then. Any other map is left to `change_map`: this is all that happens to most members of a new group."""
    count, topic = 0, NOTHING
    for step in own_steps:
        if steps[0, step] != ADD or (count and steps[1, step] != topic):
            return written
        topic, numbers[count] = steps[1, step], steps[2, step]
        count += 1
    if not count or not walk_rising(numbers, count, table_capacity(made_for[topic]), keys):
        return written
    for place in range(count):
        topics[written + place], partitions[written + place] = topic, numbers[keys[place]]
    return written + count


@compiled(allocates=False)
def most_of_one(starts: Longs, step_starts: Longs) -> int:
    """The most rows and steps of a member, at least one."""
    most = 1
    for member in range(len(starts) - 1):
        rows, num_steps = starts[member + 1] - starts[member], step_starts[member + 1] - step_starts[member]
        most = max(most, rows + num_steps)
    return most


@compiled(allocates=False)
def largest_table(made_for: Longs) -> int:
    """Buckets of the largest of the sets that are made for so many."""
    largest = DEFAULT_CAPACITY
    for topic in range(len(made_for)):
        if made_for[topic] > largest:
            largest = table_capacity(made_for[topic])
    return largest


@compiled(inlines=False)
def walked_maps(
    starts: Longs,
    topics: Codes,
    partitions: Codes,
    step_starts: Longs,
    steps: Longs,
    hashes: Hashes,
    ranks: Longs,
    made_for: Longs,
    is_new_copy: bool,
    may_repeat: bool,
    are_walked: Flags,
    found_members: Codes,
    found_topics: Codes,
    found_partitions: Codes,
    ties: Longs,
) -> int:
    """Writes the rows of every member of a group as its map is walked after the member's steps (Map.entrySet); returns
    how many they are.

    What a member has, in the order of its record, and what is done to it is from its start to the next one's. A topic
    without partitions is one row whose partition is NOTHING, and stays one where nothing is done to the map.
    `steps`: their kinds, topics and partitions. What is taken must be there; `may_repeat`: what is added may be there.
    `made_for`: how many partitions the set is made for that comes with a topic. `are_walked`: members whose rows stand
    as their maps are walked, not as in the record.
    """
    members = len(starts) - 1
    most, largest = most_of_one(starts, step_starts), largest_table(made_for)
    # For one map after the other: memory that is used again stays in the processor's cache.
    cells = made(most, grown(largest, most + 1))
    desk, board = np.empty((6, most + 1), np.int64), np.empty((BOARD_ROWS, most + 1), np.int64)
    open_sets, events = np.full(len(made_for), CLOSED), np.empty((2, most + 1), np.int64)
    held_topics, held_partitions = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    walked, numbers, keys, kinds = np.empty(most + 1, np.int64), desk[0], desk[1], desk[2]
    unranked = walked[:0]
    at = 0
    for member in range(members):
        first, end, before = starts[member], starts[member + 1], at
        own_steps = range(step_starts[member], step_starts[member + 1])
        if first == end:
            at = write_rising_set(steps, own_steps, made_for, numbers, keys, found_topics, found_partitions, at)
            own_steps = own_steps if at == before else range(0)
        if len(own_steps):
            if are_walked[member]:
                own_topics, own_partitions = topics[first:end], partitions[first:end]
            else:
                own_topics, own_partitions = held_topics, held_partitions
                if not copy_as_recorded(
                    first, end, topics, partitions, hashes, is_new_copy, held_topics, held_partitions, 0
                ):
                    walk_record(
                        cells, desk, topics[first:end], partitions[first:end], hashes, ranks, is_new_copy,
                        held_topics, held_partitions,
                    )  # fmt: skip
            count = change_map(
                cells, board, own_topics, own_partitions, end - first, steps, own_steps, hashes, ranks, made_for,
                is_new_copy, may_repeat, open_sets, events, walked,
            )  # fmt: skip
            at = write_sets(
                cells, unranked, numbers, keys, kinds, board, walked, count, found_topics, found_partitions, at
            )
        elif are_walked[member]:
            for row in range(first, end):
                found_topics[at], found_partitions[at] = topics[row], partitions[row]
                at += 1
        else:
            if not copy_as_recorded(
                first, end, topics, partitions, hashes, is_new_copy, found_topics, found_partitions, at
            ):
                walk_record(
                    cells, desk, topics[first:end], partitions[first:end], hashes, ranks, is_new_copy,
                    found_topics[at:], found_partitions[at:],
                )  # fmt: skip
            at += end - first
        for row in range(before, at):
            found_members[row] = member
    ties[0] += cells[TIES]
    return at
