"""JSON text of client payloads: decoded if they are understood, else their bytes in hex."""

import numpy as np
import pyarrow as pa

from schemas.declarations.fields import Message
from schemas.records import payloads
from udfs.arrays.slices import slices_of
from udfs.decoding.client_payloads import decode_payload, decode_user_data, version_groups
from udfs.lines.line_steps import Memory, Steps, Style
from udfs.lines.payload_kinds import LARGEST_MEMORY, USER_DATA_PROTOCOLS, Kind, distinct_kinds, value_text
from udfs.lines.written_lines import json_of, texts


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
            found = texts_of(kind, unknown, message)
            known |= zip(unknown, found, strict=True)
            self.size += sum(map(len, unknown)) + sum(map(len, found))
        of_payloads = [known[payload] for payload in raw]
        if self.size > LARGEST_MEMORY:
            self.known.clear()
            self.size = 0
        return of_payloads


def texts_of(kind: Kind, raw: list[bytes], message: Message) -> list[str]:
    protocol_type, protocol = kind
    if protocol_type == payloads.CONSUMER:
        return consumer_texts(protocol, pa.array(raw, pa.binary()), message)
    is_subscription = message is payloads.SUBSCRIPTION
    return [value_text(decode_payload(protocol_type, is_subscription, payload), payload) for payload in raw]


def consumer_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> list[str]:
    found: list[str | None] = [None] * len(column)
    for group in version_groups(slices_of(column), message):
        style = Style({"user_data": user_data_texts(protocol, group.values.field("user_data"), message)})
        steps = Steps(Memory())
        steps.say('{"version":')
        steps.value(pa.array(group.versions))
        steps.say(",")
        steps.fields(group.values, style=style)
        steps.say("}")
        for row, text in zip(group.rows, texts(steps, len(group.rows)).to_pylist(), strict=True):
            found[row] = text
    return [value_text(None, raw.as_py()) if text is None else text for text, raw in zip(found, column, strict=True)]


def user_data_texts(protocol: str | None, column: pa.BinaryArray, message: Message) -> pa.StringArray:
    if protocol not in USER_DATA_PROTOCOLS or column.null_count == len(column):
        return json_of(column)
    encoded = column.dictionary_encode()
    raw = encoded.dictionary.to_pylist()
    found = [value_text(decode_user_data(protocol, message, user_data), user_data) for user_data in raw]
    return pa.array(found, pa.string()).take(encoded.indices).fill_null("null")
