"""Steps for commits that wait for a marker: no loop of their own. tests/udfs/commits tests the loop that has them."""

from typing import Any

import numpy as np


def inputs(rng: np.random.Generator) -> dict[str, Any]:
    return {}
