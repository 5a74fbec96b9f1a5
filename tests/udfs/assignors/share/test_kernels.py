"""Arguments for the loop of the `simple` assignor: those of random share groups."""

from typing import Any, Final

import numpy as np

from tests.builders.assignors.recorded_server_groups import colliding_members
from tests.builders.assignors.server_cases import random_share_spec
from tests.builders.loops.recorded_calls import recorded_calls
from udfs.assignors.questions.server_problems import server_problem_of
from udfs.assignors.questions.specs import read_spec
from udfs.assignors.registry import OF_SHARE_GROUPS
from udfs.assignors.share.kernels import simple_rows

SPECS: Final = 60
SPECS_TOGETHER: Final = 20
# The loop runs as plain Python too, which is slow.
MOST_PARTITIONS: Final = 1_500


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    """For each group by itself, then for some of them in one call."""
    specs = [random_share_spec(rng, is_equal=bool(i % 2)) | {"jdk": int(rng.choice([17, 21]))} for i in range(SPECS)]
    for spec in specs[::10]:
        spec["members"] = colliding_members(rng, spec["members"])
    problems = [server_problem_of(read_spec(spec)) for spec in specs]
    problems = [problem for problem in problems if problem.counts.sum() <= MOST_PARTITIONS]
    with recorded_calls(simple_rows) as calls:
        for problem in problems:
            OF_SHARE_GROUPS["simple"]([problem])
        OF_SHARE_GROUPS["simple"](problems[:SPECS_TOGETHER])
    return calls
