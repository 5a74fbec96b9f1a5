"""JSON text of client payloads: decoded if they are understood, else their bytes in hex."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.declarations.fields import Message
from schemas.records import payloads
from udfs.arrays.slices import slices_of
from udfs.decoding.client_payloads import decode_payload, decode_user_data, version_groups
from udfs.lines.json_text import Style, join_pieces, struct_text, text_of

USER_DATA_PROTOCOLS = (payloads.STICKY_PROTOCOL, payloads.COOPERATIVE_STICKY_PROTOCOL, payloads.STREAM_PROTOCOL)
# A member's payloads come again with every generation. Beyond this many bytes of text what is known is forgotten.
LARGEST_MEMORY = 16 << 20

Kind = tuple[str | None, str | None]


class PayloadTexts:
    """Finished texts of the payloads met so far, by protocol type and protocol."""

    def __init__(self) -> None:
        self.known: dict[tuple[Kind, str], dict[bytes, str]] = {}
        self.size = 0

    def texts(
        self, protocol_types: pa.StringArray, protocols: pa.StringArray, column: pa.BinaryArray, message: Message
    ) -> pa.StringArray:
        """One text a row; each distinct payload of a protocol is decoded once."""
        kind_codes, kinds = distinct_kinds(protocol_types, protocols)
        encoded = column.dictionary_encode()
        width = max(len(encoded.dictionary), 1)
        codes, inverse = np.unique(kind_codes * width + encoded.indices.to_numpy(), return_inverse=True)
        raw = encoded.dictionary.to_pylist()
        distinct: list[str] = []
        for code, kind in enumerate(kinds):
            mine = codes[codes // width == code] % width
            distinct += self.texts_of_kind(kind, [raw[place] for place in mine], message)
        return pa.array(distinct, pa.string()).take(pa.array(inverse))

    def texts_of_kind(self, kind: Kind, raw: list[bytes], message: Message) -> list[str]:
        known = self.known.setdefault((kind, message.name), {})
        unknown = [payload for payload in raw if payload not in known]
        if unknown:
            texts = texts_of(kind, unknown, message)
            known |= zip(unknown, texts, strict=True)
            self.size += sum(map(len, unknown)) + sum(map(len, texts))
        of_payloads = [known[payload] for payload in raw]
        if self.size > LARGEST_MEMORY:
            self.known.clear()
            self.size = 0
        return of_payloads


def distinct_kinds(
    protocol_types: pa.StringArray, protocols: pa.StringArray
) -> tuple[NDArray[np.int64], list[tuple[str | None, str | None]]]:
    """Codes and values of the pairs that occur, nulls included."""
    first, second = (column.dictionary_encode(null_encoding="encode") for column in (protocol_types, protocols))
    width = max(len(second.dictionary), 1)
    pairs = first.indices.to_numpy().astype(np.int64) * width + second.indices.to_numpy()
    distinct, codes = np.unique(pairs, return_inverse=True)
    kinds = [
        (first.dictionary[int(pair // width)].as_py(), second.dictionary[int(pair % width)].as_py())
        for pair in distinct
    ]
    return codes.astype(np.int64), kinds


def texts_of(kind: Kind, raw: list[bytes], message: Message) -> list[str]:
    protocol_type, protocol = kind
    if protocol_type == payloads.CONSUMER:
        return consumer_texts(protocol, pa.array(raw, pa.binary()), message)
    is_subscription = message is payloads.SUBSCRIPTION
    return [value_text(decode_payload(protocol_type, is_subscription, payload), payload) for payload in raw]


def consumer_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> list[str]:
    texts: list[str | None] = [None] * len(column)
    for group in version_groups(slices_of(column), message):
        style = Style({"user_data": user_data_texts(protocol, group.values.field("user_data"), message)})
        versions = text_of(pa.array(group.versions))
        # The version stands before the fields, in the object's first place.
        first, *rest = struct_text(group.values, style)
        assert isinstance(first, str)
        objects = join_pieces(['{"version":', *versions, "," + first.removeprefix("{"), *rest], len(group.rows))
        for row, text in zip(group.rows, objects.to_pylist(), strict=True):
            texts[row] = text
    return [value_text(None, raw.as_py()) if text is None else text for text, raw in zip(texts, column, strict=True)]


def user_data_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> pa.StringArray:
    if protocol not in USER_DATA_PROTOCOLS or column.null_count == len(column):
        return join_pieces(text_of(column), len(column))
    encoded = column.dictionary_encode()
    raw = encoded.dictionary.to_pylist()
    texts = [value_text(decode_user_data(protocol, message, user_data), user_data) for user_data in raw]
    return pa.array(texts, pa.string()).take(encoded.indices).fill_null("null")


def value_text(decoded: Any, raw: bytes) -> str:
    value = raw.hex() if decoded is None else decoded
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=bytes.hex)
    # JSON may hold half a surrogate pair, which is no text: back it goes into the escape that it came from.
    return text.encode(errors="backslashreplace").decode()
