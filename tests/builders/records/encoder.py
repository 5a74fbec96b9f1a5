"""Writes declared messages: values in, bytes out.

Values are dicts by field name, as the decoders give them. A tagged field that the dict lacks is not written; tags that
no declaration knows stand under UNKNOWN_TAGS, as pairs of tag and bytes.
"""

import base64
from collections.abc import Mapping
from typing import Any

from schemas.fields import (
    FIXED_SIZES,
    Array,
    Field,
    FieldType,
    Kind,
    Layout,
    Message,
    RecordType,
    Shape,
    Struct,
    layout,
)

UNKNOWN_TAGS = "unknown tags"


def encode_key(record: RecordType, values: Mapping[str, Any]) -> bytes:
    """Keys are never flexible."""
    return number(Kind.INT16, record.number) + encode_layout(layout(record.key, 0, is_flexible=False), values, 0)


def encode_value(shape: Shape, version: int, values: Mapping[str, Any], version_kind: Kind = Kind.INT16) -> bytes:
    return number(version_kind, version) + encode_layout(shape.layout(version), values, version)


def encode_payload(message: Message, version: int, values: Mapping[str, Any]) -> bytes:
    """A version above the highest known is written with the highest known layout."""
    known = min(version, message.highest_version)
    (shape,) = message.shapes_of(known)
    return number(message.version_kind, version) + encode_layout(shape.layout(known), values, known)


def encode_layout(fields: Layout, values: Mapping[str, Any], version: int) -> bytes:
    untagged = [encode_field(field, values[field.name], fields.is_flexible, version) for field in fields.fields]
    return b"".join(untagged) + (encode_tags(fields, values, version) if fields.is_flexible else b"")


def encode_tags(fields: Layout, values: Mapping[str, Any], version: int) -> bytes:
    tags = [
        (int(field.tag or 0), encode_field(field, values[field.name], True, version))
        for field in fields.tagged
        if field.name in values
    ]
    tags += values.get(UNKNOWN_TAGS, [])
    return uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(body)) + body for tag, body in tags)


def encode_field(field: Field, value: Any, is_flexible: bool, version: int) -> bytes:
    if isinstance(field.type, Struct) and field.nullable:
        # A nullable struct is marked by an int8, but inside a tag by a varint.
        absent, present = (b"\xff", b"\x01") if field.tag is None else (b"\x00", b"\x01")
        return absent if value is None else present + encode(field.type, value, is_flexible, version)
    return encode(field.type, value, is_flexible, version)


def encode(kind: FieldType, value: Any, is_flexible: bool, version: int) -> bytes:
    match kind:
        case Struct(_, fields):
            return encode_layout(layout(fields, version, is_flexible), value, version)
        case Array(of):
            elements = b"".join(encode(of, element, is_flexible, version) for element in value or ())
            return length(value, Kind.INT32, is_flexible) + elements
        case Kind.STRING:
            raw = None if value is None else value.encode()
            return length(raw, Kind.INT16, is_flexible) + (raw or b"")
        case Kind.BYTES:
            return length(value, Kind.INT32, is_flexible) + (value or b"")
        case Kind.UUID:
            return base64.urlsafe_b64decode(value + "==")
        case Kind.JAVA_UTF:
            raw = java_utf(value)
            return number(Kind.UINT16, len(raw)) + raw
        case Kind.UTF16_CHARS:
            raw = value.encode("utf-16-be")
            return number(Kind.INT32, len(raw) // 2) + raw
        case _:
            return number(kind, value)


def length(value: Any, classic: Kind, is_flexible: bool) -> bytes:
    size = -1 if value is None else len(value)
    return uvarint(size + 1) if is_flexible else number(classic, size)


def number(kind: Kind, value: int) -> bytes:
    return value.to_bytes(FIXED_SIZES[kind], "big", signed=kind is not Kind.UINT16)


def uvarint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(written) + bytes([value])


def java_utf(text: str) -> bytes:
    """Java's modified UTF-8: surrogates one by one, and NUL in two bytes."""
    units = text.encode("utf-16-be")
    pairs = (units[at : at + 2] for at in range(0, len(units), 2))
    written = b"".join(pair.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass") for pair in pairs)
    return written.replace(b"\x00", b"\xc0\x80")
