"""Rules that every assignment must satisfy. They can be checked without recomputing it."""

from dataclasses import dataclass

import numpy as np

from udfs.assignors.groups import NOBODY, Numbers, Rows
from udfs.audit.checks.recorded_assignments import UNKNOWN, Assignments, Flags


@dataclass(frozen=True)
class InvariantCounts:
    """Counts by assignment; UNKNOWN if the number of partitions of a topic is unknown."""

    num_partitions: Numbers
    num_unowned: Numbers
    num_owned_twice: Numbers
    num_nonexistent: Numbers
    num_unsubscribed: Numbers
    num_idle_members: Numbers
    imbalance: Numbers


def invariant_counts(all_: Assignments, most_owners: int | Numbers = 1) -> InvariantCounts:
    """`most_owners`: how many members may have one partition, for all assignments or for each."""
    is_unknown = all_.any_of((all_.counts == UNKNOWN) & all_.is_subscribed, all_.of_topic)
    wanted = np.where(all_.is_subscribed, np.maximum(all_.counts, 0), 0)
    of_place = all_.of_topic[all_.topic_of_place]
    unowned = (all_.times_owned == 0) & all_.is_subscribed[all_.topic_of_place]
    is_missing = ~all_.exists & (all_.counts[all_.rows.topics] != UNKNOWN)
    misses_count = all_.any_of(all_.counts[all_.rows.topics] == UNKNOWN, all_.of_row)
    return InvariantCounts(
        num_partitions=known_if(~is_unknown, all_.sums(wanted, all_.of_topic)),
        num_unowned=known_if(~is_unknown, all_.sums(unowned, of_place)),
        num_owned_twice=owned_twice(all_, of_place, np.broadcast_to(most_owners, len(all_))),
        num_nonexistent=known_if(~misses_count, all_.sums(is_missing, all_.of_row)),
        num_unsubscribed=all_.sums(~are_subscribed(all_), all_.of_row),
        num_idle_members=all_.sums(all_.sizes == 0, all_.of_member),
        imbalance=imbalances(all_),
    )


def known_if(is_known: Flags, values: Numbers) -> Numbers:
    return np.where(is_known, values, UNKNOWN)


def owned_twice(all_: Assignments, of_place: Numbers, most_owners: Numbers) -> Numbers:
    counts = all_.sums(all_.times_owned > most_owners[of_place], of_place)
    if not all_.exists.all():
        # Partitions that do not exist can have several owners too.
        strange = all_.rows.take(~all_.exists)
        keys = strange.topics.astype(np.int64) << 32 | (strange.partitions.astype(np.int64) & 0xFFFFFFFF)
        _, first, times = np.unique(keys, return_index=True, return_counts=True)
        of = all_.of_topic[strange.topics[first]]
        counts = counts + all_.sums(times > most_owners[of], of)
    return counts


def are_subscribed(all_: Assignments) -> Flags:
    """For each row, whether its member subscribes to its topic."""
    if len(all_) == len(np.unique(all_.class_of_subscription)) and (all_.classes_of == 1).all():
        return all_.is_subscribed[all_.rows.topics]
    width = max(1, len(all_.counts))
    pairs = all_.class_of_subscription * width + all_.topic_of_subscription
    return np.isin(all_.class_of_member[all_.rows.members] * width + all_.rows.topics, pairs)


def imbalances(all_: Assignments) -> Numbers:
    """Largest difference in numbers of partitions among members with equal subscriptions."""
    order = np.argsort(all_.class_of_member, kind="stable")
    largest = np.zeros(len(all_), np.int64)
    if len(order):
        classes, sizes = all_.class_of_member[order], all_.sizes[order]
        starts = np.flatnonzero(np.append(True, classes[1:] != classes[:-1]))
        spread = np.maximum.reduceat(sizes, starts) - np.minimum.reduceat(sizes, starts)
        np.maximum.at(largest, all_.of_member[order[starts]], spread)
    return largest


def are_level(all_: Assignments, withheld: Numbers) -> Flags:
    """Whether members' sizes differ by one or less, or will once the withheld partitions are assigned: for assignments
    whose members all subscribe to the same topics."""
    members = np.maximum(np.diff(all_.member_starts), 1)
    total = all_.sums(all_.sizes, all_.of_member) + withheld
    share, extra = total // members, total % members
    own = share[all_.of_member]
    is_over = all_.any_of(all_.sizes > own + (extra > 0)[all_.of_member], all_.of_member)
    at_most = all_.sums(all_.sizes > own, all_.of_member)
    # Then the withheld partitions exactly fill the members that have too few.
    return np.asarray(~is_over & (at_most <= extra), dtype=np.bool_)


def are_level_by_topic(all_: Assignments) -> Flags:
    """Whether each topic is spread evenly over the members that subscribe to it."""
    width = max(1, len(all_.counts))
    subscribers = np.bincount(all_.class_of_member)
    keys = all_.rows.members.astype(np.int64) * width + all_.rows.topics
    _, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    topics = all_.rows.topics[first]
    largest, smallest = np.zeros(width, np.int64), np.full(width, np.iinfo(np.int64).max)
    np.maximum.at(largest, topics, sizes)
    np.minimum.at(smallest, topics, sizes)
    takers = np.zeros(width, np.int64)
    known_class = all_.class_of_subscription < len(subscribers)
    np.add.at(
        takers,
        all_.topic_of_subscription[known_class],
        subscribers[all_.class_of_subscription[known_class]],
    )
    smallest[np.bincount(topics, minlength=width) < takers] = 0
    uneven = (largest > 0) & (largest - smallest > 1)
    return ~all_.any_of(uneven[: len(all_.counts)], all_.of_topic)


def are_unsafe(all_: Assignments, claims: Rows) -> Flags:
    """Rows that give a member a partition that another member claims and it does not. Nobody may have it before the
    other one gives it up."""
    is_unsafe = np.zeros(len(all_.rows), np.bool_)
    rows = np.flatnonzero(all_.exists)
    claims = claims.take((claims.partitions >= 0) & (claims.partitions < all_.counts[claims.topics]))
    places = all_.starts[claims.topics] + claims.partitions
    claimant = np.full(all_.num_places, NOBODY, np.int64)
    claimant[places] = claims.members
    assigned = all_.rows.take(rows)
    other = claimant[all_.starts[assigned.topics] + assigned.partitions]
    unsafe = (other != NOBODY) & (other != assigned.members)
    if np.count_nonzero(claimant != NOBODY) < len(claims) and unsafe.any():
        # If several members claim a partition, the member that has it may be one of them.
        own = set(zip(claims.members.tolist(), places.tolist(), strict=True))
        at = (all_.starts[assigned.topics] + assigned.partitions)[unsafe].tolist()
        pairs = zip(assigned.members[unsafe].tolist(), at, strict=True)
        unsafe[np.flatnonzero(unsafe)] = [pair not in own for pair in pairs]
    is_unsafe[rows] = unsafe
    return is_unsafe
