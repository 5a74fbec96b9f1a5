"""The loop over messages: what it is run with, what it does with each byte that is missing or changed, and which text
it takes."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from schemas.fields import Field, Kind, Layout, Shape
from tests.builders.records.encoder import encode_value
from tests.builders.records.random_records import EVERY_LAYOUT, Draw
from tests.oracles.decoding.both_decoders import joined
from udfs.arrays.slices import Slices, padded
from udfs.decoding.messages.column_buffers import ColumnBuffers, Sizes
from udfs.decoding.messages.columns import Messages, read_columns
from udfs.decoding.messages.kernels import FITS, REPEATS_TAG, SIZE_OF_STATE
from udfs.decoding.messages.programs import program_of
from udfs.decoding.steps.kernels import UNFIT

Arguments = tuple[Any, ...]


def messages_of(raw: list[bytes], fields: Layout, version: int, is_open_ended: bool = False) -> Messages:
    whole, starts, lengths = joined(raw)
    slices = Slices(padded(whole), np.array(starts, np.int64), np.array(lengths, np.int64))
    return Messages(slices, program_of(fields, version), is_open_ended)


def damaged(raw: bytes, chance: random.Random) -> Iterator[bytes]:
    """Cut somewhere, longer, and with another byte."""
    yield raw[: chance.randint(2, len(raw))]
    yield raw + bytes([chance.randrange(256)])
    place = chance.randrange(2, len(raw)) if len(raw) > 2 else 0
    yield raw[:place] + bytes([chance.choice((0, 1, 2, 127, 128, 255))]) + raw[place + 1 :]


def arguments(messages: Messages, rows: Any, sizes: Sizes | None, checks_text: bool) -> Arguments:
    """Of `read_messages`: with sizes, to fill columns that have these; else to measure them."""
    slices, program = messages.slices, messages.program
    columns, out = program.columns, np.zeros(0, np.uint8)
    if sizes is not None:
        buffers = ColumnBuffers(program, sizes)
        columns, out = buffers.columns, np.zeros(buffers.size, np.uint8)
    inputs = (slices.data, slices.start, slices.length, rows, messages.is_open_ended, program.steps, columns)
    place, used = np.zeros(program.num_levels, np.int64), np.zeros(len(columns), np.int64)
    state, outcome = np.zeros((len(program.steps), SIZE_OF_STATE), np.int64), np.zeros(len(rows), np.int64)
    return (*inputs, place, used, state, sizes is not None, checks_text, out, outcome)


def inputs(rng: np.random.Generator) -> dict[str, Iterator[Arguments]]:
    return {"read_messages": calls(random.Random(int(rng.integers(2**32))))}


def calls(chance: random.Random) -> Iterator[Arguments]:
    draw = Draw(chance, is_large=False)
    for kept in EVERY_LAYOUT:
        fields = kept.shape.layout(kept.version)
        whole = [encode_value(kept.shape, kept.version, draw.values(fields, kept.version)) for _ in range(3)]
        raw = [each for good in whole for each in (good, *damaged(good, chance))]
        messages = messages_of(raw, fields, kept.version, is_open_ended=chance.random() < 0.2)
        rows = np.arange(len(raw))
        yield arguments(messages, rows, None, checks_text=True)
        fits = rows[messages.measured(rows, checks_text=True)[0] == FITS]
        yield arguments(messages, fits, messages.measured(fits, checks_text=False)[1], checks_text=False)


TAGGED = Shape(
    (
        Field("name", Kind.STRING, "A text."),
        Field("id", Kind.INT32, "A tag.", tag=0),
        Field("note", Kind.STRING, "Another tag.", tag=3),
    ),
    "none",
    "none",
    flexible_from=0,
)


def outcomes(*hexes: str, checks_text: bool = True) -> list[int]:
    raw = [bytes(2) + bytes.fromhex(each) for each in hexes]
    messages = messages_of(raw, TAGGED.layout(0), 0)
    return messages.measured(np.arange(len(raw)), checks_text)[0].tolist()


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("0261 00", FITS),
        ("0261 01 00 04 00000007", FITS),
        ("0261 02 00 04 00000007 03 02 0262", FITS),
        ("0261 02 03 02 0262 00 04 00000007", FITS),
        ("0261 01 05 02 ffff", FITS),  # a tag that nobody knows
        ("0261 02 00 04 00000007 00 04 00000008", REPEATS_TAG),
        ("0261 01 00 03 000007", UNFIT),  # the size is too small for the field
        ("0261 01 00 05 0000000700", UNFIT),  # and too large
        ("0261 02 00 05 00000007 05 00", UNFIT),  # though the byte after the field begins another tag
        ("0261 01 00 04 000000", UNFIT),
        ("0261 02 00 04 00000007", UNFIT),
        ("0261 01 03 02 0362", UNFIT),  # the text would go on after its tag
        ("0261", UNFIT),
        ("0261 00 00", UNFIT),
        ("00 00", UNFIT),  # null, where none may be
        ("ffffffff0f 00", UNFIT),
        ("8080808080 00", UNFIT),
        ("818080808000", UNFIT),
        ("8100", UNFIT),  # zero bytes, said in two
    ],
)
def test_what_becomes_of_a_message(message: str, outcome: int) -> None:
    assert outcomes(message, "0261 00") == [outcome, FITS]


@pytest.mark.parametrize("is_open_ended", [False, True])
def test_a_message_that_may_go_on_must_still_have_all_its_fields(is_open_ended: bool) -> None:
    kinds = (Kind.INT32, Kind.BYTES, Kind.INT64)
    shape = Shape(tuple(Field(kind, kind, "Made up.") for kind in kinds), "none", "none")
    whole = encode_value(shape, 0, {Kind.INT32: 7, Kind.BYTES: b"abc", Kind.INT64: 8})
    raw = [whole[:end] for end in range(2, len(whole))] + [whole, whole + b"x"]
    messages = messages_of(raw, shape.layout(0), 0, is_open_ended)
    outcome = messages.measured(np.arange(len(raw)), checks_text=True)[0].tolist()
    assert outcome == [UNFIT] * (len(raw) - 2) + [FITS, FITS if is_open_ended else UNFIT]
    only_bytes = Shape((Field("raw", Kind.BYTES, "Made up."),), "none", "none")
    cut = messages_of([bytes(2) + b"\0\0\0\x03ab"], only_bytes.layout(0), 0, is_open_ended)
    assert cut.measured(np.arange(1), checks_text=True)[0].tolist() == [UNFIT]


def test_a_tag_that_comes_twice_has_its_last_value_and_is_read_alone() -> None:
    raw = [bytes(2) + bytes.fromhex(each) for each in ("0261 00", "0261 02 00 04 00000007 00 04 00000008", "0261")]
    slices = messages_of(raw, TAGGED.layout(0), 0).slices
    columns = read_columns(slices, np.arange(3), TAGGED.layout(0), 0)
    assert (columns.rows.tolist(), columns.repeat_tags.tolist()) == ([0], [1])


def test_text_is_checked_only_when_it_is_asked_for() -> None:
    assert outcomes("02ff 00") == [UNFIT]
    assert outcomes("02ff 00", checks_text=False) == [FITS]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 200])
def test_slices_of_every_length_are_copied_whole(size: int) -> None:
    fields = Shape((Field("text", Kind.STRING, "A text."), Field("raw", Kind.BYTES, "Bytes.")), "none", "none").layout(
        0
    )
    texts = [chr(65 + place) * max(size - place, 0) for place in range(3)]
    raw = [
        bytes(2) + len(text).to_bytes(2, "big") + text.encode() + len(text).to_bytes(4, "big") + text.lower().encode()
        for text in texts
    ]
    columns = read_columns(messages_of(raw, fields, 0).slices, np.arange(3), fields, 0)
    assert columns.values.to_pylist() == [{"text": text, "raw": text.lower().encode()} for text in texts]
