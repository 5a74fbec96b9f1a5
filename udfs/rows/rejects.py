"""Rows of `rejected_records`: records that could not be decoded, and ranges of bytes that never became records."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES
from schemas.words.records import Part
from udfs.arrays.arrow_buffers import binaries
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import Slices
from udfs.decoding.decoded import Reject
from udfs.framing.log_bytes.framed_records import Records
from udfs.framing.rejected_ranges import RejectedRange
from udfs.rows.origin import Constants, Origin, origin_columns, table_of
from udfs.rows.times import OutOfRange
from udfs.rows.typed_arrays import number_column

SCHEMA = table_schema(TABLES["rejected_records"])
# A value opens with the number of its version.
VERSION_BYTES = 2


def rejected_records(records: Records, rejects: Sequence[Reject], origin: Origin, constants: Constants) -> pa.Table:
    ordered = sorted(rejects, key=lambda reject: reject.row)
    rows = np.array([reject.row for reject in ordered], np.int64)
    out = OutOfRange()
    columns = origin_columns(records, rows, origin, constants, out)
    columns |= {
        "num_records": constants.of(1, pa.int64(), len(rows)),
        "is_num_records_estimated": constants.of(False, pa.bool_(), len(rows)),
        "record_type": column("record_type", [reject.record_type for reject in ordered]),
        "part": column("part", [reject.part for reject in ordered]),
        "reason": column("reason", [reject.reason for reject in ordered]),
        "field": column("field", [reject.field or None for reject in ordered]),
        "detail": column("detail", [reject.detail for reject in ordered]),
        "is_control": pa.array(records.is_control[rows]),
        "value_version": versions(records.values, rows),
        "key_bytes": raw_bytes(records.keys, rows),
        "value_bytes": raw_bytes(records.values, rows),
    }
    return table_of(columns, SCHEMA, out, constants)


def rejected_ranges(ranges: Sequence[RejectedRange], origin: Origin) -> pa.Table:
    """A file's name may hold bytes that are no text: they become escapes."""
    constants, size = Constants(), len(ranges)
    names = [each.source_file.encode(errors="backslashreplace").decode() for each in ranges]
    rejected = [each.rejected for each in ranges]
    columns = {
        "cluster": constants.of(origin.cluster, pa.string(), size),
        "run_id": constants.of(origin.run_id, pa.string(), size),
        "offsets_partition": constants.of(origin.offsets_partition, pa.int32(), size),
        "source_file": column("source_file", names),
        "part": constants.of(Part.BATCH, pa.string(), size),
        "byte_position": column("byte_position", [each.byte_position for each in rejected]),
        "size_bytes": column("size_bytes", [each.size_bytes for each in rejected]),
        "from_record_offset": column("from_record_offset", [each.from_record_offset for each in ranges]),
        "to_record_offset": column("to_record_offset", [each.to_record_offset for each in ranges]),
        "num_records": column("num_records", [each.num_records for each in ranges]),
        "is_num_records_estimated": pa.array([each.is_num_records_estimated for each in ranges], pa.bool_()),
        "reason": column("reason", [each.reason for each in rejected]),
        "field": column("field", [each.field or None for each in rejected]),
        "detail": column("detail", [each.detail for each in rejected]),
    }
    return table_of(columns, SCHEMA, OutOfRange(), constants)


def column(name: str, values: Sequence[int | str | None]) -> pa.Array:
    return pa.array(values, SCHEMA.field(name).type)


def versions(values: Slices, rows: Positions) -> pa.Array:
    is_there = values.length[rows] >= VERSION_BYTES
    # Of values that have none the first bytes of the buffer are read and not shown.
    return number_column(Views(values.data).i2[np.where(is_there, values.start[rows], 0)], pa.int32(), is_there)


def raw_bytes(slices: Slices, rows: Positions) -> pa.BinaryArray:
    return binaries(slices.data, slices.start[rows], slices.length[rows])
