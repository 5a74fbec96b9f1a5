"""The algorithm of the sticky assignors if all members subscribe to the same topics, as loops: many groups in one call
(ConstrainedAssignmentBuilder of AbstractStickyAssignor.java).

Partitions are numbered topic by topic, by name. What belongs to a group or a member stands from its start to the next
one's.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import (
    LISTED,
    MEMBERS,
    NUM_SIZES,
    ROWS,
    TOPICS,
    rows_by_member,
    starts_of_groups,
)
from udfs.assignors.java.kernels import Hashes, walked_keys
from udfs.assignors.java.tree.kernels import NOTHING, Longs
from udfs.assignors.questions.problems import Codes
from udfs.assignors.sticky_steps.constrained.dealing.kernels import deal, deal_near, is_near
from udfs.assignors.sticky_steps.ownership.kernels import believe, claimed_numbers

Flags = NDArray[np.bool_]

# What follows the sizes of a group: the rules of its release, what there is of racks, the generation that the leader
# remembers.
DROPS_OLD, REMEMBERS_LOSERS, SORTS_OWNED, TELLS_REVOKERS, RACKS, HIGHEST = range(NUM_SIZES, NUM_SIZES + 6)
# Racks only order the partitions, or decide who gets them.
RACKS_ORDER, RACKS_DECIDE = 1, 2
TABLE: Final = 16
NO_LIMIT: Final = 1 << 62
LOW_HALF: Final = (1 << 32) - 1
UNDER, EXACT, FULL = range(3)


@compiled(inlines=False)
def number_topics(by_name: Longs, listed: Codes, counts: Longs) -> Any:
    """The known topics that members subscribe to, by name; the place of each topic there, and the number of its first
    partition, NOTHING for other topics; and how many partitions there are."""
    places, firsts = np.full(len(counts), NOTHING), np.full(len(counts), NOTHING)
    order, size, total = np.empty(len(counts), np.int64), 0, 0
    for topic in listed:
        places[topic] = 0 if counts[topic] > 0 else NOTHING
    for topic in by_name:
        if places[topic] != NOTHING:
            order[size], places[topic], firsts[topic] = topic, size, total
            size += 1
            total += counts[topic]
    return order[:size], places, firsts, total


@compiled(allocates=False, inlines=False)
def drop_far(
    walked: Longs,
    row_starts: Longs,
    numbers: Longs,
    tells_revokers: bool,
    rack_of: Codes,
    set_starts: Longs,
    set_codes: Codes,
    is_believed: Flags,
    revoked_from: Longs,
) -> None:
    """Takes from members what has no replica in the rack that they name."""
    for place in range(len(walked)):
        for row in range(row_starts[walked[place]], row_starts[walked[place] + 1]):
            number = numbers[row]
            if not is_believed[row] or rack_of[place] == NOTHING:
                continue
            is_real = number < len(revoked_from)
            # A partition that the topic does not have is near nobody.
            if is_real and is_near(place, number, rack_of, set_starts, set_codes):
                continue
            is_believed[row] = False
            if is_real and tells_revokers:
                revoked_from[number] = place


@compiled(allocates=False, inlines=False)
def list_own(
    first: int,
    end: int,
    numbers: Longs,
    topics: Codes,
    partitions: Codes,
    places: Longs,
    is_believed: Flags,
    is_contested: Flags,
    keys: Longs,
) -> int:
    """Lists what a member owns, as keys that sort by partition, then by topic; returns how much it is."""
    size = 0
    for row in range(first, end):
        if is_believed[row] and not is_contested[numbers[row]]:
            keys[size] = (int(partitions[row]) << 32) + places[topics[row]]
            size += 1
    return size


@compiled(inlines=False)
def sort_first(keys: Longs, size: int) -> None:
    """Sorts the first of some keys."""
    for at in range(1, size):
        if keys[at] < keys[at - 1]:
            keys[:size].sort()
            return


@compiled(inlines=False)
def keep(
    walked: Longs,
    row_starts: Longs,
    numbers: Longs,
    own_topics: Codes,
    own_partitions: Codes,
    order: Longs,
    places: Longs,
    firsts: Longs,
    counts: Longs,
    least: int,
    extra: int,
    sorts_owned: bool,
    is_believed: Flags,
    is_contested: Flags,
    revoked_from: Longs,
    held: Longs,
    kinds: Longs,
    row: int,
    members: Codes,
    topics: Codes,
    partitions: Codes,
) -> Any:
    """As long as extras are left, the members that own enough keep the largest quota, others the least one
    (assignOwnedPartitions). Returns where the rows of what is kept end, and how many members are full."""
    keys, num_full = np.empty(len(numbers), np.int64), 0
    for place in range(len(walked)):
        member = walked[place]
        size = list_own(
            row_starts[member], row_starts[member + 1], numbers, own_topics, own_partitions, places, is_believed,
            is_contested, keys,
        )  # fmt: skip
        if sorts_owned:
            sort_first(keys, size)
        is_full = num_full < extra and size > least
        num_full += is_full
        held[place] = min(size, least + is_full)
        kinds[place] = UNDER if size < least else FULL if is_full else EXACT
        for at in range(size):
            topic, partition = order[keys[at] & LOW_HALF], keys[at] >> 32
            if at < held[place]:
                members[row], topics[row], partitions[row] = member, topic, partition
                row += 1
            elif 0 <= partition < counts[topic]:
                revoked_from[firsts[topic] + partition] = place
    return row, num_full


@compiled(inlines=False)
def unassigned(topics: Codes, partitions: Codes, places: Longs, firsts: Longs, counts: Longs, total: int) -> Longs:
    """The numbers that nobody keeps (getUnassignedPartitions).

    Kafka walks two sorted lists side by side. A partition that its topic does not have, or that two members keep, is
    never met: every partition that is kept after it counts as unassigned too.
    """
    is_kept, limit = np.zeros(total, np.bool_), NO_LIMIT
    for row in range(len(topics)):
        partition, number = int(partitions[row]), firsts[topics[row]] + int(partitions[row])
        is_real = 0 <= partition < counts[topics[row]]
        if not is_real or is_kept[number]:
            limit = min(limit, (places[topics[row]] << 32) + partition)
        else:
            is_kept[number] = True
    if limit < NO_LIMIT:
        is_kept[:] = False
        for row in range(len(topics)):
            partition = int(partitions[row])
            if 0 <= partition < counts[topics[row]] and (places[topics[row]] << 32) + partition <= limit:
                is_kept[firsts[topics[row]] + partition] = True
    not_kept, size = np.empty(total, np.int64), 0
    for number in range(total):
        if not is_kept[number]:
            not_kept[size] = number
            size += 1
    return not_kept[:size]


@compiled(allocates=False, inlines=False)
def list_kind(by_id: Longs, place_of: Longs, kinds: Longs, kind: int, places: Longs) -> int:
    """Lists the places of the members of a kind, by id; returns how many they are."""
    size = 0
    for member in by_id:
        if kinds[place_of[member]] == kind:
            places[size] = place_of[member]
            size += 1
    return size


@compiled(allocates=False, inlines=False)
def write_given(
    given: Longs,
    receivers: Longs,
    walked: Longs,
    order: Longs,
    firsts: Longs,
    counts: Longs,
    revoked_from: Longs,
    is_contested: Flags,
    tells_revokers: bool,
    waits: bool,
    row: int,
    members: Codes,
    topics: Codes,
    partitions: Codes,
) -> int:
    """Writes the rows of what was given, without what members must wait for until its owner has revoked it; returns
    where they end."""
    low = 0
    for at in range(len(given)):
        number, place = given[at], receivers[at]
        is_revoked = revoked_from[number] != NOTHING and not (tells_revokers and revoked_from[number] == place)
        if waits and (is_revoked or is_contested[number]):
            continue
        if number < firsts[order[low]] or number >= firsts[order[low]] + counts[order[low]]:
            low = place_of_number(number, order, firsts)
        topic = order[low]
        members[row], topics[row], partitions[row] = walked[place], topic, number - firsts[topic]
        row += 1
    return row


@compiled(allocates=False, inlines=False)
def place_of_number(number: int, order: Longs, firsts: Longs) -> int:
    """The place of the topic that has a partition."""
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        if firsts[order[middle]] <= number:
            low = middle
        else:
            high = middle
    return low


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64[::1]))"
    "(int64[:, ::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int64[::1],"
    " int64[::1], uint32[::1], int32[::1], int64[::1], int64[::1], int32[::1], boolean)"
)
def constrained_rows(
    sizes: Longs,
    by_id: Longs,
    by_name: Longs,
    listed: Codes,
    counts: Longs,
    row_members: Codes,
    row_topics: Codes,
    row_partitions: Codes,
    generations: Longs,
    others: Longs,
    hashes: Hashes,
    rack_of: Codes,
    near: Longs,
    set_starts: Longs,
    set_codes: Codes,
    waits: bool,
) -> Any:
    """The rows of each group, where they end, and which groups fail. Rows that are given are what members claim;
    `by_id` and `by_name` are the members and topics of each group in these orders. Racks are those of the members in
    the order of the walk; how many members are near each partition, and the racks of its replicas, are there for
    groups with racks alone. `waits`: without what another member must give up first."""
    starts, sets, room = starts_of_groups(sizes), 0, len(row_members) + counts.sum()
    members, topics, partitions = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    ends, failures, row = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.int64), 0
    for group in range(len(sizes)):
        member, last_member = starts[MEMBERS, group], starts[MEMBERS, group + 1]
        topic, last_topic = starts[TOPICS, group], starts[TOPICS, group + 1]
        claim, last_claim = starts[ROWS, group], starts[ROWS, group + 1]
        own_counts, own_ids = counts[topic:last_topic], by_id[member:last_member]
        own_listed = listed[starts[LISTED, group] : starts[LISTED, group + 1]]
        order, places, firsts, total = number_topics(by_name[topic:last_topic], own_listed, own_counts)
        ranks, place_of = np.empty(len(own_ids), np.int64), np.empty(len(own_ids), np.int64)
        ranks[own_ids] = np.arange(len(own_ids))
        walked, _ = walked_keys(hashes[member:last_member], ranks, TABLE)
        place_of[walked] = np.arange(len(walked))
        row_starts, own_topics, own_partitions = rows_by_member(
            len(walked), row_members[claim:last_claim], row_topics[claim:last_claim], row_partitions[claim:last_claim]
        )
        numbers, num_numbers = claimed_numbers(own_topics, own_partitions, firsts, own_counts, total)
        own_generations = generations[member:last_member]
        is_believed, is_contested = believe(
            walked, row_starts, numbers, num_numbers, own_generations, others[member:last_member],
            max(sizes[group, HIGHEST], own_generations.max() if len(walked) else NOTHING),
            sizes[group, DROPS_OLD] > 0, sizes[group, REMEMBERS_LOSERS] > 0,
        )  # fmt: skip
        racks, tells_revokers = sizes[group, RACKS], sizes[group, TELLS_REVOKERS] > 0
        own_racks = rack_of[member:last_member] if racks else rack_of
        own_sets = set_starts[sets : sets + total + 1] if racks else set_starts
        revoked_from = np.full(total, NOTHING)
        if racks == RACKS_DECIDE:
            drop_far(
                walked, row_starts, numbers, tells_revokers, own_racks, own_sets, set_codes, is_believed, revoked_from
            )
        least, extra = total // max(len(walked), 1), total % max(len(walked), 1)
        held, kinds = np.empty(len(walked), np.int64), np.empty(len(walked), np.int64)
        first_row = row
        row, num_full = keep(
            walked, row_starts, numbers, own_topics, own_partitions, order, places, firsts, own_counts, least, extra,
            sizes[group, SORTS_OWNED] > 0, is_believed, is_contested, revoked_from, held, kinds, row, members, topics,
            partitions,
        )  # fmt: skip
        free = unassigned(topics[first_row:row], partitions[first_row:row], places, firsts, own_counts, total)
        below, even = np.empty(len(walked), np.int64), np.empty(len(walked), np.int64)
        num_below = list_kind(own_ids, place_of, kinds, UNDER, below)
        num_even = list_kind(own_ids, place_of, kinds, EXACT, even) if num_full < extra else 0
        given, receivers, num_given = free, np.empty(len(free), np.int64), 0
        if racks:
            free = np.sort(near[sets : sets + total][free] << 32 | free) & LOW_HALF
            given = free
        if racks == RACKS_DECIDE:
            given = np.empty(len(free), np.int64)
            num_given, num_below, num_even = deal_near(
                free, below, num_below, even, num_even, held, least, extra, num_full, tells_revokers, own_racks,
                own_sets, set_codes, given, receivers,
            )  # fmt: skip
            given[num_given:] = free[: len(free) - num_given]
        sets += total if racks else 0
        failures[group] = deal(below, num_below, even, num_even, held, least, num_given, receivers)
        row = first_row if failures[group] else write_given(
            given, receivers, walked, order, firsts, own_counts, revoked_from, is_contested, tells_revokers, waits, row,
            members, topics, partitions,
        )  # fmt: skip
        ends[group] = row
    return members[:row], topics[:row], partitions[:row], ends, failures
