"""The output of framing: records and rejected ranges of bytes."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from schemas.vocabulary import RejectReason
from udfs.slices import Slices


class Columns:
    """For dataclasses whose fields are columns of one length."""

    def take(self, rows: NDArray[np.int64]) -> Self:
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return type(self)(**{n: c.take(rows) if isinstance(c, Slices) else c[rows] for n, c in columns})

    def slice(self, rows: slice) -> Self:
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return type(self)(**{name: column[rows] for name, column in columns})

    @classmethod
    def concat(cls, first: Self, second: Self) -> Self:
        """The rows of both. Their slices must be of one buffer."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: joined(getattr(first, name), getattr(second, name)) for name in names})


def joined(first: Slices | NDArray[np.generic], second: Slices | NDArray[np.generic]) -> object:
    if isinstance(first, Slices) and isinstance(second, Slices):
        start = np.concatenate((first.start, second.start))
        return Slices(first.data, start, np.concatenate((first.length, second.length)))
    return np.concatenate((first, second))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Records(Columns):
    """One row a record, in log order. Keys and values share one buffer. Control records are among them: their keys must
    not be read as record types, since a COMMIT marker's key would pass for a record of type 0."""

    offset: NDArray[np.int64]
    timestamp_ms: NDArray[np.int64]  # -1: magic 0 has none
    batch_first_offset: NDArray[np.int64]
    record_bytes: NDArray[np.int32]  # uncompressed, the record's own length included
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
    """One row a record batch, or an entry of the older formats. Batches without records are among them."""

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
    is_log_append_time: NDArray[np.bool_]
    max_timestamp_ms: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True)
class Fault:
    """Why bytes do not make a batch."""

    reason: RejectReason
    field: str
    detail: str


class Wrong(Exception):
    """Carries a fault out of nested reading; never leaves framing."""

    def __init__(self, reason: RejectReason, field: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(reason, field, detail)


@dataclass(frozen=True)
class Claim:
    """The offsets that the header of a rejected batch names, and how many records."""

    base_offset: int
    last_offset: int
    num_records: int


@dataclass(frozen=True)
class Rejected:
    """One range of bytes from which no record was read. `claims`: what the headers in it say, if they can be read."""

    byte_position: int
    size_bytes: int
    reason: RejectReason
    field: str
    detail: str
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Framed:
    """`consumed` bytes became records, batches, rejected ranges or a tail of zeros; the caller brings the rest again.

    A torn tail is among the rejected ranges too (reason torn_batch): in a partition's newest segment it is no error.
    """

    records: Records
    batches: Batches
    rejected: list[Rejected]
    consumed: int
    zero_tail_bytes: int
    torn_tail_bytes: int
    # What the batch that comes next names as its first offset; None: not known. Nothing proves it.
    next_offset: int | None = None
