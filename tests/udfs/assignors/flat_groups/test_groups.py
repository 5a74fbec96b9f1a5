import copy
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from tests.builders.assignors import client_cases, server_cases
from udfs.assignors.questions.problems import problem_of
from udfs.assignors.questions.server_problems import server_problem_of
from udfs.assignors.questions.specs import read_spec
from udfs.assignors.registry import OF_COORDINATORS, OF_LEADERS, OF_SHARE_GROUPS

SPECS = 40


def are_equal(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second))
    if hasattr(first, "__dataclass_fields__"):
        return all(are_equal(getattr(first, each.name), getattr(second, each.name)) for each in fields(first))
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(are_equal, first, second))
    return bool(first == second)


def check_unchanged(answer: Callable[[Sequence[Any]], Any], problems: Sequence[Any]) -> None:
    """Alone, an array of a question is what the loops get, without a copy."""
    for problem in problems:
        before = copy.deepcopy(problem)
        answer([problem])
        assert are_equal(problem, before)


@pytest.mark.parametrize(
    ("protocol", "name"),
    [*(("consumer", each) for each in OF_COORDINATORS), *(("share", each) for each in OF_SHARE_GROUPS)],
)
def test_what_a_coordinator_is_asked_stays_as_it_is(protocol: str, name: str, rng: np.random.Generator) -> None:
    specs = [server_cases.random_spec(rng, name, bool(number % 2), protocol) for number in range(SPECS)]
    answer = {**OF_COORDINATORS, **OF_SHARE_GROUPS}[name]
    check_unchanged(answer, [server_problem_of(read_spec(spec)) for spec in specs])


@pytest.mark.parametrize("name", OF_LEADERS)
def test_what_a_leader_is_asked_stays_as_it_is(name: str, rng: np.random.Generator) -> None:
    specs = [client_cases.random_spec(rng, name, (4, 3, 1)) for _ in range(SPECS)]
    check_unchanged(OF_LEADERS[name], [problem_of(read_spec(spec)) for spec in specs])
