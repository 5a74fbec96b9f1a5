"""What the decoder makes of records: parts with columns, and rejects."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.words.records import Part as RecordPart
from schemas.words.records import RejectReason
from udfs.arrays.big_endian import Positions

# The record type of parts with transaction markers. No key of a data record can begin with it.
CONTROL = -1


@dataclass(frozen=True)
class Part:
    """Decoded records of one type, value version and shape, in log order. `value_version` is None for tombstones.
    `key_of_row`: which key each row has, if equal keys were decoded once; None: each row has its own."""

    record_type: int
    value_version: int | None
    rows: Positions
    key: pa.StructArray
    value: pa.StructArray | None
    unknown_tags: int = 0
    key_of_row: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Reject:
    row: int
    record_type: int | None
    part: RecordPart
    field: str
    reason: RejectReason
    detail: str


@dataclass
class Decoded:
    parts: list[Part] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
