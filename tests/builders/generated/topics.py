"""What generated groups read, and how names and numbers become bytes."""

import base64
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from schemas.records.registry import REGISTRY
from tests.builders.records.encoder import encode_key, encode_value

# One operation of a group: keys and values, None for a tombstone.
KeyValue = tuple[bytes, bytes | None]
# Topic and partition; of streams groups role, subtopology and partition.
Place = tuple[Any, ...]
NEWEST_COMMIT = 4


def uuid(chance: random.Random) -> str:
    return base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=")


def topic_id(chance: random.Random) -> str:
    """Kafka's own never begin with a hyphen."""
    result = uuid(chance)
    while result.startswith("-"):
        result = uuid(chance)
    return result


def java_hash(name: str) -> int:
    """Of ASCII text."""
    result = 0
    for letter in name:
        result = (31 * result + ord(letter)) & 0xFFFFFFFF
    return result - (1 << 32) if result >= 1 << 31 else result


def offsets_partition(group: str, partitions: int) -> int:
    result = java_hash(group)
    return (0 if result == -(1 << 31) else abs(result)) % partitions


def written(
    number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None, version: int | None = None
) -> KeyValue:
    """In the bytes of today's release."""
    kind = REGISTRY[number]
    if value is None:
        return encode_key(kind, key), None
    version = kind.value.highest_version if version is None else version
    shape = kind.value.shapes_of(version)[0]
    return encode_key(kind, key), encode_value(shape, version, value)


def by_first(places: Iterable[Place]) -> dict[Any, list[int]]:
    """Partitions by topic, or by whatever stands before the partition last."""
    result: defaultdict[Any, list[int]] = defaultdict(list)
    for *first, partition in sorted(places):
        result[first[0] if len(first) == 1 else tuple(first)].append(partition)
    return dict(result)
