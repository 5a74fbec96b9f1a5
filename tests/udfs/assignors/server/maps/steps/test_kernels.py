"""Steps only: `uniform_rows` and `simple_rows` run them, with the groups of tests/udfs/assignors/server and share."""

from typing import Any

import numpy as np


def inputs(_rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    return {}
