"""What both decoders refuse, by part, field and reason."""

from typing import Any

import pytest

from tests.oracles.decoding.both_decoders import DECODERS
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.decoding.vectors import ALL_VALUES, VECTORS, key_of

V4_HEAD = "0004 0000000000000005 00000007"


@pytest.fixture(autouse=True, params=DECODERS)
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file holds for both decoders."""
    monkeypatch.setitem(globals(), "decode_record", DECODERS[request.param])


def decode(record_type: int, value_hex: str) -> dict[str, Any]:
    return decode_record(key_of(record_type), bytes.fromhex(value_hex))


def rejected(part: str, field: str | None, reason: str, record_type: int | None) -> dict[str, Any]:
    return {"rejected": {"part": part, "field": field, "reason": reason}, "record_type": record_type}


@pytest.mark.parametrize(
    ("key_hex", "field", "reason", "record_type"),
    [
        ("", None, "underrun", None),
        ("00", None, "underrun", None),
        ("0018 0001 67", None, "unknown_record_type", 24),
        ("7fff", None, "unknown_record_type", 32767),
        ("ffff", None, "unknown_record_type", -1),
        ("0001 00", "group", "underrun", 1),
        ("0001 0002 67", "group", "underrun", 1),
        ("0001 ffff", "group", "bad_length", 1),
        ("0001 fffe", "group", "bad_length", 1),
        ("0001 0001 ff", "group", "invalid_utf8", 1),
        ("0001 0001 67 0001 74 000000", "partition", "underrun", 1),
        ("0001 0001 67 0001 74 00000003 00", None, "trailing_bytes", 1),
        ("0005 0001 67 0003 eda080", "member_id", "invalid_utf8", 5),
        ("0010 0001 67", "regular_expression", "underrun", 16),
    ],
)
def test_a_bad_key_is_rejected(key_hex: str, field: str | None, reason: str, record_type: int | None) -> None:
    for value in (None, b"", b"\x00\x00"):
        assert decode_record(bytes.fromhex(key_hex), value) == rejected("key", field, reason, record_type)


def test_a_null_key_is_rejected() -> None:
    assert decode_record(None, b"\x00\x00") == rejected("key", None, "null_key", None)


@pytest.mark.parametrize("record_type", range(24))
def test_trap_12_a_value_of_length_0_is_corruption_and_no_tombstone(record_type: int) -> None:
    assert decode_record(key_of(record_type), b"") == rejected("value", None, "empty_value", record_type)


@pytest.mark.parametrize("record_type", range(24))
def test_a_value_version_out_of_range_is_rejected_not_guessed(record_type: int) -> None:
    above = 5 if record_type <= 2 else 1
    for version in (above, 32767, -1, -32768):
        value = version.to_bytes(2, "big", signed=True) + bytes(60)
        assert decode_record(key_of(record_type), value) == rejected(
            "value", None, "unknown_value_version", record_type
        )


@pytest.mark.parametrize(
    ("record_type", "value_hex", "field", "reason"),
    [
        (1, "00", None, "underrun"),
        (1, "0000", "offset", "underrun"),
        (1, "0000 0000000000000005 ffff 00000000000003e8", "metadata", "bad_length"),
        (1, "0000 0000000000000005 0001 ff 00000000000003e8", "metadata", "invalid_utf8"),
        (1, "0000 0000000000000005 7fff ff 00000000000003e8", "metadata", "underrun"),
        (1, "0001 0000000000000005 0001 6d 00000000000003e8", "expire_timestamp", "underrun"),
        (1, f"{V4_HEAD} 00 00000000000003e8 00", "metadata", "bad_length"),
        (1, f"{V4_HEAD} 818002", "metadata", "bad_length"),  # 32768 bytes: too long before it is too short
        (1, f"{V4_HEAD} 808002", "metadata", "underrun"),  # 32767 bytes
        (1, f"{V4_HEAD} ffffffff08", "metadata", "bad_length"),  # 2^31 and more
        (1, f"{V4_HEAD} 808080808000", "metadata", "bad_length"),  # six bytes
        (1, f"{V4_HEAD} 8080808080", "metadata", "bad_length"),  # the fifth byte asks for a sixth
        (1, f"{V4_HEAD} 80808080", "metadata", "underrun"),
        (1, f"{V4_HEAD} 026d 00000000000003e8", "tagged_fields", "underrun"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 00", "tagged_fields", "underrun"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 00 10 0102", "tagged_fields", "underrun"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 07 02 01", "tagged_fields", "underrun"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 ffffffff0f 00", "tagged_fields", "bad_length"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 00 11" + "00" * 17, "topic_id", "bad_length"),
        (1, f"{V4_HEAD} 026d 00000000000003e8 01 00 0f" + "00" * 15, "topic_id", "bad_length"),
        (2, "0003 ffff 00000000", "protocol_type", "bad_length"),
        (2, "0003 0000 00000000 fffe", "protocol", "bad_length"),
        (2, "0003 0000 00000000 ffff ff", "leader", "underrun"),
        (2, "0000 0000 00000000 ffff ffff ffffffff", "members", "bad_length"),
        (2, "0000 0000 00000000 ffff ffff fffffffe", "members", "bad_length"),
        (2, "0000 0000 00000000 ffff ffff 7fffffff 00", "members", "underrun"),
        (2, "0000 0000 00000000 ffff ffff 00000002 00", "members", "underrun"),
        (2, "0000 0000 00000000 ffff ffff 00000001 0001 ff", "members.member_id", "invalid_utf8"),
        (
            2,
            "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 0000002d ffffffff 00000000",
            "members.subscription",
            "bad_length",
        ),
        (
            2,
            "0000 0000 00000000 ffff ffff 00000001 0000 0000 0000 0000002d 00000000 00000001",
            "members.assignment",
            "underrun",
        ),
        (3, "0000 00000009 01 00 04 00000001", "metadata_hash", "bad_length"),
        (3, "0000 00000009 00 00", None, "trailing_bytes"),
        (5, "0000 00 00 00", "client_id", "bad_length"),
        (5, "0000 00 00 0263 032f68 02 00 00 0000012c 00 00", "subscribed_topic_names", "bad_length"),
        (5, "0000 00 00 0263 032f68 02 02 ff 00 0000012c 00 00", "subscribed_topic_names", "invalid_utf8"),
        # The tag says 3 bytes, its content wants more; then 8 where 7 are enough.
        (
            5,
            "0000 00 00 0263 032f68 01 00 0000012c 00 01 00 03 010000",
            "classic_member_metadata.session_timeout_ms",
            "bad_length",
        ),
        (
            5,
            "0000 00 00 0263 032f68 01 00 0000012c 00 01 00 08 01 0000002d 01 00 00",
            "classic_member_metadata",
            "bad_length",
        ),
        (
            5,
            "0000 00 00 0263 032f68 01 00 0000012c 00 01 00 0a 01 0000002d 02 02ff 01 00",
            "classic_member_metadata.supported_protocols.name",
            "invalid_utf8",
        ),
        (7, "0000 00", "topic_partitions", "bad_length"),
        (7, "0000 ffffffff07 00", "topic_partitions", "underrun"),
        (7, "0000 02 0102", "topic_partitions.topic_id", "underrun"),
        (7, "0000 02" + "00" * 16 + "02 0000", "topic_partitions.partitions", "underrun"),
        (7, "0000 02" + "00" * 16 + "01", "topic_partitions.tagged_fields", "underrun"),
        (19, "0000 00 00 0263 032f68 0000012c 00000001 0270 01 0268 00", "user_endpoint.port", "underrun"),
        (
            23,
            "0000 00000001 02 0230 01 01 02 0263 00000000 0000 02 0161 0261 00",
            "subtopologies.state_changelog_topics.topic_configs.value",
            "underrun",
        ),
    ],
)
def test_a_bad_value_is_rejected_at_its_first_bad_field(
    record_type: int, value_hex: str, field: str | None, reason: str
) -> None:
    assert decode(record_type, value_hex) == rejected("value", field, reason, record_type)


def test_where_no_shape_fits_the_newest_one_says_why() -> None:
    assert decode(11, "0000 000009") == rejected("value", "epoch", "underrun", 11)
    assert decode(11, "0000 00000009 01 00") == rejected("value", "metadata_hash", "underrun", 11)
    assert decode(4, "0000 00000007 03") == rejected("value", "topics", "bad_length", 4)
    assert decode(15, "0000 01 01") == rejected("value", "deleting_topics", "underrun", 15)


@pytest.mark.parametrize(
    ("key_hex", "value_hex", "expected"),
    [
        (None, "0000 00000007", rejected("key", None, "null_key", None)),
        ("", "0000 00000007", rejected("key", None, "underrun", None)),
        ("0000", "0000 00000007", rejected("key", "type", "underrun", None)),
        ("ffff 0001", "0000 00000007", rejected("key", None, "unknown_control_type", None)),
        ("0000 0001 00", "0000 00000007", rejected("key", None, "trailing_bytes", None)),
        ("0000 0001", None, rejected("value", None, "empty_value", None)),
        ("0000 0001", "", rejected("value", None, "empty_value", None)),
        ("0000 0001", "0000 000007", rejected("value", "coordinator_epoch", "underrun", None)),
        ("0000 0001", "ffff 00000007", rejected("value", None, "unknown_value_version", None)),
        ("0000 0001", "0000 00000007 00", rejected("value", None, "trailing_bytes", None)),
        (
            "0001 0001 ab",
            "0002 00000007 cd",
            {"record_type": None, "control": "COMMIT", "value_version": 2, "coordinator_epoch": 7},
        ),
        ("0000 0002", "00", rejected("key", "type", "unknown_control_type", None)),
        ("0000 0063", None, rejected("key", "type", "unknown_control_type", None)),
    ],
)
def test_control_records_end_as_markers_or_rejected(
    key_hex: str | None, value_hex: str | None, expected: dict[str, Any]
) -> None:
    key = None if key_hex is None else bytes.fromhex(key_hex)
    value = None if value_hex is None else bytes.fromhex(value_hex)
    assert decode_record(key, value, is_control=True) == expected


# Trial by exact consumption cannot distinguish these cuts from whole values of another shape: the bytes are the same.
CUTS_THAT_ARE_ANOTHER_SHAPE = {
    (VECTORS["5 classic protocol"][:2], 28),  # as of 3.7, without assignors
    (VECTORS["9 of 3.9"][:2], 40),  # as of 4.0, with two unknown tags
    (VECTORS["11 of an emptied group"][:2], 7),  # as of 4.0
    (VECTORS["15"][:2], 28),  # as of 4.0, with two unknown tags
}


@pytest.mark.parametrize(("record_type", "value_hex"), ALL_VALUES)
def test_a_value_cut_at_any_byte_is_rejected(record_type: int, value_hex: str) -> None:
    value = bytes.fromhex(value_hex)
    for size in range(len(value)):
        decoded = decode_record(key_of(record_type), value[:size])
        if ((record_type, value_hex), size) in CUTS_THAT_ARE_ANOTHER_SHAPE:
            assert "rejected" not in decoded
            continue
        assert decoded["rejected"]["part"] == "value"
        reasons = {"underrun", "bad_length", "trailing_bytes"} if size else {"empty_value"}
        assert decoded["rejected"]["reason"] in reasons
