"""Arguments for the loop that reads user data: data that ends anywhere, or has a byte altered."""

from typing import Any

import numpy as np

from tests.builders.loops.recorded_calls import recorded_calls
from tests.udfs.assignors.sticky_steps.test_user_data import NAMES, altered_data, read_as_one_group, some_data
from udfs.assignors.sticky_steps.user_data import read_together
from udfs.assignors.sticky_steps.user_data.kernels import said_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    whole = some_data(rng)
    with recorded_calls(said_rows) as calls:
        read_as_one_group([some_data(rng) if rng.random() < 0.9 else None for _ in range(60)])
        read_as_one_group([whole[:end] for end in range(len(whole) + 1)])
        read_as_one_group(altered_data())
        read_together([], [], [], [])
        read_together([whole, None, some_data(rng)], [*NAMES, *NAMES[:2]], [1, 0, 2], [4, 2, 2])
    return calls
