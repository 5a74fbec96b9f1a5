"""The algorithm of the sticky assignors if all members subscribe to the same topics."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from udfs.assignors.flat_groups.client_groups import ClientGroups
from udfs.assignors.flat_groups.groups import split_by_group
from udfs.assignors.java.iteration_order import string_hashes
from udfs.assignors.questions.problems import Answer, AssignorFailed, Codes, Numbers, Problem
from udfs.assignors.questions.racks import RackCodes
from udfs.assignors.sticky_steps.claims import Claims
from udfs.assignors.sticky_steps.constrained.dealing.kernels import LEFT_BELOW, NO_ROOM
from udfs.assignors.sticky_steps.constrained.kernels import RACKS_DECIDE, RACKS_ORDER, constrained_rows
from udfs.assignors.sticky_steps.racks import Racks, racks_of
from udfs.assignors.sticky_steps.release_rules import rules_of

FAILURES: Final = {
    LEFT_BELOW: "members are left below the least quota",
    NO_ROOM: "No more unfilled consumers to be assigned.",
}


def assign_constrained(problems: Sequence[Problem], claims: Claims, waits: bool) -> list[Answer]:
    """`waits`: without what another member must give up first."""
    groups = ClientGroups(problems)
    racks = [racks_by_name(problem) for problem in problems]
    members, topics, partitions, ends, failures = constrained_rows(
        sizes_and_rules(groups, claims, racks),
        groups.members_by_id,
        groups.topics_by_name,
        groups.lists[1],
        groups.counts,
        claims.rows.members,
        claims.rows.topics,
        claims.rows.partitions,
        claims.generations,
        others(problems, claims),
        string_hashes(groups.members),
        *coded(racks, [len(problem.members) for problem in problems]),
        waits,
    )
    return [
        AssignorFailed(FAILURES[failure]) if failure else answer
        for answer, failure in zip(
            split_by_group(members, topics, partitions, ends.tolist()), failures.tolist(), strict=True
        )
    ]


def sizes_and_rules(groups: ClientGroups, claims: Claims, racks: Sequence[Racks | None]) -> Numbers:
    """By group, in the columns of udfs/assignors/sticky_steps/constrained/kernels.py."""
    return groups.sizes(
        (
            num_claims,
            rules.drops_old_generations,
            rules.remembers_losers,
            rules.sorts_owned,
            rules.tells_revokers,
            0 if own_racks is None else RACKS_DECIDE if own_racks.are_used else RACKS_ORDER,
            problem.leader_memory,
        )
        for problem, rules, num_claims, own_racks in zip(
            groups.problems,
            (rules_of(problem.release) for problem in groups.problems),
            claims.sizes.tolist(),
            racks,
            strict=True,
        )
    )


def others(problems: Sequence[Problem], claims: Claims) -> Numbers:
    """The generations that later claims are held against. Where only one counts, all claims are equal."""
    drops_old = [rules_of(problem.release).drops_old_generations for problem in problems]
    if not any(drops_old):
        return claims.stated
    sizes = [len(problem.members) for problem in problems]
    return np.where(np.repeat(drops_old, sizes), claims.generations, claims.stated)


def racks_by_name(problem: Problem) -> Racks | None:
    if not any(problem.racks):
        return None
    by_name = np.argsort(problem.topic_ranks)
    return racks_of(problem, by_name[problem.known[by_name]].astype(np.int32))


def coded(racks: Sequence[Racks | None], num_members: Sequence[int]) -> tuple[Codes, Numbers, Numbers, Codes]:
    """The rack of each member in the order of the walk, NO_RACK where it names none; of each partition of groups with
    racks, how many members are near it; where its racks start; and these."""
    codes, named = RackCodes(), [each for each in racks if each is not None]
    if not named:
        nothing = np.empty(0, np.int32)
        return nothing, np.empty(0, np.int64), np.zeros(1, np.int64), nothing
    of_members = [
        rack
        for each, size in zip(racks, num_members, strict=True)
        for rack in ([None] * size if each is None else each.of_member)
    ]
    starts, sets = codes.of_sets([racks_of_one for each in named for racks_of_one in each.of_partition])
    return codes.of_members(of_members), np.concatenate([each.near for each in named]), starts, sets
