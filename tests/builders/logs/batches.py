"""Writes logs for the framing tests: well-formed ones of every kind, and damaged ones with right checksums."""

import gzip
import struct
import zlib
from dataclasses import dataclass

import google_crc32c
import numpy as np
import pyarrow as pa

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def zigzag(value: int) -> bytes:
    raw = value * 2 if value >= 0 else -value * 2 - 1
    out = bytearray()
    while raw >= 128:
        out.append(raw % 128 + 128)
        raw //= 128
    out.append(raw)
    return bytes(out)


def nullable(raw: bytes | None) -> bytes:
    return zigzag(-1) if raw is None else zigzag(len(raw)) + raw


def record(
    offset_delta: int,
    key: bytes | None,
    value: bytes | None,
    time_delta: int = 0,
    headers: tuple[tuple[bytes, bytes | None], ...] = (),
) -> bytes:
    body = b"\0" + zigzag(time_delta) + zigzag(offset_delta) + nullable(key) + nullable(value) + zigzag(len(headers))
    body += b"".join(zigzag(len(name)) + name + nullable(held) for name, held in headers)
    return zigzag(len(body)) + body


def compressed(codec: int, raw: bytes, is_xerial: bool = True) -> bytes:
    if codec == GZIP:
        return gzip.compress(raw)
    if codec == SNAPPY:
        block = bytes(pa.Codec("snappy").compress(raw, asbytes=True))
        return XERIAL_HEADER + struct.pack(">i", len(block)) + block if is_xerial else block
    if codec == LZ4:
        return bytes(pa.Codec("lz4").compress(raw, asbytes=True))
    if codec == ZSTD:
        return bytes(pa.Codec("zstd").compress(raw, asbytes=True))
    return raw


@dataclass(frozen=True)
class Batch:
    """A batch of magic 2; `body` is what stands behind the header, as it shall be written."""

    body: bytes
    count: int
    base_offset: int = 0
    leader_epoch: int = 0
    attributes: int = 0
    last_delta: int = 0
    base_time: int = 1000
    max_time: int = 2000
    producer_id: int = -1
    producer_epoch: int = -1

    def bytes(self) -> bytes:
        checked = struct.pack(
            ">hiqqqhii", self.attributes, self.last_delta, self.base_time, self.max_time, self.producer_id,
            self.producer_epoch, 0, self.count,
        ) + self.body  # fmt: skip
        head = struct.pack(
            ">qiiBI", self.base_offset, 9 + len(checked), self.leader_epoch, 2, google_crc32c.value(checked)
        )
        return head + checked


def batch_of(*records: bytes, codec: int = NONE, is_xerial: bool = True, **fields: int) -> bytes:
    attributes = fields.pop("attributes", 0) | codec
    body = compressed(codec, b"".join(records), is_xerial)
    count = fields.pop("count", len(records))
    fields.setdefault("last_delta", max(count - 1, 0))
    return Batch(body, count, attributes=attributes, **fields).bytes()


def message(
    magic: int, offset: int, key: bytes | None, value: bytes | None, time: int = -1, attributes: int = 0
) -> bytes:
    checked = struct.pack(">BB", magic, attributes) + (struct.pack(">q", time) if magic else b"")
    for part in (key, value):
        checked += struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part
    return struct.pack(">qiI", offset, 4 + len(checked), zlib.crc32(checked)) + checked


def wrapper(
    magic: int, offset: int, inner: bytes, codec: int, time: int = -1, attributes: int = 0, is_xerial: bool = True
) -> bytes:
    return message(magic, offset, None, compressed(codec, inner, is_xerial), time, attributes | codec)


def random_bytes(rng: np.random.Generator, longest: int = 60) -> bytes | None:
    size = int(rng.integers(-2, longest))
    if size >= longest - 2:
        # Where lengths and sizes take a byte more.
        size = int(rng.choice([63, 64, 127, 128] if longest < 40 else [63, 64, 127, 128, 8191, 8192, 20000]))
    return None if size < -1 else rng.bytes(max(size, 0))


def random_record(rng: np.random.Generator, offset_delta: int, longest: int = 60) -> bytes:
    time_delta = int(rng.choice([0, 0, 0, 1, 63, 64, -1, -5000, 10**6, 2**40, -(2**63)]))
    headers = ()
    if rng.random() < 0.1:
        headers = tuple((rng.bytes(int(rng.integers(0, 5))), random_bytes(rng, 9)) for _ in range(rng.integers(1, 5)))
    return record(offset_delta, random_bytes(rng, longest), random_bytes(rng, longest), time_delta, headers)


def random_modern_batch(rng: np.random.Generator, offset: int, most: int = 20) -> tuple[bytes, int]:
    """A batch and the offset behind it."""
    count = int(rng.integers(0, most + 1))
    deltas = np.cumsum(rng.integers(1, 4, count)) + int(rng.integers(-1, 100)) if rng.random() < 0.3 else range(count)
    records = [random_record(rng, int(delta)) for delta in deltas]
    last = int(deltas[-1]) if count else 0
    is_transactional = rng.random() < 0.2
    raw = batch_of(
        *records,
        codec=int(rng.choice([NONE, NONE, NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD])) if count else NONE,
        is_xerial=bool(rng.random() < 0.7),
        base_offset=offset,
        last_delta=last,
        leader_epoch=int(rng.integers(-1, 50)),
        attributes=int(rng.choice([0, 0x08, 0x40])) | (0x10 if is_transactional else 0),
        base_time=int(rng.choice([0, -1, 1_700_000_000_000])),
        max_time=int(rng.integers(0, 2**41)),
        producer_id=int(rng.integers(0, 2**40)) if is_transactional else -1,
        producer_epoch=int(rng.integers(0, 2**15)) if is_transactional else -1,
    )
    return raw, offset + last + 1


def random_legacy_entry(rng: np.random.Generator, offset: int) -> tuple[bytes, int]:
    magic, time = int(rng.integers(0, 2)), int(rng.integers(0, 2**41))
    if rng.random() < 0.5:
        return message(magic, offset, random_bytes(rng), random_bytes(rng), time), offset + 1
    offsets = np.cumsum(rng.integers(1, 3, rng.integers(1, 8))).tolist()
    absolute = [offset + delta for delta in offsets]
    inner = b"".join(
        message(magic, (absolute if magic == 0 else offsets)[i], random_bytes(rng), random_bytes(rng), time + i)
        for i in range(len(offsets))
    )
    codec, attributes = int(rng.integers(GZIP, LZ4 + 1)), int(rng.choice([0, 8]))
    raw = wrapper(magic, absolute[-1], inner, codec, time, attributes, bool(rng.random() < 0.7))
    return raw, absolute[-1] + 1


def random_log(rng: np.random.Generator, entries: int, legacy_share: float = 0.0, most: int = 20) -> list[bytes]:
    offset, log = int(rng.integers(0, 2**40)), []
    for _ in range(entries):
        write = random_legacy_entry if rng.random() < legacy_share else random_modern_batch
        raw, offset = write(rng, offset) if write is random_legacy_entry else random_modern_batch(rng, offset, most)
        log.append(raw)
    return log


def damaged_batch(rng: np.random.Generator) -> bytes:
    """A batch with a right checksum over records that are wrong in one place."""
    count = int(rng.integers(1, 12))
    longest = int(rng.choice([4, 30]))  # short ones, so that what is damaged is seldom the content
    body = bytearray(b"".join(random_record(rng, delta, longest) for delta in range(count)))
    match int(rng.integers(0, 5)):
        case 0:
            body[int(rng.integers(0, len(body)))] = int(rng.integers(0, 256))
        case 1:
            count += int(rng.choice([-1, 1, 5, -count, -100, 2**31 - 1 - count]))
        case 2:
            del body[int(rng.integers(0, len(body))) :]
        case 3:
            body += rng.bytes(int(rng.integers(1, 9)))
        case 4:
            at = int(rng.integers(0, len(body)))
            body[at : at + 1] = rng.choice(np.frombuffer(b"\x80\xff\x01\x00", np.uint8), 6).tobytes()
    attributes = 5 if rng.random() < 0.02 else 0
    return Batch(bytes(body), count, base_offset=7, attributes=attributes).bytes()
