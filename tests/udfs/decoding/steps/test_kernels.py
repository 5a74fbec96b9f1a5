"""Steps that read and write bytes, beside what Python reads and writes."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from schemas.fields import INT32_MAX
from tests.builders.records.encoder import uvarint
from udfs.decoding.steps.kernels import UNFIT, is_utf8, number_at, put, read_uvarint, word_at

EDGES = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF)


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    """None of them is called from Python."""
    return {}


def bytes_of(raw: bytes) -> Any:
    return np.frombuffer(raw, np.uint8)


def is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_utf8_is_what_python_decodes(rng: np.random.Generator) -> None:
    texts = [bytes(each) for size in range(4) for each in product(EDGES, repeat=size)]
    texts += [bytes(each) for each in product((0xF0, 0xF1, 0xF4), EDGES, EDGES, (0x7F, 0x80, 0xBF, 0xC0))]
    texts += [bytes(rng.choice(EDGES, 6).astype(np.uint8)) for _ in range(500)]
    texts += [chr(code).encode() for code in (0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF)]
    for text in texts:
        # What follows would complete a character.
        assert is_utf8(bytes_of(b"a" + text + b"\x80\x80"), 1, 1 + len(text)) == is_text(text), text


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_numbers_of_every_width(width: int, rng: np.random.Generator) -> None:
    for raw in (rng.bytes(20), bytes(20), b"\xff" * 20, b"\x7f" + b"\xff" * 19, b"\0\x80" + bytes(18)):
        for at in (0, 1, 7):
            assert number_at(bytes_of(raw), at, width) == int.from_bytes(raw[at : at + width], signed=True)


def test_words_are_copied_from_any_place_to_any_place(rng: np.random.Generator) -> None:
    raw, out = rng.bytes(30), np.zeros(30, np.uint8)
    put(out, 5, word_at(bytes_of(raw), 3))
    assert out.tobytes() == bytes(5) + raw[3:11] + bytes(17)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**14, 2**21, 2**28, INT32_MAX])
def test_varints_end_where_their_bytes_do(value: int) -> None:
    raw = uvarint(value)
    assert read_uvarint(bytes_of(raw + b"x"), 0, len(raw)) == (value, len(raw))
    for end in range(len(raw)):
        assert read_uvarint(bytes_of(raw), 0, end)[1] == UNFIT


@pytest.mark.parametrize("raw", ["ffffffff08", "8080808010", "8080808080", "808080808000"])
def test_varints_that_no_int32_holds_are_bad(raw: str) -> None:
    assert read_uvarint(bytes_of(bytes.fromhex(raw)), 0, len(raw) // 2)[1] == UNFIT
