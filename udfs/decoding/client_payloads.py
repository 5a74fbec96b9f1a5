"""Decodes the payloads that clients put into members of classic groups, by protocol type. Equal payloads are decoded
once.

Nothing is rejected here: a client may store any bytes. A payload that cannot be read becomes null, and its bytes are
kept.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas import records
from schemas.fields import INT16_MAX, Kind, Layout, Message, Shape
from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import Slices, slices_of
from udfs.decoding.arrow_types import conform, message_type
from udfs.decoding.messages.columns import prefixes, read_columns
from udfs.decoding.scalar_reader import Malformed, Reader, read_layout, read_message


def payload_type(message: Message) -> pa.StructType:
    """The declared fields after the version that the client wrote."""
    return pa.struct([pa.field("version", pa.int16()), *message_type(message)])


@dataclass(frozen=True)
class VersionGroup:
    """Payloads of one version: their rows, the version in each, and their values."""

    rows: Positions
    versions: NDArray[np.int16]
    values: pa.StructArray


def consumer_payloads(column: pa.BinaryArray, message: Message) -> pa.StructArray:
    """Subscriptions or assignments of the consumer protocol; null if they cannot be read."""
    encoded = column.dictionary_encode()
    slices = slices_of(encoded.dictionary)
    wanted = payload_type(message)
    groups = list(version_groups(slices, message))
    parts = [
        conform(
            pa.StructArray.from_arrays(
                [pa.array(group.versions), *group.values.flatten()], ["version", *group.values.type.names]
            ),
            wanted,
        )
        for group in groups
    ]
    # One more entry, for nulls.
    place = np.full(len(slices) + 1, -1)
    rows = np.concatenate([group.rows for group in groups]) if groups else np.zeros(0, np.int64)
    place[rows] = np.arange(len(rows))
    taken = place[encoded.indices.fill_null(len(slices)).to_numpy()]
    values = parts[0] if len(parts) == 1 else pa.concat_arrays(parts or [pa.array([], wanted)])
    # One member may have 64 MB: nothing is copied if each row has its own.
    is_own = len(taken) == len(values) and bool((taken == np.arange(len(taken))).all())
    return values if is_own else values.take(pa.array(taken, mask=taken < 0))


def version_groups(slices: Slices, message: Message) -> Iterator[VersionGroup]:
    versions = prefixes(slices).astype(np.int16)
    for version in range(message.highest_version + 1):
        # Newer versions may only append fields. So they are read as the newest known version, and the rest is ignored.
        last = INT16_MAX if version == message.highest_version else version
        rows = np.flatnonzero((versions >= version) & (versions <= last))
        if not len(rows):
            continue
        fields = message.shapes_of(version)[0].layout(version)
        columns = read_columns(slices, rows, fields, version, is_open_ended=True)
        if len(columns.rows):
            yield VersionGroup(columns.rows, versions[columns.rows], columns.values)


# Everything else is rare, and read one distinct payload at a time

Fields = dict[str, Any] | None


def decode_user_data(protocol: str | None, message: Message, raw: bytes) -> Fields:
    """The assignor's own bytes inside a consumer protocol payload, for assignors that are known to write them."""
    if not raw:
        return None
    is_subscription = message is records.SUBSCRIPTION
    match protocol, is_subscription:
        case records.STICKY_PROTOCOL, True:
            return first_form(records.STICKY_FORMS, raw)
        case records.COOPERATIVE_STICKY_PROTOCOL, True:
            return first_form(records.COOPERATIVE_STICKY_FORMS, raw)
        case records.STREAM_PROTOCOL, True:
            return streams_payload(records.STREAMS_SUBSCRIPTION, raw)
        case records.STREAM_PROTOCOL, False:
            return named_topics(streams_payload(records.STREAMS_ASSIGNMENT, raw))
    return None


def decode_payload(protocol_type: str | None, is_subscription: bool, raw: bytes) -> Fields:
    """A payload of a protocol type other than `consumer`."""
    match protocol_type:
        case records.CONNECT:
            return connect_payload(records.CONNECT_SUBSCRIPTION if is_subscription else records.CONNECT_ASSIGNMENT, raw)
        case records.SCHEMA_REGISTRY:
            return json_object(raw)
    return None


def first_form(forms: tuple[Shape, ...], raw: bytes) -> Fields:
    """User data without a version: the right form is the one that consumes every byte."""
    for form in forms:
        try:
            values = read_message(raw, form.layout(0), 0, 0)[0]
        except Malformed:
            continue
        if values.get("version", records.KAFKA_PYTHON_VERSION) == records.KAFKA_PYTHON_VERSION:
            return values
    return None


def streams_payload(message: Message, raw: bytes) -> Fields:
    reader = Reader(raw)
    try:
        version = reader.number(Kind.INT32)
        if version < message.lowest_version:
            return None
        if version > message.highest_version:
            # In a future version, only the supported version can be read, and only in subscriptions.
            if message is records.STREAMS_ASSIGNMENT:
                return None
            return {"version": version, "latest_supported_version": reader.number(Kind.INT32)}
        return {"version": version, **read_layout(reader, message.shapes[0].layout(version), version)}
    except Malformed:
        return None


def named_topics(assignment: Fields) -> Fields:
    """Topics by name; the bytes have them by index in their own dictionary."""
    if assignment is None or "topic_dictionary" not in assignment:
        return assignment
    names = {entry["index"]: entry["topic"] for entry in assignment.pop("topic_dictionary")}
    hosts = [host for name in ("partitions_by_host", "standby_partitions_by_host") for host in assignment.get(name, ())]
    for host in hosts:
        if any(partition["topic_index"] not in names for partition in host["topic_partitions"]):
            return None
        host["topic_partitions"] = [
            {"topic": names[partition["topic_index"]], "partition": partition["partition"]}
            for partition in host["topic_partitions"]
        ]
    return assignment


def connect_payload(message: Message, raw: bytes) -> Fields:
    reader = Reader(raw)
    try:
        version = reader.number(Kind.INT16)
        if version < 0:
            return None
        known = min(version, message.highest_version)
        values = {"version": version, **read_connect(reader, message, known)}
    except Malformed:
        return None
    if values.get("allocation") is not None:
        values["allocation"] = connect_payload(records.CONNECT_ASSIGNMENT, values["allocation"])
        return values if values["allocation"] is not None else None
    return values


def read_connect(reader: Reader, message: Message, version: int) -> dict[str, Any]:
    """Fields that were added in version 1 may be missing at the end. Then they have their defaults."""
    values: dict[str, Any] = {}
    fields = message.shapes[0].layout(version).fields
    for field in fields:
        may_be_missing = version > 0 and (field.first > 0 or field.nullable)
        if may_be_missing and reader.position == reader.end:
            values[field.name] = field.default
        else:
            values |= read_layout(reader, Layout((field,), (), is_flexible=False), version)
    return values


def json_object(raw: bytes) -> Fields:
    """Schema Registry writes plain JSON. Keys that its own readers would ignore are kept, since they show who wrote
    it."""
    try:
        decoded = json.loads(raw.decode(), parse_constant=refuse_constant, parse_float=finite)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits} is too large for a JSON number")
    return value
