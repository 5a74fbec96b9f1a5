"""The leader's assignors against Kafka's own classes of every release that changed them."""

import json
from collections import Counter
from itertools import chain
from typing import Any, Final

import numpy as np
import pytest

from jobs.spark.jars import JarSet
from tests.builders.assignors.client_cases import random_spec
from tests.kafka.jar_sets import KAFKA_3_7_2, KAFKA_3_9_1, KAFKA_4_4_0
from tests.oracles.assignors.kafka_assignors import JAVA, answers
from udfs.assignors.questions.problems import Answer, AssignorFailed, Problem, problem_of
from udfs.assignors.questions.specs import Release, read_spec
from udfs.assignors.registry import OF_LEADERS, member_lists

Spec = dict[str, Any]

CASES: Final = 100
SOAK_CASES: Final = 5_000
FAILS: Final = "fails"


def clients(version: str) -> JarSet:
    artifacts = (f"org.apache.kafka:kafka-clients:{version}", "org.slf4j:slf4j-api:1.7.36")
    return JarSet(f"kafka-clients-{version}", artifacts, is_transitive=False)


# The last or first release of each set of rules.
JARS: Final[dict[Release, JarSet]] = {
    (4, 4, 0): KAFKA_4_4_0,
    (3, 9, 1): KAFKA_3_9_1,
    (3, 7, 2): KAFKA_3_7_2,
    (3, 7, 0): clients("3.7.0"),
    (3, 5, 0): clients("3.5.0"),
    (3, 4, 1): clients("3.4.1"),
    (3, 4, 0): clients("3.4.0"),
    (3, 0, 2): clients("3.0.2"),
    (2, 8, 1): clients("2.8.1"),
    (2, 5, 1): clients("2.5.1"),
    (2, 4, 1): clients("2.4.1"),
}


def lists_of(problem: Problem, answer: Answer) -> list[list[list[Any]]] | str:
    if isinstance(answer, AssignorFailed):
        return FAILS
    return [[list(pair) for pair in pairs] for _, pairs in member_lists(problem.members, problem.topics, answer)]


def kafka_lists(specs: list[Spec], release: Release) -> list[list[list[list[Any]]] | str]:
    result = answers("ClientAssignors", [JAVA / "client" / "ClientAssignors.java"], JARS[release], specs, None)
    return [
        FAILS if "error" in answer else [member["partitions"] for member in answer["assignment"]] for answer in result
    ]


@pytest.mark.drawn(3)
@pytest.mark.broker
@pytest.mark.parametrize("cases", [CASES, pytest.param(SOAK_CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", JARS, ids=lambda release: ".".join(map(str, release)))
def test_members_get_alone_and_with_other_groups_the_lists_that_the_releases_own_class_gives_them(
    release: Release, cases: int, rng: np.random.Generator
) -> None:
    """All assignors in one Java process, which takes longer to start than to answer."""
    specs = {name: [random_spec(rng, name, release) for _ in range(cases)] for name in OF_LEADERS}
    problems = {name: [problem_of(read_spec(spec)) for spec in specs[name]] for name in OF_LEADERS}
    asked = [
        (name, spec, problem) for name in OF_LEADERS for spec, problem in zip(specs[name], problems[name], strict=True)
    ]
    together = chain.from_iterable(assign(problems[name]) for name, assign in OF_LEADERS.items())
    theirs_of_all = kafka_lists([spec for _, spec, _ in asked], release)
    different = [
        (spec, theirs, ours)
        for (name, spec, problem), in_one_call, theirs in zip(asked, together, theirs_of_all, strict=True)
        for answer in (in_one_call, *OF_LEADERS[name]([problem]))
        if theirs != (ours := lists_of(problem, answer))
    ]
    if different:
        spec, theirs, ours = min(different, key=lambda each: len(json.dumps(each[0])))
        number = Counter(each[0]["assignor"] for each in different)
        raise AssertionError(f"{dict(number)} of {2 * cases} each differ:\n{json.dumps(spec)}\n{theirs}\n{ours}")
