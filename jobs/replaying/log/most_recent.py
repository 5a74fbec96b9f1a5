"""Keeps the most recently used values, up to a number of bytes."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass
class MostRecent(Generic[Key, Value]):
    """A value of more than a quarter of all bytes is not kept: it would push out the others."""

    size_of: Callable[[Value], int]
    most_bytes: int
    num_bytes: int = 0
    values: dict[Key, Value] = field(default_factory=dict)

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        if key in self.values:
            value = self.values[key] = self.values.pop(key)
            return value
        value = make()
        if (size := self.size_of(value)) <= self.most_bytes // 4:
            self.values[key] = value
            self.num_bytes += size
        while self.num_bytes > self.most_bytes:
            self.num_bytes -= self.size_of(self.values.pop(next(iter(self.values))))
        return value
