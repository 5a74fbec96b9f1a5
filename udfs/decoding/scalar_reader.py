"""Reads one message at a time, by the same declarations. It says why bytes do not fit, and reads what is too rare
for the loop of `messages`: payloads of Kafka Streams and Connect, and messages that repeat a tag."""

import base64
import struct
from typing import Any

from schemas.fields import (
    FIXED_SIZES,
    INT32_MAX,
    LONGEST_STRING,
    LONGEST_VARINT,
    Array,
    Field,
    FieldType,
    Kind,
    Layout,
    Struct,
    layout,
)
from schemas.words.records import RejectReason

FORMATS = {
    Kind.INT8: struct.Struct(">b"),
    Kind.INT16: struct.Struct(">h"),
    Kind.UINT16: struct.Struct(">H"),
    Kind.INT32: struct.Struct(">i"),
    Kind.INT64: struct.Struct(">q"),
}


class Malformed(Exception):
    """Bytes that do not fit their declaration."""

    def __init__(self, reason: RejectReason, detail: str, field: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.field = field

    def inside(self, name: str) -> "Malformed":
        self.field = f"{name}.{self.field}" if self.field else name
        return self


class Reader:
    def __init__(self, raw: bytes, position: int = 0) -> None:
        self.raw = raw
        self.position = position
        self.end = len(raw)
        self.shortage = RejectReason.UNDERRUN
        self.unknown_tags = 0

    def within(self, size: int) -> "Reader":
        """Reads only the next bytes. If these are too few, nothing is missing: the size is wrong."""
        inner = Reader(self.raw, self.position)
        self.take(size)
        inner.end = self.position
        inner.shortage = RejectReason.BAD_LENGTH
        return inner

    def take(self, size: int) -> bytes:
        left = self.end - self.position
        if size > left:
            raise Malformed(self.shortage, f"{size} bytes wanted at byte {self.position}, {left} left")
        self.position += size
        return self.raw[self.position - size : self.position]

    def number(self, kind: Kind) -> int:
        return int(FORMATS[kind].unpack(self.take(FIXED_SIZES[kind]))[0])

    def uvarint(self) -> int:
        value = 0
        for place in range(LONGEST_VARINT):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                if value > INT32_MAX:
                    raise Malformed(RejectReason.BAD_LENGTH, f"varint {value} is above {INT32_MAX}")
                return value
        raise Malformed(RejectReason.BAD_LENGTH, f"varint is longer than {LONGEST_VARINT} bytes")

    def length(self, kind: Kind | None, is_flexible: bool, is_nullable: bool) -> int:
        """Length of a string or bytes, or count of an array (kind None); -1 is null."""
        classic = Kind.INT16 if kind is Kind.STRING else Kind.INT32
        length = self.uvarint() - 1 if is_flexible else self.number(classic)
        if length < (-1 if is_nullable else 0):
            least = "-1 (null)" if is_nullable else "0"
            raise Malformed(RejectReason.BAD_LENGTH, f"length {length}, at least {least} expected")
        if is_flexible and kind is Kind.STRING and length > LONGEST_STRING:
            raise Malformed(RejectReason.BAD_LENGTH, f"string of {length} bytes, at most {LONGEST_STRING} allowed")
        return length


def text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Malformed(RejectReason.INVALID_UTF8, f"byte {error.start} of the string: {error.reason}") from None


def java_text(raw: bytes) -> str:
    """Java's modified UTF-8: NUL takes two bytes, characters outside the basic plane are surrogate pairs."""
    try:
        units = raw.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
        return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    except UnicodeError as error:
        raise Malformed(RejectReason.INVALID_UTF8, str(error)) from None


def utf16_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-16-be")
    except UnicodeDecodeError as error:
        raise Malformed(RejectReason.INVALID_UTF8, str(error)) from None


def read_value(reader: Reader, kind: FieldType, is_flexible: bool, is_nullable: bool, version: int) -> Any:
    match kind:
        case Array(of):
            count = reader.length(None, is_flexible, is_nullable)
            if count > reader.end - reader.position:
                raise Malformed(
                    reader.shortage, f"{count} elements do not fit into the {reader.end - reader.position} bytes left"
                )
            return None if count < 0 else [read_value(reader, of, is_flexible, False, version) for _ in range(count)]
        case Struct(_, fields):
            return read_layout(reader, layout(fields, version, is_flexible), version)
        case Kind.STRING | Kind.BYTES:
            length = reader.length(kind, is_flexible, is_nullable)
            raw = reader.take(max(length, 0))
            return None if length < 0 else text(raw) if kind is Kind.STRING else raw
        case Kind.UUID:
            return base64.urlsafe_b64encode(reader.take(16)).decode().rstrip("=")
        case Kind.JAVA_UTF:
            return java_text(reader.take(reader.number(Kind.UINT16)))
        case Kind.UTF16_CHARS:
            return utf16_text(reader.take(2 * reader.length(None, False, False))) or None
        case _:
            return reader.number(kind)


def read_field(reader: Reader, field: Field, is_flexible: bool, version: int) -> Any:
    try:
        if isinstance(field.type, Struct) and field.nullable:
            # Inside a tag the marker of a nullable struct is a varint, elsewhere an int8.
            is_present = reader.number(Kind.INT8) >= 0 if field.tag is None else reader.uvarint() > 0
            if not is_present:
                return None
        return read_value(reader, field.type, is_flexible, field.nullable, version)
    except Malformed as error:
        raise error.inside(field.name) from None


def read_layout(reader: Reader, fields: Layout, version: int) -> dict[str, Any]:
    values = {field.name: read_field(reader, field, fields.is_flexible, version) for field in fields.fields}
    if fields.is_flexible:
        read_tags(reader, {field.tag: field for field in fields.tagged}, values, version)
    return values


def read_tags(reader: Reader, known: dict[int | None, Field], values: dict[str, Any], version: int) -> None:
    try:
        for _ in range(reader.uvarint()):
            tag, size = reader.uvarint(), reader.uvarint()
            inner = reader.within(size)
            if tag not in known:
                reader.unknown_tags += 1
                continue
            values[known[tag].name] = read_field(inner, known[tag], True, version)
            reader.unknown_tags += inner.unknown_tags
            if inner.position != inner.end:
                detail = (
                    f"tag {tag} has a size of {size} bytes, but its content has {size - (inner.end - inner.position)}"
                )
                raise Malformed(RejectReason.BAD_LENGTH, detail, known[tag].name)
    except Malformed as error:
        raise error if error.field else error.inside("tagged_fields") from None


def read_message(
    raw: bytes, fields: Layout, version: int, start: int, is_open_ended: bool = False
) -> tuple[dict[str, Any], int]:
    """The values of a message that consumes every byte from `start` on, and its number of unknown tags."""
    reader = Reader(raw, start)
    values = read_layout(reader, fields, version)
    if reader.position < reader.end and not is_open_ended:
        left = reader.end - reader.position
        raise Malformed(RejectReason.TRAILING_BYTES, f"{left} bytes after the last field, at byte {reader.position}")
    return values, reader.unknown_tags
