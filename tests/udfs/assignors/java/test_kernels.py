"""Arguments for the loops of Java's tables: random steps and whole arrays, with many keys in few buckets."""

from random import Random
from typing import Any

import numpy as np

from tests.builders.loops.recorded_calls import recorded_calls
from tests.udfs.assignors.java.test_hash_tables import random_key, random_steps, walked
from udfs.assignors.java.iteration_order import by_text, put_order, string_hashes
from udfs.assignors.java.kernels import text_hashes, walked_after, walked_keys


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    random = Random(int(rng.integers(2**62)))
    with recorded_calls(walked_after, walked_keys) as calls:
        for _ in range(150):
            walked(random_steps(random))
        for size in [0, 1, 8, 9, 14, 40, 100] * 10:
            put_random_keys(random, size)
    texts = [random_key(random, "t", 1) for _ in range(50)] + [""]
    with recorded_calls(text_hashes) as of_texts:
        string_hashes(texts)
        string_hashes([*texts, "é", "\U0001d11e"])
    return {**calls, **of_texts}


def put_random_keys(random: Random, size: int) -> None:
    """Texts, of which many have one hash code, and numbers of any 32 bits, of which many share a bucket."""
    texts = list(dict.fromkeys(random_key(random, "t", 1) for _ in range(size)))
    put_order(string_hashes(texts), random.choice([1, 16, 64]), by_text(texts))
    crowd = random.choice([1, 4, 64])
    numbers = dict.fromkeys((1 << 32) - 1 - int(random_key(random, "n", crowd)) for _ in range(size))
    put_order(np.array(list(numbers), np.uint32), random.choice([1, 16, 64]), list(numbers).__getitem__)
