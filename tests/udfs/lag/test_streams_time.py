"""The times that Kafka Streams writes into commits, at the bounds of what is a time."""

import base64

import numpy as np
import pyarrow as pa
import pytest

from udfs.arrays.nullable import NONE
from udfs.lag.streams_time import stream_times

# The last millisecond of the year 9999.
LAST = 253_402_300_799_999


@pytest.mark.parametrize(("millis", "micros"), [(-1, NONE), (0, 0), (1, 1_000), (LAST, LAST * 1_000), (LAST + 1, NONE)])
def test_a_time_is_one_that_tables_can_hold(millis: int, micros: int) -> None:
    written = base64.b64encode(b"\x02" + millis.to_bytes(8, "big", signed=True)).decode()
    assert stream_times(pa.chunked_array([[written]])).tolist() == [micros]


def test_texts_of_others_are_no_times(rng: np.random.Generator) -> None:
    """Against Python's own base64, over texts that are nearly right."""
    letters = list("ABQRghA/+=-_ \n\u00e9")
    texts = [
        base64.b64encode(bytes([version, *rng.bytes(size)])).decode() for version in range(4) for size in range(30)
    ]
    texts += [
        "AgAAAAAAAAAA",
        "AgAAAAAAAAAA====",
        "AgAAAAAAAAAAAA=",
        "AgAAAAAAAAAAA===",
        "AhAAAAAAAAAA",
        "AgAAAAAAAAAA\n",
    ]
    texts += [f"Ag{''.join(rng.choice(letters, size))}" for size in range(8, 20) for _ in range(50)]
    texts += [f"AgAAAAAAAA{''.join(rng.choice(letters, size))}" for size in range(8) for _ in range(100)]
    values = stream_times(pa.chunked_array([[*texts, None]])).tolist()
    expected = [time_in_metadata(text) for text in texts]
    assert values == [*expected, NONE]
    assert 20 < sum(each != NONE for each in expected) < len(texts) - 500


def time_in_metadata(text: str) -> int:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        return NONE
    size = len(content)
    # Java, unlike Python, takes no padding where none is needed.
    is_padded = len(text) == -(-size // 3) * 4
    is_streams = is_padded and size >= 9 and (content[0] == 2 or (content[0] == 1 and size == 9))
    millis = int.from_bytes(content[1:9], "big", signed=True)
    return millis * 1_000 if is_streams and 0 <= millis <= LAST else NONE
