"""The fast decoder against the slow one: the same values, the same rejects, whatever the bytes."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
import pytest

from schemas.fields import FIXED_SIZES, Kind, RecordType
from schemas.records import REGISTRY
from tests.builders.records.random_records import EVERY_LAYOUT, Draw, Drawn
from tests.oracles.decoding.both_decoders import (
    Row,
    assert_same,
    decode_batch,
    fast,
    fast_outcomes,
    table,
    without_unknown_tags,
)
from tests.oracles.decoding.vectors import ALL_VALUES, key_of
from udfs.decoding import decode as decoding
from udfs.decoding.decoded import Decoded

COMMIT = 1


@pytest.fixture
def chance(seed: int) -> random.Random:
    return random.Random(seed)


def rows_of(records: Sequence[Drawn]) -> list[Row]:
    return [(record.key_bytes, record.value_bytes) for record in records]


def shuffled(records: Sequence[Drawn], chance: random.Random) -> list[Drawn]:
    return chance.sample(records, len(records))


# Whole records


@pytest.mark.parametrize("each", [60, pytest.param(1000, marks=pytest.mark.soak)])
def test_records_of_every_layout_in_one_batch_say_what_was_drawn(chance: random.Random, each: int) -> None:
    records = shuffled(list(Draw(chance).records(each)), chance)
    assert len(records) == 43 * each
    outcomes = assert_same(rows_of(records))
    taken_for_newer = Counter[str]()
    for record, outcome in zip(records, outcomes, strict=True):
        assert outcome["key"] == record.key
        value = without_unknown_tags(record.value)
        if record.kept.shape is record.kept.record.value.shapes[0] or outcome["value"] == value:
            assert outcome["value"] == value
            assert outcome["value_version"] == (None if value is None else record.kept.version)
        else:
            taken_for_newer[str(record.kept)] += 1
    # By chance old bytes are whole values of a newer shape too, most easily those of 4.0's type 11 with unknown tags.
    assert all(count <= max(3, each // 50) for count in taken_for_newer.values()), taken_for_newer


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_a_batch_of_one_record_says_the_same(chance: random.Random, rounds: int) -> None:
    for record in Draw(chance).records(each=3 * rounds):
        assert_same(rows_of([record]))


class Ordinary(Draw):
    """What brokers write. Else bytes of an old shape may claim long arrays when they are read by a newer one, and the
    walk is given up for them."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance, is_large=False)

    def number(self, kind: Kind) -> int:
        return self.chance.choice((0, 1, 2, 9, 300)) if FIXED_SIZES[kind] > 1 else self.chance.randrange(4)


def test_ordinary_records_are_not_read_one_by_one(chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, decode_alone = list[int](), decoding.Decoder.decode_alone

    def counted(decoder: decoding.Decoder, record: RecordType, version: int, row: int, key: pa.StructArray) -> None:
        alone.append(row)
        decode_alone(decoder, record, version, row, key)

    monkeypatch.setattr(decoding.Decoder, "decode_alone", counted)
    draw = Ordinary(chance)
    written = [kept for kept in EVERY_LAYOUT if "written" not in kept.shape.releases]
    assert len(written) == 41  # two were declared and never written
    records = shuffled([draw.record(kept) for kept in written for _ in range(50)], chance)
    decoded = fast(rows_of(records))
    assert not decoded.rejects
    # By chance old bytes repeat a tag when they are read by a newer shape: one of 60 seeds draws such a record.
    assert len(alone) <= 2
    assert all(records[row].kept.shape is not records[row].kept.record.value.shapes[0] for row in alone)
    # One a layout, and tombstones of each type.
    assert len(decoded.parts) <= len(written) + len(REGISTRY) + len(alone)


def test_a_batch_cut_anywhere_says_the_same_as_the_whole(chance: random.Random) -> None:
    records = shuffled(list(Draw(chance).records(each=10)), chance)
    rows = damaged(rows_of(records), chance, share=0.1)
    whole = fast_outcomes(fast(rows), len(rows))
    for _ in range(3):
        cuts = sorted({0, *chance.choices(range(len(rows)), k=8), len(rows)})
        pieces = [rows[start:end] for start, end in pairwise(cuts)]
        assert [outcome for piece in pieces for outcome in fast_outcomes(fast(piece), len(piece))] == whole


def test_the_order_of_records_does_not_matter(chance: random.Random) -> None:
    rows = damaged(rows_of(list(Draw(chance).records(each=5))), chance, share=0.1)
    order = chance.sample(range(len(rows)), len(rows))
    outcomes = fast_outcomes(fast(rows), len(rows))
    assert fast_outcomes(fast([rows[place] for place in order]), len(rows)) == [outcomes[place] for place in order]


# Damaged records


def damaged(rows: Sequence[Row], chance: random.Random, share: float) -> list[Row]:
    return [damage(row, chance) if chance.random() < share else row for row in rows]


def damage(row: Row, chance: random.Random) -> Row:
    key, value = row
    if chance.random() < 0.2:
        return (changed(key, chance), value)
    return (key, changed(value or b"", chance))


def changed(raw: bytes | None, chance: random.Random) -> bytes:
    """A few bytes overwritten, put in, taken out, repeated or cut off."""
    edited = bytearray(raw or b"")
    for _ in range(chance.choice((1, 1, 2, 5))):
        place, size = chance.randint(0, len(edited)), chance.choice((1, 1, 2, 4))
        match chance.randrange(5):
            case 0:
                edited[place : place + size] = chance.randbytes(size)
            case 1:
                edited[place:place] = chance.choice((b"\xff", b"\x00", b"\x80", b"\x7f\xff\xff\xff", b"\xff" * 4))
            case 2:
                del edited[place : place + size]
            case 3:
                edited[place:place] = edited[place : place + chance.choice((1, 17, 40))]
            case _:
                del edited[place:]
    return bytes(edited)


def one_of_each(chance: random.Random) -> list[Drawn]:
    """With values of at most a few hundred bytes: each is cut and changed at every byte."""
    draw = Draw(chance, is_large=False)
    drawn = ((draw.record(kept, tombstones=0) for _ in range(1000)) for kept in EVERY_LAYOUT)
    return [next(record for record in of_one if len(record.value_bytes or b"") < 250) for of_one in drawn]


VECTORS = [(key_of(record_type), bytes.fromhex(value_hex)) for record_type, value_hex in ALL_VALUES]


@pytest.mark.parametrize("rounds", [1, pytest.param(15, marks=pytest.mark.soak)])
def test_records_cut_at_every_byte(chance: random.Random, rounds: int) -> None:
    for _ in range(rounds):
        whole = rows_of(one_of_each(chance)) + VECTORS
        rows = [(key, value[:size]) for key, value in whole if value for size in range(len(value))]
        rows += [(key[:size], value) for key, value in whole if key for size in range(len(key))]
        outcomes = assert_same(rows)
        assert sum("rejected" in outcome for outcome in outcomes) > 0.95 * len(rows)


@pytest.mark.parametrize("rounds", [1, pytest.param(15, marks=pytest.mark.soak)])
def test_records_with_every_byte_changed(chance: random.Random, rounds: int) -> None:
    for _ in range(rounds):
        whole = rows_of(one_of_each(chance)) + VECTORS
        rows = [(key, flipped) for key, value in whole for flipped in flips(value, chance)]
        rows += [(flipped, value) for key, value in whole for flipped in flips(key, chance)]
        assert_same(rows)


def flips(raw: bytes | None, chance: random.Random) -> list[bytes]:
    flipped = []
    for place, byte in enumerate(raw or b""):
        for other in {0x00, 0xFF, 0x7F, 0x80, byte ^ 1, byte ^ 1 << chance.randrange(8)} - {byte}:
            flipped.append((raw or b"")[:place] + bytes([other]) + (raw or b"")[place + 1 :])
    return flipped


@pytest.mark.parametrize("each", [40, pytest.param(1000, marks=pytest.mark.soak)])
def test_records_damaged_at_random(chance: random.Random, each: int) -> None:
    assert_same(damaged(rows_of(shuffled(list(Draw(chance).records(each)), chance)), chance, share=0.7))


@pytest.mark.parametrize("count", [5000, pytest.param(200_000, marks=pytest.mark.soak)])
def test_random_bytes(chance: random.Random, count: int) -> None:
    for start in range(0, count, 5000):
        assert_same([random_row(chance) for _ in range(start, min(count, start + 5000))])


def random_row(chance: random.Random) -> Row:
    """Small numbers are frequent, as they are in records, so that random bytes get beyond the first field."""
    few = bytes((0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 0x67, 0x80, 0xFF))
    size = chance.choice((0, 1, 2, 3, 10, 30, 60))
    body = bytes(chance.choices(few, k=size)) if chance.random() < 0.7 else chance.randbytes(size)
    record_type = chance.randrange(24)
    key = key_of(record_type) if chance.random() < 0.8 else record_type.to_bytes(2, "big") + body
    if chance.random() < 0.1:
        key = body
    version = chance.randrange(6 if record_type <= 2 else 2).to_bytes(2, "big")
    return (None if chance.random() < 0.02 else key, version + body if chance.random() < 0.9 else body)


# Forms of the input


def test_an_empty_batch_decodes_to_nothing() -> None:
    assert decode_batch(table([])) == Decoded()
    assert decode_batch(table([], [])) == Decoded()
    assert decode_batch(table([(b"", b"")]).slice(0, 0)) == Decoded()


def test_a_slice_of_an_arrow_batch_says_the_same_as_its_rows(chance: random.Random) -> None:
    rows = damaged(rows_of(list(Draw(chance).records(each=3))), chance, share=0.2)
    batch = table(rows).slice(17, 80)
    assert fast_outcomes(decode_batch(batch), 80) == fast_outcomes(fast(rows), len(rows))[17:97]
