"""Arguments for the loop that decides which claims are believed: those of random groups with unequal subscriptions."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_client_groups import RELEASES_OF_STICKY, calls_for_groups
from udfs.assignors.sticky_steps.ownership.kernels import believed_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    return calls_for_groups(rng, "cooperative-sticky", RELEASES_OF_STICKY, believed_rows)
