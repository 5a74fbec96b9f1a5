"""Maps Kafka's assignors to functions, with the releases that have them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from udfs.assignors.constrained_proposal import constrained_proposal
from udfs.assignors.questions.problems import Answer, Assignment, AssignorFailed, Problem, problem_of
from udfs.assignors.questions.server_problems import ServerProblem, server_problem_of
from udfs.assignors.questions.spec_values import SpecError, json_text
from udfs.assignors.questions.specs import GroupProtocol, Release, Spec
from udfs.assignors.ranges import client_range, round_robin
from udfs.assignors.server_range import server_range
from udfs.assignors.simple import simple
from udfs.assignors.sticky import cooperative_sticky, sticky
from udfs.assignors.uniform import uniform

Asked = TypeVar("Asked", Problem, ServerProblem)
AnswersOfLeaders = Callable[[Sequence[Problem]], list[Answer]]
AnswersOfCoordinators = Callable[[Sequence[ServerProblem]], list[Answer]]
MemberLists = list[tuple[str, list[tuple[str, int]]]]
# Kafka's assignors before have another interface, and were not compared.
FIRST_CLIENTS = (2, 4, 0)
# Before, a leader wrote its lists by a map of topics.
LISTS_AS_ASSIGNED = (3, 0, 0)


@dataclass(frozen=True)
class KnownAssignor:
    """An assignor: from `since` on its answer is known, from `ordered_since` on the order of each member's list too."""

    answer: Callable[[Spec], MemberLists]
    since: Release
    ordered_since: Release


def one(assign: Callable[[Asked], Assignment], problem: Asked) -> Answer:
    try:
        return assign(problem)
    except AssignorFailed as failure:
        return failure


def by_leader(assign: Callable[[Problem], Assignment]) -> Callable[[Spec], MemberLists]:
    return answer_specs(problem_of, assign)


def by_coordinator(assign: Callable[[ServerProblem], Assignment]) -> Callable[[Spec], MemberLists]:
    return answer_specs(server_problem_of, assign)


def answer_specs(read: Callable[[Spec], Asked], assign: Callable[[Asked], Assignment]) -> Callable[[Spec], MemberLists]:
    def answer(spec: Spec) -> MemberLists:
        problem = read(spec)
        return member_lists(problem.members, problem.topics, assign(problem))

    return answer


def each(assign: Callable[[Asked], Assignment]) -> Callable[[Sequence[Asked]], list[Answer]]:
    return lambda problems: [one(assign, problem) for problem in problems]


LEADERS: Mapping[str, Callable[[Problem], Assignment]] = MappingProxyType(
    {"range": client_range, "roundrobin": round_robin, "sticky": sticky, "cooperative-sticky": cooperative_sticky}
)
# By name, those that releases bring: what they answer to each of many questions.
OF_LEADERS: Mapping[str, AnswersOfLeaders] = MappingProxyType({name: each(assign) for name, assign in LEADERS.items()})
OF_COORDINATORS: Mapping[str, AnswersOfCoordinators] = MappingProxyType(
    {"uniform": each(uniform), "range": each(server_range)}
)
OF_SHARE_GROUPS: Mapping[str, AnswersOfCoordinators] = MappingProxyType({"simple": each(simple)})
ASSIGNORS: Mapping[tuple[GroupProtocol, str], KnownAssignor] = MappingProxyType(
    {
        **{
            (GroupProtocol.CLASSIC, name): KnownAssignor(
                by_leader(assign), FIRST_CLIENTS, FIRST_CLIENTS if name == "range" else LISTS_AS_ASSIGNED
            )
            for name, assign in LEADERS.items()
        },
        # No release has it: it is the proposal's own, for any.
        (GroupProtocol.CLASSIC, "constrained-cooperative-sticky"): KnownAssignor(
            by_leader(constrained_proposal), FIRST_CLIENTS, FIRST_CLIENTS
        ),
        (GroupProtocol.CONSUMER, "uniform"): KnownAssignor(by_coordinator(uniform), (3, 8, 0), (3, 8, 0)),
        # KAFKA-16944: before, it kept what members had.
        (GroupProtocol.CONSUMER, "range"): KnownAssignor(by_coordinator(server_range), (3, 9, 0), (3, 9, 0)),
        (GroupProtocol.SHARE, "simple"): KnownAssignor(by_coordinator(simple), (3, 9, 0), (3, 9, 0)),
    }
)


def known_assignor(spec: Spec) -> KnownAssignor:
    names = [name for protocol, name in ASSIGNORS if protocol == spec.group_protocol]
    if spec.assignor not in names:
        raise SpecError(
            f"assignor: {json_text(spec.assignor)}, expected one of {', '.join(names)} ({spec.group_protocol})"
        )
    known = ASSIGNORS[spec.group_protocol, spec.assignor]
    if spec.release < known.since:
        oldest = ".".join(map(str, known.since[:2]))
        raise SpecError(
            f"release: older than {oldest}, the first whose {spec.assignor} ({spec.group_protocol}) is known"
        )
    return known


def member_lists(members: Sequence[str], topics: Sequence[str], assignment: Assignment) -> MemberLists:
    lists: list[list[tuple[str, int]]] = [[] for _ in members]
    rows = zip(assignment.members.tolist(), assignment.topics.tolist(), assignment.partitions.tolist(), strict=True)
    for member, topic, partition in rows:
        lists[member].append((topics[topic], partition))
    return list(zip(members, lists, strict=True))
