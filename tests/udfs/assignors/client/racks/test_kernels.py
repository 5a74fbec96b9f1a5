"""Arguments for the loop of the leader's `range` with racks: those of random groups."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_client_groups import calls_for_groups
from udfs.assignors.client.racks.kernels import rack_range_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    # About a third of the groups have racks.
    return calls_for_groups(rng, "range", [(4, 3, 1)] * 5, rack_range_rows)
