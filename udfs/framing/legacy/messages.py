"""Reads messages of magic 0 and 1, and wrapper messages that contain compressed ones.

Brokers before 0.11 wrote these, and the cleaner of 4.0 rewrites the last of them. They are few, so they are read one by
one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from struct import Struct

from schemas.words.records import NONE, RejectReason
from udfs.framing.log_bytes.checksums import Bytes, crc32
from udfs.framing.log_bytes.compression import Codec
from udfs.framing.log_bytes.framed_records import Wrong
from udfs.framing.log_bytes.resync import CHECKED_FROM, PREFIX_SIZE, SMALLEST_ENTRY
from udfs.framing.log_bytes.room import Room

CODEC_BITS = 0x07
LOG_APPEND_TIME = 0x08

read_entry = Struct(">qiIbb").unpack_from  # offset, size, checksum, magic, attributes
read_int32 = Struct(">i").unpack_from
read_int64 = Struct(">q").unpack_from

KEY_LENGTH_AT = (18, 26)

# While they are read, messages are objects many times their size. This bounds what hostile wrappers can cost.
MOST_INNER_MESSAGES = 1 << 18


@dataclass(slots=True)
class Message:
    """One message. Positions are in the room's buffer; a length of -1 is null."""

    offset: int
    timestamp: int
    magic: int
    attributes: int
    size: int
    key_start: int
    key_length: int
    value_start: int
    value_length: int


@dataclass(frozen=True)
class Entry:
    """One entry of the log: a message, or a wrapper with the messages in it."""

    wrapper: Message
    messages: list[Message]


def read_legacy_entry(room: Room, start: int, end: int) -> Entry:
    """Raises Wrong."""
    wrapper = read_message(room.data, start, end)
    codec = wrapper.attributes & CODEC_BITS
    if codec == Codec.NONE:
        return Entry(wrapper, [wrapper])
    if codec >= Codec.ZSTD:
        raise Wrong(RejectReason.UNSUPPORTED_CODEC, "codec", f"magic {wrapper.magic} does not allow codec {codec}")
    if wrapper.value_length < 0:
        raise Wrong(RejectReason.BAD_LENGTH, "value", "a wrapper message without a value")
    value_end = wrapper.value_start + wrapper.value_length
    inner = room.decompress(Codec(codec), wrapper.value_start, value_end, wrapper.magic)
    reader = inner_messages(room.bytes_of(*inner), inner[0], wrapper.magic)
    messages = list(islice(reader, MOST_INNER_MESSAGES + 1))
    if not messages:
        raise Wrong(RejectReason.UNDERRUN, "records", "a wrapper message around nothing")
    if len(messages) > MOST_INNER_MESSAGES:
        raise Wrong(RejectReason.TOO_LARGE, "records", f"more than {MOST_INNER_MESSAGES} messages in one")
    unwrap(wrapper, messages)
    return Entry(wrapper, messages)


def unwrap(wrapper: Message, messages: list[Message]) -> None:
    """The fields that inner messages take from their wrapper. Magic 0 takes none: its inner offsets are the real
    ones."""
    if wrapper.magic == 0:
        return
    # The wrapper has the offset of its *last* message. 0 means that the broker has not set it.
    base = wrapper.offset - messages[-1].offset if wrapper.offset else 0
    for message in messages:
        message.offset += base
        if wrapper.attributes & LOG_APPEND_TIME:
            message.timestamp = wrapper.timestamp


def inner_messages(data: Bytes, position: int, magic: int) -> Iterator[Message]:
    """The messages in `data`, which starts at `position` of the buffer."""
    start = 0
    while start < len(data):
        left = len(data) - start
        size = PREFIX_SIZE + read_int32(data.data, start + 8)[0] if left >= PREFIX_SIZE else SMALLEST_ENTRY[magic]
        if size < SMALLEST_ENTRY[magic]:
            raise Wrong(
                RejectReason.BAD_LENGTH,
                "message_length",
                f"inner message of {size} bytes is too small for magic {magic}",
            )
        if size > left:
            raise Wrong(RejectReason.UNDERRUN, "message_length", f"inner message of {size} bytes, {left} left")
        yield inner_message(data, start, start + size, position, magic)
        start += size


def inner_message(data: Bytes, start: int, end: int, position: int, magic: int) -> Message:
    _, _, crc, inner_magic, attributes = read_entry(data.data, start)
    if inner_magic != magic:
        raise Wrong(RejectReason.UNKNOWN_MAGIC, "magic", f"magic {inner_magic} inside of magic {magic}")
    if crc32(data[start + CHECKED_FROM[magic] : end]) != crc:
        raise Wrong(RejectReason.BAD_CRC, "crc", f"inner message of {end - start} bytes: its checksum does not match")
    if attributes & CODEC_BITS:
        raise Wrong(RejectReason.UNSUPPORTED_CODEC, "codec", "a compressed message inside of a compressed one")
    message = read_message(data, start, end)
    message.key_start += position
    message.value_start += position
    return message


def read_message(data: Bytes, start: int, end: int) -> Message:
    """Reads a message and checks its size and checksum."""
    offset, _, _, magic, attributes = read_entry(data.data, start)
    timestamp = read_int64(data.data, start + 18)[0] if magic == 1 else NONE
    key_start, key_length = read_slice(data, start + KEY_LENGTH_AT[magic], end, "key")
    value_start, value_length = read_slice(data, key_start + max(key_length, 0), end, "value")
    left = end - value_start - max(value_length, 0)
    if left:
        raise Wrong(RejectReason.TRAILING_BYTES, "records", f"{left} bytes after the value")
    return Message(offset, timestamp, magic, attributes, end - start, key_start, key_length, value_start, value_length)


def read_slice(data: Bytes, position: int, end: int, field: str) -> tuple[int, int]:
    """Start and length (-1 for null) of a key or value."""
    if end - position < 4:
        raise Wrong(RejectReason.UNDERRUN, field, f"4 bytes wanted, {end - position} left")
    length: int = read_int32(data.data, position)[0]
    if length < -1:
        raise Wrong(RejectReason.BAD_LENGTH, field, f"length {length}")
    if length > end - position - 4:
        raise Wrong(RejectReason.UNDERRUN, field, f"{length} bytes wanted, {end - position - 4} left")
    return position + 4, length
