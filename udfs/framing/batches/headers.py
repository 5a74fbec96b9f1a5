"""Reads the headers of all magic 2 record batches in one gather, and says what is wrong with them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.words.records import RejectReason
from udfs.arrays.big_endian import Positions, Views, column
from udfs.framing.batches.kernels import SMALLEST_RECORD
from udfs.framing.log_bytes.compression import Codec
from udfs.framing.log_bytes.framed_records import Batches, Columns, Fault
from udfs.framing.log_bytes.resync import SMALLEST_ENTRY
from udfs.framing.log_bytes.room import Room

HEADER_SIZE = SMALLEST_ENTRY[2]

# Bits of the batch attributes.
CODEC_BITS = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

# A few compressed bytes can contain as many records as fit into LARGEST_OUTPUT, each of which takes ten times its size
# in columns. No broker writes batches with this many.
MOST_RECORDS = 1 << 20


@dataclass(frozen=True)
class BatchHeaders(Columns):
    """One row per batch. Its decompressed records are at `records_start` to `records_end` in the room's buffer."""

    start: Positions
    end: Positions
    base_offset: Positions
    partition_leader_epoch: Positions
    attributes: Positions
    last_offset_delta: Positions
    base_timestamp: Positions
    max_timestamp: Positions
    producer_id: Positions
    producer_epoch: Positions
    num_records: Positions
    records_start: Positions
    records_end: Positions

    def __len__(self) -> int:
        return len(self.start)

    def has(self, bit: int) -> NDArray[np.bool_]:
        is_set: NDArray[np.bool_] = (self.attributes & bit) != 0
        return is_set


def header_blocks(views: Views, start: Positions) -> NDArray[np.void]:
    """The bytes at the beginning of each entry. An older message may be shorter; then the bytes after it are
    included."""
    return views.blocks(start, HEADER_SIZE)


def read_headers(blocks: NDArray[np.void], start: Positions, end: Positions) -> BatchHeaders:
    def number(at: int, dtype: str) -> Positions:
        return column(blocks, at, dtype).astype(np.int64)

    return BatchHeaders(
        start=start,
        end=end,
        base_offset=number(0, ">i8"),
        partition_leader_epoch=number(12, ">i4"),
        attributes=number(21, ">i2"),
        last_offset_delta=number(23, ">i4"),
        base_timestamp=number(27, ">i8"),
        max_timestamp=number(35, ">i8"),
        producer_id=number(43, ">i8"),
        producer_epoch=number(51, ">i2"),
        num_records=number(57, ">i4"),
        records_start=start + HEADER_SIZE,
        records_end=end.copy(),
    )


def header_fault(headers: BatchHeaders, row: int) -> Fault | None:
    codec, count = int(headers.attributes[row]) & CODEC_BITS, int(headers.num_records[row])
    if codec > max(Codec):
        return Fault(RejectReason.UNSUPPORTED_CODEC, "codec", f"codec {codec}")
    if count < 0:
        return Fault(RejectReason.BAD_LENGTH, "num_records", f"{count} records")
    if count > MOST_RECORDS:
        return Fault(RejectReason.TOO_LARGE, "num_records", f"{count} records")
    return None


def header_faults(headers: BatchHeaders) -> dict[int, Fault]:
    codec, count = headers.attributes & CODEC_BITS, headers.num_records
    rows = np.flatnonzero((codec > max(Codec)) | (count < 0) | (count > MOST_RECORDS))
    return {row: fault for row in rows.tolist() if (fault := header_fault(headers, row)) is not None}


def decompress(room: Room, headers: BatchHeaders, row: int) -> None:
    """Raises Wrong."""
    codec = Codec(int(headers.attributes[row]) & CODEC_BITS)
    start, end = int(headers.start[row]) + HEADER_SIZE, int(headers.end[row])
    headers.records_start[row], headers.records_end[row] = room.decompress(codec, start, end, magic=2)


def count_faults(headers: BatchHeaders) -> dict[int, Fault]:
    """Finds batches that are too small for the number of records they claim, before memory is allocated for these."""
    size = headers.records_end - headers.records_start
    rows = np.flatnonzero(headers.num_records * SMALLEST_RECORD > size)
    return {
        row: Fault(
            RejectReason.UNDERRUN,
            "num_records",
            f"{headers.num_records[row]} records do not fit into {size[row]} bytes",
        )
        for row in rows.tolist()
    }


def batches_of(headers: BatchHeaders) -> Batches:
    return Batches(
        position=headers.start,
        size_bytes=headers.end - headers.start,
        base_offset=headers.base_offset,
        last_offset=headers.base_offset + headers.last_offset_delta,
        magic=np.full(len(headers), 2, np.int8),
        codec=(headers.attributes & CODEC_BITS).astype(np.int8),
        partition_leader_epoch=headers.partition_leader_epoch.astype(np.int32),
        producer_id=headers.producer_id,
        producer_epoch=headers.producer_epoch.astype(np.int16),
        num_records=headers.num_records,
        is_transactional=headers.has(TRANSACTIONAL),
        is_control=headers.has(CONTROL),
        has_delete_horizon=headers.has(DELETE_HORIZON),
    )
