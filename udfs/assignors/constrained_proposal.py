"""`constrained-cooperative-sticky`: the assignor described by the constrained sticky assignor proposal (KIP-615).

It was never released. The sticky assignors' algorithm for equal subscriptions has the same idea, but differs. Members
keep what they own up to the ceiling of an equal share. Members below the floor are filled up to it, finally with
partitions from members at the ceiling. The rest goes to members at the floor, one each.
"""

from dataclasses import dataclass

import numpy as np

from udfs.assignors.java.hashes import Positions
from udfs.assignors.questions.partition_numbers import NumberedTopics, number_partitions
from udfs.assignors.questions.problems import Assignment, Numbers, Problem, Rows
from udfs.assignors.questions.spec_values import SpecError
from udfs.assignors.sticky import still_owned
from udfs.assignors.sticky_claims import cooperative_claims


@dataclass(frozen=True)
class Dealt:
    """Partitions in the order in which members get them; members are numbered by id."""

    members: Positions
    partitions: Positions


def constrained_proposal(problem: Problem) -> Assignment:
    refuse_unequal(problem)
    by_name = np.argsort(problem.topic_ranks)
    topics = number_partitions(problem, by_name[problem.known[by_name]])
    floor, ceiling = topics.total // len(problem.members), -(-topics.total // len(problem.members))
    kept = first_of_each(owned_partitions(problem, topics), ceiling)
    held = np.bincount(kept.members, minlength=len(problem.members))
    free = by_partition(topics, kept.partitions)
    wanting = np.repeat(np.arange(len(held)), np.maximum(floor - held, 0))
    filled, left = free[: len(wanting)], free[len(wanting) :]
    stolen = steal(kept, np.flatnonzero((held == ceiling) & (ceiling > floor)), len(wanting) - len(filled))
    at_floor = np.flatnonzero(held <= floor)[: len(left)]
    is_stolen = np.isin(kept.partitions, stolen)
    members = np.concatenate([kept.members[~is_stolen], wanting, at_floor])
    partitions = np.concatenate([kept.partitions[~is_stolen], filled, stolen, left])
    rows = topics.rows(np.argsort(problem.member_ranks)[members], partitions)
    # Whoever lost a partition gives it up first.
    return rows.take(~still_owned(problem, rows))


def refuse_unequal(problem: Problem) -> None:
    subscriptions = [frozenset(topics.tolist()) for topics in problem.topics_of_class]
    for member, number in enumerate(problem.class_of_member.tolist()):
        if subscriptions[number] != subscriptions[problem.class_of_member[0]]:
            raise SpecError(
                f"members[{member}].subscribed_topics: other topics than those of members[0]; "
                "the proposal is for members that all subscribe to the same topics"
            )


def owned_partitions(problem: Problem, topics: NumberedTopics) -> Dealt:
    """What members of the newest generation own, of partitions that there are. The proposal leaves open whose a
    partition is that two of them own: here the first by id."""
    claims = cooperative_claims(problem)
    newest = max(claims.generations)
    own = zip(claims.lists, claims.generations, strict=True)
    rows = Rows.of_lists([owned if generation == newest else [] for owned, generation in own])
    rows = rows.take(problem.known[rows.topics])
    rows = rows.take(rows.partitions < problem.counts[rows.topics])
    members = problem.member_ranks[rows.members]
    order = np.argsort(members, kind="stable")
    partitions = (topics.starts[topics.places[rows.topics]] + rows.partitions)[order]
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
