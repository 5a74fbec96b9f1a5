"""The coordinator's `uniform`, as loops: many groups in one call. For members with equal subscriptions it is here, for
others see `unequal`.

What belongs to a group, a member or a topic is from its start to the next one's.
"""

from typing import Any, Final

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import (
    CLASSES,
    MEMBERS,
    ROWS,
    TOPICS,
    ranks_of,
    rows_by_member,
    starts_of_groups,
    starts_of_lists,
)
from udfs.assignors.java.kernels import Hashes, grown, made, walked_keys
from udfs.assignors.java.tree.kernels import TIES, Longs
from udfs.assignors.server.maps.kernels import walked_maps
from udfs.assignors.server.maps.records.kernels import DEFAULT_CAPACITY, Codes, Flags, copy_as_recorded, walk_record
from udfs.assignors.server.maps.sets.kernels import ADD, TAKE
from udfs.assignors.server.maps.steps.kernels import note
from udfs.assignors.server.unequal.kernels import unequal_steps
from udfs.assignors.server.walks.kernels import (
    IS_EQUAL,
    IS_NEW_COPY,
    KEEPS_LARGER,
    LIKE_NAMES,
    hashes_of_ids,
    keys_of_topics,
    walked_subscription,
)

# Why Kafka's assignor fails.
LEFT_OVER: Final = 1
BEYOND: Final = 2


@compiled(allocates=False, inlines=False)
def set_quotas(walked: Longs, sizes: Longs, total: int, keeps_larger: bool, quotas: Longs) -> None:
    """UniformHomogeneousAssignmentBuilder gives all members equal quotas, or one more. The larger quotas go to members
    that have more than a share, as far as they go round; what is left, to the last members. Before KAFKA-18688 the
    first members of the walk got them."""
    members = len(walked)
    share, larger = total // members, total % members
    for place in range(members):
        member = walked[place]
        quotas[member] = share
        if not keeps_larger:
            gets_larger = place < larger
        else:
            gets_larger = larger > 0 and (sizes[member] > share or members - place <= larger)
        if gets_larger:
            quotas[member] += 1
            larger -= keeps_larger


@compiled(allocates=False, inlines=False)
def hold(
    member: int,
    rows: range,
    topics: Codes,
    partitions: Codes,
    counts: Longs,
    firsts: Longs,
    sizes: Longs,
    is_held: Flags,
) -> int:
    """Counts what a member has of wanted topics (maybeRevokePartitions); returns how many of the partitions nobody had
    before."""
    num_wanted, num_new, row = 0, 0, rows.start
    while row < rows.stop:
        first, topic = row, topics[row]
        count, start = counts[topic], firsts[topic]
        while row < rows.stop and topics[row] == topic:
            # A partition beyond the count has no place.
            if partitions[row] < count:
                place = start + partitions[row]
                num_new += not is_held[place]
                is_held[place] = True
            row += 1
        num_wanted += row - first if count else 0
    sizes[member] = num_wanted
    return num_new


@compiled(inlines=False)
def set_shares(
    walked: Longs,
    total: int,
    row_starts: Longs,
    topics: Codes,
    partitions: Codes,
    counts: Longs,
    firsts: Longs,
    keeps_larger: bool,
    sizes: Longs,
    quotas: Longs,
    is_held: Flags,
    step_starts: Longs,
) -> Any:
    """What every member has of wanted topics, and what it may have; and how many steps it takes. Returns how many
    partitions nobody had, how many there are to give at most, and whether the group fails."""
    missing, num_unheld = 0, total
    for member in range(len(walked)):
        rows = range(row_starts[member], row_starts[member + 1])
        num_unheld -= hold(member, rows, topics, partitions, counts, firsts, sizes, is_held)
    num_free = num_unheld
    set_quotas(walked, sizes, total, keeps_larger, quotas)
    for member in range(len(walked)):
        surplus = sizes[member] - quotas[member]
        missing -= min(surplus, 0)
        num_free += max(surplus, 0)
        num_steps = row_starts[member + 1] - row_starts[member] - sizes[member] + abs(surplus)
        step_starts[member + 1] = step_starts[member] + num_steps
    # A partition that is in two targets, or beyond the topic's count, takes a place for nothing.
    return num_unheld, num_free, missing != num_free


@compiled(allocates=False, inlines=False)
def thin(
    steps: Longs, step: int, topics: Codes, partitions: Codes, counts: Longs, quota: int, free: Longs, at: int
) -> int:
    """Takes from a member what it has of unwanted topics, and beyond its quota (maybeRevokePartitions); returns where
    the list of the free ones ends then."""
    kept = 0
    for row in range(len(topics)):
        is_wanted = counts[topics[row]] > 0
        if is_wanted and kept < quota:
            kept += 1
            continue
        note(steps, step, TAKE, topics[row], partitions[row])
        step += 1
        if is_wanted:
            free[0, at], free[1, at] = topics[row], partitions[row]
            at += 1
    return at


@compiled(allocates=False, inlines=False)
def list_free(topics: Longs, counts: Longs, firsts: Longs, is_held: Flags, free: Longs) -> int:
    """Lists the partitions that nobody had, topic by topic (unassignedPartitions); returns how many they are."""
    at = 0
    for topic in topics:
        for partition in range(counts[topic]):
            if not is_held[firsts[topic] + partition]:
                free[0, at], free[1, at] = topic, partition
                at += 1
    return at


@compiled(allocates=False, inlines=False)
def hand_out(members: Longs, sizes: Longs, quotas: Longs, step_starts: Longs, steps: Longs, free: Longs) -> None:
    """Fills up each member to its quota, in the order of the free partitions (assignRemainingPartitions)."""
    at = 0
    for member in members:
        end = step_starts[member + 1]
        for step in range(end - max(quotas[member] - sizes[member], 0), end):
            note(steps, step, ADD, free[0, at], free[1, at])
            at += 1


@compiled(inlines=False)
def uniform_steps(
    walked: Longs,
    given: Longs,
    all_counts: Longs,
    topics: Codes,
    partitions: Codes,
    row_starts: Longs,
    hashes: Hashes,
    ranks: Longs,
    is_new_copy: bool,
    keeps_larger: bool,
    are_walked: Flags,
    ties: Longs,
) -> Any:
    """What is done to each member's map (UniformHomogeneousAssignmentBuilder.build), see `walked_maps`: where each
    member's steps start; their kinds, topics and partitions. And whether the group fails. `given`: the topics that are
    assigned, in the order in which that is done. Rows of members that lose some are put as their maps are walked."""
    members = len(walked)
    counts, firsts = np.zeros_like(all_counts), np.empty_like(all_counts)
    total, largest = 0, 1
    for topic in given:
        counts[topic] = all_counts[topic]
        firsts[topic] = total
        total += counts[topic]
    sizes, quotas, step_starts = (
        np.zeros(members, np.int64),
        np.zeros(members, np.int64),
        np.zeros(members + 1, np.int64),
    )
    is_held = np.zeros(total, np.bool_)
    num_unheld, num_free, fails = set_shares(
        walked, total, row_starts, topics, partitions, counts, firsts, keeps_larger, sizes, quotas, is_held, step_starts
    )
    if fails:
        return step_starts, np.empty((3, 0), np.int64), True
    for member in range(members):
        largest = max(largest, row_starts[member + 1] - row_starts[member])
    steps, free = np.empty((3, step_starts[-1]), np.int64), np.empty((2, num_free), np.int64)
    cells, desk = made(largest, grown(DEFAULT_CAPACITY, largest + 1)), np.empty((6, largest + 1), np.int64)
    held_topics, held_partitions = np.empty(largest, np.int32), np.empty(largest, np.int32)
    at = list_free(given, counts, firsts, is_held, free) if num_unheld else 0
    for member in walked:
        first, end = row_starts[member], row_starts[member + 1]
        if end - first == sizes[member] and sizes[member] <= quotas[member]:
            continue
        own_topics, own_partitions = topics[first:end], partitions[first:end]
        if not copy_as_recorded(first, end, topics, partitions, hashes, is_new_copy, topics, partitions, first):
            walk_record(
                cells, desk, own_topics, own_partitions, hashes, ranks, is_new_copy, held_topics, held_partitions
            )
            for row in range(first, end):
                topics[row], partitions[row] = held_topics[row - first], held_partitions[row - first]
        are_walked[member] = True
        at = thin(steps, step_starts[member], own_topics, own_partitions, counts, quotas[member], free, at)
    hand_out(walked, sizes, quotas, step_starts, steps, free)
    ties[0] += cells[TIES]
    return step_starts, steps, False


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64))"
    "(int64[:, ::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[:, ::1], int32[::1], int32[::1],"
    " int32[::1], uint32[::1], int64[::1])"
)
def uniform_rows(
    sizes: Longs,
    classes: Codes,
    list_sizes: Longs,
    listed: Codes,
    counts: Longs,
    ids: Longs,
    row_members: Codes,
    row_topics: Codes,
    row_partitions: Codes,
    hashes: Hashes,
    ranks: Longs,
) -> Any:
    """The rows of each group (UniformAssignor.assign), where they end, which groups fail, and whether ranks are needed.
    The rows that are given are the groups' targets; hashes and ranks are of the members, then of the topics' names;
    then ranks of their ids."""
    starts, list_starts, id_hashes = starts_of_groups(sizes), starts_of_lists(list_sizes), hashes_of_ids(ids)
    ties, room = np.zeros(1, np.int64), len(row_members) + counts.sum()
    found_members, found_topics = np.empty(room, np.int32), np.empty(room, np.int32)
    found_partitions = np.empty(room, np.int32)
    ends, failures = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    at, names = 0, starts[MEMBERS, len(sizes)]
    for group in range(len(sizes)):
        member, last_member = starts[MEMBERS, group], starts[MEMBERS, group + 1]
        first, end = starts[TOPICS, group], starts[TOPICS, group + 1]
        row, last_row = starts[ROWS, group], starts[ROWS, group + 1]
        number, last_number = starts[CLASSES, group], starts[CLASSES, group + 1]
        own_classes, own_counts = classes[member:last_member], counts[first:end]
        own_lists = list_starts[number : last_number + 1]
        name_hashes, own_hashes, name_ranks, id_ranks = keys_of_topics(first, end, names, hashes, id_hashes, ranks)
        is_new = sizes[group, IS_NEW_COPY] > 0
        member_ranks = ranks_of(ranks, member, last_member)
        walked, tied = walked_keys(hashes[member:last_member], member_ranks, DEFAULT_CAPACITY)
        ties[0] += tied
        row_starts, topics, partitions = rows_by_member(
            len(walked), row_members[row:last_row], row_topics[row:last_row], row_partitions[row:last_row]
        )
        may_repeat, are_walked = False, np.zeros(len(walked), np.bool_)
        if len(walked) and sizes[group, IS_EQUAL]:
            number = own_classes[walked[0]]
            own_list = listed[own_lists[number] : own_lists[number + 1]]
            given = walked_subscription(
                own_list, own_counts, name_hashes, own_hashes, name_ranks, id_ranks, is_new, LIKE_NAMES, ties
            )
            made_for, keeps_larger = np.full(len(own_counts), DEFAULT_CAPACITY), sizes[group, KEEPS_LARGER] > 0
            step_starts, steps, fails = uniform_steps(
                walked, given, own_counts, topics, partitions, row_starts, own_hashes, id_ranks, is_new, keeps_larger,
                are_walked, ties,
            )  # fmt: skip
            failures[group] = LEFT_OVER if fails else 0
        else:
            step_starts, steps, made_for, fails, may_repeat = unequal_steps(
                walked, own_classes, own_lists, listed, own_counts, ids[first:end], topics, partitions, row_starts
            )
            failures[group] = BEYOND if fails else 0
        if not fails:
            at += walked_maps(
                row_starts, topics, partitions, step_starts, steps, own_hashes, id_ranks, made_for, is_new, may_repeat,
                are_walked, found_members[at:], found_topics[at:], found_partitions[at:], ties,
            )  # fmt: skip
        ends[group] = at
    return found_members[:at], found_topics[:at], found_partitions[:at], ends, failures, ties[0]
