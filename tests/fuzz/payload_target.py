"""Payloads that clients put into members: any bytes are understood or left as they are.

An input is one payload behind a byte that says which kind it is.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

from schemas.fields import Message
from schemas.records import ASSIGNMENT, SUBSCRIPTION
from tests.builders.records.raw_records import Scene
from tests.fuzz.logs import pairs
from tests.fuzz.mutations import mutate_bytes
from tests.fuzz.target import Target
from udfs.arrays.slices import slices_of
from udfs.assignors.questions import Unreadable, read_subscription
from udfs.decoding.client_payloads import consumer_payloads, decode_payload, decode_user_data
from udfs.decoding.decode import decode

MESSAGES = (SUBSCRIPTION, ASSIGNMENT)
PROTOCOLS = ("range", "sticky", "cooperative-sticky", "stream", None)
CONSUMER_KINDS = [("consumer", protocol, message) for protocol in PROTOCOLS for message in MESSAGES]
OTHER_KINDS = [(name, None, message) for name in ("connect", "sr") for message in MESSAGES]
KINDS: list[tuple[str, str | None, Message]] = [*CONSUMER_KINDS, *OTHER_KINDS]
CLASSIC_GROUP = b"\x00\x02"
DRAWN = 500
Pair = tuple[bytes | None, bytes | None]


@dataclass
class PayloadTarget(Target):
    logs: Sequence[bytes]
    name = "payloads"
    inputs_a_call = 20_000

    def seeds(self) -> list[bytes]:
        written = [
            (key, value) for log in self.logs for key, value, _ in pairs(log) if key and key[:2] == CLASSIC_GROUP
        ]
        scene = Scene(11)
        return sorted(payloads_of([*written, *(scene.classic_group() for _ in range(DRAWN))]))

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        kind = raw[:1] if chance.random() < 0.95 else bytes([chance.randrange(len(KINDS))])
        return kind + mutate_bytes(raw[1:], [raw, chance.choice(others)], chance)

    def check(self, inputs: Sequence[bytes]) -> None:
        column = pa.array([raw[1:] for raw in inputs], pa.binary())
        result = {}
        for message in MESSAGES:
            result[message.name] = consumer_payloads(column, message)
            assert len(result[message.name]) == len(inputs)
            result[message.name].validate(full=True)
        for raw in inputs:
            check_one(KINDS[raw[0] % len(KINDS)] if raw else KINDS[0], raw[1:])


def check_one(kind: tuple[str, str | None, Message], raw: bytes) -> None:
    protocol_type, protocol, message = kind
    if protocol_type != "consumer":
        understood = decode_payload(protocol_type, message is SUBSCRIPTION, raw)
    else:
        understood = decode_user_data(protocol, message, raw)
        with suppress(Unreadable):
            read_subscription(raw)
    assert understood is None or isinstance(understood, dict)
    json.dumps(understood, default=bytes.hex)


def payloads_of(groups: Sequence[Pair]) -> set[bytes]:
    """Those in the members of classic groups, and the user data inside of them."""
    decoded = decode(
        *(slices_of(pa.array(column, pa.binary())) for column in zip(*groups, strict=True)), np.zeros(len(groups), bool)
    )
    return {
        seed
        for part in decoded.parts
        if part.value is not None
        for group in part.value.to_pylist()
        for member in group["members"]
        for message, raw in zip(MESSAGES, (member["subscription"], member["assignment"]), strict=True)
        for seed in of_member(group["protocol_type"], group["protocol"], message, raw)
    }


def of_member(protocol_type: str, protocol: str | None, message: Message, raw: bytes) -> list[bytes]:
    if (protocol_type, None, message) in OTHER_KINDS:
        return [bytes([KINDS.index((protocol_type, None, message))]) + raw]
    kind = ("consumer", protocol, message)
    number = bytes([KINDS.index(kind) if kind in KINDS else 0])
    (decoded,) = consumer_payloads(pa.array([raw], pa.binary()), message).to_pylist()
    user_data = (decoded or {}).get("user_data")
    return [number + raw] + ([number + user_data] if user_data else [])
