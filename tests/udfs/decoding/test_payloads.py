"""The independent decoder on the payloads of group members: vectors of Kafka 4.3.0, the others made by hand."""

from typing import Any

import pytest

from tests.oracles.decoding.decoder import decode_payload, decode_user_data
from tests.oracles.decoding.payload_parts import OWNED_T, assignment, subscription, user_data

SUBSCRIPTION_V3 = "000300000001000174ffffffff0000000100017400000002000000000000000100000004000172"
ASSIGNMENT_V3 = "0003000000010001740000000200000000000000010000000105"


@pytest.mark.parametrize(
    ("data_hex", "expected"),
    [
        ("000000000001000174ffffffff", {"version": 0, "topics": ["t"], "user_data": None}),
        ("0000 00000000 00000001 05", {"version": 0, "topics": [], "user_data": b"\x05"}),
        (
            "0001 00000001 000174 ffffffff 00000000",
            {"version": 1, "topics": ["t"], "user_data": None, "owned_partitions": []},
        ),
        (
            "0002 00000001 000174 ffffffff 00000000 ffffffff",
            {"version": 2, "topics": ["t"], "user_data": None, "owned_partitions": [], "generation_id": -1},
        ),
        (
            SUBSCRIPTION_V3,
            {
                "version": 3,
                "topics": ["t"],
                "user_data": None,
                "owned_partitions": OWNED_T,
                "generation_id": 4,
                "rack_id": "r",
            },
        ),
        (
            "0003 00000000 ffffffff 00000002 000174 00000001 00000001 000174 00000001 00000000 00000004 ffff",
            {
                "version": 3,
                "topics": [],
                "user_data": None,
                "owned_partitions": [{"topic": "t", "partitions": [1]}, {"topic": "t", "partitions": [0]}],
                "generation_id": 4,
                "rack_id": None,
            },
        ),
    ],
)
def test_a_consumer_subscription_of_every_version_decodes(data_hex: str, expected: dict[str, Any]) -> None:
    assert subscription(data_hex) == expected
    assert subscription(data_hex + "00ff") == expected  # what follows is ignored, as Kafka ignores it


@pytest.mark.parametrize("version", range(4))
def test_a_consumer_assignment_has_one_layout_in_every_version(version: int) -> None:
    expected = {"version": version, "assigned_partitions": OWNED_T, "user_data": b"\x05"}
    assert assignment(f"{version:04x}" + ASSIGNMENT_V3[4:]) == expected


def test_a_consumer_assignment_may_have_null_user_data() -> None:
    expected = {"version": 0, "assigned_partitions": [], "user_data": None}
    assert assignment("0000 00000000 ffffffff") == expected


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("protocol_type", ["consumer", "connect", "sr", "other"])
def test_trap_06_fewer_than_two_bytes_hold_no_version(protocol_type: str, size: int) -> None:
    assert subscription("00" * size, protocol_type) is None
    assert assignment("00" * size, protocol_type) is None


def test_trap_07_versions_above_3_are_read_as_3_and_below_0_not_at_all() -> None:
    newer = subscription("7fff" + SUBSCRIPTION_V3[4:] + "abcd")
    assert newer == {**(subscription(SUBSCRIPTION_V3) or {}), "version": 32767}
    assert assignment("0004" + ASSIGNMENT_V3[4:] + "abcd") == {
        "version": 4,
        "assigned_partitions": OWNED_T,
        "user_data": b"\x05",
    }
    assert subscription("ffff" + SUBSCRIPTION_V3[4:]) is None
    assert assignment("ffff" + ASSIGNMENT_V3[4:]) is None


@pytest.mark.parametrize(
    "data_hex",
    [
        "0000 ffffffff ffffffff",  # null topics
        "0000 00000001 ffff ffffffff",  # null topic
        "0000 00000001 0001ff ffffffff",  # not UTF-8
        "0000 7fffffff ffffffff",
        "0000 00000000 fffffffe",
        "0001 00000000 ffffffff ffffffff",  # null owned partitions
    ],
)
def test_a_malformed_subscription_is_none(data_hex: str) -> None:
    assert subscription(data_hex) is None


def test_a_payload_cut_at_any_byte_is_none() -> None:
    for size in range(len(SUBSCRIPTION_V3) // 2):
        assert subscription(SUBSCRIPTION_V3[: 2 * size]) is None
    for size in range(len(ASSIGNMENT_V3) // 2):
        assert assignment(ASSIGNMENT_V3[: 2 * size]) is None


STICKY_V1 = "0000000100017400000002000000000000000100000004"
STICKY_V0 = STICKY_V1[:-8]


def test_trap_08_sticky_user_data_has_no_version_and_its_shapes_are_tried_in_turn() -> None:
    assert user_data("sticky", "subscription", STICKY_V1) == {"previous_assignment": OWNED_T, "generation": 4}
    assert user_data("sticky", "subscription", STICKY_V0) == {"previous_assignment": OWNED_T}
    assert user_data("sticky", "subscription", "00000000") == {"previous_assignment": []}
    assert user_data("sticky", "subscription", STICKY_V1 + "00") is None
    assert user_data("cooperative-sticky", "subscription", "00000004") == {"generation": 4}
    assert user_data("cooperative-sticky", "subscription", "0000000400") is None
    for protocol in ("range", "roundrobin", "mine"):
        assert user_data(protocol, "subscription", STICKY_V1) is None


def test_trap_57_kafka_python_writes_v0_empty_user_data_and_a_version_before_sticky_data() -> None:
    assert user_data("sticky", "subscription", "0001" + STICKY_V1) == {
        "version": 1,
        "previous_assignment": OWNED_T,
        "generation": 4,
    }
    assert user_data("sticky", "subscription", "0001 00000000 ffffffff") == {
        "version": 1,
        "previous_assignment": [],
        "generation": -1,
    }
    assert subscription("0000 00000002 00027432 00027431 00000000") == {
        "version": 0,
        "topics": ["t2", "t1"],
        "user_data": b"",
    }
    assert decode_user_data("range", "subscription", b"") is None


@pytest.mark.parametrize("protocol", ["sticky", "cooperative-sticky", "stream", "range"])
def test_no_user_data_decodes_to_none(protocol: str) -> None:
    for part in ("subscription", "assignment"):
        assert decode_user_data(protocol, part, None) is None
        assert decode_user_data(protocol, part, b"") is None


CONNECT_HEAD = "0000 0001 6c 0001 75 0000000000000009"
CONNECT_HEAD_DECODED = {"error": 0, "leader": "l", "leader_url": "u", "config_offset": 9}
CONNECTOR_C = "0001 63 00000002 ffffffff 00000000"
CONNECTOR_C_DECODED = {"connector": "c", "tasks": [-1, 0]}


def test_connect_eager_protocol_decodes() -> None:
    assert subscription("0000 0001 75 0000000000000009", "connect") == {"version": 0, "url": "u", "config_offset": 9}
    assert assignment(f"0000 {CONNECT_HEAD} 00000001 {CONNECTOR_C}", "connect") == {
        "version": 0,
        **CONNECT_HEAD_DECODED,
        "assignment": [CONNECTOR_C_DECODED],
    }


@pytest.mark.parametrize("version", [1, 2, 3])
def test_connect_incremental_protocols_decode(version: int) -> None:
    decoded = assignment(f"{version:04x} {CONNECT_HEAD} 00000001 {CONNECTOR_C} ffffffff 000003e8", "connect")
    assert decoded == {
        "version": version,
        **CONNECT_HEAD_DECODED,
        "assignment": [CONNECTOR_C_DECODED],
        "revoked": None,
        "delay": 1000,
    }
    without_allocation = subscription(f"{version:04x} 0001 75 0000000000000009 ffffffff", "connect")
    assert without_allocation == {"version": version, "url": "u", "config_offset": 9, "allocation": None}


def test_trap_10_a_connect_subscription_embeds_an_assignment_with_a_version_of_its_own() -> None:
    embedded = f"0001 {CONNECT_HEAD} ffffffff 00000001 {CONNECTOR_C} 00000000"
    size = f"{len(bytes.fromhex(embedded)):08x}"
    assert subscription(f"0002 0001 75 0000000000000009 {size} {embedded}", "connect") == {
        "version": 2,
        "url": "u",
        "config_offset": 9,
        "allocation": {
            "version": 1,
            **CONNECT_HEAD_DECODED,
            "assignment": None,
            "revoked": [CONNECTOR_C_DECODED],
            "delay": 0,
        },
    }
    assert subscription("0002 0001 75 0000000000000009 00000001 00", "connect") is None


def test_connect_gives_fields_after_the_end_their_defaults_from_version_1_on() -> None:
    assert assignment(f"0001 {CONNECT_HEAD}", "connect") == {
        "version": 1,
        **CONNECT_HEAD_DECODED,
        "assignment": None,
        "revoked": None,
        "delay": 0,
    }
    assert subscription("0001 0001 75 0000000000000009", "connect") == {
        "version": 1,
        "url": "u",
        "config_offset": 9,
        "allocation": None,
    }
    assert assignment(f"0000 {CONNECT_HEAD}", "connect") is None
    assert assignment(f"0001 {CONNECT_HEAD} 0000", "connect") is None
    assert assignment(f"ffff {CONNECT_HEAD} 00000000", "connect") is None


def test_schema_registry_payloads_are_bare_json_objects() -> None:
    identity = b'{"version":1,"host":"h","port":8081,"master_eligibility":true,"scheme":"http"}'
    assert decode_payload("sr", "v0", "subscription", identity) == {
        "version": 1,
        "host": "h",
        "port": 8081,
        "master_eligibility": True,
        "scheme": "http",
    }
    leader = b'{"version":1,"error":0,"master":"m","master_identity":{"host":"h","karapace_version":"4"}}'
    assert decode_payload("sr", "v0", "assignment", leader) == {
        "version": 1,
        "error": 0,
        "master": "m",
        "master_identity": {"host": "h", "karapace_version": "4"},
    }


@pytest.mark.parametrize(
    "data", [b"[]", b'"h"', b"{", b'{"host":"\xff"}', b'{"port":NaN}', b"[" * 100_000, '{"port":1}'.encode("utf-16")]
)
def test_what_is_no_json_object_is_none(data: bytes) -> None:
    assert decode_payload("sr", "v0", "subscription", data) is None


def test_an_unknown_protocol_type_is_left_alone() -> None:
    assert decode_payload("", "range", "subscription", bytes.fromhex(SUBSCRIPTION_V3)) is None
    assert decode_payload("mine", "range", "assignment", bytes.fromhex(ASSIGNMENT_V3)) is None
