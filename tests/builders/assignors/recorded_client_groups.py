"""What the loops of the leader's assignors are called with while they answer for random groups."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tests.builders.assignors.client_cases import random_spec
from tests.builders.loops.recorded_calls import Calls, recorded_calls
from udfs.arrays.compiled import Loop
from udfs.assignors.questions.problems import problem_of
from udfs.assignors.questions.specs import Release, read_spec
from udfs.assignors.registry import OF_LEADERS

# By release, since old rules differ.
SPECS: Final = 12
SPECS_TOGETHER: Final = 25
# The last or first release of each set of rules.
RELEASES_OF_STICKY: Final[Sequence[Release]] = [(4, 4, 0), (3, 7, 0), (3, 5, 0), (3, 4, 1), (3, 4, 0), (3, 0, 2)]


def calls_for_groups(
    rng: np.random.Generator,
    name: str,
    releases: Sequence[Release],
    *loops: Loop,
) -> Calls:
    """For each group by itself, then for some of them in one call."""
    specs = [random_spec(rng, name, release) for _ in range(SPECS) for release in releases]
    problems = [problem_of(read_spec(spec)) for spec in specs]
    with recorded_calls(*loops) as calls:
        for problem in problems:
            OF_LEADERS[name]([problem])
        OF_LEADERS[name](problems[:SPECS_TOGETHER])
    return calls
