"""Short texts as numbers of eight bytes, as loops write and compare them: the first letter is the lowest byte."""

import json

import numpy as np
from numpy.typing import NDArray

from udfs.decoding.steps.kernels import WORD


def words(*texts: str) -> NDArray[np.uint64]:
    return np.array([int.from_bytes(text.encode("latin-1"), "little") for text in texts], np.uint64)


# How strings are written: as JSON; as JSON in a quoted cell of CSV; as they are, in such a cell.
AS_JSON, AS_JSON_IN_CELL, IN_CELL = range(3)
IN_JSON = [json.dumps(chr(byte))[1:-1] if byte < 0x7F else chr(byte) for byte in range(256)]
ESCAPED = (
    IN_JSON,
    [text.replace('"', '""') for text in IN_JSON],
    [chr(byte).replace('"', '""') for byte in range(256)],
)
ESCAPE_WORDS = np.stack([words(*texts) for texts in ESCAPED])
ESCAPE_SIZES = np.array([[len(text) for text in texts] for texts in ESCAPED])

NULL_WORD, TRUE_WORD, FALSE_WORD = words("null", "true", "false")
SPACES, QUOTES, BACKSLASHES, DIGITS, ONES, TOPS = words(*(each * WORD for each in ' "\\0\x01\x80'))
