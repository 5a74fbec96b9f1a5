"""The walk over layouts that nobody declared: what it makes of records to come depends on no record of today."""

import random

import numpy as np
import pytest

from schemas.fields import Array, Field, FieldType, Kind, Shape, Struct
from tests.builders.records.encoder import encode_value
from tests.builders.records.random_records import Draw
from tests.oracles.decoding.both_decoders import in_type, joined, without_unknown_tags
from udfs.arrays.slices import Slices, padded
from udfs.decoding.messages import columns as message_columns
from udfs.decoding.messages.columns import read_columns
from udfs.decoding.scalar_reader import read_message
from udfs.decoding.steps.kernels import PREFIX

NUMBERS = (Kind.INT8, Kind.INT16, Kind.UINT16, Kind.INT32, Kind.INT64, Kind.UUID)
KINDS = (*NUMBERS, Kind.STRING, Kind.STRING, Kind.BYTES)
DEEPEST = 3


class MadeUp:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.is_flexible = chance.random() < 0.7

    def shape(self) -> Shape:
        return Shape(self.fields(0), "none", "none", flexible_from=0 if self.is_flexible else None)

    def fields(self, depth: int) -> tuple[Field, ...]:
        num_tags = self.chance.choice((0, 0, 1, 2)) if self.is_flexible else 0
        tags = [*[None] * self.chance.randint(1, 4), *range(num_tags)]
        return tuple(self.field(f"f{place}", depth, tag) for place, tag in enumerate(tags))

    def field(self, name: str, depth: int, tag: int | None) -> Field:
        is_nullable = self.chance.random() < 0.4
        kind: FieldType = self.chance.choice(KINDS)
        match self.chance.randrange(5 if depth < DEEPEST else 3):
            case 0:
                kind = Array(self.chance.choice((*NUMBERS, Kind.STRING)))
            case 3:
                kind = Array(self.struct(depth))
            case 4:
                kind = self.struct(depth)
        return Field(name, kind, "Made up.", nullable=is_nullable and kind not in NUMBERS, tag=tag)

    def struct(self, depth: int) -> Struct:
        return Struct("made_up", self.fields(depth + 1))


@pytest.mark.parametrize("count", [150, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_made_up_layout_is_read_as_it_was_drawn(seed: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        shape = MadeUp(chance).shape()
        draw = Draw(chance)
        drawn = [draw.values(shape.layout(0), 0) for _ in range(8)]
        raw = [encode_value(shape, 0, values) for values in drawn]
        columns = read(shape, raw)
        assert columns.rows.tolist() == list(range(8))
        rows = columns.values.to_pylist()
        assert rows == [in_type(without_unknown_tags(values), columns.values.type) for values in drawn], shape
        alone = [read_message(each, shape.layout(0), 0, PREFIX) for each in raw]
        assert rows == [in_type(values, columns.values.type) for values, _ in alone]
        assert columns.unknown_tags == sum(unknown_tags for _, unknown_tags in alone)


@pytest.mark.parametrize("kind", NUMBERS)
def test_many_fields_of_fixed_size_in_a_row_are_read(seed: int, kind: Kind) -> None:
    fields = tuple(Field(f"f{place}", each, "Made up.") for place, each in enumerate([kind] * 60 + [*NUMBERS]))
    shape, draw = Shape(fields, "none", "none"), Draw(random.Random(seed))
    drawn = [draw.values(shape.layout(0), 0) for _ in range(8)]
    assert read(shape, [encode_value(shape, 0, values) for values in drawn]).values.to_pylist() == drawn


def read(shape: Shape, raw: list[bytes]) -> message_columns.Columns:
    whole, starts, lengths = joined(raw)
    data = padded(whole)
    slices = Slices(data, np.array(starts, np.int64), np.array(lengths, np.int64))
    return read_columns(slices, np.arange(len(raw)), shape.layout(0), 0)
