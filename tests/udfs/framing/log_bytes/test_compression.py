"""Codecs against literal containers and the independent decompressors."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from tests.builders.logs.batches import XERIAL_HEADER, compressed
from tests.oracles.log.compression import unlz4, unsnappy
from udfs.framing.log_bytes.compression import Codec, Decompressor, xxh32_of_few
from udfs.framing.log_bytes.framed_records import Wrong


def decompressed(codec: Codec, payload: bytes, magic: int = 2) -> bytes:
    return Decompressor().decompressed(codec, payload, magic)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_what_was_compressed_comes_back(rng: np.random.Generator, codec: Codec) -> None:
    for size in (0, 1, 100, 70_000, 1_000_000):
        raw = rng.integers(0, 4, size).astype(np.uint8).tobytes()
        assert decompressed(codec, compressed(codec, raw)) == raw


def test_snappy_and_lz4_agree_with_decompressors_that_share_nothing(rng: np.random.Generator) -> None:
    for size in (1, 100, 70_000):
        raw = rng.integers(0, 3, size).astype(np.uint8).tobytes()
        for is_xerial in (True, False):
            payload = compressed(Codec.SNAPPY, raw, is_xerial)
            assert decompressed(Codec.SNAPPY, payload) == unsnappy(payload, 2) == raw
        payload = compressed(Codec.LZ4, raw)
        assert decompressed(Codec.LZ4, payload) == unlz4(payload, 2) == raw


def test_snappy_blocks_and_a_header_in_between() -> None:
    literal = b"\x03\x08abc"  # 3 bytes in all, of which a literal of 3
    block = len(literal).to_bytes(4, "big") + literal
    assert decompressed(Codec.SNAPPY, XERIAL_HEADER + block + block) == b"abcabc"
    assert decompressed(Codec.SNAPPY, XERIAL_HEADER + block + XERIAL_HEADER + block) == b"abcabc"
    assert decompressed(Codec.SNAPPY, XERIAL_HEADER + bytes(4) + block) == b"abc"
    assert decompressed(Codec.SNAPPY, literal) == b"abc"


@pytest.mark.parametrize(
    "payload",
    [
        XERIAL_HEADER + b"\0\0\0\x09\x03\x08abc",
        XERIAL_HEADER + b"\xff\xff\xff\xff\x03\x08abc",
        XERIAL_HEADER + b"\0\0",
        b"\x04\x08abc",
        b"\xff\xff\xff\xff\xff\xff",
        b"\x03",
    ],
)
def test_broken_snappy_is_reported(payload: bytes) -> None:
    with pytest.raises(Wrong) as wrong:
        decompressed(Codec.SNAPPY, payload)
    assert wrong.value.fault.reason in {"bad_compression", "too_large"}


@pytest.mark.parametrize("payload", [b"\x82\x80" * 3, b"\xff" * 6, b"\xff" * 5 + b"\x01", b"\xff"])
def test_a_snappy_size_without_an_end_is_no_size(payload: bytes) -> None:
    with pytest.raises(Wrong) as wrong:
        decompressed(Codec.SNAPPY, payload)
    assert wrong.value.fault.reason == "bad_compression"


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_a_broken_payload_does_no_harm_to_the_next(rng: np.random.Generator, codec: Codec) -> None:
    decompressor = Decompressor()
    raw = rng.integers(0, 4, 300).astype(np.uint8).tobytes()
    payload = compressed(codec, raw)
    broken = [payload[:size] for size in range(len(payload))]
    for place in range(len(payload)):
        broken.append(payload[:place] + bytes((payload[place] ^ 0x41,)) + payload[place + 1 :])
    broken += [payload + b"garbage", b"garbage" + payload, b"\0" + payload]
    for each in broken:
        assert outcome(decompressor, codec, each) == outcome(Decompressor(), codec, each)
        assert decompressor.decompressed(codec, payload, 2) == raw


def outcome(decompressor: Decompressor, codec: Codec, payload: bytes) -> bytes | str:
    try:
        return decompressor.decompressed(codec, payload, 2)
    except Wrong as wrong:
        return str(wrong.fault)


def test_concatenated_frames_are_one_stream() -> None:
    assert decompressed(Codec.GZIP, gzip.compress(b"ab") + gzip.compress(b"cd")) == b"abcd"
    zstd = pa.Codec("zstd")
    payload = zstd.compress(b"ab", asbytes=True) + zstd.compress(b"cd", asbytes=True)
    assert decompressed(Codec.ZSTD, payload) == b"abcd"


def test_xxh32_of_published_inputs() -> None:
    """Values of the reference implementation; and the header checksum in a frame that Kafka wrote, 60 40 -> 82."""
    assert [xxh32_of_few(raw) for raw in (b"", b"a", b"abc")] == [0x02CC5D05, 0x550D7456, 0x32D153FF]
    assert xxh32_of_few(b"\x60\x40") >> 8 & 0xFF == 0x82


def test_an_lz4_header_with_content_size_is_mended_in_magic_0() -> None:
    """FLG 68: the size of the content stands in the header, so the checksum comes eight bytes later."""
    block = b"\x50hello"
    header = b"\x68\x40" + (5).to_bytes(8, "little")
    payload = b"\x04\x22\x4d\x18" + header + b"\x00" + len(block).to_bytes(4, "little") + block + bytes(4)
    assert decompressed(Codec.LZ4, payload, magic=0) == b"hello"
    with pytest.raises(Wrong):
        decompressed(Codec.LZ4, payload, magic=1)
