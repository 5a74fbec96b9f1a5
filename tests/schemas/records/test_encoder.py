"""The encoder of the tests, against bytes that Kafka wrote."""

from collections.abc import Iterable
from typing import Any

import pytest

from schemas.fields import Field, Kind, Message
from schemas.records import ASSIGNMENT, REGISTRY, STREAMS_SUBSCRIPTION, SUBSCRIPTION
from tests.builders.records.encoder import encode, encode_key, encode_payload, encode_value, java_utf, uvarint
from tests.oracles.decoding.vectors import CLASSIC_GROUPS, OFFSET_COMMITS, VECTORS, T

# Version by the third letter of a name such as "v4 bare".
VERSIONED = [
    *((1, int(name[1]), value_hex, values) for name, (value_hex, values) in OFFSET_COMMITS.items()),
    *((2, int(name[1]), value_hex, values) for name, (value_hex, values) in CLASSIC_GROUPS.items()),
    *((record_type, 0, value_hex, values) for record_type, value_hex, values in VECTORS.values()),
]


def names(fields: Iterable[Field]) -> set[str]:
    return {field.name for field in fields}


@pytest.mark.parametrize(("record_type", "version", "value_hex", "values"), VERSIONED)
def test_values_are_written_as_kafka_writes_them(
    record_type: int, version: int, value_hex: str, values: dict[str, Any]
) -> None:
    shapes = REGISTRY[record_type].value.shapes_of(version)
    (shape,) = (shape for shape in shapes if names(shape.layout(version).fields) <= set(values) <= names(shape.fields))
    assert encode_value(shape, version, values) == bytes.fromhex(value_hex)


@pytest.mark.parametrize(
    ("record_type", "values", "key_hex"),
    [
        (1, {"group": "g", "topic": "t", "partition": 3}, "000100016700017400000003"),
        (2, {"group": "g"}, "0002000167"),
        (16, {"group_id": "g", "regular_expression": "t.*"}, "00100001670003742e2a"),
    ],
)
def test_keys_are_written_as_kafka_writes_them(record_type: int, values: dict[str, Any], key_hex: str) -> None:
    assert encode_key(REGISTRY[record_type], values) == bytes.fromhex(key_hex)


T_0_1 = [{"topic": "t", "partitions": [0, 1]}]


@pytest.mark.parametrize(
    ("message", "version", "values", "payload_hex"),
    [
        (
            SUBSCRIPTION,
            3,
            {"topics": ["t"], "user_data": None, "owned_partitions": T_0_1, "generation_id": 4, "rack_id": "r"},
            "000300000001000174ffffffff0000000100017400000002000000000000000100000004000172",
        ),
        (SUBSCRIPTION, 0, {"topics": ["t"], "user_data": None}, "000000000001000174ffffffff"),
        (
            ASSIGNMENT,
            3,
            {"assigned_partitions": T_0_1, "user_data": b"\x05"},
            "0003000000010001740000000200000000000000010000000105",
        ),
        (
            STREAMS_SUBSCRIPTION,
            11,
            {
                "latest_supported_version": 11,
                "process_id": T,
                "user_end_point": b"h:1",
                "task_offset_sums": [{"topic_group_id": 0, "partition": 1, "offset_sum": -2, "named_topology": None}],
                "unique_field": 1,
                "error_code": 0,
                "client_tags": [{"key": b"k", "value": b"v"}],
            },
            "0000000b0000000b0102030405060708090a0b0c0d0e0f1000000003683a31000000010000000000000001fffffffffffffffeffff01"
            "0000000000000001000000016b0000000176",
        ),
    ],
)
def test_payloads_are_written_as_their_clients_write_them(
    message: Message, version: int, values: dict[str, Any], payload_hex: str
) -> None:
    assert encode_payload(message, version, values) == bytes.fromhex(payload_hex)


def test_a_varint_takes_a_byte_for_seven_bits() -> None:
    written = {
        0: "00",
        1: "01",
        127: "7f",
        128: "8001",
        300: "ac02",
        16383: "ff7f",
        16384: "808001",
        2**31 - 1: "ffffffff07",
    }
    assert {number: uvarint(number).hex() for number in written} == written


def test_java_writes_nul_in_two_bytes_and_surrogates_one_by_one() -> None:
    # As java.io.DataOutputStream.writeUTF.
    assert java_utf("a\x00é€") == bytes.fromhex("61 c080 c3a9 e282ac")
    assert java_utf("😀") == bytes.fromhex("eda0bd edb880")
    assert encode(Kind.JAVA_UTF, "a", False, 1) == bytes.fromhex("0001 61")
    assert encode(Kind.UTF16_CHARS, "a", False, 10) == bytes.fromhex("00000001 0061")
