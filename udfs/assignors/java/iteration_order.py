"""The iteration orders of Java's hash tables. They decide which member gets a partition from Kafka's assignors."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.kernels import COMPUTE, TOUCH, text_hashes, walked_after, walked_keys

Hashes = NDArray[np.uint32]
Positions = NDArray[np.intp]
RankOf = Callable[[int], Any]

DEFAULT_CAPACITY: Final = 16
UNRANKED: Final = np.empty(0, np.int64)
_MODULUS: Final = 1 << 32


def string_hashes(texts: Sequence[str]) -> Hashes:
    """String.hashCode of each, as unsigned numbers."""
    if not texts:
        return np.empty(0, np.uint32)
    # Java hashes UTF-16 units, which are the bytes of most names; each text is ended by NUL.
    together = "\0".join(texts) + "\0"
    if together.isascii():
        units = np.frombuffer(together.encode("ascii"), np.uint8)
    else:
        units = np.frombuffer(together.encode("utf-16-le", "surrogatepass"), np.uint16)
    hashes, num_ends = text_hashes(units, len(texts))
    return hashes if num_ends == len(texts) else np.array([string_hash(text) for text in texts], np.uint32)


def string_hash(text: str) -> int:
    """Of one, by itself: an array of one takes longer."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) % _MODULUS
    return value


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
    together = "".join(texts)
    if together.isascii() or max(together) <= "\uffff":
        return texts
    return [text.encode("utf-16-be", "surrogatepass") for text in texts]


def ranks(order: Positions) -> Positions:
    """The place of each position in an order."""
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    return places


def table_capacity(asked: float) -> int:
    """Buckets of a HashMap that is made for a number of entries."""
    return 1 << max(math.ceil(asked) - 1, 0).bit_length()


def copied_set_capacity(size: int, jdk: int) -> int:
    """Buckets of `new HashSet(collection)`; the rule changed with JDK 19."""
    return table_capacity(max(size, 12) / 0.75) if jdk >= 19 else table_capacity(max(int(size / 0.75) + 1, 16))


def no_rank(_position: int) -> int:
    """For keys without an order of their own."""
    return 0


def by_text(texts: Sequence[str], chosen: NDArray[np.integer] | None = None) -> RankOf:
    """String.compareTo among texts, or among the chosen ones."""
    return lambda position: texts[position if chosen is None else chosen[position]].encode("utf-16-be", "surrogatepass")


def put_order(hashes: Hashes, capacity: int = DEFAULT_CAPACITY, rank_of: RankOf = no_rank) -> Positions:
    """How a HashMap or HashSet walks distinct keys that were put in this order; `capacity` is the first one.

    `rank_of` stands for compareTo among keys of one hash code, each given by its position.
    """
    order: Positions = with_ranks(
        lambda ranks: walked_keys(hashes, ranks, capacity),
        lambda: dense_ranks([rank_of(position) for position in range(len(hashes))]),
    )[0]
    return order


def compute_order(
    hashes: Hashes, is_touched_after: bool, capacity: int = DEFAULT_CAPACITY, rank_of: RankOf = no_rank
) -> Positions:
    """The same for computeIfAbsent, which puts new keys first in their chain and makes room only when called again.

    `is_touched_after`: whether it was called once more after the last new key.
    """
    keys = np.append(np.arange(len(hashes)), np.zeros(int(is_touched_after), np.int64))
    kinds = np.full(len(keys), COMPUTE)
    kinds[len(hashes) :] = TOUCH
    order: Positions = with_ranks(
        lambda ranks: walked_after(hashes, ranks, kinds, keys, capacity),
        lambda: dense_ranks([rank_of(position) for position in range(len(hashes))]),
    )[0]
    return order


def with_ranks(loop: Callable[[Positions], Any], ranks: Callable[[], Sequence[int] | Positions]) -> Any:
    """What a loop returns without ranks of the keys, or with them if they are needed: that is the last value that it
    returns. They rarely are."""
    result = loop(UNRANKED)
    return loop(np.array(ranks(), np.int64)) if result[-1] else result


def dense_ranks(keys: Sequence[Any]) -> list[int]:
    """Equal for equal keys."""
    number = {key: at for at, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


def grown_capacity(capacity: int, size: int) -> int:
    while size > int(0.75 * capacity):
        capacity *= 2
    return capacity


def buckets(hashes: Hashes, capacity: int) -> Hashes:
    return np.asarray((hashes ^ (hashes >> np.uint32(16))) & np.uint32(capacity - 1), dtype=np.uint32)
