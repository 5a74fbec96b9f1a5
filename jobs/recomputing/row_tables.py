"""Turns dataclass rows, whose fields are columns, into Arrow tables with the declared columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from schemas.declarations.columns import Table
from udfs.arrays.arrow_schema import table_schema


def row_table(table: Table, rows: Sequence[Any], cluster: str, partition: int) -> pa.Table:
    """Times are microseconds."""
    schema = table_schema(table)
    constants = {"cluster": cluster, "evidence_partition": partition}
    columns = [
        pa.repeat(pa.scalar(constants[field.name], field.type), len(rows))
        if field.name in constants
        else column([getattr(row, field.name) for row in rows], field.type)
        for field in schema
    ]
    return pa.table(columns, schema)


def column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        return struct_lists(values, kind)
    return pa.array(values, kind)


def struct_lists(values: list[Any], kind: pa.ListType) -> pa.Array:
    """There are many lists, mostly short: columns of their items are faster than an object for each."""
    items = [item for value in values for item in value or ()]
    structs = pa.StructArray.from_arrays(
        [pa.array([getattr(item, field.name) for item in items], field.type) for field in fields(kind.value_type)],
        fields=fields(kind.value_type),
    )
    ends, starts = 0, [0]
    for value in values:
        ends += len(value or ())
        starts.append(ends)
    mask = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), structs, type=kind, mask=mask)


def fields(kind: pa.StructType) -> list[pa.Field]:
    return [kind.field(place) for place in range(kind.num_fields)]


def state_table(table: Table, texts: Mapping[str, str], cluster: str, partition: int) -> pa.Table:
    rows: Iterable[dict[str, Any]] = (
        {"cluster": cluster, "offsets_partition": partition, "group_id": group_id, "state": text}
        for group_id, text in texts.items()
    )
    return pa.Table.from_pylist(list(rows), table_schema(table))
