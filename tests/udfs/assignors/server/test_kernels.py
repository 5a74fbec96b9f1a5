"""Arguments for the loop of the coordinator's `uniform`: those of random groups."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_server_groups import calls_for_groups
from udfs.assignors.server.kernels import uniform_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    return calls_for_groups(rng, "uniform", uniform_rows)
