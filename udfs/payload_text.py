"""JSON text of client payloads: decoded where they are understood, else their bytes in hex."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas import payloads
from schemas.fields import Message
from udfs.client_payloads import decode_payload, decode_user_data, version_groups
from udfs.json_text import Style, joined, struct_text, text_of
from udfs.slices import slices_of

USER_DATA_PROTOCOLS = (payloads.STICKY_PROTOCOL, payloads.COOPERATIVE_STICKY_PROTOCOL, payloads.STREAM_PROTOCOL)


def payload_texts(
    protocol_types: pa.StringArray, protocols: pa.StringArray, column: pa.BinaryArray, message: Message
) -> pa.StringArray:
    """One text a row; each distinct payload of a protocol is decoded once."""
    kinds = pa.StructArray.from_arrays([protocol_types, protocols], ["type", "protocol"])
    kind_codes, kind_values = distinct_structs(kinds)
    encoded = column.dictionary_encode()
    codes = kind_codes * max(len(encoded.dictionary), 1) + encoded.indices.to_numpy()
    distinct, inverse = np.unique(codes, return_inverse=True)
    texts: list[pa.StringArray] = []
    for code, kind in enumerate(kind_values):
        mine = distinct[distinct // max(len(encoded.dictionary), 1) == code] % max(len(encoded.dictionary), 1)
        texts.append(texts_of_kind(kind["type"], kind["protocol"], encoded.dictionary.take(pa.array(mine)), message))
    return pa.concat_arrays(texts).take(pa.array(inverse)) if texts else pa.array([], pa.string())


def distinct_structs(column: pa.StructArray) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
    """Codes and values of a struct of two strings, nulls included."""
    first, second = (child.dictionary_encode(null_encoding="encode") for child in column.flatten())
    width = max(len(second.dictionary), 1)
    codes = first.indices.to_numpy().astype(np.int64) * width + second.indices.to_numpy()
    distinct, inverse = np.unique(codes, return_inverse=True)
    names = column.type.names
    values = [
        {names[0]: first.dictionary[int(code // width)].as_py(), names[1]: second.dictionary[int(code % width)].as_py()}
        for code in distinct
    ]
    return inverse.astype(np.int64), values


def texts_of_kind(protocol_type: str, protocol: str | None, column: pa.BinaryArray, message: Message) -> pa.StringArray:
    if protocol_type == payloads.CONSUMER:
        return consumer_texts(protocol, column, message)
    is_subscription = message is payloads.SUBSCRIPTION
    return pa.array(
        [value_text(decode_payload(protocol_type, is_subscription, raw.as_py()), raw.as_py()) for raw in column]
    )


def consumer_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> pa.StringArray:
    texts: list[pa.StringArray] = []
    rows: list[NDArray[np.int64]] = []
    for group in version_groups(slices_of(column), message):
        user_data = group.values.field("user_data")
        style = Style({"user_data": user_data_texts(protocol, user_data, message)})
        versions = joined(text_of(pa.array(group.versions)), len(group.rows))
        # The version stands before the fields, in the object's first place.
        fields = struct_text(group.values, style)
        first, rest = fields[0], fields[1:]
        assert isinstance(first, str)
        texts.append(joined(['{"version":', versions, "," + first.removeprefix("{"), *rest], len(group.rows)))
        rows.append(group.rows)
    unread = np.delete(np.arange(len(column)), np.concatenate(rows) if rows else [])
    texts.append(joined(text_of(column.take(pa.array(unread))), len(unread)))
    order = np.argsort(np.concatenate([*rows, unread]))
    return pa.concat_arrays(texts).take(pa.array(order))


def user_data_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> pa.StringArray:
    if protocol not in USER_DATA_PROTOCOLS or column.null_count == len(column):
        return joined(text_of(column), len(column))
    encoded = column.dictionary_encode()
    texts = [value_text(decode_user_data(protocol, message, raw.as_py()), raw.as_py()) for raw in encoded.dictionary]
    return pa.array(texts, pa.string()).take(encoded.indices).fill_null("null")


def value_text(decoded: Any, raw: bytes) -> str:
    return json.dumps(
        raw.hex() if decoded is None else decoded, ensure_ascii=False, separators=(",", ":"), default=bytes.hex
    )
