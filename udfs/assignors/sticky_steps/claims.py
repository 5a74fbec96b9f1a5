"""What members of the sticky assignors claim to own, and who wins if claims conflict."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import ranks
from udfs.assignors.questions.problems import ABSENT, Numbers, Problem, Rows, owned_rows
from udfs.assignors.sticky_steps.member_data import last_generation, previous_assignment
from udfs.assignors.sticky_steps.release_rules import rules_of
from udfs.assignors.sticky_steps.user_data import read_together

TopicPartition = tuple[int, int]


@dataclass(frozen=True)
class Claims:
    """Partitions claimed by members, with their generations; ABSENT where a member says none."""

    rows: Rows
    generations: Numbers


@dataclass(frozen=True)
class Ownership:
    """Who is believed to own what. Rows stand as Kafka walks the members, each member's in the order of its list.

    `contested` were claimed by two of one generation. `are_strange`: partitions beyond their topics' counts.
    """

    rows: Rows
    contested: frozenset[TopicPartition]
    are_strange: NDArray[np.bool_]
    highest_generation: int


ClaimsOf = Callable[[Problem], Claims]


def sticky_claims(problem: Problem) -> Claims:
    """The eager assignor's members have given up what they owned: their user data says what it was."""
    lists = read_together(problem.user_data, problem.topics)
    if lists is not None:
        members, topics = (np.repeat(each, lists.sizes).astype(np.int32) for each in (lists.members, lists.topics))
        return Claims(Rows(members, topics, lists.partitions), lists.generations)
    said = [previous_assignment(data) for data in problem.user_data]
    names = dict(problem.topic_positions)
    rows = owned_rows([lists for lists, _ in said], names)
    generations = [ABSENT if generation is None else generation for _, generation in said]
    return Claims(rows.take(rows.topics < len(problem.topics)), np.array(generations, np.int64))


def cooperative_claims(problem: Problem) -> Claims:
    stated = stated_generations(problem)
    if (stated != ABSENT).all():
        return Claims(problem.owned, stated)
    said = np.array([last_generation(data) for data in problem.user_data], np.int64)
    return Claims(problem.owned, np.where(stated != ABSENT, stated, said))


def stated_generations(problem: Problem) -> Numbers:
    """Those of the subscriptions themselves."""
    is_read = rules_of(problem.release).reads_generations
    return problem.generations if is_read else np.full(len(problem.members), ABSENT, np.int64)


def ownership(problem: Problem, claims: Claims) -> Ownership:
    highest = max(problem.leader_memory, int(claims.generations.max(initial=ABSENT)))
    is_believed = problem.known[claims.rows.topics]
    if rules_of(problem.release).drops_old_generations:
        is_believed &= (claims.generations == highest)[claims.rows.members]
    rows = claims.rows.take(is_believed)
    walk = ranks(problem.walked)[rows.members]
    if (walk[1:] < walk[:-1]).any():
        rows = rows.take(np.argsort(walk, kind="stable"))
    strange = (rows.partitions < 0) | (rows.partitions >= problem.counts[rows.topics])
    contested: set[TopicPartition] = set()
    repeated = claimed_again(problem, rows, strange)
    if repeated.any():
        lost = settle(problem, claims, rows, repeated, contested)
        rows, strange = rows.take(~lost), strange[~lost]
    return Ownership(rows, frozenset(contested), strange, highest)


def claimed_again(problem: Problem, rows: Rows, strange: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The rows of partitions that have more than one."""
    if strange.any():
        keys = rows.topics.astype(np.int64) << 32 | (rows.partitions.astype(np.int64) & 0xFFFFFFFF)
        _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(times[which] > 1, dtype=np.bool_)
    places = (np.cumsum(problem.counts) - problem.counts)[rows.topics] + rows.partitions
    if len(rows) <= 1:
        return np.zeros(len(rows), np.bool_)
    seen = np.bincount(places)
    return np.asarray(seen[places] > 1, dtype=np.bool_) if seen.max() > 1 else np.zeros(len(rows), np.bool_)


def settle(
    problem: Problem, claims: Claims, rows: Rows, repeated: NDArray[np.bool_], contested: set[TopicPartition]
) -> NDArray[np.bool_]:
    """Which rows lose. Each claim is held against the one before it, not against all.

    Kafka compares what a member's data says with what the *other's subscription* says, which for the eager assignor
    is nothing.
    """
    rules = rules_of(problem.release)
    # Where only one generation counts, all claims are equal.
    others = claims.generations if rules.drops_old_generations else stated_generations(problem)
    lost = repeated.copy()
    claimant: dict[TopicPartition, int] = {}
    believed: dict[TopicPartition, list[int]] = {}
    for row in np.flatnonzero(repeated).tolist():
        member, partition = int(rows.members[row]), (int(rows.topics[row]), int(rows.partitions[row]))
        other = claimant.get(partition)
        if other is None:
            claimant[partition], believed[partition] = member, [row]
            continue
        mine, theirs = claims.generations[member], others[other]
        if mine >= theirs or rules.remembers_losers:
            claimant[partition] = member
        if mine < theirs:
            continue
        believed[partition] = [each for each in believed[partition] if rows.members[each] != other]
        if mine > theirs:
            believed[partition].append(row)
        else:
            contested.add(partition)
    for kept in believed.values():
        lost[kept] = False
    return lost
