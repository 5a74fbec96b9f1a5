"""Steps that write rows of columns, beside what Python writes."""

from base64 import urlsafe_b64encode
from typing import Any

import numpy as np

from udfs.decoding.messages.filling.kernels import (
    IS,
    NO_BUFFER,
    OF_NUMBERS,
    OF_STRUCTS,
    SIZE,
    UUID_BYTES,
    UUID_LETTERS,
    VALID,
    VALUES,
    put_row,
    put_uuid,
)

# Room for words that are read or written beyond the end.
SPARE = 16


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    """None of them is called from Python."""
    return {}


def test_a_uuid_is_written_as_url_safe_base64_without_padding(rng: np.random.Generator) -> None:
    for raw in (bytes(16), b"\xff" * 16, *(rng.bytes(16) for _ in range(200))):
        data = np.frombuffer(b"\x55" + raw + rng.bytes(SPARE), np.uint8)
        out = np.zeros(3 + UUID_LETTERS + SPARE, np.uint8)
        put_uuid(data, 1, out, 3)
        assert out[3 : 3 + UUID_LETTERS].tobytes() == urlsafe_b64encode(raw)[:UUID_LETTERS]
    assert len(raw) == UUID_BYTES


def test_a_row_has_a_number_and_whether_it_is_valid() -> None:
    columns = np.zeros((2, 8), np.int64)
    columns[0, [IS, VALUES, SIZE, VALID]] = OF_NUMBERS, 8, 4, 4
    columns[1, [IS, VALID]] = OF_STRUCTS, NO_BUFFER
    out = np.full(8 + 3 * 4 + SPARE, 7, np.uint8)
    for row, (value, is_valid) in enumerate([(1_000_000, True), (0, False), (65_537, True)]):
        put_row(out, columns, 0, row, value, is_valid)
    assert np.frombuffer(out, "<i4", 3, 8).tolist() == [1_000_000, 0, 65_537]
    assert out[4:8].tolist() == [1, 0, 1, 7]
    before = out.copy()
    put_row(out, columns, 1, 0, 5, False)
    assert out.tolist() == before.tolist(), "a struct that is always there has neither"
