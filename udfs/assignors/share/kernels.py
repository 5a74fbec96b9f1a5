"""The `simple` assignor of share groups from 4.2 on, as loops: many groups in one call.

What belongs to a group, a member or a topic is from its start to the next one's.
"""

from typing import Any

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import (
    CLASSES,
    MEMBERS,
    NUM_SIZES,
    ROWS,
    TOPICS,
    ranks_of,
    rows_by_member,
    starts_of_groups,
    starts_of_lists,
)
from udfs.assignors.java.kernels import Hashes, grown, made, table_capacity, walked_keys
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.server.maps.kernels import walked_maps
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes, Flags
from udfs.assignors.server.maps.sets.kernels import ADD
from udfs.assignors.server.walks.kernels import hashes_of_ids, keys_of_topics, known_names
from udfs.assignors.share.keys.kernels import KEY_ROWS, NOTE_ROWS
from udfs.assignors.share.parts.kernels import (
    notes_by_topic,
    notes_of_all,
    takers_by_topic,
    topics_of_some,
    walk_targets,
    wanted_partitions,
)
from udfs.assignors.share.sharing.kernels import (
    MEMBER_ROWS,
    STEP_KIND,
    STEP_MEMBER,
    STEP_ROWS,
    share,
)

# What follows the sizes of a group: whether copied sets are made for what they copy, whether all members have the same
# topics, whether only some partitions may be assigned, and how many.
IS_NEW_COPY, IS_EQUAL, IS_LIMITED, NUM_ASSIGNABLE = range(NUM_SIZES, NUM_SIZES + 4)


@compiled(inlines=False)
def steps_by_member(walked: Longs, steps: Longs, num_steps: int) -> Any:
    """Where the steps of each member start; kinds, topics and partitions of the steps, each member's in their order;
    and how many of them add a partition."""
    starts, num_added = np.zeros(len(walked) + 1, np.int64), 0
    for step in range(num_steps):
        starts[walked[steps[STEP_MEMBER, step]] + 1] += 1
        num_added += steps[STEP_KIND, step] == ADD
    for member in range(len(walked)):
        starts[member + 1] += starts[member]
    ends, sorted_steps = starts.copy(), np.empty((3, num_steps), np.int64)
    for step in range(num_steps):
        member = walked[steps[STEP_MEMBER, step]]
        for row in range(3):
            sorted_steps[row, ends[member]] = steps[STEP_KIND + row, step]
        ends[member] += 1
    return starts, sorted_steps, num_added


@compiled(inlines=False)
def share_all(
    noted: Codes, note_starts: Longs, wanted: Codes, wanted_starts: Longs, takers: Codes, taker_starts: Longs,
    hashes: Longs, is_equal: bool, num_members: int, most_rows: int, steps: Longs, num_steps: int,
) -> Any:  # fmt: skip
    """Shares what is wanted among the takers, one part after another. Returns the steps, and how many they are, or
    FAILED. `most_rows`: of a member."""
    most_notes, most_keys, largest = 1, 1, DEFAULT_CAPACITY
    for part in range(len(note_starts) - 1):
        num_notes = note_starts[part + 1] - note_starts[part]
        num_wanted = wanted_starts[part + 1] - wanted_starts[part]
        most_notes, most_keys = max(most_notes, num_notes), max(most_keys, num_notes + num_wanted)
        largest = max(largest, table_capacity((num_wanted + 1) * 4 // 3 + 1))
    entries = max(most_rows, 2 * num_members) + 1
    cells, desk = made(entries, grown(DEFAULT_CAPACITY, entries)), np.empty((3, entries), np.int64)
    table, order = made(most_keys, grown(largest, most_keys + 1)), np.empty(most_keys, np.int64)
    slots = np.empty(table_capacity(2 * (most_keys + 1)), np.int64)
    notes, keys = np.empty((NOTE_ROWS, most_notes), np.int64), np.empty((KEY_ROWS, most_keys), np.int64)
    members = np.zeros((MEMBER_ROWS, num_members), np.int64)
    for part in range(len(note_starts) - 1):
        steps, num_steps = share(
            cells, desk, table, slots, order, noted, note_starts[part], note_starts[part + 1] - note_starts[part],
            wanted, wanted_starts[part], wanted_starts[part + 1] - wanted_starts[part], takers, taker_starts[part],
            taker_starts[part + 1], hashes, is_equal, notes, keys, members, steps, num_steps,
        )  # fmt: skip
        if num_steps < 0:
            break
    return steps, num_steps


@compiled(inlines=False)
def assignable_flags(counts: Longs, firsts: Longs, is_limited: bool, topics: Codes, partitions: Codes) -> Flags:
    """Which partitions may be assigned, topic by topic."""
    last = len(counts) - 1
    total = firsts[last] + counts[last] if len(counts) else 0
    if not is_limited:
        return np.ones(total, np.bool_)
    flags = np.zeros(total, np.bool_)
    for row in range(len(topics)):
        if 0 <= partitions[row] < counts[topics[row]]:
            flags[firsts[topics[row]] + partitions[row]] = True
    return flags


@compiled(inlines=False)
def simple_steps(
    walked: Longs, given: Longs, is_equal: bool, classes: Codes, list_starts: Longs, listed: Codes, counts: Longs,
    firsts: Longs, is_assignable: Flags, id_hashes: Hashes, row_starts: Longs, topics: Codes, partitions: Codes,
) -> Any:  # fmt: skip
    """What is done to members' targets, in turn, and how many steps they are, or FAILED (SimpleAssignor.assign). Rows
    of members are in the order in which their targets are walked."""
    steps, num_steps = np.empty((STEP_ROWS, len(topics)), np.int64), 0
    wanted, wanted_starts = wanted_partitions(given, counts, firsts, is_assignable)
    if is_equal:
        noted, note_starts, num_steps = notes_of_all(walked, given, counts, row_starts, topics, partitions, steps)
        wanted_starts = np.array([0, wanted.shape[1]])
        takers, taker_starts = np.arange(len(walked)).astype(np.int32), np.array([0, len(walked)])
        hashes = id_hashes.astype(np.int64)
    else:
        noted, note_starts = notes_by_topic(walked, given, counts, row_starts, topics, partitions)
        takers, taker_starts = takers_by_topic(walked, classes, list_starts, listed, counts, given)
        # A partition of the only topic is its own hash code.
        hashes = np.zeros(len(counts), np.int64)
    most_rows = 0
    for member in range(len(walked)):
        most_rows = max(most_rows, row_starts[member + 1] - row_starts[member])
    return share_all(
        noted, note_starts, wanted, wanted_starts, takers, taker_starts, hashes, is_equal, len(walked), most_rows,
        steps, num_steps,
    )  # fmt: skip


@compiled(inlines=False)
def without_empty_sets(members: Codes, topics: Codes, partitions: Codes, first: int, end: int) -> int:
    """Takes topics without partitions out of the rows; returns where they end then."""
    at = first
    for row in range(first, end):
        if partitions[row] != NOTHING:
            members[at], topics[at], partitions[at] = members[row], topics[row], partitions[row]
            at += 1
    return at


@compiled(inlines=False)
def longer(codes: Codes, size: int, needed: int) -> Codes:
    """The first values, with room for so many."""
    if needed <= len(codes):
        return codes
    larger = np.empty(2 * needed, np.int32)
    larger[:size] = codes[:size]
    return larger


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], boolean[::1], int64))"
    "(int64[:, ::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[:, ::1], int32[::1], int32[::1],"
    " int32[::1], int32[::1], int32[::1], uint32[::1], int64[::1])"
)
def simple_rows(
    sizes: Longs,
    classes: Codes,
    list_sizes: Longs,
    listed: Codes,
    counts: Longs,
    ids: Longs,
    row_members: Codes,
    row_topics: Codes,
    row_partitions: Codes,
    assignable_topics: Codes,
    assignable_partitions: Codes,
    hashes: Hashes,
    ranks: Longs,
) -> Any:
    """The rows of each group, where they end, which groups fail, and whether ranks are needed. The rows that are given
    are the groups' targets, and what may be assigned; hashes and ranks are of the members, then of the topics' names;
    then ranks of their ids."""
    starts, list_starts, id_hashes = starts_of_groups(sizes), starts_of_lists(list_sizes), hashes_of_ids(ids)
    ties, room, names = np.zeros(1, np.int64), len(row_members) + counts.sum(), starts[MEMBERS, len(sizes)]
    found_members, found_topics, found_partitions = (
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
    )
    ends, failures, at, assignable = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.bool_), 0, 0
    for group in range(len(sizes)):
        member, last_member = starts[MEMBERS, group], starts[MEMBERS, group + 1]
        first, end = starts[TOPICS, group], starts[TOPICS, group + 1]
        row, last_row = starts[ROWS, group], starts[ROWS, group + 1]
        own_classes, own_counts = classes[member:last_member], counts[first:end]
        own_lists = list_starts[starts[CLASSES, group] : starts[CLASSES, group + 1] + 1]
        name_hashes, own_hashes, name_ranks, id_ranks = keys_of_topics(first, end, names, hashes, id_hashes, ranks)
        is_new, is_equal = sizes[group, IS_NEW_COPY] > 0, sizes[group, IS_EQUAL] > 0
        own_assignable, assignable = assignable, assignable + sizes[group, NUM_ASSIGNABLE]
        ends[group] = at
        walked, tied = walked_keys(
            hashes[member:last_member], ranks_of(ranks, member, last_member), DEFAULT_CAPACITY
        )  # fmt: skip
        ties[0] += tied
        if is_equal:
            own_list = listed[own_lists[own_classes[walked[0]]] : own_lists[own_classes[walked[0]] + 1]]
            given = known_names(own_list, own_counts, name_hashes, name_ranks, is_new, ties)
            if not len(own_list):
                continue
        else:
            given = topics_of_some(
                walked, own_classes, own_lists, listed, own_counts, name_hashes, own_hashes, name_ranks, id_ranks,
                is_new, ties,
            )  # fmt: skip
            if not len(given):
                continue
        row_starts, topics, partitions = rows_by_member(
            len(walked), row_members[row:last_row], row_topics[row:last_row], row_partitions[row:last_row]
        )
        walk_targets(row_starts, topics, partitions, own_hashes, id_ranks, is_new, ties)
        firsts = starts_of_lists(own_counts)
        flags = assignable_flags(
            own_counts, firsts, sizes[group, IS_LIMITED] > 0, assignable_topics[own_assignable:assignable],
            assignable_partitions[own_assignable:assignable],
        )  # fmt: skip
        turns, num_steps = simple_steps(
            walked, given, is_equal, own_classes, own_lists, listed, own_counts, firsts, flags, own_hashes, row_starts,
            topics, partitions,
        )  # fmt: skip
        if num_steps < 0:
            failures[group] = True
            continue
        step_starts, steps, num_added = steps_by_member(walked, turns, num_steps)
        needed = at + len(topics) + num_added
        found_members, found_topics = longer(found_members, at, needed), longer(found_topics, at, needed)
        found_partitions = longer(found_partitions, at, needed)
        written = walked_maps(
            row_starts, topics, partitions, step_starts, steps, own_hashes, id_ranks,
            np.full(len(own_counts), DEFAULT_CAPACITY), is_new, False, np.ones(len(walked), np.bool_),
            found_members[at:], found_topics[at:], found_partitions[at:], ties,
        )  # fmt: skip
        at = without_empty_sets(found_members, found_topics, found_partitions, at, at + written)
        ends[group] = at
    return found_members[:at], found_topics[:at], found_partitions[:at], ends, failures, ties[0]
