"""The hash of a group's topics that the coordinator writes with each group epoch from 4.1 on (KIP-1101). It confirms
ids, numbers of partitions and racks that come from other sources."""

from collections.abc import Sequence
from functools import lru_cache
from struct import pack

import numpy as np
from xxhash import xxh3_64_intdigest

from udfs.assignors.java.maps import java_sort_keys
from udfs.assignors.questions import Topic
from udfs.topics.ids import bits_of

MAGIC = b"\0"
NO_TOPICS = 0


def group_hash(topics: Sequence[Topic]) -> int:
    """The hash of the topics in the metadata, as a signed number: their own hashes, in Java's order of their names."""
    names = java_sort_keys([topic.name for topic in topics])
    return hash_of([each for _, each in sorted(zip(names, map(packed_hash, topics), strict=True))])


def hash_of(packed_hashes: Sequence[bytes]) -> int:
    """The group's hash of those of its topics, which are in Java's order of their names."""
    together = b"".join(packed_hashes)
    return to_signed(xxh3_64_intdigest(together)) if together else NO_TOPICS


def packed_hash(topic: Topic) -> bytes:
    """The eight bytes that a topic adds to its group's hash."""
    return pack("<Q", topic_hash(topic))


# The same topics return with each epoch of their groups.
@lru_cache(maxsize=1 << 12)
def topic_hash(topic: Topic) -> int:
    if topic.topic_id is None:
        raise ValueError(f"{topic.name}: the hash needs its id")
    parts = [MAGIC, pack("<qq", *bits_of(topic.topic_id)), string(topic.name), pack("<i", topic.partitions)]
    if not topic.racks:
        # At once: a garbage record can name a partition far beyond those of any topic.
        parts.append(np.arange(topic.partitions, dtype="<i4").tobytes())
    else:
        for partition in range(topic.partitions):
            parts.append(pack("<i", partition))
            parts += map(rack_of_replica, in_order(topic.racks[partition]))
    return xxh3_64_intdigest(b"".join(parts))


def in_order(replicas: Sequence[str | None]) -> list[str]:
    """The racks of a partition, one for each replica whose broker has a rack, in Java's order."""
    racks = [rack for rack in replicas if rack is not None]
    return [rack for _, rack in sorted(zip(java_sort_keys(racks), racks, strict=True))]


def rack_of_replica(rack: str) -> bytes:
    """The text has its length before and after it."""
    text = string(rack)
    return text[-4:] + text


def string(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + pack("<i", len(units) // 2)


def to_signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
