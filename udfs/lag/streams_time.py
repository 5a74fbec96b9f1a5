"""The time that Kafka Streams hides in a commit: base64 of a version byte and its partition's stream time."""

import base64
import binascii

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.replay.nullable import NONE, Numbers

# Version 1 or 2 in its first byte, and nine bytes at least: as many as twelve characters are.
PATTERN = "^A[QRg][A-Za-z0-9+/]{10}"
LENGTH = 12
LAST_MS = 253_402_300_799_999
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SIX_BITS = np.zeros(256, np.int64)
SIX_BITS[np.frombuffer(ALPHABET, np.uint8)] = np.arange(64)


def stream_times(metadata: pa.ChunkedArray) -> Numbers:
    """Microseconds; NONE: the text is not of Kafka Streams, or it has seen no time yet."""
    found = np.full(len(metadata), NONE)
    lengths = pc.fill_null(pc.binary_length(metadata), 0).to_numpy()
    # Nearly all commits of others have none, or a short one.
    rows = np.flatnonzero(lengths >= LENGTH)
    texts = metadata.take(pa.array(rows)).cast(pa.string())
    is_like = pc.match_substring_regex(texts, PATTERN)
    rows, texts = rows[is_like.to_numpy()], texts.filter(is_like)
    is_short = lengths[rows] == LENGTH
    found[rows[is_short]] = of_nine_bytes(texts.filter(pa.array(is_short)))
    found[rows[~is_short]] = [stream_time(text) for text in texts.filter(pa.array(~is_short)).to_pylist()]
    return found


def of_nine_bytes(texts: pa.ChunkedArray) -> Numbers:
    """Of many at once: the last 64 of 72 bits are the time."""
    letters = np.frombuffer("".join(texts.to_pylist()).encode(), np.uint8).reshape(-1, LENGTH)
    millis = SIX_BITS[letters[:, 1]] & 15
    for place in range(2, LENGTH):
        millis = (millis << 6) | SIX_BITS[letters[:, place]]
    # The pattern leaves only the lowest of the first four bits, so that no time is below 0.
    return np.where(millis <= LAST_MS, millis * 1000, NONE)


def stream_time(text: str) -> int:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return NONE
    is_ours = (content[0] == 1 and len(content) == 9) or (content[0] == 2 and len(content) >= 9)
    millis = int.from_bytes(content[1:9], "big", signed=True)
    return millis * 1000 if is_ours and 0 <= millis <= LAST_MS else NONE
