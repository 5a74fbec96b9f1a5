"""Turns rejected records back into the output of framing, for a release that can decode more."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.words.records import NONE
from udfs.framing.log_bytes.framed_records import Records
from udfs.sources.archive_rows import shared_slices

MICROSECONDS = 1000


def records_of_rejected(rows: pa.Table) -> Records:
    """Rows of `rejected_records` that were records, of one offsets partition and in the order of offsets."""
    keys, values = (whole(rows, name) for name in ("key_bytes", "value_bytes"))
    key_slices, value_slices = shared_slices(keys, values)
    return Records(
        offset=numbers(rows, "record_offset").astype(np.int64),
        timestamp_ms=times(rows),
        batch_first_offset=numbers(rows, "batch_first_offset").astype(np.int64),
        batch_bytes=numbers(rows, "batch_bytes").astype(np.int32),
        record_bytes=numbers(rows, "record_bytes").astype(np.int32),
        partition_leader_epoch=numbers(rows, "partition_leader_epoch").astype(np.int32),
        producer_id=numbers(rows, "producer_id").astype(np.int64),
        producer_epoch=numbers(rows, "producer_epoch").astype(np.int16),
        is_transactional=flags(rows, "is_transactional"),
        is_control=flags(rows, "is_control"),
        keys=key_slices,
        values=value_slices,
    )


def whole(rows: pa.Table, name: str) -> pa.Array:
    return rows.column(name).combine_chunks()


def numbers(rows: pa.Table, name: str) -> NDArray[np.generic]:
    values: NDArray[np.generic] = pc.fill_null(whole(rows, name), NONE).to_numpy(zero_copy_only=False)
    return values


def flags(rows: pa.Table, name: str) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = pc.fill_null(whole(rows, name), False).to_numpy(zero_copy_only=False)
    return values


def times(rows: pa.Table) -> NDArray[np.int64]:
    """Those that no timestamp can hold stand in `out_of_range`."""
    micros = pc.fill_null(whole(rows, "record_time").cast(pa.int64()), NONE * MICROSECONDS).to_numpy()
    ms = micros // MICROSECONDS
    for row, beyond in enumerate(rows.column("out_of_range").to_pylist()):
        for each in beyond or ():
            if each["field"] == "record_time":
                ms[row] = each["value"]
    return np.asarray(ms, np.int64)
