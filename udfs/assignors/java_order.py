"""The orders in which Java's hash tables are walked, for they decide what Kafka's assignors give to whom."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint32]
Positions = NDArray[np.intp]

DEFAULT_CAPACITY: Final = 16
# A key put behind a chain of this length doubles a table of fewer than 64 buckets, whatever its load.
FULL_CHAIN: Final = 8
FULL_CHAIN_COMPUTED: Final = 7
SMALLEST_TREE_TABLE: Final = 64

_MODULUS: Final = 1 << 32
_INVERSE_31: Final = pow(31, -1, _MODULUS)


def string_hashes(texts: Sequence[str]) -> Hashes:
    """String.hashCode of each, as unsigned numbers."""
    if not texts:
        return np.empty(0, np.uint32)
    padded = np.array(texts, dtype=np.str_)
    width = padded.dtype.itemsize // 4
    units = padded.view(np.uint32).reshape(len(texts), width)
    # NumPy pads by NUL, and Java hashes UTF-16 units, two for a character beyond the basic plane.
    if not width or units.max() > 0xFFFF or any("\0" in text for text in texts):
        return np.array([_string_hash(text) for text in texts], np.uint32)
    powers = _powers(31, width)
    padding = width - np.count_nonzero(units, axis=1)
    hashes = np.asarray(units @ powers[::-1], dtype=np.uint32)
    return hashes * _powers(_INVERSE_31, width + 1)[padding] if padding.any() else hashes


def _string_hash(text: str) -> int:
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) % _MODULUS
    return value


def _powers(base: int, count: int) -> Hashes:
    powers = [1]
    for _ in range(count - 1):
        powers.append(powers[-1] * base % _MODULUS)
    return np.array(powers[:count], np.uint32)


def uuid_hashes(most: NDArray[np.int64], least: NDArray[np.int64]) -> Hashes:
    """Hash codes of Kafka's Uuid, by the most and the least significant 64 bits."""
    mixed = (most ^ least).astype(np.uint64)
    return ((mixed >> np.uint64(32)) ^ mixed).astype(np.uint32)


def topic_partition_hashes(topic_hashes: Hashes, partitions: NDArray[np.integer]) -> Hashes:
    """Hash codes of TopicPartition."""
    return np.uint32(31) * (np.uint32(31) + partitions.astype(np.uint32)) + topic_hashes


def java_sorted(texts: Sequence[str]) -> Positions:
    """The positions of the texts in the order of String.compareTo: by UTF-16 units."""
    return np.array(sorted(range(len(texts)), key=java_sort_keys(texts).__getitem__), np.intp)


def java_sort_keys(texts: Sequence[str]) -> Sequence[str] | Sequence[bytes]:
    """Python compares code points: that differs only where a character needs two UTF-16 units."""
    if all(not text or max(text) <= "\uffff" for text in texts):
        return texts
    return [text.encode("utf-16-be", "surrogatepass") for text in texts]


def ranks(order: Positions) -> Positions:
    """The place of each position in an order."""
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    return places


def table_capacity(asked: float) -> int:
    """Buckets of a HashMap that is made for a number of entries."""
    capacity = 1
    while capacity < asked:
        capacity *= 2
    return capacity


def copied_set_capacity(size: int, jdk: int) -> int:
    """Buckets of `new HashSet(collection)`; the rule changed with JDK 19."""
    return table_capacity(max(size, 12) / 0.75) if jdk >= 19 else table_capacity(max(int(size / 0.75) + 1, 16))


def put_order(hashes: Hashes, capacity: int = DEFAULT_CAPACITY) -> Positions:
    """How a HashMap or HashSet walks distinct keys that were put in this order; `capacity` is the first one."""
    grown = grown_capacity(capacity, len(hashes))
    if may_overflow(hashes, grown):
        grown = overflown_capacity(hashes, capacity, FULL_CHAIN, is_room_made_first=False)
    return walk(buckets(hashes, grown), grown)


def compute_order(hashes: Hashes, is_touched_after: bool, capacity: int = DEFAULT_CAPACITY) -> Positions:
    """The same for computeIfAbsent, which puts new keys first in their chain and makes room only when called again.

    `is_touched_after`: whether it was called once more after the last new key.
    """
    count = len(hashes)
    grown = grown_capacity(capacity, count if is_touched_after else count - 1)
    if may_overflow(hashes, grown):
        grown = overflown_capacity(hashes, capacity, FULL_CHAIN_COMPUTED, is_room_made_first=True)
        grown = max(grown, grown_capacity(capacity, count if is_touched_after else count - 1))
    return count - 1 - walk(buckets(hashes, grown)[::-1], grown)


def grown_capacity(capacity: int, size: int) -> int:
    while size > int(0.75 * capacity):
        capacity *= 2
    return capacity


def may_overflow(hashes: Hashes, capacity: int) -> bool:
    """Whether a chain may have been so long that it doubled a small table early."""
    if len(hashes) <= FULL_CHAIN_COMPUTED or capacity > SMALLEST_TREE_TABLE:
        return False
    return bool(np.bincount(buckets(hashes, DEFAULT_CAPACITY)).max() > FULL_CHAIN_COMPUTED)


def overflown_capacity(hashes: Hashes, capacity: int, full_chain: int, is_room_made_first: bool) -> int:
    """The table's capacity key by key. Longer chains in larger tables become trees, whose order is left out here."""
    for size in range(1, len(hashes) + 1):
        if is_room_made_first:
            capacity = grown_capacity(capacity, size - 1)
        places = buckets(hashes[:size], capacity)
        if np.count_nonzero(places[:-1] == places[-1]) >= full_chain and capacity < SMALLEST_TREE_TABLE:
            capacity *= 2
        if not is_room_made_first:
            capacity = grown_capacity(capacity, size)
    return capacity


def buckets(hashes: Hashes, capacity: int) -> Hashes:
    return np.asarray((hashes ^ (hashes >> np.uint32(16))) & np.uint32(capacity - 1), dtype=np.uint32)


def walk(places: Hashes, capacity: int) -> Positions:
    # NumPy sorts 16-bit numbers by radix, several times as fast.
    return np.argsort(places.astype(np.uint16) if capacity <= 1 << 16 else places, kind="stable")
