"""The user data of members of the sticky assignors."""

import struct
from collections.abc import Iterator

from udfs.assignors.questions.problems import ABSENT
from udfs.assignors.questions.specs import Owned

INT16 = struct.Struct(">h")
INT32 = struct.Struct(">i")


class Unreadable(Exception):
    """Bytes that are not what Kafka's assignor writes."""


def previous_assignment(data: bytes | None) -> tuple[Owned, int | None]:
    """The sticky assignor's lists and generation; without the latter before 2.3. Garbage says nothing at all."""
    if not data:
        return (), None
    try:
        lists, end = read_lists(data)
    except Unreadable:
        return (), None
    return lists, INT32.unpack_from(data, end)[0] if end + INT32.size <= len(data) else None


def last_generation(data: bytes | None) -> int:
    """The cooperative one's: the generation that the member synced last."""
    return INT32.unpack_from(data)[0] if data and len(data) >= INT32.size else ABSENT


def read_lists(data: bytes) -> tuple[Owned, int]:
    count, at = read_size(data, 0, INT32)
    lists = []
    for _ in range(count):
        length, at = read_size(data, at, INT16)
        topic = data[at : at + length].decode("utf-8", "replace")
        size, at = read_size(data, at + length, INT32)
        if size * INT32.size > len(data) - at:
            raise Unreadable
        lists.append((topic, tuple(partitions(data, at, size))))
        at += size * INT32.size
    return tuple(lists), at


def read_size(data: bytes, at: int, number: struct.Struct) -> tuple[int, int]:
    """A length or count that what is left can hold, and where it ends."""
    if at + number.size > len(data):
        raise Unreadable
    size: int = number.unpack_from(data, at)[0]
    at += number.size
    if not 0 <= size <= len(data) - at:
        raise Unreadable
    return size, at


def partitions(data: bytes, at: int, size: int) -> Iterator[int]:
    return (value for (value,) in INT32.iter_unpack(data[at : at + size * INT32.size]))
