"""Plain groups one after another in flat arrays. Plain means: no racks, no static members, all members subscribe to the
same topics.

A position in a flat array is global; `group` says to which group it belongs. Answers count within their group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.bulk.text_matrix import Texts, texts_of
from udfs.assignors.java.iteration_order import (
    Hashes,
    Positions,
    copied_set_capacity,
    java_sorted,
    uuid_hashes,
)
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY, FULL_CHAIN_COMPUTED, SMALLEST_TREE_TABLE
from udfs.assignors.questions.problems import Codes, Numbers, Problem, Rows
from udfs.assignors.questions.server_problems import ServerProblem

# What the bits of a sort key have room for.
MOST_OF_A_KIND = 1 << 20


@dataclass(frozen=True)
class GroupSizes:
    """How many elements of a flat array each group has."""

    sizes: Numbers

    @cached_property
    def starts(self) -> Numbers:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def group(self) -> Numbers:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def within(self) -> Numbers:
        return np.arange(len(self.group)) - self.starts[self.group]


@dataclass(frozen=True)
class Listed:
    """Topics to assign, group by group, in some order."""

    topics: Positions
    of_group: GroupSizes
    counts: Numbers  # of each of the topics

    @cached_property
    def partitions(self) -> GroupSizes:
        """The partitions of each group."""
        totals = np.bincount(self.of_group.group, weights=self.counts, minlength=len(self.of_group.sizes))
        return GroupSizes(totals.astype(np.int64))

    @cached_property
    def topic_of_partition(self) -> Numbers:
        return np.repeat(np.arange(len(self.topics)), self.counts)

    @cached_property
    def starts(self) -> Numbers:
        return np.cumsum(self.counts) - self.counts

    @cached_property
    def index(self) -> Numbers:
        """Of each partition within its topic."""
        return np.arange(len(self.topic_of_partition)) - self.starts[self.topic_of_partition]


@dataclass(frozen=True)
class Flat:
    members: list[str]
    of_members: GroupSizes
    topics: list[str]
    of_topics: GroupSizes
    counts: Numbers
    subscribed: Positions  # topics as they are listed
    of_subscribed: GroupSizes
    # Members and topics are global.
    owned: Rows

    @cached_property
    def member_texts(self) -> Texts:
        return texts_of(self.members)

    @cached_property
    def topic_texts(self) -> Texts:
        return texts_of(self.topics)

    @cached_property
    def is_taken(self) -> NDArray[np.bool_]:
        """Topics that are subscribed to and known."""
        taken = np.zeros(len(self.topics), np.bool_)
        taken[self.subscribed] = True
        return taken & (self.counts > 0)

    @cached_property
    def is_answerable(self) -> NDArray[np.bool_]:
        """By group: no text that needs a look by itself, no topic listed twice, no crowded hash table."""
        groups = len(self.of_members.sizes)
        odd = np.zeros(groups, np.bool_)
        odd[self.of_members.group[self.member_texts.are_odd]] = True
        odd[self.of_topics.group[self.topic_texts.are_odd]] = True
        twice = np.bincount(self.subscribed, minlength=len(self.topics)) > 1
        odd[self.of_topics.group[twice]] = True
        odd |= self.num_taken == 0
        odd |= crowded(self.member_texts.hashes, self.of_members, self.of_members.sizes)
        odd |= crowded(self.topic_texts.hashes, self.of_topics, self.num_taken)
        return ~odd

    @cached_property
    def num_taken(self) -> Numbers:
        return np.bincount(self.of_topics.group[self.is_taken], minlength=len(self.of_topics.sizes))

    @cached_property
    def walked(self) -> Positions:
        """The members as Kafka walks its map of them."""
        return put_orders(self.member_texts.hashes, self.of_members)

    @cached_property
    def places(self) -> Positions:
        """Of each member in that walk; the places of a group follow those of the group before."""
        places = np.empty(len(self.walked), np.intp)
        places[self.walked] = np.arange(len(self.walked))
        return places

    @cached_property
    def by_id(self) -> Positions:
        return sorted_in_groups(self.members, self.member_texts, self.of_members)

    def listed(self, topics: Positions) -> Listed:
        sizes = np.bincount(self.of_topics.group[topics], minlength=len(self.of_topics.sizes))
        return Listed(topics, GroupSizes(sizes), self.counts[topics])

    def local_members(self, members: Positions) -> Codes:
        return np.asarray(self.of_members.within[members], dtype=np.int32)

    def local_topics(self, topics: NDArray[np.integer]) -> Codes:
        return np.asarray(self.of_topics.within[topics], dtype=np.int32)


@dataclass(frozen=True)
class Groups(Flat):
    """Of leaders."""

    generations: Numbers
    user_data: list[bytes | None]

    @cached_property
    def topics_by_name(self) -> Listed:
        order = sorted_in_groups(self.topics, self.topic_texts, self.of_topics)
        return self.listed(order[self.is_taken[order]])

    @cached_property
    def topics_walked(self) -> Listed:
        order = self.subscribed[put_orders(self.topic_texts.hashes[self.subscribed], self.of_subscribed)]
        known = self.is_taken[order]
        if known.all():
            return self.listed(order)
        found = self.listed(order[known])
        # Kafka's map of what is known is filled from the set of all.
        return self.listed(found.topics[put_orders(self.topic_texts.hashes[found.topics], found.of_group)])


@dataclass(frozen=True)
class ServerGroups(Flat):
    """Of coordinators on one line of Java; what is owned are the targets of the epoch before."""

    ids: NDArray[np.int64]
    jdk: int

    @cached_property
    def id_hashes(self) -> Hashes:
        return uuid_hashes(self.ids[:, 0], self.ids[:, 1])

    @cached_property
    def copies(self) -> Numbers:
        """For each group the table of a set that is copied from that of the subscribed names."""
        largest = int(self.of_subscribed.sizes.max(initial=0))
        table = np.array([copied_set_capacity(size, self.jdk) for size in range(largest + 1)])
        return np.asarray(table[self.of_subscribed.sizes], dtype=np.int64)

    @cached_property
    def subscribed_ids(self) -> Listed:
        """What is known of the names, as a walk over the set of names meets them."""
        hashes = self.topic_texts.hashes[self.subscribed]
        order = self.subscribed[put_orders(hashes, self.of_subscribed, self.copies)]
        return self.listed(order[self.is_taken[order]])

    @cached_property
    def are_ids_crowded(self) -> NDArray[np.bool_]:
        return crowded(self.id_hashes, self.of_topics, self.num_taken)


def flat(problems: Sequence[Problem]) -> Groups:
    members, of_members, topics, of_topics, subscribed, of_subscribed = shapes(problems)
    owned = joined([problem.owned for problem in problems], of_members, of_topics)
    return Groups(
        members,
        of_members,
        topics,
        of_topics,
        np.concatenate([problem.counts for problem in problems]),
        subscribed,
        of_subscribed,
        owned,
        np.concatenate([problem.generations for problem in problems]),
        list(chain.from_iterable(problem.user_data for problem in problems)),
    )


def flat_server(problems: Sequence[ServerProblem]) -> ServerGroups:
    members, of_members, topics, of_topics, subscribed, of_subscribed = shapes(problems)
    return ServerGroups(
        members,
        of_members,
        topics,
        of_topics,
        np.concatenate([problem.counts for problem in problems]),
        subscribed,
        of_subscribed,
        joined([problem.targets for problem in problems], of_members, of_topics),
        np.concatenate([problem.ids for problem in problems]),
        problems[0].jdk,
    )


def shapes(
    problems: Sequence[Problem] | Sequence[ServerProblem],
) -> tuple[list[str], GroupSizes, list[str], GroupSizes, Positions, GroupSizes]:
    of_members = GroupSizes(np.array([len(problem.members) for problem in problems]))
    of_topics = GroupSizes(np.array([len(problem.topics) for problem in problems]))
    listed = [problem.topics_of_class[0] for problem in problems]
    of_subscribed = GroupSizes(np.array([len(each) for each in listed]))
    return (
        list(chain.from_iterable(problem.members for problem in problems)),
        of_members,
        list(chain.from_iterable(problem.topics for problem in problems)),
        of_topics,
        (np.concatenate(listed) + of_topics.starts[of_subscribed.group]).astype(np.intp),
        of_subscribed,
    )


def joined(rows: Sequence[Rows], of_members: GroupSizes, of_topics: GroupSizes) -> Rows:
    sizes = np.array([len(each) for each in rows])
    return Rows(
        np.concatenate([each.members for each in rows]) + np.repeat(of_members.starts, sizes).astype(np.int32),
        np.concatenate([each.topics for each in rows]) + np.repeat(of_topics.starts, sizes).astype(np.int32),
        np.concatenate([each.partitions for each in rows]),
    )


def are_claims_odd(groups: Flat, claims: Rows) -> NDArray[np.bool_]:
    """Groups in which two claim one partition, or one claims what is not there, or there is too much of a kind."""
    starts = np.cumsum(groups.counts) - groups.counts
    is_taken = groups.is_taken[claims.topics]
    is_real = (claims.partitions >= 0) & (claims.partitions < groups.counts[claims.topics])
    times = np.bincount((starts[claims.topics] + claims.partitions)[is_real])
    again = np.flatnonzero(times > 1)
    odd = np.zeros(len(groups.of_members.sizes), np.bool_)
    odd[groups.of_members.group[claims.members[is_taken & ~is_real]]] = True
    odd[groups.of_topics.group[np.searchsorted(starts, again, side="right") - 1]] = True
    odd[groups.of_topics.group[groups.counts >= MOST_OF_A_KIND]] = True
    return odd | (groups.of_topics.sizes >= MOST_OF_A_KIND)


def counted(chosen: NDArray[np.bool_], of_group: GroupSizes) -> Numbers:
    """For each element how many of its group are chosen up to it."""
    so_far = np.cumsum(chosen)
    before: Numbers = so_far[of_group.starts] - chosen[of_group.starts]
    return np.asarray(so_far - before[of_group.group], dtype=np.int64)


def order_of(groups: Numbers, keys: NDArray[np.integer]) -> Positions:
    """By group, then by key, then as it stands: one sort of packed numbers, far faster than a stable one."""
    count = len(keys)
    if not count:
        return np.empty(0, np.intp)
    key_bits = int(keys.max()).bit_length()
    group_bits = int(groups.max()).bit_length()
    index_bits = count.bit_length()
    if key_bits + group_bits + index_bits > 63:
        return np.lexsort((keys, groups))
    packed = groups.astype(np.int64) << key_bits | keys.astype(np.int64)
    packed = packed << index_bits | np.arange(count)
    packed.sort()
    return packed & (1 << index_bits) - 1


def grown(capacity: Numbers | int, sizes: Numbers) -> Numbers:
    """Tables of hash maps that hold so many."""
    wanted = np.maximum(np.ceil(sizes / 0.75), capacity)
    return np.asarray(1 << np.ceil(np.log2(wanted)).astype(np.int64), dtype=np.int64)


def put_orders(hashes: Hashes, of_group: GroupSizes, capacity: Numbers | int = DEFAULT_CAPACITY) -> Positions:
    """How a map of each group walks distinct keys that were put as they stand."""
    tables = grown(capacity, of_group.sizes)
    buckets = (hashes ^ (hashes >> np.uint32(16))) & (tables - 1).astype(np.uint32)[of_group.group]
    return order_of(of_group.group, buckets)


def crowded(hashes: Hashes, of_group: GroupSizes, fewest: Numbers) -> NDArray[np.bool_]:
    """Groups in whose map a chain may have been so long that it doubled a small table early, or became a tree.

    `fewest`: how many of the keys the smallest of the maps holds that the answer depends on.
    """
    spread = hashes ^ (hashes >> np.uint32(16))
    # A chain in a larger table stood in one bucket of these before.
    smallest = np.where(grown(DEFAULT_CAPACITY, fewest) <= SMALLEST_TREE_TABLE, DEFAULT_CAPACITY, SMALLEST_TREE_TABLE)
    buckets = spread & (smallest - 1).astype(np.uint32)[of_group.group]
    groups = len(of_group.sizes)
    chains = np.bincount(of_group.group * SMALLEST_TREE_TABLE + buckets, minlength=groups * SMALLEST_TREE_TABLE)
    return np.asarray(chains.reshape(groups, -1).max(axis=1) > FULL_CHAIN_COMPUTED, dtype=np.bool_)


def sorted_in_groups(names: Sequence[str], texts: Texts, of_group: GroupSizes) -> Positions:
    """The texts of each group in Java's order: by eight characters from where a group's texts begin to differ."""
    if not len(names):
        return np.empty(0, np.intp)
    first = texts.units[of_group.starts[of_group.group]]
    is_other = texts.units != first
    differs = np.where(is_other.any(axis=1), is_other.argmax(axis=1), texts.units.shape[1])
    filled = of_group.sizes > 0
    prefix = np.zeros(len(of_group.sizes), np.intp)
    prefix[filled] = np.minimum.reduceat(differs, of_group.starts[filled])
    keys = texts.eight_from(prefix[of_group.group])
    by_key = np.argsort(keys)
    place = np.empty(len(keys), np.intp)
    place[by_key] = np.arange(len(keys))
    order = order_of(of_group.group, place)
    groups, ordered = of_group.group[order], keys[order]
    for group in np.unique(groups[1:][(groups[1:] == groups[:-1]) & (ordered[1:] == ordered[:-1])]).tolist():
        start = int(of_group.starts[group])
        end = start + int(of_group.sizes[group])
        order[start:end] = start + java_sorted(names[start:end])
    return order
