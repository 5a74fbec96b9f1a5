"""Random rows of tables of records, and each thing that can differ in them."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.tables import TABLES, ColumnType, ListOf, MapOf, StructOf, Table, Type
from udfs.arrays.arrow_schema import table_schema

Row = dict[str, Any]
KEY = {"cluster", "offsets_partition", "record_offset", "partition_leader_epoch"}


def value_of(rng: np.random.Generator, kind: ColumnType) -> Any:
    match kind:
        case ListOf(item):
            return [value_of(rng, item) for _ in range(rng.integers(1, 3))]
        case StructOf(fields):
            return {field.name: value_of(rng, field.type) for field in fields}
        case MapOf(key, value):
            return {value_of(rng, key): value_of(rng, value)}
        case Type.STRING:
            return f"text-{rng.integers(0, 1000)}"
        case Type.BINARY:
            return rng.bytes(4)
        case Type.BOOLEAN:
            return bool(rng.integers(0, 2))
        case Type.TIMESTAMP:
            return int(rng.integers(0, 2**40))
        case _:
            return int(rng.integers(0, 1000))


def row_of(rng: np.random.Generator, table: Table, offset: int, epoch: int | None) -> Row:
    row = {column.name: value_of(rng, column.type) for column in table.columns}
    return row | {"cluster": "a", "offsets_partition": 3, "record_offset": offset, "partition_leader_epoch": epoch}


def tables_of(rows: Iterable[tuple[str, Row]]) -> dict[str, pa.Table]:
    found: dict[str, list[Row]] = {}
    for name, row in rows:
        found.setdefault(name, []).append(row)
    return {name: pa.Table.from_pylist(some, table_schema(TABLES[name])) for name, some in found.items()}


def changes(rng: np.random.Generator, kind: ColumnType, value: Any) -> Iterator[Any]:
    """The value with one thing changed in it, for each thing that there is."""
    match kind:
        case ListOf(item):
            yield from ([], [*value, *value[:1]])
            for place, inner in enumerate(value):
                yield from ([*value[:place], other, *value[place + 1 :]] for other in changes(rng, item, inner))
        case StructOf(fields):
            for field in fields:
                for other in changes(rng, field.type, value[field.name]):
                    yield value | {field.name: other}
        case _:
            while (other := value_of(rng, kind)) == value:
                pass
            yield other
    yield None
