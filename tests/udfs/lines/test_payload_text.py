"""JSON text of payloads that no well-meaning client writes."""

import json

import numpy as np
import pyarrow as pa
import pytest

from schemas.records import SCHEMA_REGISTRY, SUBSCRIPTION
from udfs.lines.payload_text import PayloadTexts


def text_of_registry(raw: bytes) -> str:
    kinds, codes = [(SCHEMA_REGISTRY, "v0")], np.zeros(1, np.int64)
    return str(PayloadTexts().texts(kinds, codes, pa.array([raw], pa.binary()), SUBSCRIPTION)[0])


@pytest.mark.parametrize("raw", [b'{"host":"\\ud800"}', b'{"\\udfff":1}', '{"host":"é 😀 \\"\\\\"}'.encode()])
def test_half_a_surrogate_pair_stays_the_escape_that_it_was(raw: bytes) -> None:
    assert text_of_registry(raw) == raw.decode()


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_what_json_cannot_say_stays_as_bytes(number: str) -> None:
    raw = f'{{"port":{number}}}'.encode()
    assert json.loads(text_of_registry(raw)) == raw.hex()
