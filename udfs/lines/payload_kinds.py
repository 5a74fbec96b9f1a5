"""What texts of client payloads share, whether they become lines or cells of a table."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.records import COOPERATIVE_STICKY_PROTOCOL, STICKY_PROTOCOL, STREAM_PROTOCOL

USER_DATA_PROTOCOLS = (STICKY_PROTOCOL, COOPERATIVE_STICKY_PROTOCOL, STREAM_PROTOCOL)
# Beyond this many bytes of payloads and texts what is known is forgotten.
LARGEST_MEMORY = 16 << 20

Kind = tuple[str | None, str | None]


def distinct_kinds(
    protocol_types: pa.StringArray, protocols: pa.StringArray
) -> tuple[NDArray[np.int64], list[tuple[str | None, str | None]]]:
    """Codes and values of the pairs that occur, nulls included."""
    first, second = (column.dictionary_encode(null_encoding="encode") for column in (protocol_types, protocols))
    width = max(len(second.dictionary), 1)
    pairs = first.indices.to_numpy().astype(np.int64) * width + second.indices.to_numpy()
    distinct, codes = np.unique(pairs, return_inverse=True)
    kinds = [
        (first.dictionary[int(pair // width)].as_py(), second.dictionary[int(pair % width)].as_py())
        for pair in distinct
    ]
    return codes.astype(np.int64), kinds


def value_text(decoded: Any, raw: bytes) -> str:
    value = raw.hex() if decoded is None else decoded
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=bytes.hex)
    # JSON may hold half a surrogate pair, which is no text: back it goes into the escape that it came from.
    return text.encode(errors="backslashreplace").decode()
