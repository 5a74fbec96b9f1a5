"""Many groups' answers at once against each group's own, and against Kafka's own classes."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from tests.builders.assignors import client_cases, server_cases
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.oracles.assignors.kafka_assignors import JAVA, answers, server_answers
from tests.oracles.assignors.same_answers import FAILED, kafka_lists
from udfs.assignors.bulk import many_groups
from udfs.assignors.bulk.many_groups import Answer, answers_of_clients, answers_of_coordinators
from udfs.assignors.client.range import client_range
from udfs.assignors.client.roundrobin import roundrobin
from udfs.assignors.client.sticky_assignors import cooperative_sticky, sticky
from udfs.assignors.questions.problems import AssignorFailed, Problem, problem_of
from udfs.assignors.questions.server_problems import ServerProblem, server_problem_of
from udfs.assignors.questions.specs import read_spec
from udfs.assignors.registry import named, uniform
from udfs.assignors.server.range import server_range

Spec = dict[str, Any]
CASES: Final = 600
RELEASE: Final = (4, 3, 1)
CLIENT: Final[dict[str, Callable[..., Any]]] = {
    "range": client_range,
    "roundrobin": roundrobin,
    "sticky": sticky,
    "cooperative-sticky": cooperative_sticky,
}
SERVER: Final[dict[str, Callable[..., Any]]] = {"range": server_range, "uniform": uniform}


def lists_of(problem: Problem | ServerProblem, answer: Answer) -> list[list[list[Any]]] | str:
    if isinstance(answer, AssignorFailed):
        return FAILED
    return [[list(pair) for pair in pairs] for _, pairs in named(problem.members, problem.topics, answer)]


def alone(assign: Callable[..., Any], problem: Problem | ServerProblem) -> list[list[list[Any]]] | str:
    try:
        return lists_of(problem, assign(problem))
    except AssignorFailed as failure:
        return lists_of(problem, failure)


def client_specs(rng: np.random.Generator, assignor: str, count: int = CASES) -> list[Spec]:
    """Three of four such as arrays over all groups may answer."""
    specs = [client_cases.random_spec(rng, assignor, RELEASE) for _ in range(count)]
    return [spec if at % 4 == 0 else plain(spec, rng) for at, spec in enumerate(specs)]


def server_specs(rng: np.random.Generator, assignor: str, count: int = CASES) -> list[Spec]:
    return [
        {**plain(server_cases.random_spec(rng, assignor, is_equal=True), rng), "jdk": 17}
        if at % 4
        else server_cases.random_spec(rng, assignor, is_equal=bool(at % 8))
        for at in range(count)
    ]


def plain(spec: Spec, rng: np.random.Generator) -> Spec:
    """Without racks and static members; everybody subscribes to what the first does."""
    subscribed = spec["members"][0]["subscribed_topics"]
    members = [
        {key: value for key, value in member.items() if key not in ("rack_id", "group_instance_id")}
        | {"subscribed_topics": subscribed}
        for member in spec["members"]
    ]
    topics = [{key: value for key, value in topic.items() if key != "racks"} for topic in spec["topics"]]
    return spec | {"members": members, "topics": topics}


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The problems that were not answered together."""
    asked: list[object] = []
    single = many_groups.one

    def watched(assign: Any, problem: Any) -> Answer:
        asked.append(problem)
        return single(assign, problem)

    monkeypatch.setattr(many_groups, "one", watched)
    return asked


@pytest.mark.parametrize("assignor", CLIENT)
def test_groups_of_leaders_get_together_what_each_gets_alone(
    assignor: str, rng: np.random.Generator, one_by_one: list[object]
) -> None:
    problems = [problem_of(read_spec(spec)) for spec in client_specs(rng, assignor)]
    found = answers_of_clients(CLIENT[assignor], problems)
    for problem, answer in zip(problems, found, strict=True):
        assert lists_of(problem, answer) == alone(CLIENT[assignor], problem)
    assert len(one_by_one) < 0.7 * len(problems)


@pytest.mark.parametrize("assignor", SERVER)
def test_groups_of_coordinators_get_together_what_each_gets_alone(
    assignor: str, rng: np.random.Generator, one_by_one: list[object]
) -> None:
    problems = [server_problem_of(read_spec(spec)) for spec in server_specs(rng, assignor)]
    found = answers_of_coordinators(SERVER[assignor], problems)
    for problem, answer in zip(problems, found, strict=True):
        assert lists_of(problem, answer) == alone(SERVER[assignor], problem)
    assert len(one_by_one) < 0.7 * len(problems)


@pytest.mark.broker
@pytest.mark.parametrize("assignor", CLIENT)
def test_groups_of_leaders_get_together_what_kafka_gives_each(assignor: str, rng: np.random.Generator) -> None:
    specs = client_specs(rng, assignor)
    problems = [problem_of(read_spec(spec)) for spec in specs]
    theirs = answers("ClientAssignors", [JAVA / "client" / "ClientAssignors.java"], KAFKA_4_3_1, specs, None)
    ours = answers_of_clients(CLIENT[assignor], problems)
    for problem, answer, kafka in zip(problems, ours, theirs, strict=True):
        assert lists_of(problem, answer) == kafka_lists(kafka)


@pytest.mark.broker
@pytest.mark.parametrize("assignor", SERVER)
def test_groups_of_coordinators_get_together_what_kafka_gives_each(assignor: str, rng: np.random.Generator) -> None:
    specs = server_specs(rng, assignor)
    problems = [server_problem_of(read_spec(spec)) for spec in specs]
    ours = answers_of_coordinators(SERVER[assignor], problems)
    for problem, answer, kafka in zip(problems, ours, server_answers(specs), strict=True):
        assert lists_of(problem, answer) == kafka_lists(kafka)
