"""Steps for values that take effect: no loop of their own. tests/udfs/commits tests the loop that has them."""

from typing import Any

import numpy as np


def inputs(rng: np.random.Generator) -> dict[str, Any]:
    return {}
