"""What generated groups read, and how names and numbers become bytes."""

import base64
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.make.log import Op, op

# One record of an operation.
KeyValue = Op
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
    """In the form of today's release."""
    return op(number, key, value, version)


def by_first(places: Iterable[Place]) -> dict[Any, list[int]]:
    """Partitions by topic, or by whatever stands before the partition last."""
    result: defaultdict[Any, list[int]] = defaultdict(list)
    for *first, partition in sorted(places):
        result[first[0] if len(first) == 1 else tuple(first)].append(partition)
    return dict(result)
