"""Adds to rows what the job knows: the cluster, and whether they may still change."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema, with_types
from udfs.arrays.nullable import Numbers, numbers
from udfs.arrays.texts import KIND, same
from udfs.lag.partition_history import only
from udfs.lag.sums import DAY, MINUTE

HOUR = 3_600_000_000

# The time at which each row is over.
Over = Callable[[pa.Table], Numbers]


def after(column: str) -> Over:
    """More may come with exactly the same time."""
    return lambda rows: numbers(rows.column(column)) + 1


def bucket_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("bucket_time")) + numbers(rows.column("bucket_ms")) * 1000


def hour_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("hour_time")) + HOUR


def day_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("day_time")) + DAY


def minute_end(rows: pa.Table) -> Numbers:
    return numbers(rows.column("minute_time")) + MINUTE


SNAPSHOT_OVER = after("snapshot_time")


def since(rows: pa.Table, over_at: Over, settled_from: int | None) -> pa.Table:
    """Rows that were not settled before."""
    return rows if settled_from is None else only(rows, over_at(rows) > settled_from)


def complete_rows(table: str, over_at: Over | None, rows: pa.Table, cluster: str, settled_to: int | None) -> pa.Table:
    """Adds the cluster, and whether a row may still change."""
    made: dict[str, pa.Array] = {"cluster": same(cluster, rows.num_rows)}
    if over_at is not None:
        over = over_at(rows)
        made["is_provisional"] = pa.array(np.ones(len(over), np.bool_) if settled_to is None else over > settled_to)
    columns = dict(zip(rows.column_names, rows.columns, strict=True)) | made
    schema = table_schema(TABLES[table])
    whole = pa.table({name: columns[name] for name in schema.names})
    return with_types(whole, pa.schema([as_made(*each) for each in zip(schema, whole.schema.types, strict=True)]))


def as_made(field: pa.Field, kind: pa.DataType) -> pa.Field:
    """Dictionary columns are written as they are."""
    return field.with_type(KIND) if pa.types.is_dictionary(kind) and field.type == pa.string() else field
