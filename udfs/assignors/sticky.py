"""Kafka's sticky and cooperative-sticky assignors (StickyAssignor.java, CooperativeStickyAssignor.java)."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hashes import ranks
from udfs.assignors.questions.partition_numbers import NOBODY
from udfs.assignors.questions.problems import Assignment, Problem, Rows
from udfs.assignors.sticky_before_3 import cooperative_before_3, sticky_before_3
from udfs.assignors.sticky_claims import believed, cooperative_claims, sticky_claims
from udfs.assignors.sticky_equal import ConstrainedAssignmentBuilder
from udfs.assignors.sticky_unequal import general

REWRITTEN_SINCE = (3, 0, 0)


def sticky(problem: Problem) -> Assignment:
    if problem.release < REWRITTEN_SINCE:
        return sticky_before_3(problem)
    claims = sticky_claims(problem)
    owned = believed(problem, claims)
    if are_subscriptions_equal(problem):
        return ConstrainedAssignmentBuilder(problem, owned, waits=False).build()
    return general(problem, claims, owned)


def cooperative_sticky(problem: Problem) -> Assignment:
    """It leaves out what another member must revoke first: the next rebalance gives it."""
    waits = None
    if problem.release < REWRITTEN_SINCE:
        rows, waits = cooperative_before_3(problem)
    else:
        claims = cooperative_claims(problem)
        owned = believed(problem, claims)
        if are_subscriptions_equal(problem):
            return ConstrainedAssignmentBuilder(problem, owned, waits=True).build()
        rows = general(problem, claims, owned)
    if waits is None:
        waits = still_owned(problem, rows)
    return rows.take(~waits) if waits.any() else rows


def are_subscriptions_equal(problem: Problem) -> bool:
    """Against the first member that subscribes to something; members before it do not count, as in Kafka."""
    if len(problem.topics_of_class) == 1:
        # Kafka counts a topic that is listed twice.
        (listed,) = problem.topics_of_class
        return len(problem.members) < 2 or len(set(listed.tolist())) == len(listed)
    classes = problem.class_of_member[problem.walked]
    sizes = np.array([len(topics) for topics in problem.topics_of_class])
    (some,) = np.nonzero(sizes[classes])
    if not len(some):
        return True
    first = frozenset(problem.topics_of_class[classes[some[0]]].tolist())
    return all(
        sizes[k] == len(first) and first.issuperset(problem.topics_of_class[k].tolist())
        for k in np.unique(classes[some[0] + 1 :]).tolist()
    )


def still_owned(problem: Problem, rows: Rows) -> NDArray[np.bool_]:
    """Which rows give a member what it does not own while another, which does, loses it."""
    owned = problem.owned.take(problem.known[problem.owned.topics])
    if ((owned.partitions < 0) | (owned.partitions >= problem.counts[owned.topics])).any():
        return still_owned_of_any(problem, owned, rows)
    starts = np.cumsum(problem.counts) - problem.counts
    owners = np.full(int(problem.counts.sum()), NOBODY, np.int32)
    owners[starts[owned.topics] + owned.partitions] = owned.members
    if np.count_nonzero(owners != NOBODY) < len(owned):
        return still_owned_of_any(problem, owned, rows)
    before = owners[starts[rows.topics] + rows.partitions]
    return np.asarray((before != NOBODY) & (before != rows.members), dtype=np.bool_)


def still_owned_of_any(problem: Problem, owned: Rows, rows: Rows) -> NDArray[np.bool_]:
    """The same where several own a partition, or several were given it."""
    had = set(zip(*(column.tolist() for column in (owned.members, owned.topics, owned.partitions)), strict=True))
    assigned = list(zip(*(column.tolist() for column in (rows.members, rows.topics, rows.partitions)), strict=True))
    revoked = {(topic, partition) for _, topic, partition in had - set(assigned)}
    place = ranks(problem.walked)
    waiting: dict[tuple[int, int], int] = {}
    for row in sorted(range(len(assigned)), key=lambda row: place[assigned[row][0]]):
        if assigned[row] not in had and assigned[row][1:] in revoked:
            waiting[assigned[row][1:]] = row
    waits = np.zeros(len(assigned), np.bool_)
    waits[list(waiting.values())] = True
    return waits
