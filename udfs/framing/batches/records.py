"""Reads the records of many magic 2 batches at once, into columns."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import Slices
from udfs.framing.batches.chains import walk
from udfs.framing.batches.faults import fault_of_chain, fault_of_record
from udfs.framing.batches.headers import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, BatchHeaders
from udfs.framing.batches.record_fields import SMALLEST_RECORD, RecordFields, joined_fields, read_records
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Fault, Records

# Batches are read in groups with about this many records, so that the data stays in the processor's cache.
RECORDS_AT_ONCE = 1 << 15


def records_of(views: Views, headers: BatchHeaders) -> tuple[Records, dict[int, Fault]]:
    """The records of all batches without a fault, and the faults by batch."""
    pieces: list[RecordFields] = []
    faults: dict[int, Fault] = {}
    for group in groups(headers.num_records):
        found = read_group(views, headers.slice(group), pieces)
        faults.update({group.start + batch: fault for batch, fault in found.items()})
    records = with_headers(views.data, headers, joined_fields(pieces))
    if faults:
        is_kept = np.ones(len(headers), bool)
        is_kept[list(faults)] = False
        records = records.take(np.flatnonzero(np.repeat(is_kept, headers.num_records)))
    return records, faults


def groups(count: Positions) -> list[slice]:
    """Groups of consecutive batches with about RECORDS_AT_ONCE records."""
    behind = np.cumsum(count)
    if not len(count) or behind[-1] <= RECORDS_AT_ONCE:
        return [slice(0, len(count))]
    number = (behind - count) // RECORDS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(count)]
    return [slice(first, behind) for first, behind in pairwise(bounds)]


def read_group(views: Views, headers: BatchHeaders, pieces: list[RecordFields]) -> dict[int, Fault]:
    """Adds the fields of a group's records to the pieces."""
    walked = walk(
        views,
        headers.records_start,
        headers.num_records,
        headers.records_end,
        lowest=SMALLEST_RECORD - 1,
    )
    is_broken = walked.is_bad | (walked.after != headers.records_end)
    end = record_ends(walked.position, headers)
    good = []
    # One batch may have more records than a group should.
    for first in range(0, max(len(end), 1), 2 * RECORDS_AT_ONCE):
        piece = slice(first, first + 2 * RECORDS_AT_ONCE)
        fields, is_good = read_records(views, walked.position[piece], walked.word[piece], end[piece])
        pieces.append(fields)
        good.append(is_good)
    return faults_of(views, headers, is_broken, walked.position, end, np.concatenate(good))


def record_ends(position: Positions, headers: BatchHeaders) -> Positions:
    """A record ends where the next one begins; the last record of a batch ends where the batch ends."""
    end = np.empty_like(position)
    end[:-1] = position[1:]
    has_records = np.flatnonzero(headers.num_records)
    end[np.cumsum(headers.num_records)[has_records] - 1] = headers.records_end[has_records]
    return end


def with_headers(data: Bytes, headers: BatchHeaders, fields: RecordFields) -> Records:
    """Adds to the records what all records of a batch share."""

    def repeated(column: NDArray, dtype: type = np.int64) -> NDArray:  # type: ignore[type-arg]
        return np.repeat(column.astype(dtype, copy=False), headers.num_records)

    base_time = headers.base_timestamp
    is_log_append_time = headers.has(LOG_APPEND_TIME)
    if is_log_append_time.any():
        base_time = np.where(is_log_append_time, headers.max_timestamp, base_time)
        fields.timestamp_delta[np.repeat(is_log_append_time, headers.num_records)] = 0
    first_offset = repeated(headers.base_offset)
    return Records(
        offset=np.add(fields.offset_delta, first_offset, out=fields.offset_delta),
        timestamp_ms=np.add(fields.timestamp_delta, repeated(base_time), out=fields.timestamp_delta),
        batch_first_offset=first_offset,
        record_bytes=fields.size,
        partition_leader_epoch=repeated(headers.partition_leader_epoch, np.int32),
        producer_id=repeated(headers.producer_id),
        producer_epoch=repeated(headers.producer_epoch, np.int16),
        is_transactional=repeated(headers.has(TRANSACTIONAL), np.bool_),
        is_control=repeated(headers.has(CONTROL), np.bool_),
        keys=Slices(data, fields.key_start, fields.key_length),
        values=Slices(data, fields.value_start, fields.value_length),
    )


def faults_of(
    views: Views,
    headers: BatchHeaders,
    is_broken: NDArray[np.bool_],
    start: Positions,
    end: Positions,
    is_good: NDArray[np.bool_],
) -> dict[int, Fault]:
    faults = {
        batch: fault_of_chain(
            views.data,
            int(headers.records_start[batch]),
            int(headers.records_end[batch]),
            int(headers.num_records[batch]),
        )
        for batch in np.flatnonzero(is_broken).tolist()
    }
    bad = np.flatnonzero(~is_good)
    if len(bad):
        behind = np.cumsum(headers.num_records)
        batches, at = np.unique(np.searchsorted(behind, bad, side="right"), return_index=True)
        for batch, row in zip(batches.tolist(), bad[at].tolist(), strict=True):
            index = row - int(behind[batch] - headers.num_records[batch])
            if batch not in faults:
                faults[batch] = fault_of_record(views.data, int(start[row]), int(end[row]), index)
    return faults
