"""Bytes that no broker writes: text that is not UTF-8, values that want to cost more than they are worth."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.fields import Array, Kind, Layout, Struct, layout
from tests.builders.records.encoder import uvarint
from tests.builders.records.hostile_values import hostile_rows
from tests.builders.records.random_records import EVERY_LAYOUT, Draw, Kept
from tests.oracles.decoding.both_decoders import Row, assert_same, fast, fast_outcomes
from tests.oracles.decoding.vectors import T_HEX, key_of

ROOT = Path(__file__).parents[3]


# Text

NOT_UTF8 = (
    b"\xff",
    b"\x80",
    b"\xe2\x82",  # a character cut off
    b"\xc0\x80",  # NUL as Java writes it
    b"\xe0\x80\xaf",  # a slash, longer than need be
    b"\xed\xa0\x80",  # half of a surrogate pair
    b"\xed\xa0\xbd\xed\xb8\x80",  # a surrogate pair, as Java writes it
    b"\xf4\x90\x80\x80",  # beyond the last character
    b"\xf8\x88\x80\x80\x80",
)
TOKEN_SIZE = 8


class NumberedTexts(Draw):
    """Every string drawn is another one, so that it can be found in the bytes."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance, is_large=False)
        self.texts: list[str] = []

    def text(self) -> str:
        self.texts.append(f"{len(self.texts):~>{TOKEN_SIZE}}")
        return self.texts[-1]


def spoilt_rows(chance: random.Random, kept: Kept) -> Iterator[Row]:
    """A drawn record as often as it has strings, each time with another of them spoilt."""
    draw = NumberedTexts(chance)
    record = draw.record(kept, tombstones=0)
    value = record.value_bytes or b""
    for text in draw.texts[:40]:
        token, spoilt = text.encode(), chance.choice(NOT_UTF8).ljust(TOKEN_SIZE, b"a")
        yield record.key_bytes.replace(token, spoilt), value.replace(token, spoilt)


def text_fields(fields: Layout, version: int) -> Iterator[str]:
    for field in (*fields.fields, *fields.tagged):
        kind = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(kind, Struct):
            inner = text_fields(layout(kind.fields, version, fields.is_flexible), version)
            yield from (f"{field.name}.{name}" for name in inner)
        elif kind is Kind.STRING:
            yield field.name


@pytest.mark.drawn(15)
@pytest.mark.parametrize("kept", EVERY_LAYOUT, ids=str)
def test_text_that_is_not_utf8_is_rejected_in_every_string_field(seed: int, kept: Kept) -> None:
    chance = random.Random(seed)
    # A text deep in lists is rare in a random message, where most lists are short or empty.
    outcomes = assert_same([row for _ in range(100) for row in spoilt_rows(chance, kept)])
    # Spoilt text may be part of an unknown tag for an older shape, which then fits.
    assert len(kept.record.value.shapes) > 1 or all("rejected" in outcome for outcome in outcomes)
    rejects = [outcome["rejected"] for outcome in outcomes if "rejected" in outcome]
    spoilt = {(each["part"], each["field"]) for each in rejects if each["reason"] == "invalid_utf8"}
    keys = {("key", name) for name in text_fields(layout(kept.record.key, 0, is_flexible=False), 0)}
    values = {("value", name) for name in text_fields(kept.shape.layout(kept.version), kept.version)}
    if kept.shape is kept.record.value.shapes[0]:
        assert {each["reason"] for each in rejects} == {"invalid_utf8"}
        assert spoilt == keys | values
    else:
        # Where bytes fit no shape the newest one says why, and it may stop before the text.
        assert spoilt >= keys


def test_every_sequence_of_two_bytes_and_the_edges_of_longer_ones_are_told_right() -> None:
    edges = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF)
    texts = [bytes((first, second)) for first in range(256) for second in range(256)]
    texts += [bytes((first, second, third)) for first in range(0xDF, 0xF5) for second in edges for third in edges]
    texts += [
        bytes((first, second, third, fourth))
        for first in range(0xEF, 0xF9)
        for second in edges
        for third in edges
        for fourth in edges
    ]
    rows: list[Row] = [(bytes.fromhex("0002") + len(text).to_bytes(2, "big") + text, None) for text in texts]
    outcomes = fast_outcomes(fast(rows), len(rows))
    for text, outcome in zip(texts, outcomes, strict=True):
        assert ("rejected" not in outcome) == is_utf8(text), text


def is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_halves_of_a_character_in_neighbouring_strings_do_not_make_one() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    keys: list[Row] = [(bytes.fromhex("0002 0001") + half, None) for half in (first, second, first, second)]
    topics = bytes.fromhex("0000 03 02") + first + b"\x02" + second + bytes(17)
    outcomes = assert_same([*keys, (key_of(16), topics)])
    assert {outcome["rejected"]["reason"] for outcome in outcomes} == {"invalid_utf8"}


# Cost


def ordinary_rows(seed: int) -> list[Row]:
    return [(record.key_bytes, record.value_bytes) for record in Draw(random.Random(seed)).records(each=2)]


@pytest.mark.parametrize("size", [1000, 5000, 17_000])
def test_hostile_values_say_the_same_by_both_decoders_alone_and_among_others(seed: int, size: int) -> None:
    rows = list(hostile_rows(size).values())
    alone = [assert_same([row])[0] for row in rows]
    others = ordinary_rows(seed)
    assert assert_same([*others, *rows])[len(others) :] == alone
    assert 5 < sum("rejected" in outcome for outcome in alone) < 15


def test_values_that_repeat_a_tag_say_the_same_by_both_decoders_alone_and_among_others(seed: int) -> None:
    """Type 5 with the protocols of a classic member twice, a tag that nobody knows inside each."""
    head, classic = "0000 00 00 0263 032f68 01 00 0000012c 00", "00 0b 01 {:08x} 01 01 09 02 abcd"
    good = (key_of(5), bytes.fromhex(f"{head} 01 {classic.format(45)}"))
    twice = (key_of(5), bytes.fromhex(f"{head} 02 {classic.format(45)} {classic.format(46)}"))
    cut = (key_of(5), twice[1][:-1])
    rows = [good, twice, cut, good]
    outcomes = assert_same([*ordinary_rows(seed), *rows])[-4:]
    assert [assert_same([row])[0] for row in rows] == outcomes
    assert outcomes[1]["value"]["classic_member_metadata"]["session_timeout_ms"] == 46
    assert outcomes[0] == outcomes[3] != outcomes[1]
    assert outcomes[2]["rejected"]["reason"] == "underrun"


def test_a_long_value_of_one_shape_is_not_taken_for_a_later_one() -> None:
    """Deleted topics of type 15 whose ids read as tag 5 and a size, so that 4.0's shape skips each of them as a tag."""
    count = 400
    topic = b"\x05\x11" + bytes(14) + b"\x02t" + b"\x00"
    last = b"\x05\x10" + topic[2:]
    value = bytes.fromhex("0000 01 01") + uvarint(count + 1) + topic * (count - 1) + last + b"\x00"
    (outcome,) = assert_same([(key_of(15), value)])
    assert len(outcome["value"]["deleting_topics"]) == count


def test_a_string_of_a_megabyte_is_rejected_and_one_of_32767_bytes_is_not() -> None:
    head, tail = bytes.fromhex("0000 00 00"), bytes.fromhex("01 01 00 00000000 00 00")

    def named(size: int) -> Row:
        return key_of(5), head + uvarint(size + 1) + b"x" * size + tail

    outcomes = assert_same([named(32767), named(32768), named(1_000_000), named(3)])
    assert [outcome.get("rejected") for outcome in outcomes[::3]] == [None, None]
    too_long = {"part": "value", "field": "client_id", "reason": "bad_length"}
    assert [outcome["rejected"] for outcome in outcomes[1:3]] == [too_long, too_long]


@pytest.mark.parametrize("count", [2**31 - 1, 2**31 - 2, 2**28, 65535, 300, 200])
def test_a_count_beyond_the_bytes_is_an_underrun_at_every_level(count: int) -> None:
    claim, body = uvarint(count), bytes(150)
    heads = {
        7: ["0000", f"0000 02 {T_HEX}"],
        4: ["0000", f"0000 02 {T_HEX} 0274 00000001", f"0000 02 {T_HEX} 0274 00000001 02 00000000"],
        16: ["0000"],
        23: ["0000 00000001", "0000 00000001 02 0230", "0000 00000001 02 0230 01 01 02 0263 00000000 0000"],
    }
    rows: list[Row] = [
        (key_of(record_type), bytes.fromhex(head) + claim + body)
        for record_type, each in heads.items()
        for head in each
    ]
    outcomes = assert_same(rows)
    assert {outcome["rejected"]["reason"] for outcome in outcomes} == {"underrun"}


@pytest.mark.parametrize("size", [50_000, pytest.param(5_000_000, marks=pytest.mark.soak)])
def test_a_hostile_value_costs_microseconds_and_a_few_hundred_bytes_a_byte_at_most(size: int) -> None:
    program = [sys.executable, "-m", "tests.builders.records.hostile_values", str(size)]
    told = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    costs = json.loads(told.stdout)
    assert costs["grown_mib"] < 100 + size * 300 / 2**20, costs
    assert max(costs["seconds"].values()) < 2 + size * 20e-6, costs
