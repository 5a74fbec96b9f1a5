"""The iteration orders of Java's hash tables. They decide which member gets a partition from Kafka's assignors."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.hash_map import JavaTable, Keys
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY, FULL_CHAIN, FULL_CHAIN_COMPUTED, SMALLEST_TREE_TABLE

Hashes = NDArray[np.uint32]
Positions = NDArray[np.intp]
RankOf = Callable[[int], Any]

_MODULUS: Final = 1 << 32
_INVERSE_31: Final = pow(31, -1, _MODULUS)


def string_hashes(texts: Sequence[str]) -> Hashes:
    """String.hashCode of each, as unsigned numbers."""
    if not texts:
        return np.empty(0, np.uint32)
    # Java hashes UTF-16 units; each text is ended by NUL.
    units = np.frombuffer("\0".join([*texts, ""]).encode("utf-16-le", "surrogatepass"), np.uint16)
    ends = np.flatnonzero(units == 0)
    if len(ends) != len(texts):
        return np.array([string_hash(text) for text in texts], np.uint32)
    # The sum from the first text on, each unit divided by 31 to the power of its place: what a text adds to it,
    # multiplied by that power at its end, is its hash. Modulo 2 ** 32 that is exact.
    bits = len(units).bit_length()
    sums = np.cumsum(units * _powers(_INVERSE_31, bits)[: len(units)], dtype=np.uint32)[ends]
    sums[1:] -= sums[:-1].copy()
    return np.asarray(sums * _powers(31, bits)[ends - 1], dtype=np.uint32)


def string_hash(text: str) -> int:
    """Of one, by itself: an array of one takes longer."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) % _MODULUS
    return value


@cache
def _powers(base: int, bits: int) -> Hashes:
    """So many that a number of so many bits is the place of one."""
    powers = np.full(1 << bits, base, np.uint32)
    powers[0] = 1
    return np.multiply.accumulate(powers, out=powers)


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
    grown = grown_capacity(capacity, len(hashes))
    if len(hashes) <= FULL_CHAIN:
        # So few are sorted faster without arrays.
        places = [(each ^ each >> 16) & grown - 1 for each in hashes.tolist()]
        return np.array(sorted(range(len(places)), key=places.__getitem__), np.intp)
    if may_crowd(hashes, capacity, grown, FULL_CHAIN):
        return crowded_order(hashes, capacity, rank_of)
    return walk(buckets(hashes, grown), grown)


def compute_order(
    hashes: Hashes, is_touched_after: bool, capacity: int = DEFAULT_CAPACITY, rank_of: RankOf = no_rank
) -> Positions:
    """The same for computeIfAbsent, which puts new keys first in their chain and makes room only when called again.

    `is_touched_after`: whether it was called once more after the last new key.
    """
    count = len(hashes)
    grown = grown_capacity(capacity, count if is_touched_after else count - 1)
    if may_crowd(hashes, capacity, grown, FULL_CHAIN_COMPUTED):
        return crowded_order(hashes, capacity, rank_of, is_computed=True, is_touched_after=is_touched_after)
    return count - 1 - walk(buckets(hashes, grown)[::-1], grown)


def grown_capacity(capacity: int, size: int) -> int:
    while size > int(0.75 * capacity):
        capacity *= 2
    return capacity


def is_crowded(hashes: Hashes) -> bool:
    """Whether a default table of these keys may have made a tree."""
    return may_crowd(hashes, DEFAULT_CAPACITY, grown_capacity(DEFAULT_CAPACITY, len(hashes)), FULL_CHAIN)


def may_crowd(hashes: Hashes, capacity: int, grown: int, longest: int, gone: int = 0) -> bool:
    """Whether a chain may have been longer in a table of any size: that doubles a small table, or makes a tree.

    `gone`: how many of the keys were removed again, before or after others came.
    """
    if len(hashes) <= longest:
        return False
    spread = (hashes ^ (hashes >> np.uint32(16))).astype(np.int64)
    # What happened in the smallest tables is forgotten in a larger one, but for trees.
    size = max(capacity, DEFAULT_CAPACITY if grown <= SMALLEST_TREE_TABLE else SMALLEST_TREE_TABLE)
    while size <= grown:
        # Keys of one bucket were of one bucket in the half as large table too: one look tells of two sizes, or of all
        # that are left where not too many keys are.
        last = grown if len(hashes) <= 2 * size else 2 * size
        if has_longer_chain(spread, size, last + 2 * gone, longest):
            break
        size = 2 * last
    while size <= grown and not has_longer_chain(spread, size, size + 2 * gone, longest):
        size *= 2
    return size <= grown


def has_longer_chain(spread: NDArray[np.int64], size: int, full: int, longest: int) -> bool:
    """Among the keys that fill a table of `full` buckets, in one of `size` buckets."""
    return bool(np.maximum.reduce(np.bincount(spread[: full * 3 // 4 + 1] & size - 1)) > longest)


def crowded_order(
    hashes: Hashes, capacity: int, rank_of: RankOf, is_computed: bool = False, is_touched_after: bool = False
) -> Positions:
    """Key by key."""
    table: JavaTable[int, None] = JavaTable(Keys(hashes.tolist().__getitem__, rank_of), capacity)
    for position in range(len(hashes)):
        if is_computed:
            table.compute_if_absent(position, lambda: None)
        else:
            table.put(position, None)
    if is_touched_after:
        table.compute_if_absent(0, lambda: None)
    return np.array(list(table), np.intp)


def buckets(hashes: Hashes, capacity: int) -> Hashes:
    return np.asarray((hashes ^ (hashes >> np.uint32(16))) & np.uint32(capacity - 1), dtype=np.uint32)


def walk(places: Hashes, capacity: int) -> Positions:
    # NumPy sorts 16-bit numbers by radix, several times as fast.
    return np.argsort(places.astype(np.uint16) if capacity <= 1 << 16 else places, kind="stable")
