"""Reads messages of the formats before record batches (magic 0 and 1), one at a time."""

import struct
import zlib
from typing import NamedTuple

from tests.oracles.log.byte_reader import Bad, Reader
from tests.oracles.log.compression import decompress
from tests.oracles.log.slow_records import SlowBatch, SlowRecord


class Message(NamedTuple):
    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    size: int


def read_legacy(entry: bytes, position: int) -> tuple[SlowBatch, list[SlowRecord]]:
    wrapper = read_message(entry)
    codec = wrapper.attributes % 8
    messages = [wrapper]
    if codec:
        messages = unwrapped(wrapper, codec)
    batch = SlowBatch(
        position, len(entry), messages[0].offset, messages[-1].offset, wrapper.magic, codec, -1, -1, -1, len(messages),
        False, False, False,
    )  # fmt: skip
    first = messages[0].offset
    records = [
        SlowRecord(m.offset, m.timestamp, first, len(entry), m.size, -1, -1, -1, False, False, m.key, m.value)
        for m in messages
    ]
    return batch, records


def unwrapped(wrapper: Message, codec: int) -> list[Message]:
    if codec > 3:
        raise Bad("unsupported_codec", "codec")
    if wrapper.value is None:
        raise Bad("bad_length", "value")
    inner = decompress(codec, wrapper.value, wrapper.magic)
    messages, at = [], 0
    smallest = 26 if wrapper.magic == 0 else 34
    while at < len(inner):
        size = 12 + struct.unpack_from(">i", inner, at + 8)[0] if len(inner) - at >= 12 else smallest
        if size < smallest:
            raise Bad("bad_length", "message_length")
        if size > len(inner) - at:
            raise Bad("underrun", "message_length")
        messages.append(inner_message(inner[at : at + size], wrapper))
        at += size
    if not messages:
        raise Bad("underrun", "records")
    if wrapper.magic == 1:
        base = wrapper.offset - messages[-1].offset if wrapper.offset != 0 else 0
        messages = [message._replace(offset=base + message.offset) for message in messages]
        if wrapper.attributes & 8:
            messages = [message._replace(timestamp=wrapper.timestamp) for message in messages]
    return messages


def inner_message(entry: bytes, wrapper: Message) -> Message:
    if entry[16] != wrapper.magic:
        raise Bad("unknown_magic", "magic")
    if struct.unpack_from(">I", entry, 12)[0] != zlib.crc32(entry[16:]):
        raise Bad("bad_crc", "crc")
    if entry[17] % 8:
        raise Bad("unsupported_codec", "codec")
    return read_message(entry)


def read_message(entry: bytes) -> Message:
    offset = struct.unpack_from(">q", entry, 0)[0]
    magic, attributes = entry[16], entry[17]
    reader = Reader(entry)
    reader.at = 18
    timestamp = struct.unpack(">q", reader.take(8, "timestamp"))[0] if magic == 1 else -1
    parts: list[bytes | None] = []
    for where in ("key", "value"):
        length = struct.unpack(">i", reader.take(4, where))[0]
        if length < -1:
            raise Bad("bad_length", where)
        parts.append(None if length == -1 else reader.take(length, where))
    if reader.at != len(entry):
        raise Bad("trailing_bytes", "records")
    return Message(offset, magic, attributes, timestamp, parts[0], parts[1], len(entry))
