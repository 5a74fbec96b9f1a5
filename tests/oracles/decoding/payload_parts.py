"""The independent decoder on the payloads of group members, given as hexadecimal digits."""

from typing import Any

from tests.oracles.decoding.decoder import decode_payload, decode_user_data

T_HEX = "0102030405060708090a0b0c0d0e0f10"
T = "AQIDBAUGBwgJCgsMDQ4PEA"
OWNED_T = [{"topic": "t", "partitions": [0, 1]}]


def subscription(data_hex: str, protocol_type: str = "consumer") -> dict[str, Any] | None:
    return decode_payload(protocol_type, "any", "subscription", bytes.fromhex(data_hex))


def assignment(data_hex: str, protocol_type: str = "consumer") -> dict[str, Any] | None:
    return decode_payload(protocol_type, "any", "assignment", bytes.fromhex(data_hex))


def user_data(protocol: str, part: str, data_hex: str) -> dict[str, Any] | None:
    return decode_user_data(protocol, part, bytes.fromhex(data_hex))
