"""One test for each trap that batches and messages hold; the numbers are those of the catalogue of traps."""

import struct
import zlib

import google_crc32c
import pytest

from tests.builders.logs.batches import GZIP, LZ4, SNAPPY, ZSTD, Batch, batch_of, message, record, wrapper
from tests.oracles.log.framing_answers import framed, records_of

CONTROL, TRANSACTIONAL, LOG_APPEND_TIME, DELETE_HORIZON = 0x20, 0x10, 0x08, 0x40


def test_trap_02_control_records_are_marked_and_their_keys_left_as_they_are() -> None:
    commit = record(0, b"\0\0\0\1", b"\0\0\0\0\0\6")
    abort = record(0, b"\0\0\0\0", b"\0\0\0\0\0\6")
    raw = batch_of(commit, attributes=CONTROL | TRANSACTIONAL) + batch_of(abort, attributes=CONTROL | TRANSACTIONAL)
    records = framed(raw).records
    assert records.is_control.tolist() == [True, True]
    assert [records.keys.bytes_at(row) for row in range(2)] == [b"\0\0\0\1", b"\0\0\0\0"]


def test_trap_12_a_null_value_is_not_an_empty_one() -> None:
    records = framed(batch_of(record(0, b"k", None), record(1, b"k", b""), record(2, None, b"v"))).records
    assert records.values.length.tolist() == [-1, 0, 1]
    assert records.keys.length.tolist() == [1, 1, -1]
    assert [records.values.bytes_at(row) for row in range(3)] == [None, b"", b"v"]


def test_trap_29_producer_id_and_transactional_bit_are_read_apart() -> None:
    idempotent = batch_of(record(0, b"k", b"v"), producer_id=5, producer_epoch=2)
    transactional = batch_of(record(0, b"k", b"v"), producer_id=6, producer_epoch=3, attributes=TRANSACTIONAL)
    records = framed(idempotent + transactional + batch_of(record(0, b"k", b"v"))).records
    assert records.producer_id.tolist() == [5, 6, -1]
    assert records.producer_epoch.tolist() == [2, 3, -1]
    assert records.is_transactional.tolist() == [False, True, False]


def test_trap_30_batches_without_records_and_gaps_are_normal() -> None:
    emptied = Batch(b"", 0, base_offset=100, last_delta=9, base_time=-1).bytes()
    emptied_marker = Batch(b"", 0, base_offset=110, attributes=CONTROL | TRANSACTIONAL, base_time=-1).bytes()
    gaps = batch_of(record(3, b"a", b"1"), record(7, b"b", b"2"), base_offset=120, last_delta=9)
    result = framed(emptied + emptied_marker + gaps)
    assert not result.rejected
    assert result.records.offset.tolist() == [123, 127]
    assert result.records.batch_first_offset.tolist() == [120, 120]
    assert result.batches.num_records.tolist() == [0, 0, 2]
    assert result.batches.base_offset.tolist() == [100, 110, 120]
    assert result.batches.last_offset.tolist() == [109, 110, 129]


def test_trap_31_times_of_batches_with_a_delete_horizon_count_back_from_it() -> None:
    raw = batch_of(record(0, b"k", None, -4099), attributes=DELETE_HORIZON, base_time=5100, max_time=1001)
    result = framed(raw)
    assert result.records.timestamp_ms.tolist() == [1001]
    assert result.batches.has_delete_horizon.tolist() == [True]


def test_trap_32_log_append_time_leaves_the_deltas_out() -> None:
    raw = batch_of(record(0, b"k", b"v", 5), record(1, b"k", b"v", 7000), attributes=LOG_APPEND_TIME, max_time=4321)
    result = framed(raw)
    assert result.records.timestamp_ms.tolist() == [4321, 4321]


def test_trap_33_the_leader_epoch_is_outside_the_checksum() -> None:
    raw = bytearray(batch_of(record(0, b"k", b"v")))
    raw[12:16] = struct.pack(">i", 77)
    raw[0:8] = struct.pack(">q", 1234)
    result = framed(bytes(raw))
    assert not result.rejected
    assert result.records.partition_leader_epoch.tolist() == [77]
    assert result.records.offset.tolist() == [1234]


def test_trap_33_magic_2_is_checked_by_crc32c_and_older_ones_by_crc32() -> None:
    modern, old = batch_of(record(0, b"k", b"v")), message(1, 0, b"k", b"v", time=5)
    other_modern = modern[:17] + struct.pack(">I", zlib.crc32(modern[21:])) + modern[21:]
    other_old = old[:12] + struct.pack(">I", google_crc32c.value(old[16:])) + old[16:]
    for raw in (other_modern, other_old):
        assert [str(rejected.reason) for rejected in framed(raw).rejected] == ["bad_crc"]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_trap_34_a_magic_1_wrapper_carries_the_last_offset(codec: int) -> None:
    inner = b"".join(message(1, offset, b"k", b"v", time=50 + offset) for offset in (0, 1, 4))
    records = framed(wrapper(1, 104, inner, codec, time=54)).records
    assert records.offset.tolist() == [100, 101, 104]
    assert records.batch_first_offset.tolist() == [100, 100, 100]
    assert records.timestamp_ms.tolist() == [50, 51, 54]


def test_trap_34_a_magic_1_wrapper_at_offset_0_counts_from_0() -> None:
    inner = b"".join(message(1, offset, b"k", b"v", time=1) for offset in (0, 1, 2))
    assert framed(wrapper(1, 0, inner, GZIP, time=1)).records.offset.tolist() == [0, 1, 2]


def test_trap_34_a_magic_1_wrapper_stamped_by_the_log_gives_its_time_to_all() -> None:
    inner = b"".join(message(1, offset, b"k", b"v", time=1) for offset in (0, 1))
    assert framed(wrapper(1, 9, inner, GZIP, 777, LOG_APPEND_TIME)).records.timestamp_ms.tolist() == [777, 777]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_trap_34_offsets_in_a_magic_0_wrapper_are_absolute(codec: int) -> None:
    inner = b"".join(message(0, offset, b"k", b"v") for offset in (100, 103))
    records = framed(wrapper(0, 103, inner, codec)).records
    assert records.offset.tolist() == [100, 103]
    assert records.timestamp_ms.tolist() == [-1, -1]


def test_trap_34_the_lz4_header_checksum_is_not_verified_in_magic_0_and_is_above() -> None:
    inner = message(0, 3, b"k", b"v")
    frame = bytearray(wrapper(0, 3, inner, LZ4)[26:])
    flags, checksum_at = frame[4], 14 if frame[4] & 8 else 6
    assert flags >> 6 == 1
    frame[checksum_at] ^= 0xFF
    assert framed(message(0, 3, None, bytes(frame), attributes=LZ4)).records.offset.tolist() == [3]
    result = framed(message(1, 3, None, bytes(frame), time=1, attributes=LZ4))
    assert [str(rejected.reason) for rejected in result.rejected] == ["bad_compression"]


def test_trap_44_offsets_and_times_are_taken_as_they_stand() -> None:
    records = framed(batch_of(record(0, b"k", b"v"), base_offset=-5, base_time=-(2**63))).records
    assert (records.offset.tolist(), records.timestamp_ms.tolist()) == ([-5], [-(2**63)])


def test_trap_47_the_same_key_twice_in_one_batch_stays_twice_and_in_order() -> None:
    records = framed(batch_of(record(0, b"k", b"1"), record(1, b"k", b"2"))).records
    assert [(r.offset, r.key, r.value) for r in records_of(records)] == [(0, b"k", b"1"), (1, b"k", b"2")]


@pytest.mark.parametrize("is_xerial", [True, False])
def test_snappy_comes_in_blocks_of_snappy_java_and_bare(is_xerial: bool) -> None:
    records = framed(batch_of(record(0, b"k", b"v" * 1000), codec=SNAPPY, is_xerial=is_xerial)).records
    assert records.values.bytes_at(0) == b"v" * 1000


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_is_no_codec_of_older_messages(magic: int) -> None:
    result = framed(wrapper(magic, 3, message(magic, 3, b"k", b"v"), ZSTD))
    assert [(str(r.reason), r.field) for r in result.rejected] == [("unsupported_codec", "codec")]


def test_headers_are_led_through() -> None:
    many = tuple((b"name%d" % i, None if i % 3 == 0 else b"x" * i) for i in range(40))
    raw = batch_of(record(0, b"k", b"v", headers=many), record(1, b"l", b"w"))
    records = framed(raw).records
    assert [records.keys.bytes_at(row) for row in range(2)] == [b"k", b"l"]
    assert [records.values.bytes_at(row) for row in range(2)] == [b"v", b"w"]
