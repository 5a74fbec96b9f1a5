"""The coordinator's `uniform`: everybody subscribed to the same topics gets the same number of partitions, and keeps
what it had as far as that allows. Members with unequal subscriptions: `uniform_unequal`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.exact_maps import ExactMaps, Target, listed_rows, rows_at
from udfs.assignors.java_maps import (
    Sets,
    copied_set_capacities,
    grown_capacities,
    powers_of_two,
    sets_of,
    walked,
)
from udfs.assignors.java_order import DEFAULT_CAPACITY, Hashes, Positions, copied_set_capacity, put_order
from udfs.assignors.problems import Assignment, AssignorFailed, Numbers, Rows, joined, within
from udfs.assignors.server_problems import ServerProblem

# KAFKA-18688: before, the first members of the walk got the larger shares, whether they had them or not.
KEEPS_LARGER_SHARES = (4, 0, 1)


@dataclass(frozen=True)
class Held:
    """The targets of the epoch before as Kafka walks its maps of them; members are places in the walk of members."""

    rows: Rows
    num_sets: Numbers  # of each member
    size_of_set: Numbers  # for each row: how many rows its set has
    targets: Rows  # in the order of the records
    crowded: Positions  # members, see Walk


@dataclass(frozen=True)
class Maps:
    """What the maps of a coordinator's members depend on."""

    id_hashes: Hashes
    members: int
    jdk: int
    ids: NDArray[np.int64] | None = None


def maps_of(problem: ServerProblem) -> Maps:
    return Maps(problem.id_hashes, len(problem.members), problem.jdk, problem.ids)


def uniform_equal(problem: ServerProblem) -> Assignment:
    rows = problem.walked_targets
    is_subscribed = np.zeros(len(problem.topics), np.bool_)
    is_subscribed[problem.topics_of_class[0]] = True
    is_subscribed &= problem.counts > 0
    wanted = is_subscribed[rows.topics]
    sizes = np.bincount(rows.members[wanted], minlength=len(problem.members))
    total = int(problem.counts[is_subscribed].sum())
    quotas = kept_shares(total, sizes) if problem.release >= KEEPS_LARGER_SHARES else shares(total, len(sizes))
    is_changed = sizes != quotas
    is_changed[rows.members[~wanted]] = True
    maps = maps_of(problem)
    held = held_targets(maps, rows, is_changed)
    wanted = is_subscribed[held.rows.topics]
    kept = wanted & (counted(wanted, held.rows.members, sizes) < quotas[held.rows.members])
    free = unassigned(problem, held.rows, is_subscribed)
    dropped = held.rows.take(wanted & ~kept)
    missing = np.maximum(quotas - sizes, 0)
    if missing.sum() != len(free[0]) + len(dropped):
        # A partition that is in two targets, or beyond the topic's count, takes a place for nothing.
        raise AssignorFailed("partitions are left unassigned after each member has its share")
    given = Rows(
        np.repeat(np.arange(len(sizes), dtype=np.int32), missing),
        np.concatenate([free[0], dropped.topics]).astype(np.int32),
        np.concatenate([free[1], dropped.partitions]).astype(np.int32),
    )
    found = listed(maps, held, kept, given, np.full(len(problem.topics), DEFAULT_CAPACITY))
    return problem.listed(found.members, found.topics, found.partitions)


def held_targets(maps: Maps, rows: Rows, is_changed: NDArray[np.bool_]) -> Held:
    """Only where something changes, the rows must stand as a walk over the maps meets them: they are copied so."""
    targets, crowded = rows, np.empty(0, np.intp)
    if not len(rows):
        return Held(rows, np.zeros(maps.members, np.int64), np.empty(0, np.int64), targets, crowded)
    sets = sets_of(rows, len(rows))
    num_sets = np.bincount(sets.member, minlength=maps.members)
    size_of_set = np.repeat(sets.size, sets.size)
    chosen = np.flatnonzero(is_changed[rows.members])
    if len(chosen):
        some = sets_of(rows.take(chosen), len(chosen))
        capacity = grown_capacities(np.array(DEFAULT_CAPACITY), num_sets)
        walk = walked(some, capacity, copied_set_capacities(some.size, maps.jdk), maps.id_hashes)
        order = np.arange(len(rows))
        order[chosen] = chosen[walk.positions]
        crowded = walk.crowded
        rows, size_of_set = rows.take(order), size_of_set[order]
    return Held(rows, num_sets, size_of_set, targets, crowded)


def topics_walked(problem: ServerProblem) -> Positions:
    """The topics as Kafka walks its set of the ids that the first member subscribes to."""
    first = problem.class_of_member[problem.walked[0]]
    topics = problem.subscribed[first]
    # The set is made for as many ids as there are names, known or not.
    capacity = copied_set_capacity(len(problem.topics_of_class[first]), problem.jdk)
    walked_ids: Positions = topics[put_order(problem.id_hashes[topics], capacity, problem.by_id(topics))]
    return walked_ids


def shares(total: int, members: int) -> Numbers:
    """As equal as can be, the larger ones first."""
    return np.full(members, total // members, np.int64) + (np.arange(members) < total % members)


def kept_shares(total: int, sizes: Numbers) -> Numbers:
    """The larger shares go to members that have one, as far as they go round; what is left, to the last members."""
    members = len(sizes)
    share, larger = divmod(total, members)
    has_larger = sizes > share
    taken = np.cumsum(has_larger)
    gets_larger = has_larger & (taken <= larger)
    left = np.maximum(larger - taken, 0)
    must_take = np.flatnonzero(members - np.arange(members) <= left)
    if len(must_take):
        gets_larger[must_take[0] :] = True
    return np.asarray(share + gets_larger, dtype=np.int64)


def counted(wanted: NDArray[np.bool_], members: NDArray[np.int32], sizes: Numbers) -> Numbers:
    """For each wanted row how many of the member's come before."""
    before = np.cumsum(sizes) - sizes
    return np.cumsum(wanted) - 1 - before[members]


def unassigned(problem: ServerProblem, held: Rows, is_subscribed: NDArray[np.bool_]) -> tuple[Positions, Numbers]:
    """Topics and partitions that nobody holds, in the order of the topics."""
    # Topics outside and partitions beyond the count have no place.
    known = np.where(is_subscribed, problem.counts, 0)
    starts = np.cumsum(known) - known
    is_held = np.zeros(int(known.sum()), np.bool_)
    real = held.partitions < known[held.topics]
    is_held[(starts[held.topics] + held.partitions)[real]] = True
    if is_held.all():
        return np.empty(0, np.intp), np.empty(0, np.int64)
    topics = topics_walked(problem)
    counts = problem.counts[topics]
    index = within(counts)
    if not len(held):
        return np.repeat(topics, counts), index
    is_free = ~is_held[np.repeat(starts[topics], counts) + index]
    return np.repeat(topics, counts)[is_free], index[is_free]


def listed(maps: Maps, held: Held, kept: NDArray[np.bool_], given: Rows, made_for: Numbers) -> Rows:
    """The answer in the order in which Kafka walks it: a member's map is copied as soon as something changes in it.

    `given` is sorted by member; members stay places in the walk. A set that is opened for a topic is made for
    `made_for` partitions.
    """
    before = held.rows if kept.all() else held.rows.take(kept)
    rows = (joined(before, given) if len(given) else before) if len(before) else given
    sets = sets_of(rows, len(before))
    members = maps.members
    given_sizes = np.bincount(given.members, minlength=members)
    is_changed = (np.bincount(held.rows.members[~kept], minlength=members) > 0) | (given_sizes > 0)
    capacity = np.where(
        is_changed,
        copied_map_capacities(sets, held, given_sizes, len(before)),
        grown_capacities(np.array(DEFAULT_CAPACITY), held.num_sets),
    )
    size_before = np.zeros(len(sets.size), np.int64)
    size_before[~sets.is_new] = held.size_of_set[kept][sets.first_row[~sets.is_new]]
    opened = powers_of_two(made_for)[sets.topic]
    made = np.where(sets.is_new, opened, copied_set_capacities(size_before, maps.jdk))
    found = walked(sets, capacity, grown_capacities(made, sets.size), maps.id_hashes)
    crowded = np.union1d(held.crowded, found.crowded).tolist()
    if not crowded:
        return found.rows
    exact = {
        place: exact_map(maps, held, kept, given, made_for, place)
        if is_changed[place]
        else record_map(maps, held, place)
        for place in crowded
    }
    rows = joined(found.rows.take(~np.isin(found.rows.members, crowded)), listed_rows(exact))
    return rows.take(np.argsort(rows.members, kind="stable"))


def record_map(maps: Maps, held: Held, place: int) -> Target:
    return ExactMaps(maps.id_hashes, maps.ids, maps.jdk).of_record(rows_at(held.targets, place))


def exact_map(maps: Maps, held: Held, kept: NDArray[np.bool_], given: Rows, made_for: Numbers, place: int) -> Target:
    lost = rows_at(held.rows, place, ~kept)
    exact = ExactMaps(maps.id_hashes, maps.ids, maps.jdk)
    return exact.changed(rows_at(held.targets, place), lost, rows_at(given, place), made_for)


def copied_map_capacities(sets: Sets, held: Held, given_sizes: Numbers, before: int) -> Numbers:
    """A copy is made for as many topics as it takes over. Afterwards a map makes room before each partition that it
    gets, so not for the topic that comes with the last one."""
    capacity = grown_capacities(powers_of_two(held.num_sets), held.num_sets)
    gets = given_sizes > 0
    last_row = before + np.cumsum(given_sizes) - 1
    ends_with_new = np.zeros(len(gets), np.bool_)
    is_last = np.zeros(len(sets.rows) + 1, np.bool_)
    is_last[last_row[gets]] = True
    opened_last = sets.is_new & is_last[sets.first_row]
    ends_with_new[sets.member[opened_last]] = True
    size = np.bincount(sets.member, minlength=len(gets)) - ends_with_new
    return np.where(gets, grown_capacities(capacity, size), capacity)
