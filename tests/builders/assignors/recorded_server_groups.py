"""What the loops of the coordinator's assignors are called with while they answer for random groups."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import numpy as np

from tests.builders.assignors.server_cases import crowd, random_spec
from tests.builders.loops.recorded_calls import Calls, recorded_calls
from udfs.arrays.compiled import Loop
from udfs.assignors.questions.server_problems import server_problem_of
from udfs.assignors.questions.specs import read_spec
from udfs.assignors.registry import OF_COORDINATORS

SPECS: Final = 120
SPECS_TOGETHER: Final = 40
# The loops run as plain Python too, which is slow.
MOST_PARTITIONS: Final = 1_500
MOST_CROWDED_PARTITIONS: Final = 4_000


def calls_for_groups(rng: np.random.Generator, name: str, *loops: Loop) -> Calls:
    """For each group by itself, then for some of them in one call."""
    problems = [server_problem_of(read_spec(spec)) for spec in [*unequal_specs(name), *random_specs(rng, name)]]
    with recorded_calls(*loops) as calls:
        for problem in problems:
            OF_COORDINATORS[name]([problem])
        OF_COORDINATORS[name](problems[:SPECS_TOGETHER])
    return calls


def unequal_specs(name: str) -> Iterator[dict[str, Any]]:
    """Partitions that move after they were assigned; a partition of two members; a partition beyond the count."""
    a, b = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    for of_first, of_second in (([], []), ([0, 1, 99], [2, 99]), ([100], [])):
        yield {
            "group_protocol": "consumer",
            "assignor": name,
            "topics": [{"name": "a", "partitions": 100, "topic_id": a}, {"name": "b", "partitions": 40, "topic_id": b}],
            "members": [
                {"member_id": "m1", "subscribed_topics": ["a"], "target": [["a", of_first]]},
                {"member_id": "m2", "subscribed_topics": ["a", "b"], "target": [["a", of_second]]},
            ],
        }


def random_specs(rng: np.random.Generator, name: str) -> Iterator[dict[str, Any]]:
    """Members that joined, and partitions of members that left; crowded buckets of members' ids and of partitions."""
    for number in range(SPECS):
        spec, most = random_spec(rng, name, is_equal=bool(number % 2)), MOST_PARTITIONS
        if number % 8 < 2:
            crowd(rng, spec["topics"][0], spec["members"])
            most = MOST_CROWDED_PARTITIONS
        if number % 10 == 2:
            spec["members"] = colliding_members(rng, spec["members"])
        if sum(topic["partitions"] for topic in spec["topics"]) <= most:
            # Before 4.0.1 other members got the larger quotas; a copied set has other room from JDK 19 on.
            yield spec | {"release": str(rng.choice(["4.0.0", "4.3"])), "jdk": int(rng.choice([17, 21]))}


def colliding_members(rng: np.random.Generator, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """16 ids of one hash code, which Java compares in a tree. Half of the members joined since the target."""
    ids = ["".join(parts) for parts in rng.permutation(list(product(["Aa", "BB"], repeat=4)))]
    joined = [members[0] | {"target": []}] * 8
    return [member | {"member_id": each} for member, each in zip(members[:8] + joined, ids, strict=False)]
