"""Java's hash codes and comparisons, and its HashMap and HashSet: dictionaries that also know how Java walks them.

Kafka's assignors walk such tables, so their order decides which member gets a partition. A table is buckets, walked in
their order; a bucket is a chain of keys, or a tree (udfs/assignors/java/tree_bins.py). Source: HashMap.java of OpenJDK
17, whose names are in brackets.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import index as itself
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.kernels import text_hashes
from udfs.assignors.java.tree_bins import TreeBin

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Bucket = list[K] | TreeBin[K]
Hashes = NDArray[np.uint32]

DEFAULT_CAPACITY: Final = 16
# A chain becomes a tree when a ninth key is put, or an eighth one computed. In a table of fewer than 64 buckets it
# doubles the table instead, at any load.
TREEIFY_THRESHOLD: Final = 8
MIN_TREEIFY_CAPACITY: Final = 64
FIRST_JDK_OF_NEW_COPIES: Final = 19


@dataclass(frozen=True)
class Keys(Generic[K]):
    """`hash_code` without sign; `rank` is what compareTo orders keys of one hash code by. Keys without an order of
    their own have one rank: a tree of nine of them is shaped by chance, in Java too."""

    hash_code: Callable[[K], int]
    rank: Callable[[K], Any]


def no_order(_key: object) -> int:
    return 0


NUMBERS: Final = Keys[int](itself, itself)


class JavaMap(dict[K, V]):
    """Most tables are only filled, and no bucket of theirs is ever crowded. What they hold is then in the order of this
    dictionary, and so is each chain: a walk sorts the keys by bucket. Others have their `buckets`."""

    __slots__ = ("buckets", "capacity", "first_capacity", "keys_")

    def __init__(self, keys: Keys[K], capacity: int = DEFAULT_CAPACITY) -> None:
        self.keys_ = keys
        self.capacity = self.first_capacity = capacity
        self.buckets: dict[int, Bucket[K]] | None = None

    def walk(self) -> list[K]:
        """The keys as Java walks them (HashIterator)."""
        if self.buckets is None:
            if len(self) < 2:
                return list(self)
            codes = list(map(self.keys_.hash_code, self))
            mixed = [code ^ code >> 16 for code in codes]
            if not self.may_be_crowded(mixed):
                mask = self.capacity - 1
                return sorted(self, key=dict(zip(self, [code & mask for code in mixed], strict=True)).__getitem__)
        buckets = self.laid_out()
        return [key for number in sorted(buckets) for key in buckets[number]]

    def first(self) -> K:
        """The key that a walk meets first."""
        buckets = self.laid_out()
        return next(iter(buckets[min(buckets)]))

    def put(self, key: K, value: V) -> None:
        """A new key goes to the end of its chain (putVal)."""
        is_new = key not in self
        self[key] = value
        if is_new and self.buckets is not None:
            self.link(key, TREEIFY_THRESHOLD)
        if is_new and len(self) > self.capacity * 3 >> 2:
            self.double()

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        """A new key goes to the front of its chain; a full table doubles before, once at a time, also for a key that is
        there (computeIfAbsent)."""
        if len(self) > self.capacity * 3 >> 2:
            self.double()
        if key not in self:
            self.laid_out()
            self[key] = make()
            self.link(key, TREEIFY_THRESHOLD - 1)
        return self[key]

    def remove(self, key: K) -> None:
        """removeNode."""
        if key not in self:
            return
        if len(self) >= TREEIFY_THRESHOLD:
            self.laid_out()
        del self[key]
        if self.buckets is None:
            # So few keys never crowded a bucket.
            self.first_capacity = self.capacity
            return
        number = self.number_of(key)
        bucket = self.buckets[number]
        if isinstance(bucket, TreeBin):
            bucket = self.buckets[number] = bucket.remove(key)
        else:
            bucket.remove(key)
        if isinstance(bucket, list) and not bucket:
            del self.buckets[number]

    def may_be_crowded(self, mixed: Sequence[int]) -> bool:
        """Whether a chain became a tree, or made its table double. `mixed`: the keys' codes in the order in which they
        came."""
        size = self.first_capacity
        while len(mixed) > TREEIFY_THRESHOLD:
            # With the last of these the table doubles.
            there = [code & size - 1 for code in mixed[: (size * 3 >> 2) + 1]]
            if len(there) - len(set(there)) >= TREEIFY_THRESHOLD and max(Counter(there).values()) > TREEIFY_THRESHOLD:
                return True
            if size >= self.capacity:
                break
            size *= 2
        return False

    def laid_out(self) -> dict[int, Bucket[K]]:
        """The buckets. They are made by putting the keys again."""
        if self.buckets is None:
            self.capacity, self.buckets = self.first_capacity, {}
            for size, key in enumerate(self, 1):
                self.link(key, TREEIFY_THRESHOLD)
                if size > self.capacity * 3 >> 2:
                    self.double()
        return self.buckets

    def link(self, key: K, most: int) -> None:
        """To the end of its bucket, which becomes a tree if it then has more than so many; to its front if these are
        fewer than usual."""
        assert self.buckets is not None
        number = self.number_of(key)
        bucket = self.buckets.setdefault(number, [])
        if isinstance(bucket, TreeBin):
            bucket.add(key)
            return
        bucket.insert(len(bucket) if most == TREEIFY_THRESHOLD else 0, key)
        if len(bucket) > most:
            self.make_tree(number, bucket)

    def number_of(self, key: K) -> int:
        code = self.keys_.hash_code(key)
        return (code ^ code >> 16) & self.capacity - 1

    def order_of(self, key: K) -> Any:
        """In a tree."""
        code = self.keys_.hash_code(key)
        mixed = code ^ code >> 16
        return mixed - (mixed >> 31 << 32), self.keys_.rank(key)

    def make_tree(self, number: int, chain: list[K]) -> None:
        """treeifyBin."""
        assert self.buckets is not None
        if self.capacity < MIN_TREEIFY_CAPACITY:
            self.double()
        else:
            self.buckets[number] = TreeBin(chain, self.order_of)

    def double(self) -> None:
        """What of a bucket goes to one of the two that it becomes keeps its order (resize)."""
        half = self.capacity
        self.capacity *= 2
        if self.buckets is None:
            return
        halved, self.buckets = self.buckets, {}
        for number, bucket in halved.items():
            if isinstance(bucket, TreeBin):
                low, high = bucket.parts(lambda key: self.number_of(key) >= half)
                self.buckets.update((own, part) for own, part in ((number, low), (number + half, high)) if part)
                continue
            for key in bucket:
                self.buckets.setdefault(self.number_of(key), []).append(key)  # type: ignore[union-attr]


class JavaSet(JavaMap[K, None]):
    """A HashSet: the keys of a map."""

    __slots__ = ()

    def add(self, value: K) -> None:
        self.put(value, None)


def walked(codes: Sequence[int], rank: Callable[[int], Any] = no_order, capacity: int = DEFAULT_CAPACITY) -> list[int]:
    """Positions of distinct keys of these hash codes, as a table walks them in which they were put one after the
    other."""
    return filled(Keys(codes.__getitem__, rank), range(len(codes)), capacity).walk()


def may_make_trees(codes: Sequence[int]) -> bool:
    """Whether more keys share a bucket of the smallest table than a chain may have. Larger tables only part them."""
    if not TREEIFY_THRESHOLD < len(codes) <= TREEIFY_THRESHOLD * DEFAULT_CAPACITY:
        return len(codes) > TREEIFY_THRESHOLD
    return max(Counter([(code ^ code >> 16) & DEFAULT_CAPACITY - 1 for code in codes]).values()) > TREEIFY_THRESHOLD


def filled(keys: Keys[K], values: Iterable[K], capacity: int = DEFAULT_CAPACITY) -> JavaSet[K]:
    """A set to which the values were added one after the other."""
    result = JavaSet(keys, capacity)
    result.update(dict.fromkeys(values))
    while len(result) > result.capacity * 3 >> 2:
        result.capacity *= 2
    return result


def copied_set(keys: Keys[K], values: Collection[K], jdk: int) -> JavaSet[K]:
    """`new HashSet(collection)`, which has room for all of them."""
    result = JavaSet(keys, copied_set_capacity(len(values), jdk))
    result.update(dict.fromkeys(values))
    return result


@cache
def copied_set_capacity(size: int, jdk: int) -> int:
    """Before JDK 19 a copy is made with room for one more."""
    is_new = jdk >= FIRST_JDK_OF_NEW_COPIES
    return table_capacity(max(size, 12) / 0.75) if is_new else table_capacity(max(int(size / 0.75) + 1, 16))


def table_capacity(asked: float) -> int:
    """Buckets of a table that is made for so many (tableSizeFor)."""
    return 1 << max(math.ceil(asked) - 1, 0).bit_length()


# -- the coordinator's own map of members


FIRST_TIMELINE_CAPACITY: Final = 2
# 2^64 divided by the golden ratio.
FACTOR: Final = -7046029254386353131


def timeline_walked(codes: Sequence[int], room: int) -> list[int]:
    """Positions of keys that were put into a TimelineHashMap in this order. It grows and never shrinks. Of the keys in
    one slot, the last one put comes first. `room`: the largest capacity that it ever needed.

    Members then go into a HashMap, where this order decides among those of one chain."""
    capacity = FIRST_TIMELINE_CAPACITY
    while room * 0.75 > capacity:
        capacity *= 2
    bits = capacity.bit_length() - 1
    slots = [((code - (code >> 31 << 32)) * FACTOR & (1 << 64) - 1) >> 64 - bits for code in codes]
    return sorted(range(len(codes)), key=lambda position: (slots[position], -position))


def room_of_put(size: int) -> int:
    """Before every put, even of a key that exists, the map makes room for one more."""
    return size + 1


# -- hash codes and comparisons


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
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def uuid_hash(most: int, least: int) -> int:
    """Of Kafka's Uuid, by the most and the least significant 64 bits, each with its sign."""
    bits = (most ^ least) & (1 << 64) - 1
    return (bits >> 32 ^ bits) & 0xFFFFFFFF


def topic_partition_keys(code_of: Callable[[Any], int]) -> Keys[Any]:
    """TopicPartition by its topic's hash code; it has no compareTo."""
    return Keys(lambda each: 31 * (31 + each[1]) + code_of(each[0]) & 0xFFFFFFFF, no_order)


def utf_16(text: str) -> bytes:
    """What String.compareTo goes by: UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def java_sorted(texts: Sequence[str]) -> list[int]:
    """The positions of the texts in the order of String.compareTo."""
    return sorted(range(len(texts)), key=java_sort_keys(texts).__getitem__)


def java_sort_keys(texts: Sequence[str]) -> Sequence[str] | Sequence[bytes]:
    """Python compares code points: that differs only where a character needs two UTF-16 units."""
    together = "".join(texts)
    return texts if together.isascii() or max(together) <= "\uffff" else list(map(utf_16, texts))


def ranks(order: Sequence[int]) -> list[int]:
    """The place of each position in an order."""
    return sorted(range(len(order)), key=order.__getitem__)
