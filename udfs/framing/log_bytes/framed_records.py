"""The output of framing: records and rejected ranges of bytes."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from schemas.words.records import RejectReason
from udfs.arrays.slices import Slices


class Columns:
    """Base of dataclasses whose fields are columns of one length."""

    def take(self, rows: NDArray[np.int64]) -> Self:
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return type(self)(**{n: c.take(rows) if isinstance(c, Slices) else c[rows] for n, c in columns})

    def slice(self, rows: slice) -> Self:
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return type(self)(**{name: column[rows] for name, column in columns})

    @classmethod
    def concat(cls, first: Self, second: Self) -> Self:
        """The rows of both, one after the other. Their slices must be in the same buffer."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: joined(getattr(first, name), getattr(second, name)) for name in names})


def joined(first: Slices | NDArray[np.generic], second: Slices | NDArray[np.generic]) -> object:
    if isinstance(first, Slices) and isinstance(second, Slices):
        start = np.concatenate((first.start, second.start))
        return Slices(first.data, start, np.concatenate((first.length, second.length)))
    return np.concatenate((first, second))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Records(Columns):
    """One row per record, in log order. Keys and values share one buffer. Control records are included. Their keys must
    not be read as record types: the key of a COMMIT marker would look like record type 0."""

    offset: NDArray[np.int64]
    timestamp_ms: NDArray[np.int64]  # -1: magic 0 has no time
    batch_first_offset: NDArray[np.int64]
    batch_bytes: NDArray[np.int32]  # of the batch in the log: its header, and its records as they are compressed
    record_bytes: NDArray[np.int32]  # uncompressed size, with the length field of the record
    partition_leader_epoch: NDArray[np.int32]
    producer_id: NDArray[np.int64]
    producer_epoch: NDArray[np.int16]
    is_transactional: NDArray[np.bool_]
    is_control: NDArray[np.bool_]
    keys: Slices
    values: Slices

    def __len__(self) -> int:
        return len(self.offset)


@dataclass(frozen=True)
class Batches(Columns):
    """One row per record batch, or per entry of the older formats, also for batches without records."""

    position: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    magic: NDArray[np.int8]
    codec: NDArray[np.int8]
    partition_leader_epoch: NDArray[np.int32]
    producer_id: NDArray[np.int64]
    producer_epoch: NDArray[np.int16]
    num_records: NDArray[np.int64]
    is_transactional: NDArray[np.bool_]
    is_control: NDArray[np.bool_]
    has_delete_horizon: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True)
class Fault:
    """Why bytes are not a good batch."""

    reason: RejectReason
    field: str
    detail: str


class Wrong(Exception):
    """Carries a fault out of nested reads. It never leaves framing."""

    def __init__(self, reason: RejectReason, field: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(reason, field, detail)


@dataclass(frozen=True)
class Claim:
    """The offsets and the number of records in the header of a rejected batch."""

    base_offset: int
    last_offset: int
    num_records: int


@dataclass(frozen=True)
class Rejected:
    """One range of bytes from which no record was read. `claims`: the contents of its headers, if they can be read."""

    byte_position: int
    size_bytes: int
    reason: RejectReason
    field: str
    detail: str
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Framed:
    """The first `consumed` bytes became records, batches, rejected ranges or a tail of zeros. The caller passes the
    rest again.

    A torn tail is one of the rejected ranges (reason torn_batch). In the newest segment of a partition it is not an
    error.
    """

    records: Records
    batches: Batches
    rejected: list[Rejected]
    consumed: int
    zero_tail_bytes: int
    torn_tail_bytes: int
    # The first offset in the header of the next batch; None if unknown. Nothing proves it.
    next_offset: int | None = None
