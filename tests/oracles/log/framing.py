"""An independent framing: one record at a time, as the format's description says it, sharing nothing with `udfs`.

    log = read_log(raw)        # log.records, log.batches, log.rejected, log.zero_tail, log.torn_tail

What counts as the next good entry behind damaged bytes: if the damaged entry's own length leads to a good entry, to a
tail of zeros or to the end of the bytes, that; else the first position at which an entry with the right checksum
stands. Sizes below the header's or above 64 MiB are damage.
"""

import gzip
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

LARGEST = 64 * 1024 * 1024


class SlowRecord(NamedTuple):
    offset: int
    timestamp: int
    batch_first_offset: int
    record_bytes: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    is_control: bool
    key: bytes | None
    value: bytes | None


class SlowBatch(NamedTuple):
    position: int
    size: int
    base_offset: int
    last_offset: int
    magic: int
    codec: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    num_records: int
    is_transactional: bool
    is_control: bool
    has_delete_horizon: bool


class SlowRejected(NamedTuple):
    position: int
    size: int
    reason: str
    field: str


@dataclass
class SlowLog:
    records: list[SlowRecord] = field(default_factory=list)
    batches: list[SlowBatch] = field(default_factory=list)
    rejected: list[SlowRejected] = field(default_factory=list)
    zero_tail: int = 0
    torn_tail: int = 0


class Bad(Exception):
    def __init__(self, reason: str, where: str) -> None:
        super().__init__(reason, where)
        self.reason = reason
        self.where = where


def crc32c_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC32C_TABLE = crc32c_table()


def crc32c(raw: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in raw:
        crc = (crc >> 8) ^ CRC32C_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def read_log(raw: bytes) -> SlowLog:
    log = SlowLog()
    position = 0
    while position < len(raw):
        if not any(raw[position:]):
            log.zero_tail = len(raw) - position
            break
        try:
            end = entry_end(raw, position)
        except Bad as bad:
            behind = next_good(raw, position)
            log.rejected.append(SlowRejected(position, (behind or len(raw)) - position, bad.reason, bad.where))
            if behind is None:
                log.torn_tail = len(raw) - position if bad.reason == "torn_batch" else 0
                break
            position = behind
            continue
        try:
            batch, records = read_batch(raw[position:end], position)
            log.batches.append(batch)
            log.records += records
        except Bad as bad:
            log.rejected.append(SlowRejected(position, end - position, bad.reason, bad.where))
        position = end
    return log


def entry_end(raw: bytes, position: int) -> int:
    """Raises Bad unless a whole entry with the right checksum stands here."""
    left = len(raw) - position
    if left < 17:
        raise Bad("torn_batch", "batch_length")
    size = 12 + struct.unpack_from(">i", raw, position + 8)[0]
    magic = raw[position + 16]
    if magic not in (0, 1, 2):
        raise Bad("unknown_magic", "magic")
    if size < {0: 26, 1: 34, 2: 61}[magic]:
        raise Bad("bad_length", "batch_length")
    if size > LARGEST:
        raise Bad("too_large", "batch_length")
    if size > left:
        raise Bad("torn_batch", "batch_length")
    entry = raw[position : position + size]
    if magic == 2:
        is_right = struct.unpack_from(">I", entry, 17)[0] == crc32c(entry[21:])
    else:
        is_right = struct.unpack_from(">I", entry, 12)[0] == zlib.crc32(entry[16:])
    if not is_right:
        raise Bad("bad_crc", "crc")
    return position + size


def is_good(raw: bytes, position: int) -> bool:
    try:
        entry_end(raw, position)
    except Bad:
        return False
    return True


def next_good(raw: bytes, position: int) -> int | None:
    if len(raw) - position >= 17:
        claimed = position + 12 + struct.unpack_from(">i", raw, position + 8)[0]
        magic = raw[position + 16]
        is_plausible = magic in (0, 1, 2) and claimed - position >= {0: 26, 1: 34, 2: 61}[magic]
        is_inside = is_plausible and claimed <= len(raw) and claimed - position <= LARGEST
        if is_inside and (not any(raw[claimed:]) or is_good(raw, claimed)):
            return claimed
    for candidate in range(position + 1, len(raw)):
        if is_good(raw, candidate):
            return candidate
    return None


def read_batch(entry: bytes, position: int) -> tuple[SlowBatch, list[SlowRecord]]:
    return read_modern(entry, position) if entry[16] == 2 else read_legacy(entry, position)


class Reader:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def take(self, size: int, where: str) -> bytes:
        if size > len(self.raw) - self.at:
            raise Bad("underrun", where)
        self.at += size
        return self.raw[self.at - size : self.at]

    def zigzag(self, bits: int, where: str) -> int:
        value, shift = 0, 0
        while True:
            if shift >= bits:
                raise Bad("bad_length", where)
            byte = self.take(1, where)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                break
        value %= 1 << bits
        return value // 2 if value % 2 == 0 else -(value // 2) - 1

    def slice(self, where: str, is_nullable: bool = True) -> bytes | None:
        length = self.zigzag(32, where)
        if length == -1 and is_nullable:
            return None
        if length < 0:
            raise Bad("bad_length", where)
        return self.take(length, where)


def read_modern(entry: bytes, position: int) -> tuple[SlowBatch, list[SlowRecord]]:
    base_offset, _, leader_epoch = struct.unpack_from(">qii", entry, 0)
    attributes, last_delta, base_time, max_time, producer_id, producer_epoch, _, count = struct.unpack_from(
        ">hiqqqhii", entry, 21
    )
    codec = attributes % 8
    if codec > 4:
        raise Bad("unsupported_codec", "codec")
    if count < 0:
        raise Bad("bad_length", "num_records")
    if count > 1 << 20:
        raise Bad("too_large", "num_records")
    body = decompress(codec, entry[61:], 2)
    if count * 7 > len(body):
        raise Bad("underrun", "num_records")
    flags = [bool(attributes & bit) for bit in (0x10, 0x20, 0x40)]
    batch = SlowBatch(
        position, len(entry), base_offset, base_offset + last_delta, 2, codec, leader_epoch, producer_id,
        producer_epoch, count, *flags,
    )  # fmt: skip
    is_log_append_time = bool(attributes & 0x08)
    records = []
    for size, raw in split_records(body, count):
        time_delta, offset_delta, key, value = read_record(raw)
        time = max_time if is_log_append_time else wrap64(base_time + time_delta)
        records.append(
            SlowRecord(
                base_offset + offset_delta, time, base_offset, size, leader_epoch, producer_id, producer_epoch,
                batch.is_transactional, batch.is_control, key, value,
            )
        )  # fmt: skip
    return batch, records


def wrap64(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def split_records(body: bytes, count: int) -> list[tuple[int, bytes]]:
    """Size of each record, and what stands behind its length."""
    reader = Reader(body)
    records = []
    for _ in range(count):
        start = reader.at
        length = reader.zigzag(32, "length")
        if length < 6:
            raise Bad("bad_length", "length")
        raw = reader.take(length, "length")
        records.append((reader.at - start, raw))
    if reader.at != len(body):
        raise Bad("trailing_bytes", "records")
    return records


def read_record(raw: bytes) -> tuple[int, int, bytes | None, bytes | None]:
    reader = Reader(raw)
    reader.take(1, "attributes")
    time_delta = reader.zigzag(64, "timestamp_delta")
    offset_delta = reader.zigzag(32, "offset_delta")
    key = reader.slice("key")
    value = reader.slice("value")
    headers = reader.zigzag(32, "headers")
    if headers < 0:
        raise Bad("bad_length", "headers")
    if 2 * headers > len(raw) - reader.at:
        raise Bad("underrun", "headers")
    for _ in range(headers):
        reader.slice("header_key", is_nullable=False)
        reader.slice("header_value")
    if reader.at != len(raw):
        raise Bad("trailing_bytes", "records")
    return time_delta, offset_delta, key, value


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
        SlowRecord(m.offset, m.timestamp, first, m.size, -1, -1, -1, False, False, m.key, m.value) for m in messages
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


def decompress(codec: int, raw: bytes, magic: int) -> bytes:
    try:
        return [lambda r, _: r, gunzip, unsnappy, unlz4, unzstd][codec](raw, magic)
    except Bad:
        raise
    except Exception as error:
        raise Bad("bad_compression", "records") from error


def gunzip(raw: bytes, _: int) -> bytes:
    return gzip.decompress(raw)


def unsnappy(raw: bytes, _: int) -> bytes:
    if raw[:8] != b"\x82SNAPPY\x00":
        return unsnappy_block(raw) if raw else b""
    output, at = b"", 16
    while at < len(raw):
        if raw[at : at + 8] == b"\x82SNAPPY\x00":
            at += 16
            continue
        size = struct.unpack(">i", raw[at : at + 4])[0]
        if size < 0 or at + 4 + size > len(raw):
            raise Bad("bad_compression", "records")
        output += unsnappy_block(raw[at + 4 : at + 4 + size]) if size else b""
        at += 4 + size
    return output


def unsnappy_block(raw: bytes) -> bytes:
    """Snappy's own format: literals and copies, without any library."""
    size, shift, at = 0, 0, 0
    while True:
        byte = raw[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 128:
            break
    output = bytearray()
    while at < len(raw):
        at = snappy_element(raw, at, output)
    if len(output) != size:
        raise Bad("bad_compression", "records")
    return bytes(output)


def snappy_element(raw: bytes, at: int, output: bytearray) -> int:
    tag = raw[at]
    at += 1
    kind = tag & 3
    if kind == 0:
        length = tag >> 2
        if length >= 60:
            extra = length - 59
            length = int.from_bytes(raw[at : at + extra], "little")
            at += extra
        length += 1
        if at + length > len(raw):
            raise Bad("bad_compression", "records")
        output += raw[at : at + length]
        return at + length
    if kind == 1:
        length, distance, at = 4 + (tag >> 2 & 7), (tag >> 5) << 8 | raw[at], at + 1
    else:
        width = 2 if kind == 2 else 4
        length, distance, at = 1 + (tag >> 2), int.from_bytes(raw[at : at + width], "little"), at + width
    if not 0 < distance <= len(output):
        raise Bad("bad_compression", "records")
    for _ in range(length):
        output.append(output[-distance])
    return at


def unlz4(raw: bytes, magic: int) -> bytes:
    """LZ4 frames without any library; checksums are not looked at."""
    if not raw:
        return b""
    if raw[:4] != b"\x04\x22\x4d\x18":
        raise Bad("bad_compression", "records")
    flags = raw[4]
    at = 7 + (8 if flags & 8 else 0)
    output = bytearray()
    while True:
        if at + 4 > len(raw):
            raise Bad("bad_compression", "records")
        size = int.from_bytes(raw[at : at + 4], "little")
        at += 4
        if size == 0:
            return bytes(output)
        block = raw[at : at + (size & 0x7FFFFFFF)]
        if len(block) < size & 0x7FFFFFFF:
            raise Bad("bad_compression", "records")
        at += len(block) + (4 if flags & 16 else 0)
        output += block if size >> 31 else unlz4_block(block, output)


def unlz4_block(block: bytes, before: bytearray) -> bytes:
    output, at = bytearray(before), 0
    while at < len(block):
        token = block[at]
        at += 1
        length, at = lz4_length(block, at, token >> 4)
        output += block[at : at + length]
        at += length
        if at >= len(block):
            break
        distance = int.from_bytes(block[at : at + 2], "little")
        length, at = lz4_length(block, at + 2, token & 15)
        for _ in range(length + 4):
            output.append(output[-distance])
    return bytes(output[len(before) :])


def lz4_length(block: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            length += block[at]
            at += 1
            if block[at - 1] != 255:
                break
    return length, at


def unzstd(raw: bytes, _: int) -> bytes:
    """The one codec that is not written out here: no vector and no standard module reads it."""
    stream: Any = pa.CompressedInputStream(pa.BufferReader(raw), "zstd")
    return bytes(stream.read())
