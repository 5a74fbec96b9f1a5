"""Reads the records of many magic 2 batches at once, into columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.slices import Slices
from udfs.framing.batches.faults import fault_of_batch
from udfs.framing.batches.headers import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, BatchHeaders
from udfs.framing.batches.kernels import NONE_BAD, read_records, repeat
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Fault, Records


def records_of(data: Bytes, headers: BatchHeaders) -> tuple[Records, dict[int, Fault]]:
    """The records of all batches without a fault, and the faults by batch."""
    count = headers.num_records
    total = int(count.sum())
    offset, timestamp, key_start, key_length, value_start, value_length = np.empty((6, total), np.int64)
    size, first_bad = np.empty(total, np.int32), np.empty(len(headers), np.int64)
    is_log_append_time = headers.has(LOG_APPEND_TIME)
    base_time = np.where(is_log_append_time, headers.max_timestamp, headers.base_timestamp)
    batches = (headers.records_start, headers.records_end, count, headers.base_offset, base_time, ~is_log_append_time)
    read_records(data, *batches, offset, timestamp, size, key_start, key_length, value_start, value_length, first_bad)

    def repeated(column: NDArray, dtype: type = np.int64) -> NDArray:  # type: ignore[type-arg]
        rows: NDArray[Any] = np.empty(total, dtype)
        repeat(column.astype(dtype, copy=False), count, rows)
        return rows

    records = Records(
        offset=offset,
        timestamp_ms=timestamp,
        batch_first_offset=repeated(headers.base_offset),
        batch_bytes=repeated(headers.end - headers.start, np.int32),
        record_bytes=size,
        partition_leader_epoch=repeated(headers.partition_leader_epoch, np.int32),
        producer_id=repeated(headers.producer_id),
        producer_epoch=repeated(headers.producer_epoch, np.int16),
        is_transactional=repeated(headers.has(TRANSACTIONAL), np.bool_),
        is_control=repeated(headers.has(CONTROL), np.bool_),
        keys=Slices(data, key_start, key_length),
        values=Slices(data, value_start, value_length),
    )
    bad = np.flatnonzero(first_bad != NONE_BAD)
    if len(bad):
        records = records.take(np.flatnonzero(repeated(first_bad == NONE_BAD, np.bool_)))
    return records, {batch: fault_of_batch(data, headers, batch, int(first_bad[batch])) for batch in bad.tolist()}
