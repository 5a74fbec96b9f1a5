"""Maps Kafka's assignors to functions, with the releases that have them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from udfs.assignors.before.share_simple_before_4_2 import all_to_everybody, hashed, hashed_by_subscription
from udfs.assignors.before.uniform_before_4 import uniform_before_4
from udfs.assignors.client.constrained_proposal import constrained_proposal
from udfs.assignors.client.range import client_range
from udfs.assignors.client.roundrobin import roundrobin
from udfs.assignors.client.sticky_assignors import cooperative_sticky, sticky
from udfs.assignors.questions.problems import Assignment, Assignor, problem_of
from udfs.assignors.questions.server_problems import ServerAssignor, ServerProblem, server_problem_of
from udfs.assignors.questions.spec_values import SpecError, shown
from udfs.assignors.questions.specs import GroupProtocol, Release, Spec
from udfs.assignors.server.range import server_range
from udfs.assignors.server.uniform import uniform_equal
from udfs.assignors.server.uniform_unequal import uniform_unequal
from udfs.assignors.share.groups import Pair, ShareGroup, share_group_of
from udfs.assignors.share.simple import shared_by_all, shared_by_topic

MemberLists = list[tuple[str, list[tuple[str, int]]]]
# Kafka's assignors before have another interface, and were not compared.
FIRST_CLIENTS = (2, 4, 0)
# Before, a leader wrote its lists by a map of topics.
LISTS_AS_ASSIGNED = (3, 0, 0)
# KAFKA-17710: unequal subscriptions were assigned in another way before.
MOVES_BY_TOPIC = (4, 0, 0)

# Early access gave every partition to everybody; the preview hashed members to partitions.
SIMPLE_BY_HASH = (4, 1, 0)
SIMPLE_BY_SHARES = (4, 2, 0)


@dataclass(frozen=True)
class Known:
    """An assignor: from `since` on its answer is known, from `ordered_since` on the order of each member's list too."""

    answer: Callable[[Spec], MemberLists]
    since: Release
    ordered_since: Release


def by_leader(assign: Assignor) -> Callable[[Spec], MemberLists]:
    def answer(spec: Spec) -> MemberLists:
        problem = problem_of(spec)
        return named(problem.members, problem.topics, assign(problem))

    return answer


def by_coordinator(assign: ServerAssignor) -> Callable[[Spec], MemberLists]:
    def answer(spec: Spec) -> MemberLists:
        problem = server_problem_of(spec)
        return named(problem.members, problem.topics, assign(problem))

    return answer


def uniform(problem: ServerProblem) -> Assignment:
    if problem.is_homogeneous:
        return uniform_equal(problem)
    if problem.release < MOVES_BY_TOPIC:
        return uniform_before_4(problem)
    return uniform_unequal(problem)


def simple(spec: Spec) -> MemberLists:
    group = share_group_of(spec)
    lists = dict(zip(group.members, simple_of(group)(group), strict=True))
    return [(member.member_id, lists[member.member_id]) for member in spec.members]


def simple_of(group: ShareGroup) -> Callable[[ShareGroup], list[list[Pair]]]:
    if group.release < SIMPLE_BY_HASH:
        return all_to_everybody
    if group.release < SIMPLE_BY_SHARES:
        return hashed if group.is_homogeneous else hashed_by_subscription
    return shared_by_all if group.is_homogeneous else shared_by_topic


# By name, those that releases of the client bring.
OF_LEADERS: Mapping[str, Assignor] = MappingProxyType(
    {"range": client_range, "roundrobin": roundrobin, "sticky": sticky, "cooperative-sticky": cooperative_sticky}
)
ASSIGNORS: Mapping[tuple[GroupProtocol, str], Known] = MappingProxyType(
    {
        **{
            (GroupProtocol.CLASSIC, name): Known(
                by_leader(assign), FIRST_CLIENTS, FIRST_CLIENTS if name == "range" else LISTS_AS_ASSIGNED
            )
            for name, assign in OF_LEADERS.items()
        },
        # No release has it: it is the proposal's own, for any.
        (GroupProtocol.CLASSIC, "constrained-cooperative-sticky"): Known(
            by_leader(constrained_proposal), FIRST_CLIENTS, FIRST_CLIENTS
        ),
        (GroupProtocol.CONSUMER, "uniform"): Known(by_coordinator(uniform), (3, 8, 0), (3, 8, 0)),
        # KAFKA-16944: before, it kept what members had.
        (GroupProtocol.CONSUMER, "range"): Known(by_coordinator(server_range), (3, 9, 0), (3, 9, 0)),
        (GroupProtocol.SHARE, "simple"): Known(simple, (3, 9, 0), (3, 9, 0)),
    }
)


def known_assignor(spec: Spec) -> Known:
    names = [name for protocol, name in ASSIGNORS if protocol == spec.group_protocol]
    if spec.assignor not in names:
        raise SpecError(f"assignor: {shown(spec.assignor)}, expected one of {', '.join(names)} ({spec.group_protocol})")
    known = ASSIGNORS[spec.group_protocol, spec.assignor]
    if spec.release < known.since:
        oldest = ".".join(map(str, known.since[:2]))
        raise SpecError(
            f"release: older than {oldest}, the first whose {spec.assignor} ({spec.group_protocol}) is known"
        )
    return known


def named(members: Sequence[str], topics: Sequence[str], assignment: Assignment) -> MemberLists:
    lists: list[list[tuple[str, int]]] = [[] for _ in members]
    rows = zip(assignment.members.tolist(), assignment.topics.tolist(), assignment.partitions.tolist(), strict=True)
    for member, topic, partition in rows:
        lists[member].append((topics[topic], partition))
    return list(zip(members, lists, strict=True))
