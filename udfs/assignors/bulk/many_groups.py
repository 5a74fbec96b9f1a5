"""Answers for many groups at once: plain groups together as arrays, each other group by itself.

A call takes a third of a millisecond even for a small group, and most groups on Kafka's brokers are small.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.bulk.flat_groups import Groups, ServerGroups, flat, flat_server
from udfs.assignors.bulk.range_and_roundrobin import ranges, roundrobins, server_ranges
from udfs.assignors.bulk.sticky import cooperative_stickies, stickies
from udfs.assignors.bulk.uniform import uniforms
from udfs.assignors.client.range import client_range
from udfs.assignors.client.roundrobin import roundrobin
from udfs.assignors.client.sticky_assignors import cooperative_sticky, sticky
from udfs.assignors.questions.problems import Assignment, Assignor, AssignorFailed, Problem, Rows
from udfs.assignors.questions.server_problems import ServerAssignor, ServerProblem
from udfs.assignors.questions.specs import Release
from udfs.assignors.registry import uniform
from udfs.assignors.server.range import server_range

Answer = Assignment | AssignorFailed
# For each group its rows' end, and which groups the arrays could answer after all.
Answered = tuple[Rows, NDArray[np.int64], NDArray[np.bool_]]
OfClients = Callable[[Groups], Answered]
OfCoordinators = Callable[[ServerGroups], Answered]
Asked = TypeVar("Asked", Problem, ServerProblem)

CLIENT: dict[Assignor, OfClients] = {
    client_range: ranges,
    roundrobin: roundrobins,
    sticky: stickies,
    cooperative_sticky: cooperative_stickies,
}
SERVER: dict[ServerAssignor, OfCoordinators] = {server_range: server_ranges, uniform: uniforms}
# The rules of older clients differ; what they did is asked for one by one.
NEWEST_RULES_SINCE = (3, 7, 1)
NEWEST_UNIFORM_SINCE = (4, 0, 1)
# A larger group is as fast by itself.
MOST_MEMBERS, MOST_PARTITIONS = 2_000, 20_000
# So many members at a time stay in the cache.
MEMBERS_AT_ONCE = 20_000


def answers_of_clients(assign: Assignor, problems: Sequence[Problem]) -> list[Answer]:
    """What `assign` answers to each, in the same order; where it fails, its exception."""
    return answers(assign, problems, is_plain, lambda chosen: CLIENT[assign](flat(chosen)), assign in CLIENT)


def answers_of_coordinators(assign: ServerAssignor, problems: Sequence[ServerProblem]) -> list[Answer]:
    found: list[Answer | None] = [None] * len(problems)
    for jdk in {problem.jdk for problem in problems}:
        chosen = [at for at, problem in enumerate(problems) if problem.jdk == jdk]
        some = answers(
            assign,
            [problems[at] for at in chosen],
            is_plain_server,
            lambda together: SERVER[assign](flat_server(together)),
            assign in SERVER,
        )
        for at, answer in zip(chosen, some, strict=True):
            found[at] = answer
    return [answer for answer in found if answer is not None]


def answers(
    assign: Callable[[Asked], Assignment],
    problems: Sequence[Asked],
    fits: Callable[[Asked], bool],
    together: Callable[[list[Asked]], Answered],
    has_arrays: bool,
) -> list[Answer]:
    found: list[Answer | None] = [None] * len(problems)
    plain = [at for at, problem in enumerate(problems) if fits(problem)] if has_arrays else []
    for some in portions(problems, plain):
        rows, ends, are_answered = together([problems[at] for at in some])
        start = 0
        for at, end, is_answered in zip(some, ends.tolist(), are_answered.tolist(), strict=True):
            if is_answered:
                found[at] = Rows(rows.members[start:end], rows.topics[start:end], rows.partitions[start:end])
            start = end
    return [one(assign, problem) if answer is None else answer for problem, answer in zip(problems, found, strict=True)]


def one(assign: Callable[[Asked], Assignment], problem: Asked) -> Answer:
    try:
        return assign(problem)
    except AssignorFailed as failure:
        return failure


def portions(problems: Sequence[Asked], chosen: list[int]) -> Iterator[list[int]]:
    some: list[int] = []
    members = 0
    for at in chosen:
        some.append(at)
        members += len(problems[at].members)
        if members >= MEMBERS_AT_ONCE:
            yield some
            some, members = [], 0
    if some:
        yield some


def is_plain(problem: Problem) -> bool:
    return is_simple(problem, NEWEST_RULES_SINCE) and not any(problem.racks)


def is_plain_server(problem: ServerProblem) -> bool:
    return is_simple(problem, NEWEST_UNIFORM_SINCE)


def is_simple(problem: Problem | ServerProblem, since: Release) -> bool:
    members = len(problem.members)
    return (
        0 < members <= MOST_MEMBERS
        and len(problem.topics_of_class) == 1
        and problem.release >= since
        and problem.instances.count(None) == members
        and len(problem.topics) > 0
        and sum(problem.counts.tolist()) <= MOST_PARTITIONS
    )
