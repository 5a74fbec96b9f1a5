"""Bytes that are not what a broker wrote: each ends in a rejected range or a tail, none in an exception or a hang."""

import struct

import numpy as np
import pytest

from tests.builders.logs.batches import (
    GZIP,
    LZ4,
    SNAPPY,
    ZSTD,
    Batch,
    batch_of,
    message,
    random_log,
    record,
    wrapper,
)
from tests.oracles.log.framing import read_log
from tests.oracles.log.framing_answers import framed, log_by_pieces, log_of
from udfs.framing.log_bytes.framed_records import Framed

GOOD = batch_of(record(0, b"key", b"value"), record(1, b"key", None), base_offset=40)
OLD = wrapper(1, 61, message(1, 0, b"a", b"b", 5) + message(1, 1, b"c", b"d", 6), GZIP, 6)
SMALL_LOG = GOOD + batch_of(record(0, b"z", b"zz"), codec=ZSTD, base_offset=50) + OLD + GOOD


def reasons(result: Framed) -> list[tuple[int, int, str, str]]:
    return [(r.byte_position, r.size_bytes, str(r.reason), r.field) for r in result.rejected]


def test_every_truncation_agrees_with_the_slow_framing() -> None:
    for size in range(len(SMALL_LOG)):
        assert log_of(SMALL_LOG[:size]) == read_log(SMALL_LOG[:size])


def test_every_truncation_before_zeros_agrees_with_the_slow_framing() -> None:
    for size in range(0, len(SMALL_LOG), 3):
        raw = SMALL_LOG[:size] + bytes(100)
        assert log_of(raw) == read_log(raw)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_byte_flipped_agrees_with_the_slow_framing(mask: int) -> None:
    for position in range(len(SMALL_LOG)):
        raw = bytearray(SMALL_LOG)
        raw[position] ^= mask
        assert log_of(bytes(raw)) == read_log(bytes(raw))


def test_every_byte_of_records_flipped_under_a_right_checksum_agrees_with_the_slow_framing() -> None:
    body = record(0, b"key", b"value", 70, headers=((b"h", b"w"),)) + record(1, None, b"v" * 70) + record(2, b"k", None)
    for position in range(len(body)):
        for value in (0x00, 0x01, 0x7F, 0x80, 0xFF, body[position] ^ 0x01, body[position] ^ 0x80):
            damaged = bytearray(body)
            damaged[position] = value
            raw = Batch(bytes(damaged), 3).bytes() + GOOD
            assert log_of(raw) == read_log(raw)


def test_random_bytes_agree_with_the_slow_framing(rng: np.random.Generator) -> None:
    for _ in range(60):
        size = int(rng.integers(0, 400))
        raw = (
            rng.choice(np.array([0, 1, 2, 255, 40], np.uint8), size).tobytes()
            if rng.random() < 0.5
            else rng.bytes(size)
        )
        assert log_of(raw) == read_log(raw)
        assert log_of(raw + GOOD) == read_log(raw + GOOD)


def test_damage_inside_of_drawn_logs_agrees_with_the_slow_framing(rng: np.random.Generator) -> None:
    for _ in range(40):
        raw = bytearray(b"".join(random_log(rng, 4, 0.3, most=3))[:6000])
        for _ in range(int(rng.integers(1, 4))):
            raw[int(rng.integers(0, len(raw)))] = int(rng.integers(0, 256))
        assert log_of(bytes(raw)) == read_log(bytes(raw))


def test_damage_by_pieces_loses_no_record_that_the_whole_has(rng: np.random.Generator) -> None:
    for _ in range(20):
        raw = bytearray(b"".join(random_log(rng, 12, 0.2, most=3)))
        for _ in range(3):
            raw[int(rng.integers(0, len(raw)))] ^= int(rng.integers(1, 256))
        whole, by_pieces = log_of(bytes(raw)), log_by_pieces(bytes(raw), int(rng.integers(300, 3000)))
        assert (by_pieces.records, by_pieces.batches) == (whole.records, whole.batches)
        covered = [bytes_of(log.rejected) for log in (whole, by_pieces)]
        assert covered[0] == covered[1]


def bytes_of(ranges: list[tuple[int, int, str, str]]) -> set[int]:
    return {at for position, size, *_ in ranges for at in range(position, position + size)}


def test_a_corrupt_batch_in_the_middle_costs_itself_alone() -> None:
    bad = bytearray(GOOD)
    bad[-2] ^= 4
    result = framed(GOOD + bytes(bad) + GOOD)
    assert result.records.offset.tolist() == [40, 41, 40, 41]
    assert reasons(result) == [(len(GOOD), len(GOOD), "bad_crc", "crc")]


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 13, 48, 2**31 - 1, 10**6])
def test_a_wrong_batch_length_costs_its_batch_alone(length: int) -> None:
    bad = GOOD[:8] + struct.pack(">i", length) + GOOD[12:]
    result = framed(GOOD + bad + GOOD)
    assert result.records.offset.tolist() == [40, 41, 40, 41]
    assert [r[:2] for r in reasons(result)] == [(len(GOOD), len(GOOD))]


def test_the_search_finds_the_next_batch_at_any_distance() -> None:
    for distance in (1, 16, 61, 65_519, 65_520, 65_536, 65_553, 200_000):
        result = framed(GOOD + b"\x09" * distance + GOOD)
        assert [r[:2] for r in reasons(result)] == [(len(GOOD), distance)]
        assert len(result.records) == 4


def test_a_batch_inside_of_a_corrupt_one_is_not_brought_to_light() -> None:
    bad = bytearray(batch_of(record(0, b"k", GOOD)))
    bad[30] ^= 1
    result = framed(bytes(bad) + GOOD)
    assert reasons(result) == [(0, len(bad), "bad_crc", "crc")]
    assert result.batches.position.tolist() == [len(bad)]


def test_preallocated_zeros_are_a_tail_and_no_damage() -> None:
    for zeros in (1, 11, 12, 17, 61, 100_000):
        result = framed(GOOD + bytes(zeros))
        assert (result.zero_tail_bytes, result.torn_tail_bytes, result.rejected) == (zeros, 0, [])
        assert result.consumed == len(GOOD) + zeros


def test_zeros_between_batches_are_damage() -> None:
    result = framed(GOOD + bytes(500) + GOOD)
    assert (len(result.records), result.zero_tail_bytes) == (4, 0)
    assert reasons(result) == [(len(GOOD), 500, "bad_length", "batch_length")]


def test_the_torn_last_batch_is_distinguished() -> None:
    for size in range(1, len(GOOD)):
        result = framed(GOOD + GOOD[:size])
        # The first 7 bytes of an offset of 40 are zeros.
        expected = (0, size) if size > 7 else (size, 0)
        assert (result.zero_tail_bytes, result.torn_tail_bytes) == expected
        assert len(result.records) == 2
        if size > 7:
            assert reasons(result) == [(len(GOOD), size, "torn_batch", "batch_length")]


def test_what_is_no_log_at_all_is_one_rejected_range(rng: np.random.Generator) -> None:
    text = b"2026-11-20 INFO the quick brown fox jumps over the lazy dog\n" * 2000
    assert reasons(framed(text)) == [(0, len(text), "unknown_magic", "magic")]
    noise = rng.bytes(1 << 20)
    result = framed(noise)
    assert [(r[0], r[1]) for r in reasons(result)] == [(0, len(noise))]
    assert result.consumed == len(noise)


def test_nothing_is_nothing() -> None:
    result = framed(b"")
    assert (len(result.records), len(result.batches), result.rejected, result.consumed) == (0, 0, [], 0)


@pytest.mark.parametrize(
    ("body", "count", "expected"),
    [
        (record(0, b"k", b"v"), 2, ("underrun", "num_records")),
        (record(0, b"k" * 9, b"v"), 2, ("underrun", "length")),
        (record(0, b"k", b"v"), 0, ("trailing_bytes", "records")),
        (record(0, b"k", b"v") * 2, 1, ("trailing_bytes", "records")),
        (record(0, b"k", b"v"), -1, ("bad_length", "num_records")),
        (record(0, b"k", b"v"), 2**31 - 1, ("too_large", "num_records")),
        (record(0, b"k", b"v"), 2**20, ("underrun", "num_records")),
        (b"\x01" + record(0, b"k", b"v"), 1, ("bad_length", "length")),
        (b"\x0a\0\0\0\x01\x01" + record(0, b"k", b"v"), 2, ("bad_length", "length")),
        (b"\xff\xff\xff\xff\x0f" + bytes(40), 1, ("bad_length", "length")),
        (b"\xfe\xff\xff\xff\x0f" + bytes(40), 1, ("underrun", "length")),
        (b"\xff\xff\xff\xff\xff\x01" + bytes(40), 1, ("bad_length", "length")),
        (b"\x12\0\0\0\xfe\xff\xff\xff\x0f\0", 1, ("underrun", "key")),
        (b"\x10\0\0\0\x03abcd", 1, ("bad_length", "key")),
        (b"\x10\0\0\0\x01\x03abc", 1, ("bad_length", "value")),
        (b"\x10\0\0\0\x01\x01\x01ab", 1, ("bad_length", "headers")),
        (b"\x10\0\0\0\x01\x01\x02\x01\x01", 1, ("bad_length", "header_key")),
        (b"\x10\0\0\0\x01\x01\x02\x00\x03", 1, ("bad_length", "header_value")),
        (b"\x18\0\0\0\x01\x01\xfe\xff\xff\xff\x0fab", 1, ("underrun", "headers")),
        (b"\x10\0\0\0\x01\x01\x00ab", 1, ("trailing_bytes", "records")),
        (b"\x1e\0" + b"\x80" * 11 + b"\0\0\0", 1, ("bad_length", "timestamp_delta")),
    ],
)
def test_why_a_batch_is_rejected(body: bytes, count: int, expected: tuple[str, str]) -> None:
    raw = GOOD + Batch(body, count).bytes() + GOOD
    result = framed(raw)
    assert [(str(r.reason), r.field) for r in result.rejected] == [expected]
    assert len(result.records) == 4
    assert log_of(raw) == read_log(raw)


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_broken_compression_is_rejected_and_nothing_else(codec: int, rng: np.random.Generator) -> None:
    whole = batch_of(*(record(i, rng.bytes(40), b"value") for i in range(20)), codec=codec)
    for _ in range(150):
        body = bytearray(whole[61:])
        if rng.random() < 0.5:
            del body[int(rng.integers(0, len(body))) :]
        else:
            body[int(rng.integers(0, len(body)))] ^= int(rng.integers(1, 256))
        result = framed(GOOD + Batch(bytes(body), 20, attributes=codec).bytes() + GOOD)
        assert result.batches.position.tolist()[0] == 0
        assert len(result.batches) + len(result.rejected) == 3
        assert {str(r.reason) for r in result.rejected} <= {
            "bad_compression", "underrun", "bad_length", "trailing_bytes", "too_large",
        }  # fmt: skip


@pytest.mark.parametrize("attributes", [5, 6, 7])
def test_an_unknown_codec_is_rejected(attributes: int) -> None:
    result = framed(batch_of(record(0, b"k", b"v"), attributes=attributes))
    assert [(str(r.reason), r.field) for r in result.rejected] == [("unsupported_codec", "codec")]


def test_every_broken_wrapper_is_rejected_as_a_whole() -> None:
    one = message(1, 0, b"k", b"v", 5)
    cases = {
        "unknown_magic": message(0, 0, b"k", b"long enough for magic 1"),
        "bad_crc": one[:-1] + b"w",
        "underrun": one + one[:20],
        "bad_length": one + bytes(50),
        "unsupported_codec": wrapper(1, 0, one, GZIP, 5),
    }
    for reason, inner in cases.items():
        raw = wrapper(1, 7, inner, GZIP, 5)
        assert [str(r.reason) for r in framed(raw).rejected] == [reason]
        assert log_of(raw) == read_log(raw)
    for raw in (wrapper(1, 7, b"", GZIP, 5), message(1, 7, None, None, 5, GZIP)):
        assert len(framed(raw).rejected) == 1
        assert log_of(raw) == read_log(raw)
