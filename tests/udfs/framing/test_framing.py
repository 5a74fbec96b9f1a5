"""The framing against the slow one, on drawn logs; and against another project's writer."""

import struct
from collections import Counter

import google_crc32c
import numpy as np
import pytest
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from tests.builders.logs.batches import Batch, batch_of, damaged_batch, message, random_log, record
from tests.oracles.log.framing import read_log
from tests.oracles.log.framing_answers import framed, log_by_pieces, log_of, log_of_framed
from udfs.arrays.slices import padded
from udfs.framing.frame import frame

LOGS = 120
DAMAGED = 2400


@pytest.mark.parametrize("legacy_share", [0.0, 0.5, 1.0])
def test_drawn_logs_agree_with_the_slow_framing(rng: np.random.Generator, legacy_share: float) -> None:
    kinds: Counter[tuple[int, int]] = Counter()
    for _ in range(LOGS // 3):
        raw = b"".join(random_log(rng, int(rng.integers(0, 40)), legacy_share, int(rng.choice([1, 5, 40]))))
        expected = read_log(raw)
        assert log_of(raw) == expected
        assert not expected.rejected
        kinds.update((batch.magic, batch.codec) for batch in expected.batches)
    wanted = {(2, codec) for codec in range(5)} if legacy_share < 1 else set()
    wanted |= {(magic, codec) for magic in (0, 1) for codec in range(4)} if legacy_share else set()
    assert wanted <= set(kinds)


def test_drawn_logs_by_pieces_equal_the_whole(rng: np.random.Generator) -> None:
    for _ in range(10):
        raw = b"".join(random_log(rng, 8, 0.2, most=3)) + bytes(int(rng.choice([0, 5, 300])))
        whole = log_of(raw)
        for piece in (61, int(rng.integers(1, len(raw) + 1)), len(raw) - 1):
            assert log_by_pieces(raw, piece) == whole


def test_room_after_the_log_changes_nothing(rng: np.random.Generator) -> None:
    for _ in range(20):
        raw = b"".join(random_log(rng, int(rng.integers(1, 40)), 0.3))
        expected = log_of(raw)
        for room in (1, 64, 500, 100_000):
            data = np.concatenate([padded(raw), rng.integers(0, 256, room).astype(np.uint8)])
            assert log_of_framed(frame(data, len(raw))) == expected


def test_wrong_records_under_right_checksums_agree_with_the_slow_framing(rng: np.random.Generator) -> None:
    reasons: Counter[tuple[str, str]] = Counter()
    for _ in range(DAMAGED // 8):
        raw = b"".join(damaged_batch(rng) for _ in range(8))
        log = log_of(raw)
        assert log == read_log(raw)
        reasons.update((rejected.reason, rejected.field) for rejected in log.rejected)
    fields = {field for _, field in reasons}
    assert {"length", "num_records", "records", "codec", "key", "value", "headers"} <= fields
    assert {reason for reason, _ in reasons} >= {"bad_length", "underrun", "trailing_bytes", "too_large"}
    assert reasons.total() > DAMAGED // 4


def test_one_batch_with_very_many_records(rng: np.random.Generator) -> None:
    """Far more than one group of records, and a chain that no wave shares."""
    count = 100_000
    lengths = rng.integers(0, 90, count).tolist()
    body = b"".join(record(i, b"k" * (length % 7), b"v" * length, time_delta=i) for i, length in enumerate(lengths))
    checked = struct.pack(">hiqqqhii", 0, count - 1, 5000, 9, -1, -1, 0, count) + body
    raw = struct.pack(">qiiBI", 70, 9 + len(checked), 1, 2, google_crc32c.value(checked)) + checked
    records = framed(raw).records
    assert records.offset.tolist() == list(range(70, 70 + count))
    assert records.timestamp_ms.tolist() == list(range(5000, 5000 + count))
    assert records.keys.length.tolist() == [length % 7 for length in lengths]
    assert records.values.length.tolist() == lengths
    assert records.values.bytes_at(count - 1) == b"v" * lengths[-1]


def test_base_position_is_added() -> None:
    good, bad = batch_of(record(0, b"k", b"v")), bytearray(batch_of(record(0, b"k", b"v")))
    bad[-1] ^= 1
    raw = good + bytes(bad) + good
    result = frame(padded(raw), len(raw), base_position=1 << 40)
    assert result.batches.position.tolist() == [1 << 40, (1 << 40) + 2 * len(good)]
    assert [rejected.byte_position for rejected in result.rejected] == [(1 << 40) + len(good)]


def test_nothing_of_an_incomplete_batch_is_consumed() -> None:
    one = batch_of(record(0, b"k", b"v"))
    for size in range(len(one)):
        result = frame(padded(one + one[:size]), len(one) + size, is_last=False)
        assert (result.consumed, len(result.records), result.rejected) == (len(one), 1, [])


MAGICS_AND_CODECS = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_what_kafka_python_writes(rng: np.random.Generator, magic: int, codec: int) -> None:
    """A writer of another project; its other codecs need packages that this one does not install."""
    builder = MemoryRecordsBuilder(magic, codec, 1 << 20, offset=int(rng.integers(0, 1000)))
    written = []
    for _ in range(200):
        key = None if rng.random() < 0.1 else rng.bytes(int(rng.integers(0, 90)))
        value = None if rng.random() < 0.1 else rng.bytes(int(rng.integers(0, 300)))
        time = int(rng.integers(1, 2**41))
        headers = [("name", rng.bytes(3)), ("other", b"")] if magic == 2 and rng.random() < 0.2 else []
        metadata = builder.append(time, key, value, headers)
        written.append((metadata.offset, -1 if magic == 0 else time, key, value))
    builder.close()
    raw = bytes(builder.buffer())
    if magic < 2 and codec:
        # Clients count inner offsets from 0 and leave the wrapper's at 0; a broker stores that of the last message.
        last = struct.unpack_from(">q", raw)[0]
        assert last == 0
    records = framed(raw).records
    keys = [records.keys.bytes_at(row) for row in range(len(records))]
    values = [records.values.bytes_at(row) for row in range(len(records))]
    result = list(zip(records.offset.tolist(), records.timestamp_ms.tolist(), keys, values, strict=True))
    assert result == written
    assert log_of(raw) == read_log(raw)
    read_back = [entry for batch in iter(MemoryRecords(raw).next_batch, None) for entry in batch]
    assert [(entry.offset, entry.key, entry.value) for entry in read_back] == [(o, k, v) for o, _, k, v in result]


def test_mixed_formats_keep_the_order_of_the_log() -> None:
    raw = b"".join(
        [
            message(0, 1, b"a", b"1"),
            batch_of(record(0, b"b", b"2"), record(1, b"c", b"3"), base_offset=2),
            message(1, 4, b"d", None, time=9),
            batch_of(record(0, b"e", b"5"), codec=4, base_offset=5),
        ]
    )
    result = framed(raw)
    assert result.records.offset.tolist() == [1, 2, 3, 4, 5]
    assert result.batches.magic.tolist() == [0, 2, 1, 2]
    assert [result.records.keys.bytes_at(row) for row in range(5)] == [b"a", b"b", b"c", b"d", b"e"]


def test_a_length_of_three_bytes_is_not_taken_for_one_of_two() -> None:
    """Read as two bytes, the third would pass for the attributes, and all that follows for a record with a key."""
    value = bytes(range(1, 91)) * 91  # its own length takes two
    records = framed(batch_of(record(1, None, value))).records
    assert (records.offset.tolist(), records.keys.bytes_at(0), records.values.bytes_at(0)) == ([1], None, value)


def test_bits_beyond_an_int32_are_dropped() -> None:
    """As Kafka's reader drops them: five bytes hold 35 bits."""
    raw = Batch(b"\x16\0\0\xfe\xff\xff\xff\x7f\x02k\x01\0", 1).bytes()
    assert framed(raw).records.offset.tolist() == [2**31 - 1]
    assert log_of(raw) == read_log(raw)
