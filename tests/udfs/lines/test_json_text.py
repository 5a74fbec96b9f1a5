"""Text of columns against Python's own json module, value by value."""

import json

import numpy as np
import pyarrow as pa
import pytest

from udfs.lines.json_text import Style, join_pieces, text_of


def texts(column: pa.Array, style: Style | None = None) -> list[object]:
    return [json.loads(text) for text in join_pieces(text_of(column, style or Style()), len(column)).to_pylist()]


MEMBER = pa.struct([("name", pa.string()), ("raw", pa.binary()), ("numbers", pa.list_(pa.int32()))])
VALUES = [
    {"name": 'a"b\\c', "raw": b"\x00\xff", "numbers": [1, -2, 3]},
    {"name": "tab\tline\nnul\x00", "raw": b"", "numbers": []},
    {"name": "é測😀\u2028", "raw": None, "numbers": None},
    None,
    {"name": None, "raw": b"x" * 40, "numbers": [None, 7]},
]


def plain(value: object) -> object:
    """The value as JSON gives it back: bytes as hex."""
    match value:
        case bytes():
            return value.hex()
        case dict():
            return {name: plain(inner) for name, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case _:
            return value


@pytest.mark.parametrize("repeats", [1, 3])
def test_structs_with_nulls_lists_bytes_and_text_to_escape_come_back(repeats: int) -> None:
    values = VALUES * repeats
    assert texts(pa.array(values, MEMBER)) == plain(values)


def test_lists_of_structs_come_back() -> None:
    values = [VALUES, [], None, VALUES[:1]]
    assert texts(pa.array(values, pa.list_(MEMBER))) == plain(values)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_numbers_keep_their_extremes(kind: pa.DataType) -> None:
    bits = kind.bit_width
    values = [-(2 ** (bits - 1)), -1, 0, 2 ** (bits - 1) - 1, None]
    assert texts(pa.array(values, kind)) == values


def test_a_column_of_one_value_is_a_constant() -> None:
    assert text_of(pa.array([7, 7, 7])) == ["7"]
    assert texts(pa.array([7, 7, 7])) == [7, 7, 7]


def test_slices_of_columns_give_their_own_rows() -> None:
    column = pa.array(VALUES * 2, MEMBER)
    assert texts(column.slice(3, 4)) == plain((VALUES * 2)[3:7])
    lists = pa.array([["a"], ["b", "c"], [], ["d"]])
    assert texts(lists.slice(1, 3)) == [["b", "c"], [], ["d"]]


def test_no_rows_give_no_text() -> None:
    assert texts(pa.array([], MEMBER)) == []
    assert texts(pa.array([], pa.list_(MEMBER))) == []


def test_fields_are_left_out_where_null_and_replaced_where_told() -> None:
    column = pa.array([{"a": 1, "b": 2, "c": b"x"}, {"a": 1, "b": None, "c": b"y"}])
    style = Style({"c": pa.array(['{"was":"x"}', "null"])}, frozenset({"a", "b"}))
    # `a` stands first and stays, so that the object has something to begin with.
    assert texts(column, style) == [{"a": 1, "b": 2, "c": {"was": "x"}}, {"a": 1, "c": None}]


def test_random_text_comes_back(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 0x500, (300, 12))
    values = ["".join(map(chr, row)) for row in codes]
    assert texts(pa.array(values)) == values
