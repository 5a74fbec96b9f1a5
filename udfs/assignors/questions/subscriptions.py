"""Reads the subscription of a classic member from the bytes in its record."""

import struct
from dataclasses import dataclass

from schemas.records.payloads import SUBSCRIPTION
from udfs.decoding.scalar_reader import Malformed, read_message

PREFIX = struct.Struct(">h")  # the version


class Unreadable(Exception):
    """Bytes that are no subscription, and why."""


@dataclass(frozen=True)
class Subscription:
    topics: tuple[str, ...]
    owned: tuple[tuple[str, tuple[int, ...]], ...]
    generation: int | None
    rack_id: str | None
    user_data: bytes | None


def read_subscription(raw: bytes) -> Subscription:
    if len(raw) < PREFIX.size:
        raise Unreadable(f"{len(raw)} bytes hold no version")
    (version,) = PREFIX.unpack_from(raw)
    if version < 0:
        raise Unreadable(f"version {version}")
    # A newer version may only append: it is read as the newest known, its tail left alone, as Kafka's clients do.
    version = min(version, SUBSCRIPTION.highest_version)
    layout = SUBSCRIPTION.shapes_of(version)[0].layout(version)
    try:
        values, _ = read_message(raw, layout, version, PREFIX.size, is_open_ended=True)
    except Malformed as error:
        raise Unreadable(f"{error.field}: {error.detail}" if error.field else error.detail) from None
    generation = values.get("generation_id", -1)
    owned = values.get("owned_partitions") or ()
    return Subscription(
        tuple(values["topics"]),
        tuple((each["topic"], tuple(each["partitions"])) for each in owned),
        generation if generation >= 0 else None,
        values.get("rack_id") or None,
        values["user_data"],
    )
