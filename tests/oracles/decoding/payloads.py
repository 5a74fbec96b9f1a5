"""What group members put into their opaque bytes. Nothing here is an error: what cannot be read is None."""

import json
from functools import partial
from typing import Any

from tests.oracles.decoding.reader import (
    Cursor,
    Reader,
    Refused,
    Struct,
    array,
    int16,
    int32,
    int64,
    nullable_array,
    nullable_bytes,
    nullable_string,
    read_all,
    string,
    struct,
)
from tests.oracles.decoding.streams_info import assignment_info, subscription_info

Decoded = dict[str, Any] | None


def decode_payload(protocol_type: str, protocol: str, part: str, data: bytes) -> Decoded:
    """`protocol` plays no part yet: the three known protocol types use one layout for all their protocols."""
    readers: dict[tuple[str, str], Reader] = {
        ("consumer", "subscription"): consumer_subscription,
        ("consumer", "assignment"): consumer_assignment,
        ("connect", "subscription"): connect_subscription,
        ("connect", "assignment"): connect_assignment,
        ("sr", "subscription"): json_object,
        ("sr", "assignment"): json_object,
    }
    # Odd clients leave fewer bytes than a version takes; a leader that forgot a member leaves none.
    if len(data) < 2 or (protocol_type, part) not in readers:
        return None
    return _or_none(readers[protocol_type, part], data)


def decode_user_data(protocol: str, part: str, data: bytes | None) -> Decoded:
    readers: dict[tuple[str, str], Reader] = {
        ("sticky", "subscription"): sticky_user_data,
        ("cooperative-sticky", "subscription"): partial(read_all, cooperative_sticky),
        ("stream", "subscription"): subscription_info,
        ("stream", "assignment"): assignment_info,
    }
    if not data or (protocol, part) not in readers:
        return None
    return _or_none(readers[protocol, part], data)


def _or_none(reader: Reader, data: bytes) -> Decoded:
    try:
        decoded: Decoded = reader(Cursor(data))
    except Refused:
        return None
    return decoded


def _version(fields: Struct) -> int:
    version: int = fields.read("version", int16)
    if version < 0:
        raise Refused("bad_length")
    return version


@struct
def topic_partitions(topic: Struct) -> None:
    topic.read("topic", string)
    topic.read("partitions", array(int32))


@struct
def consumer_subscription(fields: Struct) -> None:
    """Versions above 3 may only append, so they are read as 3 and their tail is left alone."""
    version = _version(fields)
    fields.read("topics", array(string))
    fields.read("user_data", nullable_bytes)
    if version >= 1:
        fields.read("owned_partitions", array(topic_partitions))
    if version >= 2:
        fields.read("generation_id", int32)
    if version >= 3:
        fields.read("rack_id", nullable_string)


@struct
def consumer_assignment(fields: Struct) -> None:
    _version(fields)
    fields.read("assigned_partitions", array(topic_partitions))
    fields.read("user_data", nullable_bytes)


@struct
def sticky_v1(fields: Struct) -> None:
    fields.read("previous_assignment", array(topic_partitions))
    fields.read("generation", int32)


@struct
def sticky_v0(fields: Struct) -> None:
    fields.read("previous_assignment", array(topic_partitions))


@struct
def sticky_kafka_python(fields: Struct) -> None:
    if fields.read("version", int16) != 1:
        raise Refused("bad_length")
    fields.read("previous_assignment", array(topic_partitions))
    fields.read("generation", int32)


def sticky_user_data(cursor: Cursor) -> Decoded:
    """Java writes no version, kafka-python does: only the shape that consumes every byte is the right one."""
    for shape in (sticky_v1, sticky_v0, sticky_kafka_python):
        decoded = _or_none(partial(read_all, shape), cursor.data)
        if decoded is not None:
            return decoded
    return None


@struct
def cooperative_sticky(fields: Struct) -> None:
    fields.read("generation", int32)


@struct
def connector_tasks(connector: Struct) -> None:
    connector.read("connector", string)
    connector.read("tasks", array(int32))


def _allocation(cursor: Cursor) -> Decoded:
    """An assignment inside a subscription, with a version of its own."""
    embedded = nullable_bytes(cursor)
    return None if embedded is None else connect_assignment(Cursor(embedded))


@struct
def connect_subscription(fields: Struct) -> None:
    version = _version(fields)
    fields.read("url", string)
    fields.read("config_offset", int64)
    if version >= 1:
        _read_or_default(fields, "allocation", _allocation, None)


@struct
def connect_assignment(fields: Struct) -> None:
    version = _version(fields)
    fields.read("error", int16)
    fields.read("leader", string)
    fields.read("leader_url", string)
    fields.read("config_offset", int64)
    if version == 0:
        fields.read("assignment", array(connector_tasks))
    else:
        _read_or_default(fields, "assignment", nullable_array(connector_tasks), None)
        _read_or_default(fields, "revoked", nullable_array(connector_tasks), None)
        _read_or_default(fields, "delay", int32, 0)


def _read_or_default(fields: Struct, name: str, reader: Reader, default: int | None) -> None:
    """From version 1 on, Connect gives fields after the end of the bytes their defaults."""
    fields.read(name, reader if fields.cursor.left() > 0 else lambda _: default)


def json_object(cursor: Cursor) -> Decoded:
    """Schema Registry writes bare JSON. Keys that its own readers would ignore are kept: they show who wrote it."""
    try:
        decoded = json.loads(cursor.take(cursor.left()).decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
