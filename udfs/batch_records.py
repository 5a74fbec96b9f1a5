"""Records of many batches of magic 2 at once, into columns."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from udfs.batch_faults import fault_of_chain, fault_of_record
from udfs.chains import Prefix, walk
from udfs.checksums import Bytes
from udfs.framed import Fault, Records
from udfs.record_batches import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, BatchHeaders
from udfs.record_fields import SMALLEST_RECORD, RecordFields, empty_fields, read_records
from udfs.slices import Slices
from udfs.views import Positions, Views

# Records are read in groups of batches with about this many: what is in hand then stays in the processor's cache.
RECORDS_AT_ONCE = 1 << 15


def records_of(views: Views, headers: BatchHeaders) -> tuple[Records, dict[int, Fault]]:
    """Records of all batches but those at fault, and the faults by batch."""
    fields = empty_fields(int(headers.num_records.sum()))
    faults: dict[int, Fault] = {}
    row = 0
    for group in groups(headers.num_records):
        batches = headers.slice(group)
        rows = slice(row, row + int(batches.num_records.sum()))
        found = read_group(views, batches, fields, rows)
        faults.update({group.start + batch: fault for batch, fault in found.items()})
        row = rows.stop
    records = with_headers(views.data, headers, fields)
    if faults:
        is_kept = np.ones(len(headers), bool)
        is_kept[list(faults)] = False
        records = records.take(np.flatnonzero(np.repeat(is_kept, headers.num_records)))
    return records, faults


def groups(count: Positions) -> Iterator[slice]:
    """Runs of batches with about RECORDS_AT_ONCE records."""
    number = (np.cumsum(count) - count) // RECORDS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(count)]
    return (slice(first, behind) for first, behind in pairwise(bounds) if first < behind)


def read_group(views: Views, headers: BatchHeaders, into: RecordFields, rows: slice) -> dict[int, Fault]:
    """Reads the records of a group of batches into rows of the columns."""
    walked = walk(
        views,
        headers.records_start,
        headers.num_records,
        headers.records_end,
        prefix=Prefix.ZIGZAG,
        lowest=SMALLEST_RECORD - 1,
    )
    is_broken = walked.is_bad | (walked.after != headers.records_end)
    end = record_ends(walked.position, headers)
    is_good = np.empty(len(end), bool)
    for first in range(0, len(end), RECORDS_AT_ONCE):
        piece = slice(first, min(first + RECORDS_AT_ONCE, len(end)))
        fields, is_good[piece] = read_records(views, walked.position[piece], walked.word[piece], end[piece])
        fields.copy_into(into, slice(rows.start + piece.start, rows.start + piece.stop))
    return faults_of(views, headers, is_broken, walked.position, end, is_good)


def record_ends(position: Positions, headers: BatchHeaders) -> Positions:
    """A record ends where the next one begins, and a batch's last record where the batch ends."""
    end = np.empty_like(position)
    end[:-1] = position[1:]
    has_records = np.flatnonzero(headers.num_records)
    end[np.cumsum(headers.num_records)[has_records] - 1] = headers.records_end[has_records]
    return end


def with_headers(data: Bytes, headers: BatchHeaders, fields: RecordFields) -> Records:
    """Completes the records by what all of a batch share."""

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
