"""Sticky and cooperative-sticky for many plain groups: `constrained_assign` with the group as an additional sort
key."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.bulk.flat_groups import Groups, GroupSizes, Listed, are_claims_odd, counted, order_of
from udfs.assignors.bulk.range_and_roundrobin import Answered
from udfs.assignors.questions.partition_numbers import NOBODY
from udfs.assignors.questions.problems import Numbers, Rows
from udfs.assignors.sticky_steps.user_data import read_together


@dataclass(frozen=True)
class Quotas:
    """By group: `extra` members get `most` partitions, the others `least`."""

    least: Numbers
    extra: Numbers

    @property
    def most(self) -> Numbers:
        return self.least + (self.extra > 0)


@dataclass(frozen=True)
class Kept:
    """What members keep, as numbers of partitions; members by their places in the walk."""

    members: Numbers
    numbers: Numbers
    held: Numbers
    revoked_from: Numbers
    is_exact: NDArray[np.bool_]


@dataclass(frozen=True)
class Given:
    members: Numbers
    numbers: Numbers


def stickies(groups: Groups) -> Answered:
    claims = said(groups)
    if claims is None:
        # Nothing is answered together.
        nothing = np.empty(0, np.int32)
        count = len(groups.of_members.sizes)
        return Rows(nothing, nothing, nothing), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    return assigned(groups, claims, waits_for_others=False)


def cooperative_stickies(groups: Groups) -> Answered:
    return assigned(groups, groups.owned, waits_for_others=True)


def said(groups: Groups) -> Rows | None:
    """What the members' user data says that they had."""
    # Groups with other names are not answered together.
    names = list(filter(str.isascii, dict.fromkeys(groups.topics)))
    lists = read_together(groups.user_data, names)
    if lists is None:
        return None
    number = {name: at for at, name in enumerate(names)}
    of_topic = np.array([number.get(name, len(names)) for name in groups.topics], np.int64)
    # The topic of that name in the member's own group.
    key = groups.of_topics.group * (len(names) + 1) + of_topic
    order = np.argsort(key)
    wanted = groups.of_members.group[lists.members] * (len(names) + 1) + lists.topics
    at = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(order) - 1)]
    topics = np.where(key[at] == wanted, at, NOBODY)
    rows = Rows(
        np.repeat(lists.members, lists.sizes).astype(np.int32),
        np.repeat(topics, lists.sizes).astype(np.int32),
        lists.partitions,
    )
    return rows.take(rows.topics != NOBODY)


def assigned(groups: Groups, claims: Rows, waits_for_others: bool) -> Answered:
    listed = groups.topics_by_name
    is_answerable = groups.is_answerable & ~are_claims_odd(groups, claims)
    claims = claims.take(groups.is_taken[claims.topics] & is_answerable[groups.of_members.group[claims.members]])
    quotas = Quotas(*np.divmod(listed.partitions.sizes, groups.of_members.sizes))
    kept = keep(groups, listed, claims, quotas)
    given, fits = give(groups, listed, kept, quotas)
    if waits_for_others:
        before = kept.revoked_from[given.numbers]
        now = (before == NOBODY) | (before == given.members)
        given = Given(given.members[now], given.numbers[now])
    return rows_of(groups, listed, kept, given), ends_of(groups, kept, given), is_answerable & fits


def keep(groups: Groups, listed: Listed, claims: Rows, quotas: Quotas) -> Kept:
    """As long as extras are left, the first members of the walk that own enough keep the largest quota."""
    members = groups.of_members
    place = np.full(len(groups.topics), NOBODY, np.int64)
    place[listed.topics] = np.arange(len(listed.topics))
    walk, topics = groups.places[claims.members], place[claims.topics]
    walk, topic, partitions = sorted_claims(walk, listed.of_group.within[topics], claims.partitions)
    numbers = listed.starts[listed.of_group.starts[members.group[walk]] + topic] + partitions
    owns = np.bincount(walk, minlength=len(groups.members))
    least, most, extra = (each[members.group] for each in (quotas.least, quotas.most, quotas.extra))
    is_full = (owns >= most) & (extra > 0)
    is_full &= counted(is_full, members) <= extra
    held = np.where(owns < least, owns, np.where(is_full, most, least))
    stays = np.arange(len(walk)) - (np.cumsum(owns) - owns)[walk] < held[walk]
    revoked_from = np.full(len(listed.topic_of_partition), NOBODY, np.int64)
    revoked_from[numbers[~stays]] = walk[~stays]
    num_full = np.bincount(members.group[is_full], minlength=len(members.sizes))
    is_exact = (owns >= least) & ~is_full & (num_full < quotas.extra)[members.group]
    return Kept(walk[stays], numbers[stays], held, revoked_from, is_exact)


def sorted_claims(walk: Numbers, topics: Numbers, partitions: NDArray[np.int32]) -> tuple[Numbers, Numbers, Numbers]:
    """A member's partitions by number, then by topic."""
    if not len(walk):
        return walk, topics, partitions.astype(np.int64)
    topic_bits, partition_bits = int(topics.max()).bit_length(), int(partitions.max()).bit_length()
    packed = (walk << partition_bits | partitions) << topic_bits | topics
    packed.sort()
    rest = packed >> topic_bits
    return rest >> partition_bits, packed & (1 << topic_bits) - 1, rest & (1 << partition_bits) - 1


def give(groups: Groups, listed: Listed, kept: Kept, quotas: Quotas) -> tuple[Given, NDArray[np.bool_]]:
    """In turn those that miss some, then one more each; and the groups in which that comes out even."""
    members = groups.of_members
    is_free = np.ones(len(listed.topic_of_partition), np.bool_)
    is_free[kept.numbers] = False
    numbers = np.flatnonzero(is_free)
    free = np.bincount(listed.partitions.group[numbers], minlength=len(members.sizes))
    by_id = groups.places[groups.by_id]
    missing = np.maximum(quotas.least[members.group] - kept.held, 0)[by_id]
    in_turn = np.repeat(np.arange(len(by_id)), missing)
    lap = np.arange(len(in_turn)) - (np.cumsum(missing) - missing)[in_turn]
    exact = np.flatnonzero(kept.is_exact[by_id])
    under = np.flatnonzero(missing > 0)
    # First the laps, then those that have the least quota, then those that were below it, the fewest missed first.
    largest = int(missing.max(initial=0))
    turn = np.concatenate([lap, np.full(len(exact), largest), largest + missing[under]])
    seats = np.concatenate([in_turn, exact, under])
    group = members.group[seats]
    order = order_of(group, turn)
    waiting = np.bincount(group, minlength=len(members.sizes))
    certain = np.bincount(members.group[in_turn], minlength=len(members.sizes))
    fits = (certain <= free) & (free <= waiting)
    of_seats = GroupSizes(waiting)
    receivers = by_id[seats[order[of_seats.within < free[of_seats.group]]]]
    # Where seats are short nothing is said of the group.
    is_answered = fits[listed.partitions.group[numbers]]
    numbers = numbers[is_answered]
    return Given(receivers[fits[members.group[receivers]]], numbers), fits


def rows_of(groups: Groups, listed: Listed, kept: Kept, given: Given) -> Rows:
    """Group by group, first what is kept."""
    members = np.concatenate([kept.members, given.members])
    numbers = np.concatenate([kept.numbers, given.numbers])
    if len(kept.members):
        order = order_of(groups.of_members.group[members], np.zeros(1, np.int64).repeat(len(members)))
        members, numbers = members[order], numbers[order]
    topics = groups.local_topics(listed.topics)[listed.topic_of_partition[numbers]]
    return Rows(groups.local_members(groups.walked[members]), topics, listed.index[numbers].astype(np.int32))


def ends_of(groups: Groups, kept: Kept, given: Given) -> Numbers:
    group = groups.of_members.group
    sizes = [np.bincount(group[each], minlength=len(groups.of_members.sizes)) for each in (kept.members, given.members)]
    return np.cumsum(sizes[0] + sizes[1])
