"""Maps Kafka's assignors to functions, with the releases that have them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from udfs.assignors.before.share_simple_before_4_2 import all_to_everybody, assign_by_hash, hashed_by_subscription
from udfs.assignors.before.uniform_before_4 import uniform_before_4
from udfs.assignors.client.constrained_proposal import constrained_proposals
from udfs.assignors.client.range import client_ranges
from udfs.assignors.client.roundrobin import roundrobins
from udfs.assignors.client.sticky_assignors import cooperative_stickies, stickies
from udfs.assignors.flat_groups.groups import Asked, answer_most_together, only_answer
from udfs.assignors.questions.problems import Answer, Assignment, Problem, problem_of
from udfs.assignors.questions.server_problems import ServerProblem, server_problem_of
from udfs.assignors.questions.spec_values import SpecError, json_text
from udfs.assignors.questions.specs import GroupProtocol, Release, Spec
from udfs.assignors.server.range import server_ranges
from udfs.assignors.server.uniform import uniforms_by_topic
from udfs.assignors.share.groups import Pair, ShareGroup, share_group_of
from udfs.assignors.share.simple import simples

AnswersOfLeaders = Callable[[Sequence[Problem]], list[Answer]]
AnswersOfCoordinators = Callable[[Sequence[ServerProblem]], list[Answer]]
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
class KnownAssignor:
    """An assignor: from `since` on its answer is known, from `ordered_since` on the order of each member's list too."""

    answer: Callable[[Spec], MemberLists]
    since: Release
    ordered_since: Release


def by_leader(answer_all: AnswersOfLeaders) -> Callable[[Spec], MemberLists]:
    return answer_specs(problem_of, answer_all)


def by_coordinator(answer_all: AnswersOfCoordinators) -> Callable[[Spec], MemberLists]:
    return answer_specs(server_problem_of, answer_all)


def answer_specs(
    read: Callable[[Spec], Asked], answer_all: Callable[[Sequence[Asked]], list[Answer]]
) -> Callable[[Spec], MemberLists]:
    def answer(spec: Spec) -> MemberLists:
        problem = read(spec)
        return member_lists(problem.members, problem.topics, only_answer(answer_all([problem])))

    return answer


def uniforms(problems: Sequence[ServerProblem]) -> list[Answer]:
    return answer_most_together(problems, uniforms_by_topic, moves_partition_by_partition, uniform_before_4)


def moves_partition_by_partition(problem: ServerProblem) -> bool:
    return problem.release < MOVES_BY_TOPIC and not problem.is_homogeneous


def simple(spec: Spec) -> MemberLists:
    if spec.release >= SIMPLE_BY_SHARES:
        return by_coordinator(OF_SHARE_GROUPS["simple"])(spec)
    group = share_group_of(spec)
    lists = dict(zip(group.members, simple_before_4_2(group)(group), strict=True))
    return [(member.member_id, lists[member.member_id]) for member in spec.members]


def simple_before_4_2(group: ShareGroup) -> Callable[[ShareGroup], list[list[Pair]]]:
    if group.release < SIMPLE_BY_HASH:
        return all_to_everybody
    return assign_by_hash if group.is_homogeneous else hashed_by_subscription


# By name, those that releases of the client bring: what they answer to each of many questions.
OF_LEADERS: Mapping[str, AnswersOfLeaders] = MappingProxyType(
    {
        "range": client_ranges,
        "roundrobin": roundrobins,
        "sticky": stickies,
        "cooperative-sticky": cooperative_stickies,
    }
)
OF_COORDINATORS: Mapping[str, AnswersOfCoordinators] = MappingProxyType({"uniform": uniforms, "range": server_ranges})
# From 4.2 on.
OF_SHARE_GROUPS: Mapping[str, AnswersOfCoordinators] = MappingProxyType({"simple": simples})
ASSIGNORS: Mapping[tuple[GroupProtocol, str], KnownAssignor] = MappingProxyType(
    {
        **{
            (GroupProtocol.CLASSIC, name): KnownAssignor(
                by_leader(answer_all), FIRST_CLIENTS, FIRST_CLIENTS if name == "range" else LISTS_AS_ASSIGNED
            )
            for name, answer_all in OF_LEADERS.items()
        },
        # No release has it: it is the proposal's own, for any.
        (GroupProtocol.CLASSIC, "constrained-cooperative-sticky"): KnownAssignor(
            by_leader(constrained_proposals), FIRST_CLIENTS, FIRST_CLIENTS
        ),
        (GroupProtocol.CONSUMER, "uniform"): KnownAssignor(by_coordinator(uniforms), (3, 8, 0), (3, 8, 0)),
        # KAFKA-16944: before, it kept what members had.
        (GroupProtocol.CONSUMER, "range"): KnownAssignor(by_coordinator(server_ranges), (3, 9, 0), (3, 9, 0)),
        (GroupProtocol.SHARE, "simple"): KnownAssignor(simple, (3, 9, 0), (3, 9, 0)),
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
