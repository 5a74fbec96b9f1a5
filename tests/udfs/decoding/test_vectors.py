"""Both decoders against byte vectors written by Kafka 4.3.0, and by hand where no release writes them."""

from typing import Any

import pytest

from tests.oracles.decoding.both_decoders import DECODERS
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.decoding.vectors import CLASSIC_GROUPS, OFFSET_COMMITS, T_HEX, VECTORS, T, key_of

ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"


@pytest.fixture(autouse=True, params=DECODERS)
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file holds for both decoders."""
    monkeypatch.setitem(globals(), "decode_record", DECODERS[request.param])


def decode(record_type: int, value_hex: str) -> dict[str, Any]:
    return decode_record(key_of(record_type), bytes.fromhex(value_hex))


def value_of(record_type: int, value_hex: str) -> dict[str, Any]:
    decoded = decode(record_type, value_hex)
    assert "rejected" not in decoded, decoded
    assert decoded["record_type"] == record_type
    value: dict[str, Any] = decoded["value"]
    return value


@pytest.mark.parametrize("record_type", [0, 1])
@pytest.mark.parametrize("name", OFFSET_COMMITS)
def test_an_offset_commit_of_every_version_decodes(name: str, record_type: int) -> None:
    value_hex, expected = OFFSET_COMMITS[name]
    assert decode(record_type, value_hex) == {
        "record_type": record_type,
        "key": {"group": "g", "topic": "t", "partition": 3},
        "value": expected,
        "value_version": int(name[1]),
        "unknown_tags": 0,
    }


@pytest.mark.parametrize("name", CLASSIC_GROUPS)
def test_a_classic_group_of_every_version_decodes(name: str) -> None:
    value_hex, expected = CLASSIC_GROUPS[name]
    decoded = decode(2, value_hex)
    assert decoded["key"] == {"group": "g"}
    assert decoded["value"] == expected
    assert decoded["value_version"] == int(name[1])


@pytest.mark.parametrize("name", VECTORS)
def test_a_value_of_the_newer_groups_decodes(name: str) -> None:
    record_type, value_hex, expected = VECTORS[name]
    assert value_of(record_type, value_hex) == expected


def test_every_record_type_has_a_vector() -> None:
    assert {record_type for record_type, _, _ in VECTORS.values()} | {0, 1, 2} == set(range(24))


@pytest.mark.parametrize(
    ("key_hex", "record_type", "expected"),
    [
        ("000100016700017400000003", 1, {"group": "g", "topic": "t", "partition": 3}),
        ("0002000167", 2, {"group": "g"}),
        ("00100001670003742e2a", 16, {"group_id": "g", "regular_expression": "t.*"}),
        ("0005 0001 67 0000", 5, {"group_id": "g", "member_id": ""}),
        ("0003 0001 67", 3, {"group_id": "g"}),
    ],
)
def test_a_key_decodes_and_a_null_value_is_a_tombstone(
    key_hex: str, record_type: int, expected: dict[str, Any]
) -> None:
    assert decode_record(bytes.fromhex(key_hex), None) == {
        "record_type": record_type,
        "key": expected,
        "value": None,
        "value_version": None,
        "unknown_tags": 0,
    }


@pytest.mark.parametrize("record_type", range(24))
def test_every_record_type_has_tombstones(record_type: int) -> None:
    decoded = decode_record(key_of(record_type), None)
    assert (decoded["record_type"], decoded["value"], decoded["value_version"]) == (record_type, None, None)


def test_trap_01_the_prefix_of_a_key_is_a_type_and_that_of_a_value_a_version() -> None:
    decoded = decode(3, "0000 00000009 00")
    assert (decoded["record_type"], decoded["value_version"]) == (3, 0)


def test_trap_02_a_control_record_is_not_read_as_type_0() -> None:
    commit, abort = bytes.fromhex("00000001"), bytes.fromhex("00000000")
    marker = bytes.fromhex("0000 00000007")
    expected = {"record_type": None, "value_version": 0, "coordinator_epoch": 7}
    assert decode_record(commit, marker, is_control=True) == {**expected, "control": "COMMIT"}
    assert decode_record(abort, marker, is_control=True) == {**expected, "control": "ABORT"}


def test_trap_03_v3_puts_the_leader_epoch_second_and_only_v1_expires() -> None:
    assert list(value_of(1, OFFSET_COMMITS["v3"][0])) == ["offset", "leader_epoch", "metadata", "commit_timestamp"]
    values = {name: value_of(1, value_hex) for name, (value_hex, _) in OFFSET_COMMITS.items()}
    assert [name for name, value in values.items() if "expire_timestamp" in value] == ["v1"]


def test_trap_04_the_topic_id_of_v4_is_a_tagged_field() -> None:
    assert "topic_id" not in value_of(1, OFFSET_COMMITS["v4 bare"][0])
    assert value_of(1, OFFSET_COMMITS["v4"][0])["topic_id"] == T


def test_a_tagged_field_that_is_written_although_it_equals_its_default_is_kept() -> None:
    written_zero = "0004 0000000000000005 ffffffff 01 00000000000003e8 01 00 10" + "00" * 16
    assert value_of(1, written_zero)["topic_id"] == ZERO_UUID


def test_trap_05_protocol_and_leader_may_be_null_where_the_protocol_type_is_empty() -> None:
    value = value_of(2, CLASSIC_GROUPS["v3 of a new group"][0])
    assert (value["protocol_type"], value["protocol"], value["leader"]) == ("", None, None)
    v4 = value_of(2, "0004 01 00000000 00 00 00000000000003e8 01 00")
    assert (v4["protocol_type"], v4["protocol"], v4["leader"]) == ("", None, None)


def test_trap_06_an_assignment_may_have_length_0() -> None:
    for name in ("v0", "v3", "v4"):
        assert value_of(2, CLASSIC_GROUPS[name][0])["members"][0]["assignment"] == b""


def test_trap_11_the_metadata_of_an_offset_is_arbitrary_text() -> None:
    assert value_of(1, "0000 0000000000000005 0003 00 0a 7f 00000000000003e8")["metadata"] == "\x00\n\x7f"


def test_trap_14_a_tombstone_of_type_4_decodes() -> None:
    assert decode_record(key_of(4), None)["value"] is None


def test_trap_17_an_unknown_state_timestamp_is_minus_1_or_absent() -> None:
    assert value_of(2, "0003 0000 00000000 ffff ffff ffffffffffffffff 00000000")["current_state_timestamp"] == -1
    for name in ("v0", "v1"):
        assert "current_state_timestamp" not in value_of(2, CLASSIC_GROUPS[name][0])


def test_trap_19_member_epoch_minus_2_is_kept() -> None:
    assert value_of(8, "0000 fffffffe 00000008 00 01 01 00")["member_epoch"] == -2


def test_trap_20_member_states_stay_the_numbers_of_their_own_group_type() -> None:
    assert value_of(8, "0000 00000009 00000008 00 01 01 00")["state"] == 0
    assert value_of(14, "0000 00000009 00000008 7f 01 00")["state"] == 127
    assert value_of(22, "0000 00000009 00000008 03 01 01 01 01 01 01 00")["state"] == 3


def test_trap_21_a_nullable_struct_is_marked_by_an_int8_untagged_and_by_a_varint_in_a_tag() -> None:
    endpoint = "0000 00 00 0263 032f68 0000012c 00000001 0270 {} 01 00"
    assert value_of(19, endpoint.format("ff"))["user_endpoint"] is None
    assert value_of(19, endpoint.format("80"))["user_endpoint"] is None
    assert value_of(19, endpoint.format("01 0268 0050 00"))["user_endpoint"] == {"host": "h", "port": 80}
    member = "0000 00 00 0263 032f68 01 00 0000012c 00 01 00 {}"
    assert value_of(5, member.format("01 00")).get("classic_member_metadata") is None
    assert value_of(5, member.format("07 01 0000002d 01 00"))["classic_member_metadata"] == {
        "session_timeout_ms": 45,
        "supported_protocols": [],
    }


def test_trap_22_every_element_of_an_array_ends_with_tags_of_its_own() -> None:
    element_with_tag_9 = f"{T_HEX} 02 00000005 01 09 02 abcd"
    decoded = decode(7, f"0000 03 {element_with_tag_9} {T_HEX} 01 00 01 80 01 00")
    assert decoded["value"] == {
        "topic_partitions": [{"topic_id": T, "partitions": [5]}, {"topic_id": T, "partitions": []}]
    }
    assert decoded["unknown_tags"] == 2


SHAPES_UNDER_ONE_VERSION = [
    ("4", "4 of 3.7"),
    ("5 consumer protocol", "5 of 3.7"),
    ("7", "7 of 3.7"),
    ("8 without epochs", "8 of 3.7"),
    ("9 of 4.0", "9 of 3.9"),
    ("11", "11 of 4.0"),
    ("15", "15 of 4.0"),
]


@pytest.mark.parametrize(("newer", "older"), SHAPES_UNDER_ONE_VERSION)
def test_trap_23_both_shapes_under_one_version_are_distinguished_by_exact_consumption(newer: str, older: str) -> None:
    for name in (newer, older):
        record_type, value_hex, expected = VECTORS[name]
        decoded = decode(record_type, value_hex)
        assert decoded["value"] == expected
        assert (decoded["value_version"], decoded["unknown_tags"]) == (0, 0)


def test_trap_23_an_early_access_member_without_assignors_is_distinguished_from_a_tag() -> None:
    value = value_of(5, "0000 00 0272 0263 032f68 020274 01 0000012c 00 01 00")
    assert value["assignors"] == []


def test_trap_24_the_hash_of_4_1_is_not_taken_for_a_tag_count() -> None:
    assert value_of(11, "0000 00000009 00ffffffffffffff 00") == {"epoch": 9, "metadata_hash": 0x00FFFFFFFFFFFFFF}


def test_trap_25_trailing_bytes_are_reported() -> None:
    rejected = {"part": "value", "field": None, "reason": "trailing_bytes"}
    assert decode(3, "0000 00000009 00 00") == {"rejected": rejected, "record_type": 3}


def test_trap_44_a_stored_offset_may_be_negative() -> None:
    assert value_of(1, "0003 ffffffffffffffff ffffffff 0000 00000000000003e8")["offset"] == -1


def test_trap_45_value_v1_has_neither_leader_epoch_nor_topic_id() -> None:
    assert value_of(1, OFFSET_COMMITS["v1"][0]).keys() == {
        "offset",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
    }


def test_a_repeated_known_tag_counts_by_its_last_value_and_tags_need_no_order() -> None:
    value_hex = "0000 00000009 0000000000000001 03 03 04 00000003 00 04 00000001 00 04 00000002"
    assert value_of(17, value_hex) == {
        "epoch": 9,
        "metadata_hash": 1,
        "failed_description_topology_epoch": 3,
        "validated_topology_epoch": 2,
    }


def test_an_unmerged_tag_is_skipped_and_counted() -> None:
    decoded = decode(3, "0000 00000009 02 00 08 0000000000000001 01 08 00000000000003e8")
    assert decoded["value"] == {"epoch": 9, "metadata_hash": 1}
    assert decoded["unknown_tags"] == 1


def test_a_null_in_a_tagged_field_says_no_more_than_its_absence() -> None:
    assert value_of(17, "0000 00000009 0000000000000001 01 01 01 00").get("last_assignment_configs") is None
    epochs = value_of(8, f"0000 00000009 00000008 00 02 {T_HEX} 01 01 00 01 00 01 00")
    assert epochs["assigned_partitions"][0].get("assignment_epochs") is None
