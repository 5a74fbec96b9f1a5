"""Random records with what the log says around them, and the payloads that clients of classic groups write."""

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from schemas.fields import Message, Shape
from schemas.records import (
    ASSIGNMENT,
    CONNECT_ASSIGNMENT,
    CONNECT_SUBSCRIPTION,
    COOPERATIVE_STICKY_FORMS,
    STICKY_FORMS,
    STREAMS_ASSIGNMENT,
    STREAMS_SUBSCRIPTION,
    SUBSCRIPTION,
)
from tests.builders.records.encoder import encode_key, encode_layout, encode_payload, encode_value
from tests.builders.records.random_records import EVERY_LAYOUT, Draw, Drawn
from tests.oracles.log.table_rows import FIRST_MS, LAST_MS, Raw
from udfs.arrays.slices import Slices, padded
from udfs.framing.log_bytes.framed_records import Records

CLASSIC_LAYOUTS = [kept for kept in EVERY_LAYOUT if kept.record.number == 2]
PROTOCOLS = {
    "consumer": ("range", "sticky", "cooperative-sticky", "stream", None),
    "connect": ("compatible", "sessioned"),
    "sr": ("v0",),
    "": (None,),
    "other": ("sticky",),
}
TIMES = (-1, 0, -2, 1, FIRST_MS, FIRST_MS - 1, LAST_MS, LAST_MS + 1, 2**63 - 1, -(2**63), 1_700_000_000_123)


class Scene:
    """Draws records of every kind."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.draw = Draw(self.chance)

    def records(self, count: int) -> list[Raw]:
        return [self.raw(offset) for offset in sorted(self.chance.sample(range(count * 3), count))]

    def raw(self, offset: int) -> Raw:
        key, value, is_control = self.pair()
        around: dict[str, Any] = {}
        if self.draw.rarely(0.5):
            around = {
                "timestamp_ms": self.chance.choice(TIMES),
                "batch_first_offset": self.chance.choice((-1, 0, offset)),
                "batch_bytes": self.chance.choice((-1, 0, 2**31 - 1)),
                "partition_leader_epoch": self.chance.choice((-1, 0, 2**31 - 1)),
                "producer_id": self.chance.choice((-1, 0, 2**63 - 1)),
                "producer_epoch": self.chance.choice((-1, 0, 2**15 - 1)),
                "is_transactional": self.draw.rarely(0.5),
            }
        return Raw(offset, key, value, is_control=is_control, **around)

    def pair(self) -> tuple[bytes | None, bytes | None, bool]:
        match self.chance.randrange(10):
            case 0:
                key = self.chance.choice(("00000000", "00000001", "00000002", "0000", "ffff0001"))
                value = self.chance.choice(("00000000002a", "0001ffffffff", "0000ffffffff", "", "ffff00000000"))
                return bytes.fromhex(key), bytes.fromhex(value), True
            case 1:
                return *self.damaged(), False
            case 2 | 3 | 4:
                return *self.classic_group(), False
        drawn = self.with_times(self.draw.record(self.chance.choice(EVERY_LAYOUT)))
        return drawn.key_bytes, drawn.value_bytes, False

    def damaged(self) -> tuple[bytes | None, bytes | None]:
        drawn = self.draw.record(self.chance.choice(EVERY_LAYOUT))
        key, value = drawn.key_bytes, drawn.value_bytes or b""
        return self.chance.choice(
            [
                (None, value),
                (b"", value),
                (b"\x7f\xff", None),
                (key + b"!", value),
                (key, b""),
                (key, b"\0"),
                (key, b"\xff\xfe" + value),
                (key, value + b"\0"),
                (key, value[: self.chance.randrange(len(value) + 1)]),
            ]
        )

    def with_times(self, drawn: Drawn) -> Drawn:
        """Times are drawn like other numbers, so that few would be times: half of them are made so."""
        if drawn.value is None or self.draw.rarely(0.5):
            return drawn
        names = [name for name in drawn.value if isinstance(name, str) and name.endswith("timestamp")]
        value = drawn.value | {name: self.chance.choice(TIMES) for name in names}
        written = encode_value(drawn.kept.shape, drawn.kept.version, value)
        return Drawn(drawn.kept, drawn.key, value, drawn.key_bytes, written)

    def classic_group(self) -> tuple[bytes, bytes | None]:
        drawn = self.with_times(self.draw.record(self.chance.choice(CLASSIC_LAYOUTS)))
        if drawn.value is None:
            return drawn.key_bytes, None
        protocol_type = self.chance.choice(list(PROTOCOLS))
        protocol = self.chance.choice(PROTOCOLS[protocol_type])
        value = drawn.value | {"protocol_type": protocol_type, "protocol": protocol}
        for member in value["members"]:
            for name, message in (("subscription", SUBSCRIPTION), ("assignment", ASSIGNMENT)):
                if self.draw.rarely(0.9):
                    member[name] = self.payload(protocol_type, protocol, message)
        written = encode_value(drawn.kept.shape, drawn.kept.version, value)
        return encode_key(drawn.kept.record, drawn.key), written

    def payload(self, protocol_type: str, protocol: str | None, message: Message) -> bytes:
        is_subscription = message is SUBSCRIPTION
        if protocol_type == "connect":
            connect = CONNECT_SUBSCRIPTION if is_subscription else CONNECT_ASSIGNMENT
            return self.versioned(connect, {})
        if protocol_type == "sr":
            return json.dumps({"host": self.draw.text(), "port": self.draw.rarely(0.5)}).encode()
        return self.versioned(message, {"user_data": self.user_data(protocol, is_subscription)})

    def versioned(self, message: Message, given: dict[str, Any]) -> bytes:
        version = self.chance.randint(message.lowest_version, message.highest_version)
        values = self.draw.values(message.shapes_of(version)[0].layout(version), version) | given
        if version == 0 and message is CONNECT_ASSIGNMENT:
            # Null came with version 1.
            values["assignment"] = values["assignment"] or []
        return encode_payload(message, version, values)

    def user_data(self, protocol: str | None, is_subscription: bool) -> bytes | None:
        forms = {"sticky": STICKY_FORMS[:2], "cooperative-sticky": COOPERATIVE_STICKY_FORMS}
        if protocol == "stream":
            message = STREAMS_SUBSCRIPTION if is_subscription else STREAMS_ASSIGNMENT
            return self.versioned(message, {"topic_dictionary": [], "error_code": 0})
        if protocol in forms and is_subscription:
            return self.form(self.chance.choice(forms[protocol]))
        return self.chance.choice((None, b"", self.draw.raw()))

    def form(self, shape: Shape) -> bytes:
        return encode_layout(shape.layout(0), self.draw.values(shape.layout(0), 0), 0)


def as_records(raws: Sequence[Raw]) -> Records:
    """Keys and values side by side in one buffer, as framing leaves them."""
    parts = [part for raw in raws for part in (raw.key, raw.value)]
    length = np.array([-1 if part is None else len(part) for part in parts], np.int64)
    start = np.cumsum(length.clip(0)) - length.clip(0)
    data = padded(b"".join(part or b"" for part in parts))
    return Records(
        np.array([raw.offset for raw in raws], np.int64),
        np.array([raw.timestamp_ms for raw in raws], np.int64),
        np.array([raw.batch_first_offset for raw in raws], np.int64),
        np.array([raw.batch_bytes for raw in raws], np.int32),
        length[::2].astype(np.int32),  # the wire length, which no table shows
        np.array([raw.partition_leader_epoch for raw in raws], np.int32),
        np.array([raw.producer_id for raw in raws], np.int64),
        np.array([raw.producer_epoch for raw in raws], np.int16),
        np.array([raw.is_transactional for raw in raws], bool),
        np.array([raw.is_control for raw in raws], bool),
        Slices(data, start[::2], length[::2]),
        Slices(data, start[1::2], length[1::2]),
    )
