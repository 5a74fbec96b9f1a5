"""Control records: what ends a transaction, among data and alone."""

import random

import numpy as np
import pytest

from tests.builders.records.random_records import Draw
from tests.oracles.decoding.both_decoders import Row, assert_same, decode_batch, fast, fast_outcomes, table
from tests.oracles.decoding.vectors import key_of
from udfs.decoding.decoded import CONTROL

ABORT_KEY, COMMIT_KEY = bytes.fromhex("00000000"), bytes.fromhex("00000001")
EPOCH_7 = bytes.fromhex("0000 00000007")


def marker(control: str, version: int = 0) -> dict[str, object]:
    return {"record_type": None, "control": control, "value_version": version, "coordinator_epoch": 7}


def test_trap_02_markers_among_data_are_never_read_as_type_0_or_1() -> None:
    data: Row = (key_of(1), bytes.fromhex("0000 0000000000000005 0001 6d 00000000000003e8"))
    rows = [data, (COMMIT_KEY, EPOCH_7), data, (ABORT_KEY, EPOCH_7), (COMMIT_KEY, EPOCH_7)]
    decoded = decode_batch(table(rows, [key in (ABORT_KEY, COMMIT_KEY) for key, _ in rows]))
    assert [(part.record_type, part.rows.tolist()) for part in decoded.parts] == [(CONTROL, [1, 3, 4]), (1, [0, 2])]
    outcomes = fast_outcomes(decoded, len(rows))
    assert outcomes[1::2] == [marker("COMMIT"), marker("ABORT")]
    assert outcomes[4] == marker("COMMIT")


@pytest.mark.parametrize("key", [ABORT_KEY, COMMIT_KEY])
def test_trap_02_without_the_control_bit_the_same_bytes_are_a_bad_key_of_type_0(key: bytes) -> None:
    (outcome,) = assert_same([(key, EPOCH_7)])
    assert outcome["record_type"] == 0
    assert outcome["rejected"]["part"] == "key"


def test_a_key_of_a_data_record_under_the_control_bit_is_no_marker() -> None:
    # Version 1 of a control key, with the first letters of a group's name as its type.
    (outcome,) = assert_same([(key_of(1), EPOCH_7)], is_control=True)
    assert outcome == marker("COMMIT")  # 0001 0001: the group's length is 1
    (outcome,) = assert_same([(bytes.fromhex("0001 0005 67726f7570"), EPOCH_7)], is_control=True)
    assert outcome["rejected"] == {"part": "key", "field": "type", "reason": "unknown_control_type"}


@pytest.mark.parametrize("version", [1, 2, 5, 32767])
def test_versions_above_0_are_read_as_0_and_may_go_on(version: int) -> None:
    prefix = version.to_bytes(2, "big")
    rows = [
        (prefix + bytes.fromhex("0001"), prefix + bytes.fromhex("00000007")),
        (prefix + bytes.fromhex("0001 ab"), prefix + bytes.fromhex("00000007 cdef")),
    ]
    assert assert_same(rows, is_control=True) == [marker("COMMIT", version)] * 2


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6, 7, 32767, -1])
def test_a_control_type_that_ends_no_transaction_is_rejected(number: int) -> None:
    key = bytes(2) + number.to_bytes(2, "big", signed=True)
    for value in (EPOCH_7, None, b""):
        (outcome,) = assert_same([(key, value)], is_control=True)
        assert outcome["rejected"] == {"part": "key", "field": "type", "reason": "unknown_control_type"}


def test_a_marker_without_a_value_is_no_tombstone() -> None:
    for value in (None, b""):
        (outcome,) = assert_same([(COMMIT_KEY, value)], is_control=True)
        assert outcome["rejected"] == {"part": "value", "field": None, "reason": "empty_value"}


def test_damaged_markers_say_the_same_by_both_decoders(seed: int) -> None:
    chance = random.Random(seed)
    whole = [(COMMIT_KEY, EPOCH_7), (ABORT_KEY, EPOCH_7), (COMMIT_KEY + b"\x01", EPOCH_7 + b"\x01")]
    rows: list[Row] = [(None, EPOCH_7), (b"", b""), (COMMIT_KEY, None)]
    for _ in range(3000):
        key, value = (bytearray(part) for part in chance.choice(whole))
        for part in (key, value):
            if chance.random() < 0.5:
                part[chance.randrange(len(part))] = chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
            if chance.random() < 0.2:
                del part[chance.randrange(len(part)) :]
        rows.append((bytes(key), bytes(value)))
    assert_same(rows, is_control=True)


def test_any_bytes_under_the_control_bit_end_as_marker_or_rejected(seed: int) -> None:
    records = list(Draw(random.Random(seed)).records(each=10))
    rows: list[Row] = [(record.key_bytes, record.value_bytes) for record in records]
    assert_same(rows, is_control=True)


def test_where_each_row_stands_is_kept_when_data_and_markers_mix(seed: int) -> None:
    chance = random.Random(seed)
    data = [(record.key_bytes, record.value_bytes) for record in Draw(chance).records(each=5)]
    markers: list[Row] = [(COMMIT_KEY, EPOCH_7)] * 40
    order = chance.sample(range(len(data) + 40), len(data) + 40)
    rows, is_control = [(data + markers)[place] for place in order], [place >= len(data) for place in order]
    outcomes = fast_outcomes(decode_batch(table(rows, is_control)), len(rows))
    wanted = fast_outcomes(fast(data), len(data)) + [marker("COMMIT")] * 40
    assert outcomes == [wanted[place] for place in order]
    assert np.count_nonzero(is_control) == 40
