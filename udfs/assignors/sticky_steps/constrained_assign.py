"""The algorithm of the sticky assignors if all members subscribe to the same topics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Positions, ranks
from udfs.assignors.questions.partition_numbers import NOBODY, NumberedTopics, numbered, unassigned
from udfs.assignors.questions.problems import AssignorFailed, Numbers, Problem, Rows, joined, within
from udfs.assignors.sticky_steps.claims import Ownership
from udfs.assignors.sticky_steps.racks import Racks, deal_by_racks, racks_of
from udfs.assignors.sticky_steps.release_rules import rules_of

# What fits beside the other two in the 64 bits of a sort key.
MEMBER_BITS, PARTITION_BITS, TOPIC_BITS = 22, 20, 20


@dataclass(frozen=True)
class Quotas:
    """`extra` members get `most` partitions, the others `least`."""

    least: int
    extra: int

    @property
    def most(self) -> int:
        return self.least + (self.extra > 0)


@dataclass(frozen=True)
class Kept:
    """What members keep of what they owned. Members are numbered as Kafka walks them."""

    rows: Rows
    are_strange: NDArray[np.bool_]
    held: Numbers
    num_full: int
    revoked_from: Numbers
    under: Positions
    exact: Positions


def constrained(problem: Problem, owned: Ownership) -> tuple[Rows, NDArray[np.bool_]]:
    """The assignment, and which of its rows a cooperative member must wait for: their owner has to revoke first."""
    rules = rules_of(problem.release)
    by_name = np.argsort(problem.topic_ranks)
    topics = numbered(problem, by_name[problem.known[by_name]])
    racks = racks_of(problem, topics.order)
    quotas = Quotas(*divmod(topics.total, len(problem.members)))
    kept = keep(problem, owned, topics, quotas, racks)
    contested = numbers_of(topics, owned)
    numbers, _ = unassigned(topics, kept.rows, kept.are_strange)
    by_id = problem.member_ranks[problem.walked]
    under = kept.under[np.argsort(by_id[kept.under])]
    exact = kept.exact[np.argsort(by_id[kept.exact])]
    given, receivers = np.empty(0, np.intp), np.empty(0, np.intp)
    if racks is not None:
        numbers = numbers[np.argsort(racks.near[numbers], kind="stable")]
        if racks.are_used:
            dealt = deal_by_racks(
                racks, numbers, under, exact, kept.held, kept.num_full, quotas.least, quotas.extra, rules.tells_revokers
            )
            given, receivers, numbers, under, exact = dealt
    held = kept.held + np.bincount(receivers, minlength=len(kept.held))
    receivers = np.concatenate([receivers, deal(under, exact, quotas.least - held[under], len(numbers))])
    numbers = np.concatenate([given, numbers])
    revoked_from = kept.revoked_from[numbers]
    waits = revoked_from != NOBODY
    if rules.tells_revokers:
        waits &= revoked_from != receivers
    if len(contested):
        waits |= np.isin(numbers, contested)
    new = topics.rows(problem.walked[receivers], numbers)
    return joined(kept.rows, new), np.concatenate([np.zeros(len(kept.rows), np.bool_), waits])


def keep(problem: Problem, owned: Ownership, topics: NumberedTopics, quotas: Quotas, racks: Racks | None) -> Kept:
    """Walks the members: as long as extras are left, those that own enough keep the largest quota."""
    rules = rules_of(problem.release)
    num_members = len(problem.members)
    revoked_from = np.full(topics.total, NOBODY, np.int64)
    rows, strange = owned.rows, owned.are_strange
    walk = ranks(problem.walked)[rows.members]
    if racks is not None and racks.are_used and len(rows):
        far = racks.are_far(rows)
        real = far & ~strange & rules.tells_revokers
        revoked_from[topics.starts[topics.places[rows.topics[real]]] + rows.partitions[real]] = walk[real]
        rows, strange, walk = rows.take(~far), strange[~far], walk[~far]
    if owned.contested:
        free = np.array(
            [each not in owned.contested for each in zip(rows.topics.tolist(), rows.partitions.tolist(), strict=True)],
            np.bool_,
        )
        rows, strange, walk = rows.take(free), strange[free], walk[free]
    topic_places, partitions = topics.places[rows.topics], rows.partitions.astype(np.int64)
    if rules.sorts_owned:
        walk, topic_places, partitions, strange = sorted_by_partition(topics, walk, rows, strange)
    owns = np.bincount(walk, minlength=num_members)
    is_full = (owns >= quotas.most) & (quotas.extra > 0)
    is_full &= np.cumsum(is_full) <= quotas.extra
    num_full = int(is_full.sum())
    held = np.where(owns < quotas.least, owns, np.where(is_full, quotas.most, quotas.least))
    stays = np.arange(len(walk)) - (np.cumsum(owns) - owns)[walk] < held[walk]
    if not stays.all():
        gone = ~stays & ~strange
        revoked_from[topics.starts[topic_places[gone]] + partitions[gone]] = walk[gone]
        walk, topic_places, partitions, strange = walk[stays], topic_places[stays], partitions[stays], strange[stays]
    return Kept(
        rows=Rows(problem.walked[walk].astype(np.int32), topics.order[topic_places], partitions.astype(np.int32)),
        are_strange=strange,
        held=held,
        num_full=num_full,
        revoked_from=revoked_from,
        under=np.flatnonzero(owns < quotas.least),
        exact=np.flatnonzero((owns >= quotas.least) & ~is_full) if num_full < quotas.extra else np.empty(0, np.intp),
    )


def sorted_by_partition(
    topics: NumberedTopics, walk: Positions, rows: Rows, strange: NDArray[np.bool_]
) -> tuple[Positions, Positions, Numbers, NDArray[np.bool_]]:
    """Each member's partitions by number, then by topic."""
    places = topics.places[rows.topics]
    fits = walk.max(initial=0) < 1 << MEMBER_BITS and len(topics.order) < 1 << TOPIC_BITS
    if strange.any() or not fits or topics.counts.max(initial=0) >= 1 << PARTITION_BITS:
        order = np.lexsort((places, rows.partitions, walk))
        return walk[order], places[order], rows.partitions[order].astype(np.int64), strange[order]
    keys = (walk << (PARTITION_BITS + TOPIC_BITS)) | (rows.partitions.astype(np.int64) << TOPIC_BITS) | places
    keys.sort()
    partitions = (keys >> TOPIC_BITS) & ((1 << PARTITION_BITS) - 1)
    return keys >> (PARTITION_BITS + TOPIC_BITS), keys & ((1 << TOPIC_BITS) - 1), partitions, strange


def numbers_of(topics: NumberedTopics, owned: Ownership) -> Positions:
    return np.array([topics.starts[topics.places[topic]] + partition for topic, partition in owned.contested], np.intp)


def deal(under: Positions, exact: Positions, missing: Numbers, count: int) -> Positions:
    """Who receives each of `count` partitions: in turn those that miss some, then one more each."""
    in_turn = under[laps(missing)]
    if count < len(in_turn):
        raise AssignorFailed("members are left below the least quota")
    last = np.concatenate([exact, under[np.argsort(missing, kind="stable")]])
    if count > len(in_turn) + len(last):
        raise AssignorFailed("No more unfilled consumers to be assigned.")
    return np.concatenate([in_turn, last[: count - len(in_turn)]])


def laps(amounts: Numbers) -> Positions:
    """Indexes into `amounts`, dealt in laps: each lap all that still miss some."""
    if not len(amounts) or (amounts == amounts[0]).all():
        return np.tile(np.arange(len(amounts)), int(amounts[0]) if len(amounts) else 0)
    receivers = np.repeat(np.arange(len(amounts)), amounts)
    lap = within(amounts)
    return receivers[np.argsort(lap.astype(np.uint16) if lap.max() < 1 << 16 else lap, kind="stable")]
