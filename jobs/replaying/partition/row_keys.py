"""Looks up rows of one table in another by their keys."""

import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import filled

BETWEEN = "\x00"


def keys(rows: pa.Table, columns: tuple[str, ...]) -> pa.Array:
    """One text per row."""
    texts = [filled(rows.column(name).cast(pa.string()), "\x01") for name in columns]
    joined = pc.binary_join_element_wise(*texts, BETWEEN)
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def places_of(wanted: pa.Array, among: pa.Array) -> pa.Array:
    """The position of each key; NULL if it is not there."""
    return pc.index_in(wanted, value_set=among)


def with_column(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), values.cast(rows.schema.field(place).type))
