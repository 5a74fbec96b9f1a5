"""The time that Kafka Streams hides in a commit: base64 of a version byte and its partition's stream time."""

import base64
import binascii

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.replay.nullable import NONE, Numbers

# Version 1 or 2 in its first byte, and nine bytes at least.
PATTERN = "^A[QRg][A-Za-z0-9+/]{10}"
LAST_MS = 253_402_300_799_999


def stream_times(metadata: pa.ChunkedArray) -> Numbers:
    """Microseconds; NONE: the text is not of Kafka Streams, or it has seen no time yet."""
    found = np.full(len(metadata), NONE)
    text = metadata.cast(pa.string())
    for place in np.flatnonzero(pc.fill_null(pc.match_substring_regex(text, PATTERN), False).to_numpy()):
        found[place] = stream_time(text[int(place)].as_py())
    return found


def stream_time(text: str) -> int:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return NONE
    is_ours = (content[0] == 1 and len(content) == 9) or (content[0] == 2 and len(content) >= 9)
    millis = int.from_bytes(content[1:9], "big", signed=True)
    return millis * 1000 if is_ours and 0 <= millis <= LAST_MS else NONE
