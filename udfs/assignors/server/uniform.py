"""The coordinator's `uniform` for members with equal subscriptions: each gets the same number of partitions and keeps
as many of its own as possible. For other members see `uniform_unequal`."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Hashes, Positions, copied_set_capacity, put_order
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY
from udfs.assignors.questions.problems import Assignment, AssignorFailed, Numbers, Rows, joined, within
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.exact_maps import ExactMaps, Target, listed_rows, rows_at
from udfs.assignors.server.member_maps import (
    Sets,
    copied_set_capacities,
    grown_capacities,
    packed_order,
    powers_of_two,
    sets_of,
    walked,
)

# KAFKA-18688: before, the first members of the walk got the larger shares, whether they had them or not.
KEEPS_LARGER_SHARES = (4, 0, 1)


NOTHING = Rows(*(np.empty(0, np.int32) for _ in range(3)))


@dataclass(frozen=True)
class Held:
    """The targets of the epoch before as Kafka walks its maps of them; members are places in the walk of members."""

    rows: Rows
    num_sets: Numbers  # of each member
    targets: Rows  # in the order of the records
    crowded: Positions  # members, see Walk

    @cached_property
    def size_of_set(self) -> Numbers:
        """For each row how many rows its set has."""
        sets = sets_of(self.rows, len(self.rows))
        return np.repeat(sets.size, sets.size)


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
    counts = np.zeros_like(problem.counts)
    subscribed = problem.topics_of_class[0]
    counts[subscribed] = problem.counts[subscribed]
    held = held_targets(maps_of(problem), by_member(problem.targets))
    sizes, has_others = wanted_sizes(problem, held.rows, counts)
    total = int(counts.sum())
    quotas = kept_shares(total, sizes) if problem.release >= KEEPS_LARGER_SHARES else shares(total, len(sizes))
    changed = np.flatnonzero(has_others | (sizes != quotas))
    # Most members keep what they have. The others are numbered among themselves, in the order of the walk.
    held, others = parted(held, problem.walked[changed])
    sizes, quotas = sizes[changed], quotas[changed]
    wanted = (counts > 0)[held.rows.topics]
    kept = wanted & (counted(wanted, held.rows.members, sizes) < quotas[held.rows.members])
    free = unassigned(problem, problem.targets, counts)
    dropped = held.rows.take(wanted & ~kept)
    missing = np.maximum(quotas - sizes, 0)
    if missing.sum() != len(free[0]) + len(dropped):
        # A partition that is in two targets, or beyond the topic's count, takes a place for nothing.
        raise AssignorFailed("partitions are left unassigned after each member has its share")
    given = Rows(
        np.repeat(np.arange(len(changed), dtype=np.int32), missing),
        np.concatenate([free[0], dropped.topics]).astype(np.int32),
        np.concatenate([free[1], dropped.partitions]).astype(np.int32),
    )
    maps = Maps(problem.id_hashes, len(changed), problem.jdk, problem.ids)
    found = listed(maps, held, kept, given, np.full(len(problem.topics), DEFAULT_CAPACITY))
    found = problem.listed(changed[found.members], found.topics, found.partitions)
    return joined(found, others) if len(others) else found


def by_member(rows: Rows) -> Rows:
    if (rows.members[1:] >= rows.members[:-1]).all():
        return rows
    return rows.take(np.argsort(rows.members, kind="stable"))


def wanted_sizes(problem: ServerProblem, rows: Rows, counts: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """In the order of the walk how many partitions of subscribed topics a member has, and whether of others too."""
    members = len(problem.members)
    sizes = np.bincount(rows.members, minlength=members)
    if counts.all():
        return sizes[problem.walked], np.zeros(members, np.bool_)
    unwanted = np.bincount(rows.members[counts[rows.topics] == 0], minlength=members)
    return (sizes - unwanted)[problem.walked], (unwanted > 0)[problem.walked]


def held_targets(maps: Maps, rows: Rows, is_changed: NDArray[np.bool_] | None = None) -> Held:
    """The rows are copied as a walk over the maps meets them; only where something changes, when that is told."""
    if not len(rows):
        return Held(rows, np.zeros(maps.members, np.int64), rows, np.empty(0, np.intp))
    sets = sets_of(rows, len(rows))
    num_sets = np.bincount(sets.member, minlength=maps.members)
    chosen = None if is_changed is None else np.flatnonzero(is_changed[rows.members])
    if chosen is not None:
        sets = sets_of(rows.take(chosen), len(chosen))
    capacity = grown_capacities(DEFAULT_CAPACITY, num_sets)
    walk = walked(sets, capacity, copied_set_capacities(sets.size, maps.jdk), maps.id_hashes)
    if chosen is None:
        return Held(walk.rows, num_sets, rows, walk.crowded)
    order = np.arange(len(rows))
    order[chosen] = chosen[walk.positions]
    return Held(rows.take(order), num_sets, rows, walk.crowded)


def parted(held: Held, changed: Positions) -> tuple[Held, Rows]:
    """What some members have, numbered as they are named, and the rows of the others."""
    place = np.full(len(held.num_sets), -1, np.int32)
    place[changed] = np.arange(len(changed))
    places = place[held.rows.members]
    rows = np.flatnonzero(places >= 0)
    rows = rows[packed_order(places[rows].astype(np.int64))]
    own = Rows(places[rows], held.rows.topics[rows], held.rows.partitions[rows])
    targets = own
    if len(held.crowded):
        targets = Rows(place[held.targets.members], held.targets.topics, held.targets.partitions)
        targets = by_member(targets.take(targets.members >= 0))
    crowded = place[held.crowded]
    part = Held(own, held.num_sets[changed], targets, crowded[crowded >= 0].astype(np.intp))
    return part, held.rows.take(np.flatnonzero(places < 0)) if len(rows) < len(places) else NOTHING


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


def unassigned(problem: ServerProblem, rows: Rows, counts: Numbers) -> tuple[Positions, Numbers]:
    """Topics and partitions that nobody holds, in the order of the topics."""
    starts = np.cumsum(counts) - counts
    is_held = np.zeros(int(counts.sum()), np.bool_)
    # Topics outside and partitions beyond the count have no place.
    if len(rows) and rows.partitions.max() >= counts.min():
        rows = rows.take(rows.partitions < counts[rows.topics])
    is_held[starts[rows.topics] + rows.partitions] = True
    if is_held.all():
        return np.empty(0, np.intp), np.empty(0, np.int64)
    topics = topics_walked(problem)
    counts = problem.counts[topics]
    index = within(counts)
    if not len(rows):
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
    given_sizes = np.bincount(given.members, minlength=maps.members)
    capacity = copied_map_capacities(sets, held.num_sets, given_sizes, len(before))
    is_same = given_sizes == 0
    if is_same.any():
        is_same[held.rows.members[~kept]] = False
        capacity = np.where(is_same, grown_capacities(DEFAULT_CAPACITY, held.num_sets), capacity)
    old_sizes = held.size_of_set[kept][sets.first_row[: sets.num_old]]
    opened = powers_of_two(made_for[sets.topic[sets.num_old :]])
    made = np.concatenate([copied_set_capacities(old_sizes, maps.jdk), opened])
    found = walked(sets, capacity, grown_capacities(made, sets.size), maps.id_hashes)
    crowded = {*held.crowded.tolist(), *found.crowded.tolist()}
    exact = {
        place: record_map(maps, held, place) if is_same[place] else exact_map(maps, held, kept, given, made_for, place)
        for place in sorted(crowded)
    }
    if not exact:
        return found.rows
    rows = joined(found.rows.take(~np.isin(found.rows.members, list(exact))), listed_rows(exact))
    return rows.take(np.argsort(rows.members, kind="stable"))


def record_map(maps: Maps, held: Held, place: int) -> Target:
    return ExactMaps(maps.id_hashes, maps.ids, maps.jdk).of_record(rows_at(held.targets, place))


def exact_map(maps: Maps, held: Held, kept: NDArray[np.bool_], given: Rows, made_for: Numbers, place: int) -> Target:
    lost = rows_at(held.rows, place, ~kept)
    exact = ExactMaps(maps.id_hashes, maps.ids, maps.jdk)
    return exact.changed(rows_at(held.targets, place), lost, rows_at(given, place), made_for)


def copied_map_capacities(sets: Sets, num_sets: Numbers, given_sizes: Numbers, before: int) -> Numbers:
    """A copy is made for as many topics as it takes over. Afterwards a map makes room before each partition that it
    gets, so not for the topic that comes with the last one."""
    capacity = grown_capacities(powers_of_two(num_sets), num_sets)
    last_row = before + np.cumsum(given_sizes) - 1
    new = slice(sets.num_old, None)
    members = sets.member[new]
    ends_with_new = members[sets.first_row[new] == last_row[members]]
    size = np.bincount(sets.member, minlength=len(num_sets)) - np.bincount(ends_with_new, minlength=len(num_sets))
    return grown_capacities(capacity, size)
