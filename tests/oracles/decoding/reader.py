"""Kafka's wire types, read one value at a time: a cursor over bytes and one plain function a type.

Nothing here is fast. It is meant to be compared with the specification line by line.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

MAX_INT32 = 2**31 - 1
MAX_STRING_BYTES = 32767


class Refused(Exception):
    """Bytes that are not what they should be; the path of the field grows while the error climbs out."""

    def __init__(self, reason: str, *path: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = list(path)


class Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.end = len(data)
        self.unknown_tags = 0

    def left(self) -> int:
        return self.end - self.position

    def take(self, size: int) -> bytes:
        if size > self.left():
            raise Refused("underrun")
        taken = self.data[self.position : self.position + size]
        self.position += size
        return taken


Reader = Callable[[Cursor], Any]


def int8(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(1), "big", signed=True)


def int16(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(2), "big", signed=True)


def uint16(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(2), "big", signed=False)


def int32(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(4), "big", signed=True)


def int64(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(8), "big", signed=True)


def uuid(cursor: Cursor) -> str:
    """Kafka's text form: 22 characters of url-safe base64 without padding."""
    return base64.urlsafe_b64encode(cursor.take(16)).decode("ascii").rstrip("=")


def varint(cursor: Cursor) -> int:
    """Unsigned, seven bits a byte, lowest group first, five bytes at most."""
    value = 0
    for shift in (0, 7, 14, 21, 28):
        byte = cursor.take(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > MAX_INT32:
                raise Refused("bad_length")
            return value
    raise Refused("bad_length")


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("invalid_utf8") from None


def string(cursor: Cursor) -> str:
    length = int16(cursor)
    if length < 0:
        raise Refused("bad_length")
    return _text(cursor.take(length))


def compact_string(cursor: Cursor) -> str:
    length = varint(cursor) - 1
    if length < 0 or length > MAX_STRING_BYTES:
        raise Refused("bad_length")
    return _text(cursor.take(length))


def plain_bytes(cursor: Cursor) -> bytes:
    length = int32(cursor)
    if length < 0:
        raise Refused("bad_length")
    return cursor.take(length)


def compact_bytes(cursor: Cursor) -> bytes:
    length = varint(cursor) - 1
    if length < 0:
        raise Refused("bad_length")
    return cursor.take(length)


def _elements(cursor: Cursor, count: int, element: Reader) -> list[Any]:
    if count < 0:
        raise Refused("bad_length")
    if count > cursor.left():  # every element takes at least one byte
        raise Refused("underrun")
    return [element(cursor) for _ in range(count)]


def array(element: Reader) -> Reader:
    return lambda cursor: _elements(cursor, int32(cursor), element)


def compact_array(element: Reader) -> Reader:
    return lambda cursor: _elements(cursor, varint(cursor) - 1, element)


def _or_null(reader: Reader, null_marker: bytes) -> Reader:
    """Only this one marker means null: a length below -1 is left to the reader, which refuses it."""

    def read(cursor: Cursor) -> Any:
        after_marker = cursor.position + len(null_marker)
        if after_marker <= cursor.end and cursor.data[cursor.position : after_marker] == null_marker:
            cursor.position = after_marker
            return None
        return reader(cursor)

    return read


nullable_string = _or_null(string, b"\xff\xff")
nullable_bytes = _or_null(plain_bytes, b"\xff\xff\xff\xff")


def _compact_or_null(reader: Reader) -> Reader:
    """Null is the varint 0, which may also be written in several bytes."""

    def read(cursor: Cursor) -> Any:
        start = cursor.position
        if varint(cursor) == 0:
            return None
        cursor.position = start
        return reader(cursor)

    return read


nullable_compact_string = _compact_or_null(compact_string)


def nullable_array(element: Reader) -> Reader:
    return _or_null(array(element), b"\xff\xff\xff\xff")


def nullable_compact_array(element: Reader) -> Reader:
    return _compact_or_null(compact_array(element))


def nullable_struct(reader: Reader) -> Reader:
    """Untagged: an int8 before it, negative for null."""
    return lambda cursor: None if int8(cursor) < 0 else reader(cursor)


def nullable_tagged_struct(reader: Reader) -> Reader:
    """Inside a tagged field the marker is a varint, 0 for null, and the field's size counts it."""
    return lambda cursor: None if varint(cursor) == 0 else reader(cursor)


class Struct:
    """The fields read so far of one struct, in wire order."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.values: dict[str, Any] = {}

    def read(self, name: str, reader: Reader) -> Any:
        self.values[name] = self._named(name, reader)
        return self.values[name]

    def _named(self, name: str, reader: Reader) -> Any:
        try:
            return reader(self.cursor)
        except Refused as refused:
            refused.path.insert(0, name)
            raise

    def tags(self, known: Mapping[int, tuple[str, Reader]] | None = None) -> None:
        """The section that ends every flexible struct. The order of tags is not checked; a repeated one: last wins."""
        for _ in range(self._named("tagged_fields", varint)):
            tag, size = self._named("tagged_fields", _tag_and_size)
            if known is not None and tag in known:
                name, reader = known[tag]
                self.read(name, _exactly(size, reader))
            else:
                self.cursor.take(size)
                self.cursor.unknown_tags += 1


def _tag_and_size(cursor: Cursor) -> tuple[int, int]:
    tag = varint(cursor)
    size = varint(cursor)
    if size > cursor.left():
        raise Refused("underrun")
    return tag, size


def _exactly(size: int, reader: Reader) -> Reader:
    """Content that ends before its announced size, or wants more than that, belies the size: no byte is missing."""

    def read(cursor: Cursor) -> Any:
        outer_end = cursor.end
        cursor.end = cursor.position + size
        try:
            value = reader(cursor)
        except Refused as refused:
            if refused.reason == "underrun":
                refused.reason = "bad_length"
            raise
        if cursor.left() > 0:
            raise Refused("bad_length")
        cursor.end = outer_end
        return value

    return read


def struct(layout: Callable[[Struct], None]) -> Callable[[Cursor], dict[str, Any]]:
    """Decorator: a function that names the fields in wire order becomes a reader of that struct."""

    def read(cursor: Cursor) -> dict[str, Any]:
        fields = Struct(cursor)
        layout(fields)
        return fields.values

    read.__name__ = layout.__name__
    return read


def read_all(reader: Reader, cursor: Cursor) -> Any:
    """Kafka's own readers ignore what follows a message; here it is refused."""
    value = reader(cursor)
    if cursor.left() > 0:
        raise Refused("trailing_bytes")
    return value
