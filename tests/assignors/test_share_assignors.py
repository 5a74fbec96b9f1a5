"""Share groups' assignor against Kafka's own classes, of each release line that changed it."""

from typing import Any

import numpy as np
import pytest

from tests.assignors.agreement import assert_same
from tests.assignors.kafka_assignors import newer_java, server_answers
from tests.assignors.server_cases import random_share_spec

CASES = 600
# 4.3 stands for 4.2 too.
RELEASES = ["3.9", "4.0", "4.1", "4.3"]


def cases(rng: np.random.Generator, count: int, **fields: Any) -> list[dict[str, Any]]:
    return [random_share_spec(rng, is_equal=bool(i % 2)) | fields for i in range(count)]


@pytest.mark.broker
@pytest.mark.parametrize("count", [CASES, pytest.param(20 * CASES, marks=pytest.mark.soak)])
@pytest.mark.parametrize("release", RELEASES)
def test_share_groups_are_assigned_as_kafka_does(release: str, count: int, rng: np.random.Generator) -> None:
    specs = cases(rng, count, release=release)
    assert_same(specs, server_answers(specs, release))


@pytest.mark.broker
@pytest.mark.parametrize("release", ["4.1", "4.3"])
def test_a_newer_java_shares_by_its_own_orders(release: str, rng: np.random.Generator) -> None:
    java = newer_java()
    if java is None:
        pytest.skip("no Java from 19 on")
    specs = cases(rng, CASES, release=release, jdk=21)
    assert_same(specs, server_answers(specs, release, java))
