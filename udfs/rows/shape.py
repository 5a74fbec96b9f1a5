"""Decoded records to rows of the tables.

    shaper = Shaper()                                # keeps decoded client payloads between calls
    shaper.tables(records, decoded, origin)          # table name -> rows, in the order of the records
    rejected_ranges(ranges, origin)   # rows of `rejected_records` for ranges without records

Parts of one table are joined column by column. Values from before decoding are looked up in order; decoded values are
concatenated and sorted by one take. Key texts that rows share are dictionaries; all other columns have the types of the
table.
"""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from schemas.fields import ZERO_UUID
from schemas.tables import GROUPS
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.big_endian import Positions
from udfs.decoding.decoded import Decoded, Part
from udfs.framing.log_bytes.framed_records import Records
from udfs.rows.column_sources import BY_RECORD_TYPE, ComputedColumn, Key, MadeWithTexts, Source, Sources, TopicId, Value
from udfs.rows.origin import Constants, Origin, origin_columns, table_of
from udfs.rows.payload_json import PayloadTexts
from udfs.rows.rejects import rejected_ranges, rejected_records
from udfs.rows.times import TIMESTAMP, OutOfRange
from udfs.rows.typed_arrays import concatenate, fit_type, known_texts, null_if_unknown, numbers

__all__ = ["Origin", "Shaper", "rejected_ranges"]

ORIGIN_NAMES = frozenset(column.name for column in (*GROUPS["PLACE"], *GROUPS["ORIGIN"]))


@dataclass
class Shaper:
    texts: PayloadTexts = field(default_factory=PayloadTexts)
    constants: Constants = field(default_factory=Constants)

    def tables(self, records: Records, decoded: Decoded, origin: Origin) -> dict[str, pa.Table]:
        by_table: dict[str, list[Part]] = {}
        for part in decoded.parts:
            by_table.setdefault(BY_RECORD_TYPE[part.record_type].table.name, []).append(part)
        tables = {
            name: self.table(BY_RECORD_TYPE[parts[0].record_type], parts, records, origin)
            for name, parts in by_table.items()
        }
        if decoded.rejects:
            tables["rejected_records"] = rejected_records(records, decoded.rejects, origin, self.constants)
        return tables

    def table(self, sources: Sources, parts: list[Part], records: Records, origin: Origin) -> pa.Table:
        rows, order = in_order(parts, len(records))
        out = OutOfRange()
        columns = origin_columns(records, rows, origin, self.constants, out)
        columns["value_version"] = concatenate([versions(part) for part in parts], order)
        schema = table_schema(sources.table)
        for wanted in schema:
            if wanted.name not in ORIGIN_NAMES:
                columns[wanted.name] = self.column(wanted, sources.of(wanted.name), parts, order, out)
        return table_of(columns, schema, out, self.constants)

    def column(
        self, wanted: pa.Field, source: Source, parts: list[Part], order: Positions | None, out: OutOfRange
    ) -> pa.Array:
        if isinstance(source, Value) and all(value_field(part, source.name) is None for part in parts):
            return self.constants.of(None, wanted.type, sum(len(part.rows) for part in parts))
        kind = pa.int64() if wanted.type == TIMESTAMP else wanted.type
        array = concatenate(alike([self.column_of_part(part, kind, source) for part in parts]), order)
        match source:
            case Value(_, unknown) if wanted.type == TIMESTAMP:
                ms, is_valid = numbers(array)
                return out.timestamps(wanted.name, ms, is_valid, unknown)
            case Value(_, unknown) if unknown:
                return null_if_unknown(array, unknown)
            case TopicId():
                return known_texts(array, ZERO_UUID)
        return array

    def column_of_part(self, part: Part, kind: pa.DataType, source: Source) -> pa.Array:
        """What a part has for a column."""
        match source:
            case Key(name):
                return key_column(part, fit_type(part.key.field(name), kind))
            case Value(name) | TopicId(name):
                array = value_field(part, name)
                return self.constants.of(None, kind, len(part.rows)) if array is None else fit_type(array, kind)
            case ComputedColumn(by):
                return by(part, kind)
            case MadeWithTexts(by):
                return by(part, kind, self.texts)


def key_column(part: Part, values: pa.Array) -> pa.Array:
    """Texts of keys that rows share stay shared up to the file: Parquet stores them so too."""
    if part.key_of_row is None:
        return values
    places = pa.array(part.key_of_row)
    return pa.DictionaryArray.from_arrays(places, values) if pa.types.is_string(values.type) else values.take(places)


def alike(arrays: list[pa.Array]) -> list[pa.Array]:
    """All as dictionaries where some are."""
    are_shared = [pa.types.is_dictionary(array.type) for array in arrays]
    if not any(are_shared):
        return arrays
    return [array if shared else array.dictionary_encode() for array, shared in zip(arrays, are_shared, strict=True)]


def in_order(parts: list[Part], size: int) -> tuple[Positions | slice, Positions | None]:
    """All rows of the parts in ascending order (a slice when they are all there are), and how their values have to be
    taken to stand so (None: they do)."""
    rows = parts[0].rows if len(parts) == 1 else np.concatenate([part.rows for part in parts])
    if (rows[1:] > rows[:-1]).all():
        return slice(None) if len(rows) == size else rows, None
    # Rows are distinct, so that writing down each one's place sorts them, without comparing.
    place = np.full(size, -1)
    place[rows] = np.arange(len(rows))
    if len(rows) == size:
        return slice(None), place
    ascending = np.flatnonzero(place >= 0)
    return ascending, place[ascending]


def value_field(part: Part, name: str) -> pa.Array | None:
    """None for tombstones, and where version or shape lacks the field."""
    return None if part.value is None or part.value.type.get_field_index(name) < 0 else part.value.field(name)


def versions(part: Part) -> pa.Array:
    return pa.repeat(pa.scalar(part.value_version, pa.int32()), len(part.rows))
