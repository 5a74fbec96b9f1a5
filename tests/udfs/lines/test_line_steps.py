"""Text of columns against Python's own json module, value by value."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pytest

from udfs.lines.kernels import NUMBER, OP
from udfs.lines.line_steps import Memory, Steps, Style
from udfs.lines.written_lines import json_of, texts_in_order


def values_of(column: pa.Array, style: Style | None = None) -> list[object]:
    return [json.loads(text) for text in json_of(column, style or Style()).to_pylist()]


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
    assert values_of(pa.array(values, MEMBER)) == plain(values)


def test_lists_of_structs_come_back() -> None:
    values = [VALUES, [], None, VALUES[:1]]
    assert values_of(pa.array(values, pa.list_(MEMBER))) == plain(values)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_numbers_keep_their_extremes(kind: pa.DataType) -> None:
    bits = kind.bit_width
    values = [-(2 ** (bits - 1)), -1, 0, 2 ** (bits - 1) - 1, None]
    assert values_of(pa.array(values, kind)) == values


def test_a_column_of_one_value_is_a_constant() -> None:
    assert values_of(pa.array([7, 7, 7])) == [7, 7, 7]
    steps = Steps(Memory())
    steps.value(pa.array([7, 7, 7]))
    assert (steps.said, steps.steps) == ("7", [])
    steps.value(pa.array([7, 7, 8]))
    assert [step[OP] for step in steps.steps] == [NUMBER]


def test_slices_of_columns_give_their_own_rows() -> None:
    column = pa.array(VALUES * 2, MEMBER)
    assert values_of(column.slice(3, 4)) == plain((VALUES * 2)[3:7])
    lists = pa.array([["a"], ["b", "c"], [], ["d"]])
    assert values_of(lists.slice(1, 3)) == [["b", "c"], [], ["d"]]


def test_no_rows_give_no_text() -> None:
    assert values_of(pa.array([], MEMBER)) == []
    assert values_of(pa.array([], pa.list_(MEMBER))) == []


def test_fields_are_left_out_where_null_and_replaced_on_request() -> None:
    column = pa.array([{"a": 1, "b": 2, "c": b"x"}, {"a": 1, "b": None, "c": b"y"}])
    style = Style({"c": pa.array(['{"was":"x"}', "null"])}, frozenset({"a", "b"}))
    # `a` stands first and stays, so that the object has something to begin with.
    assert values_of(column, style) == [{"a": 1, "b": 2, "c": {"was": "x"}}, {"a": 1, "c": None}]


def test_random_text_comes_back(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 0x500, (300, 12))
    values = ["".join(map(chr, row)) for row in codes]
    assert values_of(pa.array(values)) == values


def test_text_is_what_python_writes_byte_for_byte(rng: np.random.Generator) -> None:
    """Around each character that JSON escapes, at every place within the eight bytes that are looked at together."""
    marks = [*map(chr, range(0x20)), '"', "\\", "\x7f", "\x80", "\u2028", "é", "測", "😀", "!", "#", "[", "]"]
    values = ["a" * before + mark + "b" * after for mark in marks for before in range(9) for after in (0, 1, 7, 8, 9)]
    values += ["".join(rng.choice(marks, size)) for size in rng.integers(0, 40, 300)]
    said = json_of(pa.array(values, pa.string())).to_pylist()
    assert said == [json.dumps(value, ensure_ascii=False) for value in values]


def test_numbers_of_every_length_are_those_of_python(rng: np.random.Generator) -> None:
    lengths = [sign * (10**power + more) for power in range(19) for more in (-1, 0, 1) for sign in (1, -1)]
    drawn = (rng.integers(-(2**63), 2**63 - 1, 2_000) >> rng.integers(0, 64, 2_000)).tolist()
    values = [*lengths, *drawn, 2**63 - 1, -(2**63)]
    assert json_of(pa.array(values, pa.int64())).to_pylist() == list(map(str, values))


def test_a_quoted_cell_is_read_back_as_the_same_text() -> None:
    column = pa.array([*VALUES[:3], VALUES[4]], MEMBER)
    finished = pa.array(['"', '""', "\\", "x,y\n"])
    steps = Steps(Memory())
    with steps.quoted():
        steps.struct(column, style=Style({"raw": finished}))
    steps.say(",2")
    steps.end()
    cells = texts_in_order([steps], [np.arange(len(column))], len(column)).to_pylist()
    plain_style = json_of(column, Style({"raw": finished})).to_pylist()
    assert [next(csv.reader(io.StringIO(line, newline=""))) for line in cells] == [[text, "2"] for text in plain_style]
