"""Columns that records have before they are decoded: where they are stored and which run read them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.words.records import NONE
from udfs.arrays.big_endian import Positions
from udfs.framing.log_bytes.framed_records import Records
from udfs.rows.times import OutOfRange
from udfs.rows.typed_arrays import number_column, without


@dataclass(frozen=True)
class Origin:
    """Where the records of a call come from. Without `has_producers` their producers are unknown."""

    cluster: str
    offsets_partition: int
    run_id: str
    has_producers: bool = True


@dataclass
class Constants:
    """Columns of one value, made once and cut to length each time."""

    columns: dict[tuple[Any, pa.DataType], pa.Array] = field(default_factory=dict)

    def of(self, value: Any, kind: pa.DataType, size: int) -> pa.Array:
        column = self.columns.get((value, kind))
        if column is None or len(column) < size:
            column = self.columns[value, kind] = pa.repeat(pa.scalar(value, kind), size)
        return column.slice(0, size)


def known_numbers(values: NDArray[np.signedinteger], kind: pa.DataType) -> pa.Array:
    """-1 is null."""
    if len(values) and values[0] == NONE and (values == NONE).all():
        return pa.nulls(len(values), kind)
    return number_column(values, kind, without(values, None, (NONE,)))


def origin_columns(
    records: Records, rows: Positions | slice, origin: Origin, constants: Constants, out: OutOfRange
) -> dict[str, pa.Array]:
    """The columns of the rows, by name; `value_version` and `out_of_range` are not among them."""
    offsets, sizes = records.offset[rows], records.values.length[rows]
    size = len(offsets)
    columns = {
        "cluster": constants.of(origin.cluster, pa.string(), size),
        "run_id": constants.of(origin.run_id, pa.string(), size),
        "offsets_partition": constants.of(origin.offsets_partition, pa.int32(), size),
        "record_offset": number_column(offsets, pa.int64()),
        "record_time": out.timestamps("record_time", records.timestamp_ms[rows]),
        "partition_leader_epoch": known_numbers(records.partition_leader_epoch[rows], pa.int32()),
        "batch_first_offset": known_numbers(records.batch_first_offset[rows], pa.int64()),
        "batch_bytes": known_numbers(records.batch_bytes[rows], pa.int32()),
        # Of a null, the length is -1.
        "record_bytes": number_column(np.maximum(records.keys.length[rows], 0) + np.maximum(sizes, 0), pa.int32()),
        "is_tombstone": pa.array(sizes < 0),
    }
    if origin.has_producers:
        columns["is_transactional"] = pa.array(records.is_transactional[rows])
        columns["producer_id"] = known_numbers(records.producer_id[rows], pa.int64())
        columns["producer_epoch"] = known_numbers(records.producer_epoch[rows], pa.int32())
    return columns


def table_of(columns: dict[str, pa.Array], schema: pa.Schema, out: OutOfRange, constants: Constants) -> pa.Table:
    """Columns that are not given are null. Texts may be dictionaries."""
    size = len(next(iter(columns.values())))
    if out.times:
        columns["out_of_range"] = out.column(size, schema.field("out_of_range").type)
    arrays = [
        columns[wanted.name] if wanted.name in columns else constants.of(None, wanted.type, size) for wanted in schema
    ]
    fields = [wanted.with_type(array.type) for wanted, array in zip(schema, arrays, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, schema.metadata))
