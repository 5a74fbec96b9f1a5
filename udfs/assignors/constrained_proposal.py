"""`constrained-cooperative-sticky`: the assignor described by the constrained sticky assignor proposal (KIP-615).

It was never released. The sticky assignors' algorithm for equal subscriptions has the same idea, but differs. Members
keep what they own up to the ceiling of an equal share. Members below the floor are filled up to it, finally with
partitions from members at the ceiling. The rest goes to members at the floor, one each.
"""

from dataclasses import dataclass

import numpy as np

from udfs.assignors.groups import Assignment, Group, Numbers, Positions, Rows
from udfs.assignors.questions import SpecError
from udfs.assignors.sticky import still_owned
from udfs.assignors.sticky_claims import cooperative_claims
from udfs.assignors.sticky_unequal import NumberedTopics, number_partitions


@dataclass(frozen=True)
class Dealt:
    """Partitions in the order in which members get them; members are numbered by id."""

    members: Positions
    partitions: Positions


def constrained_proposal(group: Group) -> Assignment:
    refuse_unequal(group)
    topics = number_partitions(group, group.known_by_name)
    floor, ceiling = topics.total // len(group.members), -(-topics.total // len(group.members))
    kept = first_of_each(owned_partitions(group, topics), ceiling)
    held = np.bincount(kept.members, minlength=len(group.members))
    free = by_partition(topics, kept.partitions)
    wanting = np.repeat(np.arange(len(held)), np.maximum(floor - held, 0))
    filled, left = free[: len(wanting)], free[len(wanting) :]
    stolen = steal(kept, np.flatnonzero((held == ceiling) & (ceiling > floor)), len(wanting) - len(filled))
    at_floor = np.flatnonzero(held <= floor)[: len(left)]
    is_stolen = np.isin(kept.partitions, stolen)
    members = np.concatenate([kept.members[~is_stolen], wanting, at_floor])
    partitions = np.concatenate([kept.partitions[~is_stolen], filled, stolen, left])
    rows = topics.rows(np.argsort(group.member_ranks)[members], partitions)
    # Whoever lost a partition gives it up first.
    return rows.take(~still_owned(group, rows))


def refuse_unequal(group: Group) -> None:
    subscriptions = list(map(frozenset, group.subscriptions))
    for member, number in enumerate(group.classes):
        if subscriptions[number] != subscriptions[group.classes[0]]:
            raise SpecError(
                f"members[{member}].subscribed_topics: other topics than those of members[0]; "
                "the proposal is for members that all subscribe to the same topics"
            )


def owned_partitions(group: Group, topics: NumberedTopics) -> Dealt:
    """What members of the newest generation own, of partitions that there are. The proposal leaves open whose a
    partition is that two of them own: here the first by id."""
    claims = cooperative_claims(group)
    newest = max(claims.generations)
    own = zip(claims.lists, claims.generations, strict=True)
    rows = Rows.of_lists([owned if generation == newest else [] for owned, generation in own])
    rows = rows.take(group.known[rows.topics])
    rows = rows.take(rows.partitions < group.counts[rows.topics])
    members = np.array(group.member_ranks)[rows.members]
    order = np.argsort(members, kind="stable")
    partitions = topics.numbers(rows)[order]
    first = np.sort(np.unique(partitions, return_index=True)[1])
    return Dealt(members[order][first], partitions[first])


def first_of_each(dealt: Dealt, most: int) -> Dealt:
    sizes: Numbers = np.bincount(dealt.members)
    before = np.cumsum(sizes) - sizes
    stays = np.arange(len(dealt.members)) - before[dealt.members] < most
    return Dealt(dealt.members[stays], dealt.partitions[stays])


def by_partition(topics: NumberedTopics, kept: Positions) -> Positions:
    """What nobody keeps: partition 0 of each topic, then partition 1 of each, and so on."""
    is_free = np.ones(topics.total, np.bool_)
    is_free[kept] = False
    free = np.flatnonzero(is_free)
    topic = np.searchsorted(topics.starts, free, side="right") - 1
    return free[np.lexsort((topic, free - topics.starts[topic]))]


def steal(kept: Dealt, full: Positions, count: int) -> Positions:
    """The first partition of each of as many members at the ceiling."""
    return kept.partitions[np.searchsorted(kept.members, full[:count])]
