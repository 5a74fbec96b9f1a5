"""Arguments for the loop of the coordinator's `range`: those of random groups."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_server_groups import calls_for_groups
from udfs.assignors.server.ranges.kernels import range_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    return calls_for_groups(rng, "range", range_rows)
