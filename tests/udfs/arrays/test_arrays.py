"""Fitting and merging Arrow arrays, slices and nulls among them: equal to what lists of Python values give."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.tables import GROUPS, Column, ListOf, StructOf, Type
from tests.builders.records.random_records import Draw
from tests.builders.records.raw_records import CLASSIC_LAYOUTS, Scene, as_records
from tests.oracles.log.table_rows import Raw
from udfs.arrays.arrow_schema import arrow_type
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Part
from udfs.rows.classic_members import members
from udfs.rows.payload_json import PayloadTexts
from udfs.rows.typed_arrays import concatenate, fit_type, items_of, null_if_unknown

NARROW = pa.list_(pa.struct([("a", pa.int16()), ("gone", pa.string()), ("deep", pa.list_(pa.int8()))]))
WIDE = arrow_type(
    ListOf(
        StructOf(
            (
                Column("new", Type.STRING, ""),
                Column("deep", ListOf(Type.INT), ""),
                Column("a", Type.INT, ""),
            )
        )
    )
)


def lists(chance: random.Random, size: int) -> list[Any]:
    def item() -> dict[str, Any] | None:
        deep = [chance.randint(-128, 127) for _ in range(chance.randrange(3))]
        return chance.choice([None, {"a": chance.randint(-99, 99), "gone": "x", "deep": chance.choice([None, deep])}])

    return [chance.choice([None, [item() for _ in range(chance.randrange(4))]]) for _ in range(size)]


def widened(values: list[Any]) -> list[Any]:
    return [
        value and [item and {"new": None, "deep": item["deep"], "a": item["a"]} for item in value] for value in values
    ]


def test_a_slice_is_fitted_by_name_and_width(seed: int) -> None:
    values = lists(random.Random(seed), 60)
    array = pa.array(values, NARROW).slice(7, 40)
    result = fit_type(array, WIDE)
    result.validate(full=True)
    assert result.type == WIDE
    assert result.to_pylist() == widened(values)[7:47]


@pytest.mark.parametrize("share_of_nulls", [0, 0.5, 1])
def test_lists_are_merged_in_every_order(seed: int, share_of_nulls: float) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        pieces, values = [], []
        for _ in range(chance.randint(1, 4)):
            piece = lists(chance, chance.randint(1, 9))
            piece = [None if chance.random() < share_of_nulls else value for value in piece]
            start = chance.randrange(len(piece))
            pieces.append(pa.array(piece, NARROW).slice(start))
            values += piece[start:]
        order = np.array(chance.sample(range(len(values)), len(values)))
        for array, wanted in (
            (concatenate(pieces, None), values),
            (concatenate(pieces, order), [values[place] for place in order]),
            # Only nulls move.
            (concatenate(pieces, ordered := nulls_moved(values, chance)), [values[place] for place in ordered]),
        ):
            array.validate(full=True)
            assert array.to_pylist() == wanted


def nulls_moved(values: list[Any], chance: random.Random) -> Any:
    """An order in which lists with items keep theirs."""
    filled = [place for place, value in enumerate(values) if value]
    order = filled.copy()
    for place in set(range(len(values))) - set(filled):
        order.insert(chance.randrange(len(order) + 1), place)
    return np.array(order)


def test_items_of_a_slice_have_their_owners() -> None:
    items, owner = items_of(pa.array([[9], [1, 2], None, [], [3]], pa.list_(pa.int64())).slice(1))
    assert items.to_pylist() == [1, 2, 3]
    assert owner.tolist() == [0, 0, 3]


def test_numbers_for_unknown_are_null_beside_those_that_are() -> None:
    array = pa.array([5, -1, None, 0, -1, 7], pa.int32()).slice(1)
    assert null_if_unknown(array, (-1,)).to_pylist() == [None, None, 0, None, 7]
    assert null_if_unknown(array, (0, -1)).to_pylist() == [None, None, None, None, 7]


def test_members_of_a_slice_of_groups(seed: int) -> None:
    scene = Scene(seed)
    scene.draw = Draw(scene.chance, is_large=False)
    raws = [Raw(offset, *scene.classic_group()) for offset in range(200)]
    records = as_records(raws)
    kind = pa.list_(arrow_type(StructOf(GROUPS["CLASSIC_MEMBER"])))
    parts = [part for part in decode(records.keys, records.values, records.is_control).parts if part.value is not None]
    assert {part.value_version for part in parts} == {kept.version for kept in CLASSIC_LAYOUTS}
    for part in parts:
        whole = members(part, kind, PayloadTexts())
        cut = Part(2, part.value_version, part.rows[2:], part.key.slice(2), part.value.slice(2))
        result = members(cut, kind, PayloadTexts())
        result.validate(full=True)
        assert result.to_pylist() == whole.to_pylist()[2:]
