"""One record of the offsets topic: the layouts its key and value may have, and what is wrong when none fits."""

from typing import Any

from tests.oracles.decoding import classic_values as classic
from tests.oracles.decoding import group_values as groups
from tests.oracles.decoding import streams_values as streams
from tests.oracles.decoding.reader import Cursor, Reader, Refused, Struct, int16, int32, read_all, string, struct


@struct
def offset_commit_key(key: Struct) -> None:
    key.read("group", string)
    key.read("topic", string)
    key.read("partition", int32)


@struct
def group_metadata_key(key: Struct) -> None:
    key.read("group", string)


@struct
def group_id_key(key: Struct) -> None:
    key.read("group_id", string)


@struct
def member_key(key: Struct) -> None:
    key.read("group_id", string)
    key.read("member_id", string)


@struct
def regular_expression_key(key: Struct) -> None:
    key.read("group_id", string)
    key.read("regular_expression", string)


KEYS: dict[int, Reader] = {
    **dict.fromkeys((0, 1), offset_commit_key),
    2: group_metadata_key,
    **dict.fromkeys((3, 4, 6, 9, 11, 12, 15, 17, 18, 20, 23), group_id_key),
    **dict.fromkeys((5, 7, 8, 10, 13, 14, 19, 21, 22), member_key),
    16: regular_expression_key,
}

OFFSET_COMMIT = [
    [classic.offset_commit_v0],
    [classic.offset_commit_v1],
    [classic.offset_commit_v2],
    [classic.offset_commit_v3],
    [classic.offset_commit_v4],
]
GROUP_METADATA = [
    [classic.group_metadata_v0],
    [classic.group_metadata_v1],
    [classic.group_metadata_v2],
    [classic.group_metadata_v3],
    [classic.group_metadata_v4],
]

# Record type -> value version -> shapes, newest first. Some version numbers were reused for other bytes.
VALUES: dict[int, list[list[Reader]]] = {
    0: OFFSET_COMMIT,
    1: OFFSET_COMMIT,
    2: GROUP_METADATA,
    3: [[groups.consumer_group_metadata]],
    4: [[groups.consumer_group_partition_metadata, groups.consumer_group_partition_metadata_3_7]],
    5: [[groups.consumer_group_member_metadata, groups.consumer_group_member_metadata_3_7]],
    6: [[groups.target_assignment_metadata]],
    7: [[groups.target_assignment_member, groups.target_assignment_member_3_7]],
    8: [[groups.current_member_assignment, groups.current_member_assignment_3_7]],
    9: [[groups.share_group_partition_metadata_4_0, groups.share_group_partition_metadata_3_9]],
    10: [[groups.share_group_member_metadata]],
    11: [[groups.share_group_metadata, groups.share_group_metadata_4_0]],
    12: [[groups.target_assignment_metadata]],
    13: [[groups.target_assignment_member]],
    14: [[groups.share_group_current_member_assignment]],
    15: [[groups.share_group_state_partition_metadata, groups.share_group_state_partition_metadata_4_0]],
    16: [[groups.consumer_group_regular_expression]],
    17: [[streams.streams_group_metadata]],
    18: [[streams.streams_group_partition_metadata]],
    19: [[streams.streams_group_member_metadata]],
    20: [[groups.target_assignment_metadata]],
    21: [[streams.streams_group_target_assignment_member]],
    22: [[streams.streams_group_current_member_assignment]],
    23: [[streams.streams_group_topology]],
}


def decode_record(key: bytes | None, value: bytes | None, is_control: bool = False) -> dict[str, Any]:
    # Control records first: as an ordinary key, COMMIT's 00 00 00 01 would open like type 0.
    if is_control:
        return _decode_control(key, value)
    try:
        record_type, key_fields = _decode_key(key)
    except Refused as refused:
        return _rejected("key", refused, _record_type(key))
    try:
        value_version, value_fields, unknown_tags = _decode_value(record_type, value)
    except Refused as refused:
        return _rejected("value", refused, record_type)
    return {
        "record_type": record_type,
        "key": key_fields,
        "value": value_fields,
        "value_version": value_version,
        "unknown_tags": unknown_tags,
    }


def _decode_key(key: bytes | None) -> tuple[int, dict[str, Any]]:
    if key is None:
        raise Refused("null_key")
    cursor = Cursor(key)
    record_type = int16(cursor)
    if record_type not in KEYS:
        raise Refused("unknown_record_type")
    return record_type, read_all(KEYS[record_type], cursor)


def _record_type(key: bytes | None) -> int | None:
    return None if key is None or len(key) < 2 else int.from_bytes(key[:2], "big", signed=True)


def _decode_value(record_type: int, value: bytes | None) -> tuple[int | None, dict[str, Any] | None, int]:
    if value is None:
        return None, None, 0
    if value == b"":
        raise Refused("empty_value")
    version = int16(Cursor(value))
    versions = VALUES[record_type]
    if not 0 <= version < len(versions):
        raise Refused("unknown_value_version")
    fields, unknown_tags = _first_shape_that_fits(versions[version], value)
    return version, fields, unknown_tags


def _first_shape_that_fits(shapes: list[Reader], value: bytes) -> tuple[dict[str, Any], int]:
    refusals = []
    for shape in shapes:
        cursor = Cursor(value)
        int16(cursor)
        try:
            return read_all(shape, cursor), cursor.unknown_tags
        except Refused as refused:
            refusals.append(refused)
    raise refusals[0]  # the newest shape says what is wrong


def _rejected(part: str, refused: Refused, record_type: int | None) -> dict[str, Any]:
    field = ".".join(refused.path) or None
    return {"rejected": {"part": part, "field": field, "reason": refused.reason}, "record_type": record_type}


@struct
def control_key(key: Struct) -> None:
    key.read("version", int16)
    key.read("type", int16)


@struct
def end_transaction_marker(value: Struct) -> None:
    value.read("version", int16)
    value.read("coordinator_epoch", int32)


MARKERS = {0: "ABORT", 1: "COMMIT"}


def _decode_control(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    try:
        if key is None:
            raise Refused("null_key")
        control = _read_versioned(control_key, key, "unknown_control_type")
        if control["type"] not in MARKERS:  # markers of the metadata log and of the future
            raise Refused("unknown_control_type", "type")
    except Refused as refused:
        return _rejected("key", refused, None)
    try:
        if not value:
            raise Refused("empty_value")
        marker = _read_versioned(end_transaction_marker, value, "unknown_value_version")
    except Refused as refused:
        return _rejected("value", refused, None)
    return {
        "record_type": None,
        "control": MARKERS[control["type"]],
        "value_version": marker["version"],
        "coordinator_epoch": marker["coordinator_epoch"],
    }


def _read_versioned(layout: Reader, data: bytes, reason_below_zero: str) -> dict[str, Any]:
    """Versions above 0 are read as 0 and may go on after it; version 0 itself may not."""
    if int16(Cursor(data)) < 0:
        raise Refused(reason_below_zero)
    cursor = Cursor(data)
    fields: dict[str, Any] = layout(cursor)
    if fields["version"] == 0 and cursor.left() > 0:
        raise Refused("trailing_bytes")
    return fields
