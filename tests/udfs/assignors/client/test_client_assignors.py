"""The leader's assignors against Kafka's own classes of every release that changed them."""

from typing import Final

import numpy as np
import pytest

from jobs.spark.jars import JarSet
from tests.builders.assignors.client_cases import one_chain_spec, random_spec
from tests.kafka.jar_sets import KAFKA_3_7_2, KAFKA_3_9_1, KAFKA_4_4_0
from tests.oracles.assignors.kafka_assignors import JAVA, answers
from tests.oracles.assignors.same_answers import assert_same
from udfs.assignors.questions import LEADERS, Release

CASES: Final = 100
SOAK_CASES: Final = 5_000


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


@pytest.mark.drawn(3)
@pytest.mark.broker
@pytest.mark.parametrize("cases", [CASES, pytest.param(SOAK_CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", JARS, ids=lambda release: ".".join(map(str, release)))
def test_members_get_the_lists_that_the_releases_own_class_gives_them(
    release: Release, cases: int, rng: np.random.Generator
) -> None:
    """All assignors in one Java process, which takes longer to start than to answer."""
    specs = [random_spec(rng, name, release) for name in LEADERS for _ in range(cases)]
    specs += [one_chain_spec(rng, name, release) for name in ("sticky", "cooperative-sticky") for _ in range(5)]
    program = [JAVA / "client" / "ClientAssignors.java"]
    assert_same(specs, answers("ClientAssignors", program, JARS[release], specs, None))
