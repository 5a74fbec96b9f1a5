"""What members of the sticky assignors claim to own, and who wins if claims conflict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.flat_groups.client_groups import ClientGroups
from udfs.assignors.questions.partition_numbers import NOBODY
from udfs.assignors.questions.problems import ABSENT, Numbers, Problem, Rows, owned_rows
from udfs.assignors.sticky_steps.member_data import last_generation, previous_assignment
from udfs.assignors.sticky_steps.ownership.kernels import believed_rows
from udfs.assignors.sticky_steps.release_rules import rules_of
from udfs.assignors.sticky_steps.user_data import read_together


@dataclass(frozen=True)
class Claims:
    """Partitions claimed by members of one or more groups, one group after another; members and topics are numbered
    within their group. `sizes`: how many rows each group has.

    `generations` are those of the members, ABSENT where a member says none; `stated` those that the subscriptions
    themselves say.
    """

    rows: Rows
    sizes: Numbers
    generations: Numbers
    stated: Numbers


@dataclass(frozen=True)
class Ownership:
    """Who is believed to own what. Rows are in the order in which Kafka walks the members; those of a
    member are in the order of its list.

    `are_strange`: partitions beyond their topics' counts.
    """

    rows: Rows
    are_strange: NDArray[np.bool_]
    highest_generation: int


ClaimsOf = Callable[[Sequence[Problem]], Claims]


def sticky_claims(problems: Sequence[Problem]) -> Claims:
    """The eager assignor's members have given up what they owned: their user data says what it was."""
    groups = ClientGroups(problems)
    data = list(chain.from_iterable(problem.user_data for problem in problems))
    sizes = [[len(problem.members) for problem in problems], [len(problem.topics) for problem in problems]]
    rows, num_rows, generations = read_together(data, groups.topics, *sizes) or read_one_by_one(problems)
    return Claims(rows, num_rows, generations, stated_generations(groups))


def read_one_by_one(problems: Sequence[Problem]) -> tuple[Rows, Numbers, Numbers]:
    of_problems, generations = [], []
    for problem in problems:
        said = [previous_assignment(data) for data in problem.user_data]
        rows = owned_rows([lists for lists, _ in said], dict(problem.topic_positions))
        of_problems.append(rows.take(rows.topics < len(problem.topics)))
        generations += [ABSENT if generation is None else generation for _, generation in said]
    columns = (
        np.concatenate([getattr(rows, name) for rows in of_problems]) for name in ("members", "topics", "partitions")
    )
    return Rows(*columns), np.array(list(map(len, of_problems)), np.int64), np.array(generations, np.int64)


def cooperative_claims(problems: Sequence[Problem]) -> Claims:
    groups = ClientGroups(problems)
    stated = stated_generations(groups)
    generations, absent = stated, np.flatnonzero(stated == ABSENT)
    if len(absent):
        data = list(chain.from_iterable(problem.user_data for problem in problems))
        generations = stated.copy()
        generations[absent] = [last_generation(data[member]) for member in absent.tolist()]
    sizes = np.array([len(problem.owned) for problem in problems], np.int64)
    return Claims(Rows(*groups.rows(lambda problem: problem.owned)), sizes, generations, stated)


def stated_generations(groups: ClientGroups) -> Numbers:
    """Those of the subscriptions themselves."""
    return groups.column(
        lambda problem: (
            problem.generations
            if rules_of(problem.release).reads_generations
            else np.full(len(problem.members), ABSENT, np.int64)
        )
    )


def ownership(problem: Problem, claims: Claims) -> Ownership:
    """Of one group."""
    rules = rules_of(problem.release)
    known = np.where(problem.known, problem.counts, 0)
    highest = max(problem.leader_memory, int(claims.generations.max(initial=ABSENT)))
    # Where only one generation counts, all claims are equal.
    others = claims.generations if rules.drops_old_generations else claims.stated
    members, topics, partitions = believed_rows(
        problem.walked,
        claims.rows.members,
        claims.rows.topics,
        claims.rows.partitions,
        np.where(problem.known, np.cumsum(known) - known, NOBODY),
        known,
        claims.generations,
        others,
        highest,
        rules.drops_old_generations,
        rules.remembers_losers,
    )
    strange = (partitions < 0) | (partitions >= problem.counts[topics])
    return Ownership(Rows(members, topics, partitions), strange, highest)
