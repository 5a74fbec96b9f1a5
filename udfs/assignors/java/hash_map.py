"""Java's HashMap, step by step: for answers that depend on the order of many small tables, or of crowded buckets.

If there are only puts, `iteration_order` and `server/member_maps` compute the order of whole arrays, many times faster.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY, FULL_CHAIN, FULL_CHAIN_COMPUTED, SMALLEST_TREE_TABLE
from udfs.assignors.java.tree_buckets import Node, TreeBucket

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# A tree of so few keys becomes a chain again when its table doubles.
SMALL_TREE: Final = 6


@dataclass(frozen=True)
class Keys(Generic[K]):
    """`hash_code` without sign; `rank` is what compareTo orders keys of one hash code by."""

    hash_code: Callable[[K], int]
    rank: Callable[[K], object]


NUMBERS: Final = Keys[int](lambda number: number, lambda number: number)


class JavaTable(Generic[K, V]):
    def __init__(self, keys: Keys[K], capacity: int = DEFAULT_CAPACITY) -> None:
        self._keys = keys
        self._capacity = capacity
        self._entries: dict[K, V] = {}
        self._spread: dict[K, int] = {}
        self._buckets: dict[int, list[K] | TreeBucket] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def get(self, key: K) -> V | None:
        return self._entries.get(key)

    def __iter__(self) -> Iterator[K]:
        """The keys as Java walks them; what is removed meanwhile is still met."""
        found: list[K] = []
        for _, bucket in sorted(self._buckets.items(), key=lambda item: item[0]):
            found += bucket if isinstance(bucket, list) else chain(bucket.order)
        return iter(found)

    def items(self) -> Iterator[tuple[K, V]]:
        return ((key, self._entries[key]) for key in self)

    def put(self, key: K, value: V) -> None:
        if key not in self._entries:
            bucket = self._bucket_of(key)
            if isinstance(bucket, TreeBucket):
                bucket.add(self._node(key))
            else:
                bucket.append(key)
                if len(bucket) > FULL_CHAIN:
                    self._make_tree(key, bucket)
            self._entries[key] = value
            self._make_room()
        self._entries[key] = value

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        """Makes room before it looks, and puts a new key first in its chain."""
        self._make_room()
        if key not in self._entries:
            bucket = self._bucket_of(key)
            if isinstance(bucket, TreeBucket):
                bucket.add(self._node(key))
            else:
                bucket.insert(0, key)
                if len(bucket) > FULL_CHAIN_COMPUTED:
                    self._make_tree(key, bucket)
            self._entries[key] = make()
        return self._entries[key]

    def remove(self, key: K, by_iterator: bool = False) -> bool:
        if key not in self._entries:
            return False
        number = self._spread[key] & self._capacity - 1
        bucket = self._buckets[number]
        if isinstance(bucket, list):
            bucket.remove(key)
        elif not bucket.remove(key, by_iterator):
            self._buckets[number] = bucket = chain(bucket.order)
        if not bucket:
            del self._buckets[number]
        del self._entries[key], self._spread[key]
        return True

    def _bucket_of(self, key: K) -> list[K] | TreeBucket:
        hash_code = self._keys.hash_code(key)
        self._spread[key] = spread = hash_code ^ hash_code >> 16
        return self._buckets.setdefault(spread & self._capacity - 1, [])

    def _node(self, key: K) -> Node:
        spread = self._spread[key]
        # Java compares hash codes with their sign.
        return Node(key, (spread - (1 << 32) if spread >> 31 else spread, self._keys.rank(key)))

    def _make_tree(self, key: K, bucket: list[K]) -> None:
        if self._capacity < SMALLEST_TREE_TABLE:
            self._double()
        else:
            self._buckets[self._spread[key] & self._capacity - 1] = TreeBucket(map(self._node, bucket))

    def _make_room(self) -> None:
        """Once at a time: a table of one bucket may stay too full by what was computed before."""
        if len(self._entries) > int(0.75 * self._capacity):
            self._double()

    def _double(self) -> None:
        old, self._buckets = self._buckets, {}
        half, self._capacity = self._capacity, self._capacity * 2
        for number, bucket in old.items():
            for high, at in ((0, number), (half, number + half)):
                if part := self._part(bucket, half, high):
                    self._buckets[at] = part

    def _part(self, bucket: list[K] | TreeBucket, half: int, high: int) -> list[K] | TreeBucket:
        """What of a bucket goes to one of the two that it becomes."""
        if isinstance(bucket, list):
            return [key for key in bucket if self._spread[key] & half == high]
        part = [node for node in bucket.order if self._spread[node.key] & half == high]
        # Java moves a lone key without a look at it.
        if len(part) <= SMALL_TREE and len(bucket) > 1:
            return chain(part)
        return bucket if len(part) == len(bucket) else TreeBucket(part)


def chain(nodes: Iterable[Node]) -> list[Any]:
    return [node.key for node in nodes]


class JavaSet(Generic[K]):
    """A HashSet: the keys of a map."""

    def __init__(self, keys: Keys[K], capacity: int = DEFAULT_CAPACITY, values: Iterable[K] = ()) -> None:
        self._table: JavaTable[K, None] = JavaTable(keys, capacity)
        for value in values:
            self.add(value)

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, value: K) -> bool:
        return value in self._table

    def __iter__(self) -> Iterator[K]:
        return iter(self._table)

    def add(self, value: K) -> None:
        self._table.put(value, None)

    def remove(self, value: K, by_iterator: bool = False) -> bool:
        return self._table.remove(value, by_iterator)
