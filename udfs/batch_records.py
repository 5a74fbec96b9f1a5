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
from udfs.record_fields import SMALLEST_RECORD, RecordFields, read_records
from udfs.slices import Slices
from udfs.views import Positions, Views

# Records are read in groups of batches with about this many: what is in hand then stays in the processor's cache.
RECORDS_AT_ONCE = 1 << 14


def records_of(views: Views, headers: BatchHeaders) -> tuple[Records, dict[int, Fault]]:
    """Records of all batches but those at fault, and the faults by batch."""
    first_row = np.cumsum(headers.num_records) - headers.num_records
    records = empty_records(views.data, int(headers.num_records.sum()))
    faults: dict[int, Fault] = {}
    for group in groups(headers.num_records):
        found = fill(records, int(first_row[group.start]), views, headers.slice(group))
        faults.update({group.start + batch: fault for batch, fault in found.items()})
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


def empty_records(data: Bytes, count: int) -> Records:
    def column(dtype: type) -> NDArray:  # type: ignore[type-arg]
        return np.empty(count, dtype)

    return Records(
        offset=column(np.int64),
        timestamp_ms=column(np.int64),
        batch_first_offset=column(np.int64),
        record_bytes=column(np.int32),
        partition_leader_epoch=column(np.int32),
        producer_id=column(np.int64),
        producer_epoch=column(np.int16),
        is_transactional=column(np.bool_),
        is_control=column(np.bool_),
        keys=Slices(data, column(np.int64), column(np.int64)),
        values=Slices(data, column(np.int64), column(np.int64)),
    )


def fill(records: Records, first_row: int, views: Views, headers: BatchHeaders) -> dict[int, Fault]:
    """Writes the records of a group of batches into their rows."""
    count = headers.num_records
    walked = walk(
        views, headers.records_start, count, headers.records_end, prefix=Prefix.ZIGZAG, lowest=SMALLEST_RECORD - 1
    )
    is_broken = walked.is_bad | (walked.after != headers.records_end)
    end = record_ends(walked.position, headers)
    total = len(end)
    fill_from_headers(records, slice(first_row, first_row + total), headers)
    is_stamped_by_log = np.repeat(headers.has(LOG_APPEND_TIME), count)
    is_good = np.empty(total, bool)
    for first in range(0, total, 2 * RECORDS_AT_ONCE):
        piece = slice(first, min(first + 2 * RECORDS_AT_ONCE, total))
        fields = read_records(views, walked.position[piece], walked.word[piece], end[piece])
        fields.timestamp_delta[is_stamped_by_log[piece]] = 0
        fill_from_fields(
            records, slice(first_row + piece.start, first_row + piece.stop), walked.position[piece], fields
        )
        is_good[piece] = fields.is_good
    return faults_of(views, headers, is_broken, walked.position, end, is_good)


def record_ends(position: Positions, headers: BatchHeaders) -> Positions:
    """A record ends where the next one begins, and a batch's last record where the batch ends."""
    end = np.empty_like(position)
    end[:-1] = position[1:]
    has_records = np.flatnonzero(headers.num_records)
    end[np.cumsum(headers.num_records)[has_records] - 1] = headers.records_end[has_records]
    return end


def fill_from_headers(records: Records, rows: slice, headers: BatchHeaders) -> None:
    """What all records of a batch share; offset and time are completed by `fill_from_fields`."""
    count = headers.num_records
    base_time = np.where(headers.has(LOG_APPEND_TIME), headers.max_timestamp, headers.base_timestamp)
    records.batch_first_offset[rows] = np.repeat(headers.base_offset, count)
    records.timestamp_ms[rows] = np.repeat(base_time, count)
    records.partition_leader_epoch[rows] = np.repeat(headers.partition_leader_epoch, count)
    records.producer_id[rows] = np.repeat(headers.producer_id, count)
    records.producer_epoch[rows] = np.repeat(headers.producer_epoch, count)
    records.is_transactional[rows] = np.repeat(headers.has(TRANSACTIONAL), count)
    records.is_control[rows] = np.repeat(headers.has(CONTROL), count)


def fill_from_fields(records: Records, rows: slice, start: Positions, fields: RecordFields) -> None:
    np.add(records.batch_first_offset[rows], fields.offset_delta, out=records.offset[rows])
    records.timestamp_ms[rows] += fields.timestamp_delta
    records.record_bytes[rows] = fields.end - start
    records.keys.start[rows] = fields.key_start
    records.keys.length[rows] = fields.key_length
    records.values.start[rows] = fields.value_start
    records.values.length[rows] = fields.value_length


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
