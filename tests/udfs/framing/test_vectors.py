"""Batches that Kafka 4.3.0's own classes wrote, with what they hold."""

import numpy as np
import pytest

from tests.oracles.log.framing import read_log
from tests.oracles.log.framing_answers import framed, log_of
from tests.oracles.log.slow_records import SlowBatch, SlowLog, SlowRecord
from udfs.arrays.slices import padded
from udfs.framing.frame import frame


def plain(offset: int, time: int, key: bytes, value: bytes | None, size: int, first: int = 10) -> SlowRecord:
    return SlowRecord(offset, time, first, 0, size, 3, -1, -1, False, False, key, value)


def legacy(offset: int, time: int, key: bytes, value: bytes, size: int) -> SlowRecord:
    return SlowRecord(offset, time, 10, 0, size, -1, -1, -1, False, False, key, value)


def batch(size: int, last: int, codec: int = 0, num_records: int = 1) -> SlowBatch:
    return SlowBatch(0, size, 10, last, 2, codec, 3, -1, -1, num_records, False, False, False)


def old(size: int, last: int, magic: int, codec: int, num_records: int) -> SlowBatch:
    return SlowBatch(0, size, 10, last, magic, codec, -1, -1, -1, num_records, False, False, False)


VECTORS = {
    "two records": (
        "000000000000000a0000004300000003021e5d924c00000000000100000000000003e800000000000003e9ffffffffffffffffffff00000000"
        "0000000210000000026b02760010000202046b320100",
        batch(79, 11, num_records=2),
        [plain(10, 1000, b"k", b"v", 9), plain(11, 1001, b"k2", None, 9)],
    ),
    "transactional": (
        "000000000000000a0000003a0000000302e4b548cc00100000000000000000000003e800000000000003e80000000000000007000100000000"
        "0000000110000000026b027600",
        batch(70, 10)._replace(producer_id=7, producer_epoch=1, is_transactional=True),
        [plain(10, 1000, b"k", b"v", 9)._replace(producer_id=7, producer_epoch=1, is_transactional=True)],
    ),
    "COMMIT marker": (
        "0000000000000014000000420000000302bb91450300300000000000000000000003e800000000000003e800000000000000070001ffffffff"
        "000000012000000008000000010c00000000000600",
        SlowBatch(0, 78, 20, 20, 2, 0, 3, 7, 1, 1, True, True, False),
        [SlowRecord(20, 1000, 20, 0, 17, 3, 7, 1, True, True, b"\0\0\0\1", b"\0\0\0\0\0\6")],
    ),
    "snappy": (
        "000000000000000a0000005000000003027279e2f600020000000000000000000003e800000000000003e8ffffffffffffffffffff00000000"
        "0000000182534e415050590000000001000000010000000b092010000000026b027600",
        batch(92, 10, codec=2),
        [plain(10, 1000, b"k", b"v", 9)],
    ),
    "lz4": (
        "000000000000000a0000004900000003028146f6eb00030000000000000000000003e800000000000003e8ffffffffffffffffffff00000000"
        "0000000104224d186040820900008010000000026b02760000000000",
        batch(85, 10, codec=3),
        [plain(10, 1000, b"k", b"v", 9)],
    ),
    "gzip": (
        "000000000000000a0000004e0000000302ff05859a00010000000000000000000003e800000000000003e8ffffffffffffffffffff00000000"
        "000000011f8b08000000000000ff1360606060ca662a630000a37fcfa609000000",
        batch(90, 10, codec=1),
        [plain(10, 1000, b"k", b"v", 9)],
    ),
    "cleaned, with a delete horizon": (
        "000000000000000a0000003b0000000302359dcc9000400000000100000000000013ec00000000000003e9ffffffffffffffffffff00000000"
        "000000011200854002046b320100",
        batch(71, 11)._replace(has_delete_horizon=True),
        [plain(11, 1001, b"k2", None, 10)],
    ),
    "emptied": (
        "000000000000000a00000031000000030296812d36000000000001ffffffffffffffff00000000000003e9ffffffffffffffffffff00000000"
        "00000000",
        batch(61, 11, num_records=0),
        [],
    ),
    "magic 0": (
        "000000000000000a000000101fecd70a0000000000016b0000000176",
        old(28, 10, 0, 0, 1),
        [legacy(10, -1, b"k", b"v", 28)],
    ),
    "magic 1, gzip wrapper": (
        "000000000000000b00000051fe4ab517010100000000000003e9ffffffff0000003b1f8b08000000000000ff6360800389278f15f7304239cc"
        "2f800463368828830a81a4241f97d4ef80ab79092498b28d4072e5001a56777c49000000",
        old(93, 11, 1, 1, 2),
        [legacy(10, 1000, b"k", b"v", 36), legacy(11, 1001, b"k2", b"w", 37)],
    ),
    "magic 0, lz4 wrapper with the wrong header checksum": (
        "000000000000000a000000362e9e4e840003ffffffff0000002804224d1860401a1900000012000100800a000000101fecd70800900000016b"
        "000000017600000000",
        old(66, 10, 0, 3, 1),
        [legacy(10, -1, b"k", b"v", 28)],
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vector(name: str) -> None:
    raw, expected_batch, expected_records = VECTORS[name]
    # Each of these logs is one batch.
    records = [record._replace(batch_bytes=len(bytes.fromhex(raw))) for record in expected_records]
    expected = SlowLog(records, [expected_batch])
    assert log_of(bytes.fromhex(raw)) == expected
    assert read_log(bytes.fromhex(raw)) == expected


def test_all_vectors_one_after_another_are_one_log() -> None:
    raw = b"".join(bytes.fromhex(vector[0]) for vector in VECTORS.values())
    result = framed(raw)
    assert result.consumed == len(raw)
    assert not result.rejected
    assert len(result.batches) == len(VECTORS)
    assert result.records.offset.tolist() == [record.offset for vector in VECTORS.values() for record in vector[2]]


def test_columns_have_the_declared_types() -> None:
    records = framed(bytes.fromhex(VECTORS["two records"][0])).records
    types = {name: str(column.dtype) for name, column in vars(records).items() if name not in {"keys", "values"}}
    assert types == {
        "offset": "int64",
        "timestamp_ms": "int64",
        "batch_first_offset": "int64",
        "batch_bytes": "int32",
        "record_bytes": "int32",
        "partition_leader_epoch": "int32",
        "producer_id": "int64",
        "producer_epoch": "int16",
        "is_transactional": "bool",
        "is_control": "bool",
    }


def test_uncompressed_bytes_are_not_copied() -> None:
    raw = bytes.fromhex(VECTORS["two records"][0])
    data = padded(raw)
    records = frame(data, len(raw)).records
    assert np.shares_memory(records.keys.data, data)
    assert records.values.data is records.keys.data
