"""What verdicts take of tables: the same whether their rows are in order or not."""

import numpy as np
import pyarrow as pa

from udfs.rules.verdicts.own_facts import newest_rows
from udfs.rules.verdicts.rewinds import changes


def test_the_newest_row_of_a_key_has_the_largest_offset(rng: np.random.Generator) -> None:
    for number in range(100):
        keys, offsets = rng.integers(0, 4, 12), rng.permutation(12)
        order = np.lexsort((offsets, keys)) if number % 2 else np.arange(12)
        keys, offsets = keys[order], offsets[order]
        is_chosen = rng.random(12) < 0.7
        expected = [
            max(((int(offsets[row]), row) for row in np.flatnonzero(is_chosen & (keys == key))), default=(0, -1))[1]
            for key in range(5)
        ]
        assert newest_rows(pa.table({"from_record_offset": offsets}), keys, 5, is_chosen).tolist() == expected


def test_an_id_that_is_not_known_is_no_other_topic() -> None:
    assert changes(np.array([1, 1, 2, -1, 2, -1, -1, 3])).tolist() == [False, False, True, *[False] * 5]
