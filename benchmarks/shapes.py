"""Logs by the shape of their keys. In `mix` every kind of record is frequent, as decoders are measured; the others are
as clusters of many partitions have them: nearly all records are commits, of few keys or of many."""

import base64
import random
from dataclasses import dataclass
from functools import cache

from benchmarks.cast import offsets_partition
from udfs.assignors.questions import Topic

MIX, FEW_KEYS, MANY_KEYS = "mix", "few-keys", "many-keys"
# Of one topic after the other; ten topics have 76.
TOPIC_SIZES = (4, 6, 8, 8, 12)


@dataclass(frozen=True)
class Shape:
    """Each group has offsets of all topics, and reads the first ones now. Half of the groups are classic ones, the
    others of the consumer protocol."""

    groups: int
    topics: int
    topics_read: int = 10
    offsets_partitions: int = 50


# 22,800 keys; and 4.6 million, so that of three million commits each has its own.
SHAPES = {FEW_KEYS: Shape(300, 10), MANY_KEYS: Shape(3_000, 200)}


@cache
def topics_of(shape: Shape, seed: int) -> tuple[Topic, ...]:
    rng = random.Random(seed)
    return tuple(
        Topic(f"orders.events.v2-{number}", TOPIC_SIZES[number % len(TOPIC_SIZES)], new_topic_id(rng))
        for number in range(shape.topics)
    )


def new_topic_id(rng: random.Random) -> str:
    """As Kafka shows them."""
    return base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")


def raw_topic_id(topic_id: str) -> bytes:
    return base64.urlsafe_b64decode(topic_id + "==")


def groups_by_home(shape: Shape) -> dict[int, list[int]]:
    """The groups' numbers, by offsets partition."""
    homes: dict[int, list[int]] = {}
    for number in range(shape.groups):
        homes.setdefault(offsets_partition(group_name(number), shape.offsets_partitions), []).append(number)
    return homes


def group_name(number: int) -> str:
    return f"billing-service-{number * 7919:x}"
