"""An independent framing: one record at a time, as the format's description says it, sharing nothing with `udfs`.

    log = read_log(raw)        # log.records, log.batches, log.rejected, log.zero_tail, log.torn_tail

What counts as the next good entry behind damaged bytes: if the damaged entry's own length leads to a good entry, to a
tail of zeros or to the end of the bytes, that; else the first position at which an entry with the right checksum
stands. Sizes below the header's or above 64 MiB are damage.
"""

import struct
import zlib

from tests.oracles.log.byte_reader import Bad, Reader
from tests.oracles.log.compression import decompress
from tests.oracles.log.legacy_messages import read_legacy
from tests.oracles.log.slow_records import SlowBatch, SlowLog, SlowRecord, SlowRejected

LARGEST = 64 * 1024 * 1024


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
                base_offset + offset_delta, time, base_offset, len(entry), size, leader_epoch, producer_id,
                producer_epoch, batch.is_transactional, batch.is_control, key, value,
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
