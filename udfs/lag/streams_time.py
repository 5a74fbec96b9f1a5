"""Reads the time that Kafka Streams stores in commit metadata: base64 of a version byte, the stream time of the
partition and, in version 2, processor metadata."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Numbers
from udfs.arrays.texts import of_texts

# The first twelve characters are nine bytes: version 1 or 2, and the time. Version 1 ends there.
PATTERN = "^(A[QR][A-Za-z0-9+/]{10}|Ag[A-Za-z0-9+/]{10,}={0,2})$"
LENGTH = 12
LAST_MS = 253_402_300_799_999
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SIX_BITS = np.zeros(256, np.int64)
SIX_BITS[np.frombuffer(ALPHABET, np.uint8)] = np.arange(64)


def stream_times(metadata: pa.ChunkedArray) -> Numbers:
    """Microseconds; NONE if the text is not from Kafka Streams, or if it has seen no time yet."""
    return np.asarray(of_texts(metadata, times_of, NONE), np.int64)


def times_of(texts: pa.Array) -> pa.Array:
    lengths = pc.binary_length(texts).to_numpy()
    # Nearly all other commits have no metadata, or a short text. The length of base64 is a multiple of four.
    rows = np.flatnonzero((lengths >= LENGTH) & (lengths % 4 == 0))
    chosen = texts.take(pa.array(rows))
    is_ours = pc.match_substring_regex(chosen, PATTERN)
    ms = np.full(len(texts), NONE)
    ms[rows[is_ours.to_numpy(zero_copy_only=False)]] = of_nine_bytes(chosen.filter(is_ours))
    return pa.array(ms)


def of_nine_bytes(texts: pa.Array) -> Numbers:
    """The time is the last 64 of the first 72 bits."""
    firsts = pc.utf8_slice_codeunits(texts, 0, LENGTH)
    letters = np.frombuffer("".join(firsts.to_pylist()).encode(), np.uint8).reshape(-1, LENGTH)
    millis = SIX_BITS[letters[:, 1]] & 15
    for place in range(2, LENGTH):
        millis = (millis << 6) | SIX_BITS[letters[:, place]]
    # The pattern allows only the lowest of the first four bits, so no time is negative.
    return np.where(millis <= LAST_MS, millis * 1000, NONE)
