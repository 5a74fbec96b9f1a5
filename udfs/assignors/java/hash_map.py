"""Java's HashMap and HashSet for rules that change many small tables: keys and values are kept by Python, and how Java
would walk them is computed when somebody asks."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from udfs.assignors.java.iteration_order import DEFAULT_CAPACITY, dense_ranks, with_ranks
from udfs.assignors.java.kernels import COMPUTE, PUT, REMOVE, TOUCH, walked_after

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class Keys(Generic[K]):
    """`hash_code` without sign; `rank` is what compareTo orders keys of one hash code by."""

    hash_code: Callable[[K], int]
    rank: Callable[[K], Any]


NUMBERS: Final = Keys[int](lambda number: number, lambda number: number)


class JavaTable(Generic[K, V]):
    def __init__(self, keys: Keys[K], capacity: int = DEFAULT_CAPACITY) -> None:
        self._keys = keys
        self._capacity = capacity
        self._entries: dict[K, V] = {}
        # Every key that ever was in the table, and what was done to it.
        self._numbers: dict[K, int] = {}
        self._steps: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def get(self, key: K) -> V | None:
        return self._entries.get(key)

    def __iter__(self) -> Iterator[K]:
        """The keys as Java walks them; a key that is removed during the walk still comes."""
        keys = list(self._numbers)
        hashes = np.array([self._keys.hash_code(key) for key in keys], np.uint32)
        kinds, numbers = np.array(self._steps, np.int64).reshape(-1, 2).T.copy()
        order, _ = with_ranks(
            lambda ranks: walked_after(hashes, ranks, kinds, numbers, self._capacity),
            lambda: dense_ranks([self._keys.rank(key) for key in keys]),
        )
        return iter([keys[number] for number in order.tolist()])

    def items(self) -> Iterator[tuple[K, V]]:
        return ((key, self._entries[key]) for key in self)

    def put(self, key: K, value: V) -> None:
        if key not in self._entries:
            self._note(PUT, key)
        self._entries[key] = value

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        if key in self._entries:
            self._note(TOUCH, key)
        else:
            self._note(COMPUTE, key)
            self._entries[key] = make()
        return self._entries[key]

    def remove(self, key: K) -> None:
        if key in self._entries:
            self._note(REMOVE, key)
            del self._entries[key]

    def _note(self, kind: int, key: K) -> None:
        self._steps.append((kind, self._numbers.setdefault(key, len(self._numbers))))


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

    def remove(self, value: K) -> None:
        self._table.remove(value)
