"""Columns compared value by value, as Python compares them."""

import numpy as np
import pyarrow as pa
import pytest

from udfs.rows.compare_rows import equal_values

NUMBERS, TEXTS = pa.list_(pa.int32()), pa.list_(pa.string())
PAIR = pa.struct([("a", pa.int64()), ("b", TEXTS)])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [None, 0, 1]),
        (pa.bool_(), [None, True, False]),
        (pa.string(), [None, "", "a"]),
        (pa.binary(), [None, b"", b"\x00"]),
        (pa.timestamp("us", "UTC"), [None, 0, 1]),
        (NUMBERS, [None, [], [None], [1], [1, 2], [2, 1]]),
        (PAIR, [None, {"a": None, "b": None}, {"a": 1, "b": []}, {"a": 1, "b": ["x"]}, {"a": 2, "b": ["x"]}]),
        (pa.list_(PAIR), [None, [], [None], [{"a": 1, "b": ["x"]}], [{"a": 1, "b": ["x", None]}], [None, None]]),
        (pa.list_(NUMBERS), [None, [], [[]], [None], [[1]], [[1], []], [[], [1]]]),
    ],
)
def test_values_are_compared_as_python_compares_them(
    rng: np.random.Generator, kind: pa.DataType, values: list[object]
) -> None:
    for _ in range(20):
        sides = [[values[place] for place in rng.integers(0, len(values), 40)] for _ in range(2)]
        expected = [one == other for one, other in zip(*sides, strict=True)]
        arrays = [pa.array(side, kind) for side in sides]
        assert equal_values(*arrays).tolist() == expected
        # Parts of an array, and columns of several parts.
        assert equal_values(*(array.slice(7, 20) for array in arrays)).tolist() == expected[7:27]
        parted = pa.chunked_array([arrays[0].slice(0, 11), arrays[0].slice(11)])
        assert equal_values(parted, pa.chunked_array([arrays[1]])).tolist() == expected
