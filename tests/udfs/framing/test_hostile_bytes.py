"""Bytes made to cost time or memory: both stay in proportion to the input, or to a fixed bound."""

import struct
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import google_crc32c
import numpy as np
import pyarrow as pa
import pytest

from tests.builders.logs.batches import GZIP, LZ4, SNAPPY, ZSTD, Batch, batch_of, record
from tests.oracles.log.framing_answers import framed
from udfs.arrays.slices import padded
from udfs.framing.frame import frame

MEGABYTE = 1 << 20
GOOD = batch_of(record(0, b"key", b"value"), base_offset=40)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds


def with_right_checksum(body: bytes, count: int, attributes: int = 0) -> bytes:
    checked = struct.pack(">hiqqqhii", attributes, 0, 0, 0, -1, -1, 0, count) + body
    return struct.pack(">qiiBI", 0, 9 + len(checked), 0, 2, google_crc32c.value(checked)) + checked


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_headers_that_all_claim_the_rest_of_the_file(magic: int) -> None:
    """Checksums of each claim alone would read the file a hundred thousand times."""
    size = 4 * MEGABYTE
    positions = np.arange(0, size - 64, 64)
    headers = np.zeros((len(positions), 64), np.uint8)
    lengths = (size - 64 - positions - 12).astype(">i4").view(np.uint8).reshape(-1, 4)
    headers[:, 8:12] = lengths
    headers[:, 16] = magic
    headers[:, 30] = 7
    with within(6):
        found = framed(headers.tobytes())
    assert len(found.rejected) == 1


def test_good_batches_between_headers_that_claim_the_rest_of_the_file() -> None:
    empty = Batch(b"", 0).bytes()
    count = 3 * MEGABYTE // (2 * len(empty))
    raw = bytearray((empty + bytes(len(empty))) * count)
    for number in range(count):
        at = (2 * number + 1) * len(empty)
        raw[at + 8 : at + 12] = struct.pack(">i", len(raw) - at - 13)
        raw[at + 16] = 2
    with within(3):
        found = framed(bytes(raw) + b"\x07")
    assert len(found.batches) == count
    assert len(found.rejected) == count


def test_dense_claims(rng: np.random.Generator) -> None:
    """As many positions as possible look like the beginning of a batch or message."""
    raw = np.tile(np.array([0, 0, 2, 1], np.uint8), MEGABYTE // 4).tobytes()
    with within(12):
        found = framed(raw + GOOD)
    assert len(found.records) == 1


def test_one_stray_byte_between_small_batches() -> None:
    empty = Batch(b"", 0).bytes()
    raw = (empty + b"\x05") * (2 * MEGABYTE // 62)
    with within(8):
        found = framed(raw)
    assert len(found.rejected) == len(found.batches)


def test_a_batch_of_the_smallest_records() -> None:
    body = b"\x0c\0\0\0\x01\x01\0" * 1_000_000
    with within(8):
        found = framed(with_right_checksum(body, 1_000_000))
    assert len(found.records) == 1_000_000


def test_a_record_of_nothing_but_headers() -> None:
    for count in (60_000, 4_000_000):
        headers = b"\0\x01" * count
        inner = b"\0\0\0\x01\x01" + unsigned(2 * count) + headers
        with within(5):
            found = framed(with_right_checksum(unsigned(2 * len(inner)) + inner, 1))
        assert [str(r.reason) for r in found.rejected] == (["too_large"] if count > 60_000 else [])


def unsigned(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def test_many_long_chains_that_wander() -> None:
    body = b"\x8c\x80\x00" + bytes(6)  # lengths in three bytes where one would do
    batch = with_right_checksum(body * 1000, 1000)
    with within(8):
        found = framed(batch * 400)
    assert len(found.records) + 1000 * len(found.rejected) == 400_000


def bomb(codec: int, size: int) -> bytes:
    if codec == GZIP:
        import zlib

        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        return b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(size // MEGABYTE)) + packer.flush()
    if codec == SNAPPY:
        return unsigned(size) + b"\0\0"
    return bytes(pa.Codec({LZ4: "lz4", ZSTD: "zstd"}[codec]).compress(bytes(size), asbytes=True))


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_a_bomb_takes_no_memory(codec: int) -> None:
    raw = padded(with_right_checksum(bomb(codec, 400 * MEGABYTE), 3, codec) + GOOD)
    tracemalloc.start()
    found = frame(raw, len(raw) - 64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(str(r.reason), r.field) for r in found.rejected] == [("too_large", "records")]
    assert len(found.records) == 1
    assert peak < 200 * MEGABYTE


def test_many_bombs_are_spread_over_calls() -> None:
    """Each may be decompressed, but not all in one call."""
    value = bytes(40 * MEGABYTE)
    inner = b"\0\0\0\x01" + unsigned(2 * len(value)) + value + b"\0"
    packed = bytes(pa.Codec("zstd").compress(unsigned(2 * len(inner)) + inner, asbytes=True))
    raw = GOOD + with_right_checksum(packed, 1, ZSTD) * 5 + GOOD
    lengths, at, calls = [], 0, 0
    while at < len(raw):
        found = frame(padded(raw[at:]), len(raw) - at)
        assert found.records.values.data.nbytes < 130 * MEGABYTE
        lengths += found.records.values.length.tolist()
        at += found.consumed
        calls += 1
    assert lengths == [5] + [len(value)] * 5 + [5]
    assert calls == 3
