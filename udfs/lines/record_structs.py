"""Decoded records as one column of structs, in the order of their keys and values, for `decode_offsets_record`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.tables import SCALAR_FUNCTIONS
from udfs.arrays.arrow_schema import arrow_type
from udfs.arrays.slices import slices_of
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Part, Reject
from udfs.lines.payload_text import PayloadTexts
from udfs.lines.record_texts import rejected_fields, type_name, value_style
from udfs.lines.written_lines import json_of

RESULT: pa.StructType = arrow_type(SCALAR_FUNCTIONS["decode_offsets_record"].result)
# Members' payloads come again in every batch, and engines hand over small ones: a third of the time. What it remembers
# is bounded, and changes no answer.
PAYLOAD_TEXTS = PayloadTexts()


def decoded_column(key: pa.Array, value: pa.Array) -> pa.Array:
    decoded = decode(slices_of(key), slices_of(value), np.zeros(len(key), bool))
    structs = [decoded_structs(part) for part in decoded.parts]
    rows = [part.rows for part in decoded.parts]
    if decoded.rejects:
        structs.append(rejected_structs(decoded.rejects))
        rows.append(np.array([reject.row for reject in decoded.rejects]))
    if not structs:
        return pa.array([], RESULT)
    return pa.concat_arrays(structs).take(pa.array(np.argsort(np.concatenate(rows), kind="stable")))


def decoded_structs(part: Part) -> pa.StructArray:
    size = len(part.rows)
    columns = {
        "record_type": part.record_type,
        "type": type_name(part.record_type),
        "key": json_of(part.key),
        # A tombstone has no value: SQL's NULL, not JSON's.
        "value": None if part.value is None else json_of(part.value, value_style(part, PAYLOAD_TEXTS)),
        "value_version": part.value_version,
    }
    return structs_of(columns, size)


def rejected_structs(rejects: Sequence[Reject]) -> pa.StructArray:
    rows = [
        {
            "record_type": reject.record_type,
            "type": type_name(reject.record_type),
            "rejected": rejected_fields(reject.part, reject),
        }
        for reject in rejects
    ]
    return pa.array(rows, RESULT)


def structs_of(columns: Mapping[str, Any], size: int) -> pa.StructArray:
    """A column that is one value has it in every row; one that is missing has NULL."""
    filled = [
        column if isinstance(column := columns.get(field.name), pa.Array) else repeat_value(column, field.type, size)
        for field in RESULT
    ]
    return pa.StructArray.from_arrays(filled, fields=list(RESULT))


def repeat_value(value: Any, kind: pa.DataType, size: int) -> pa.Array:
    return pa.nulls(size, kind) if value is None else pa.repeat(pa.scalar(value, kind), size)
