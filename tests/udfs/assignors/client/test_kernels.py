"""Arguments for the loops of the leader's `range` and `roundrobin`: those of random groups."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_client_groups import calls_for_groups
from udfs.assignors.client.kernels import range_rows, roundrobin_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    # Names of one hash code, and topics in order of a map that computeIfAbsent filled.
    ranges = calls_for_groups(rng, "range", [(4, 3, 1), (3, 4, 1), (2, 8, 1)], range_rows)
    return ranges | calls_for_groups(rng, "roundrobin", [(4, 3, 1)], roundrobin_rows)
