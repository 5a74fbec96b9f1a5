"""The leader's assignors against Kafka's own classes of every release that changed them."""

import json
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from jobs.spark.jars import JarSet
from tests.builders.assignors.client_cases import random_spec
from tests.kafka.jar_sets import KAFKA_3_7_2, KAFKA_3_9_1, KAFKA_4_3_1
from tests.oracles.assignors.kafka_assignors import JAVA, answers
from udfs.assignors.client.range import client_range
from udfs.assignors.client.roundrobin import roundrobin
from udfs.assignors.client.sticky_assignors import cooperative_sticky, sticky
from udfs.assignors.questions.problems import AssignorFailed, Problem, Rows, problem_of
from udfs.assignors.questions.specs import Release, read_spec

Spec = dict[str, Any]

CASES: Final = 250
SOAK_CASES: Final = 5_000
FAILS: Final = "fails"
ASSIGNORS: Final[dict[str, Callable[[Problem], Rows]]] = {
    "range": client_range,
    "roundrobin": roundrobin,
    "sticky": sticky,
    "cooperative-sticky": cooperative_sticky,
}


def clients(version: str) -> JarSet:
    artifacts = (f"org.apache.kafka:kafka-clients:{version}", "org.slf4j:slf4j-api:1.7.36")
    return JarSet(f"kafka-clients-{version}", artifacts, is_transitive=False)


# The last or first release of each set of rules.
JARS: Final[dict[Release, JarSet]] = {
    (4, 3, 1): KAFKA_4_3_1,
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


def our_lists(spec: Spec) -> list[list[list[Any]]] | str:
    problem = problem_of(read_spec(spec))
    lists: list[list[list[Any]]] = [[] for _ in problem.members]
    try:
        rows = ASSIGNORS[spec["assignor"]](problem)
    except AssignorFailed:
        return FAILS
    for member, topic, partition in zip(
        rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True
    ):
        lists[member].append([problem.topics[topic], partition])
    return lists


def kafka_lists(specs: list[Spec], release: Release) -> list[list[list[list[Any]]] | str]:
    found = answers("ClientAssignors", [JAVA / "client" / "ClientAssignors.java"], JARS[release], specs, None)
    return [
        FAILS if "error" in answer else [member["partitions"] for member in answer["assignment"]] for answer in found
    ]


@pytest.mark.broker
@pytest.mark.parametrize("cases", [CASES, pytest.param(SOAK_CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", JARS, ids=lambda release: ".".join(map(str, release)))
@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_members_get_the_lists_that_the_releases_own_class_gives_them(
    assignor: str, release: Release, cases: int, rng: np.random.Generator
) -> None:
    specs = [random_spec(rng, assignor, release) for _ in range(cases)]
    different = [
        (spec, theirs, ours)
        for spec, theirs in zip(specs, kafka_lists(specs, release), strict=True)
        if theirs != (ours := our_lists(spec))
    ]
    if different:
        spec, theirs, ours = min(different, key=lambda each: len(json.dumps(each[0])))
        raise AssertionError(f"{len(different)} of {cases} differ:\n{json.dumps(spec)}\n{theirs}\n{ours}")
