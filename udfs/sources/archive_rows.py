"""Archives: records of the offsets topic as rows, in the form of Spark's Kafka source, in Parquet, Delta or JSON.

This module has their columns, turns rows into the same records that framing makes of a log's bytes, and handles rows
that are not records.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables import TABLES
from schemas.words.records import NONE, Part
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.slices import Slices, slices_of
from udfs.framing.log_bytes.framed_records import Records

# How a column may be missing from the rows: its values are in the names of the folders of the files.
FOLDER_COLUMNS = ("topic", "partition")


class Kind(StrEnum):
    TEXT = "STRING"
    INTEGER = "BIGINT"
    TIME = "TIMESTAMP, or BIGINT in milliseconds since 1970"
    BYTES = "BINARY"
    FLAG = "BOOLEAN"


@dataclass(frozen=True)
class ArchiveColumn:
    """`is_required`: the archive must have it; `has_nulls`: a row may lack it. Bounds are those of Kafka's own type."""

    name: str
    kind: Kind
    is_required: bool = False
    has_nulls: bool = True
    lowest: int = -(2**63)
    highest: int = 2**63 - 1

    @property
    def expected_text(self) -> str:
        return f"an integer from {self.lowest} to {self.highest}"


COLUMNS = (
    ArchiveColumn("topic", Kind.TEXT, is_required=True, has_nulls=False),
    ArchiveColumn("partition", Kind.INTEGER, is_required=True, has_nulls=False, lowest=0, highest=2**31 - 1),
    ArchiveColumn("offset", Kind.INTEGER, is_required=True, has_nulls=False, lowest=0),
    ArchiveColumn("timestamp", Kind.TIME, is_required=True),
    ArchiveColumn("key", Kind.BYTES, is_required=True),
    ArchiveColumn("value", Kind.BYTES, is_required=True),
    ArchiveColumn("producer_id", Kind.INTEGER, lowest=NONE),
    ArchiveColumn("producer_epoch", Kind.INTEGER, lowest=NONE, highest=2**15 - 1),
    ArchiveColumn("is_transactional", Kind.FLAG),
    ArchiveColumn("is_control", Kind.FLAG),
    ArchiveColumn("leader_epoch", Kind.INTEGER, lowest=NONE, highest=2**31 - 1),
)
REQUIRED = tuple(column.name for column in COLUMNS if column.is_required)
# Without them an aborted commit looks like a plain one.
PRODUCER_COLUMNS = ("producer_id", "is_transactional", "is_control")

# Rows as every format gives them. Where `problem` (a RejectReason) is not null the row is no record, `raw` holds what
# stood there, and of the other columns those are filled that could be read. `has_producers`: who wrote the record, and
# whether it is of a transaction, is known.
ARCHIVE_ROWS = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("is_transactional", pa.bool_()),
        ("is_control", pa.bool_()),
        ("leader_epoch", pa.int32()),
        ("has_producers", pa.bool_()),
        ("source_file", pa.string()),
        ("raw", pa.binary()),
        ("problem", pa.string()),
        ("problem_field", pa.string()),
        ("problem_detail", pa.string()),
    ]
)
# Rows of other topics have only this; they are counted and left out.
IS_OTHER_TOPIC = pa.field("is_other_topic", pa.bool_())


def records_of(batch: pa.RecordBatch) -> Records:
    """Rows of one offsets partition in the order of offsets, none of them with a problem, as framing would give them.

    What only a log's batches contain is unknown: the batch's first offset and bytes; record_bytes are those of key and
    value.
    """
    keys, values = shared_slices(batch.column("key"), batch.column("value"))
    lengths = np.maximum(keys.length, 0) + np.maximum(values.length, 0)
    return Records(
        offset=numbers(batch, "offset"),
        timestamp_ms=numbers(batch, "timestamp_ms"),
        batch_first_offset=np.full(len(batch), NONE, np.int64),
        batch_bytes=np.full(len(batch), NONE, np.int32),
        record_bytes=lengths.astype(np.int32),
        partition_leader_epoch=numbers(batch, "leader_epoch"),
        producer_id=numbers(batch, "producer_id"),
        producer_epoch=numbers(batch, "producer_epoch"),
        is_transactional=flags(batch, "is_transactional"),
        is_control=flags(batch, "is_control"),
        keys=keys,
        values=values,
    )


def numbers(batch: pa.RecordBatch, name: str) -> NDArray[Any]:
    values: NDArray[Any] = pc.fill_null(batch.column(name), NONE).to_numpy(zero_copy_only=False)
    return values


def flags(batch: pa.RecordBatch, name: str) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = pc.fill_null(batch.column(name), False).to_numpy(zero_copy_only=False)
    return values


def shared_slices(keys: pa.Array, values: pa.Array) -> tuple[Slices, Slices]:
    """Of one buffer, as Records want them."""
    # Wide, since both together may be more than 2 GiB.
    both = slices_of(pa.concat_arrays([keys.cast(pa.large_binary()), values.cast(pa.large_binary())]))
    rows = len(keys)
    return (
        Slices(both.data, both.start[:rows], both.length[:rows]),
        Slices(both.data, both.start[rows:], both.length[rows:]),
    )


def by_producers(batch: pa.RecordBatch) -> list[tuple[bool, pa.RecordBatch]]:
    """The rows whose producers are known, and the others: their tables are different."""
    is_known = batch.column("has_producers")
    sides = ((True, batch.filter(is_known)), (False, batch.filter(pc.invert(is_known))))
    return [(has_producers, rows) for has_producers, rows in sides if rows.num_rows]


def problem_rows(batch: pa.RecordBatch, cluster: str, run_id: str) -> pa.Table:
    """Rows of rejected_records for the rows that are no records; what stood there is in `value_bytes`."""
    rows = batch.filter(pc.is_valid(batch.column("problem")))
    origin_columns = {
        "cluster": text_column(cluster, rows.num_rows),
        "offsets_partition": rows.column("partition"),
        "record_offset": rows.column("offset"),
        "part": text_column(Part.BATCH.value, rows.num_rows),
        "reason": rows.column("problem"),
        "field": rows.column("problem_field"),
        "source_file": rows.column("source_file"),
        "size_bytes": pc.binary_length(rows.column("raw")).cast(pa.int64()),
        "num_records": pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows),
        "is_num_records_estimated": pa.repeat(pa.scalar(False), rows.num_rows),
        "run_id": text_column(run_id, rows.num_rows),
        "detail": rows.column("problem_detail"),
        "value_bytes": rows.column("raw"),
    }
    schema = table_schema(TABLES["rejected_records"])
    columns = [origin_columns.get(field.name, pa.nulls(rows.num_rows, field.type)) for field in schema]
    return pa.table(columns, schema=schema)


def text_column(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), rows)
