"""Arguments for the loop of hash codes: names of topics and members, and what names could be."""

from random import Random
from typing import Any

import numpy as np

from tests.builders.loops.recorded_calls import recorded_calls
from tests.udfs.assignors.java.test_hash_tables import random_key
from udfs.assignors.java.kernels import text_hashes
from udfs.assignors.java.maps import string_hashes


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    random = Random(int(rng.integers(2**62)))
    texts = [random_key(random, "t", 1) for _ in range(50)] + [""]
    with recorded_calls(text_hashes) as calls:
        string_hashes(texts)
        string_hashes([*texts, "é", "\U0001d11e"])
    return calls
