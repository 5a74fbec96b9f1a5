"""Arguments for the loop of the sticky assignors for equal subscriptions: those of random groups."""

from typing import Any

import numpy as np

from tests.builders.assignors.recorded_client_groups import RELEASES_OF_STICKY, calls_for_groups
from udfs.assignors.sticky_steps.constrained.kernels import constrained_rows


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    of_sticky = calls_for_groups(rng, "sticky", RELEASES_OF_STICKY, constrained_rows)
    of_cooperative = calls_for_groups(rng, "cooperative-sticky", RELEASES_OF_STICKY, constrained_rows)
    return {name: calls + of_cooperative[name] for name, calls in of_sticky.items()}
