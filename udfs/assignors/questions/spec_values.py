"""JSON values with their paths, so that an error names its field."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

INT32_MAX = 2**31 - 1
LONGEST_SHOWN = 60

T = TypeVar("T")


class SpecError(Exception):
    """What is wrong in a spec: the path of the field, its value, and what was expected."""


def json_text(value: object) -> str:
    """As JSON writes it, in which it came."""
    try:
        return shorten(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        # It was read with some calls fewer on the stack.
        return "lists or objects within each other"


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


@dataclass(frozen=True)
class Value:
    """A value of a spec and the path to it."""

    path: str
    value: Any = field(repr=False)

    def fail(self, expected: str) -> SpecError:
        return SpecError(f"{self.path}{': ' if self.path else ''}{json_text(self.value)}, expected {expected}")

    def object(self, known: Collection[str]) -> Mapping[str, "Value"]:
        """Its fields that are not null."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        at = f"{self.path}." if self.path else ""
        for name in self.value:
            if name not in known:
                raise SpecError(f"{at}{shorten(name)}: unknown field, expected one of {', '.join(known)}")
        return {name: Value(f"{at}{name}", value) for name, value in self.value.items() if value is not None}

    def items(self) -> list["Value"]:
        if not isinstance(self.value, list):
            raise self.fail("a list")
        return [Value(f"{self.path}[{i}]", value) for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.fail("a string")
        return self.value

    def name(self) -> str:
        if not self.text():
            raise self.fail("a string that is not empty")
        return self.text()

    def number(self, lowest: int = 0) -> int:
        # A JSON true is an int to Python.
        if type(self.value) is not int or not lowest <= self.value <= INT32_MAX:
            raise self.fail(f"an integer from {lowest} to {INT32_MAX}")
        return self.value

    def numbers(self) -> tuple[int, ...]:
        if not isinstance(self.value, list):
            raise self.fail("a list of partitions")
        if set(map(type, self.value)) - {int} or (
            self.value and not 0 <= min(self.value) <= max(self.value) < INT32_MAX
        ):
            raise self.fail(f"partitions, each an integer from 0 to {INT32_MAX - 1}")
        return tuple(self.value)

    def one_of(self, allowed: Collection[T]) -> T:
        for each in allowed:
            if self.value == each and type(self.value) in (str, int):
                return each
        raise self.fail(f"one of {', '.join(map(str, allowed))}")

    def raw_bytes(self) -> bytes:
        try:
            return bytes.fromhex(self.text())
        except ValueError:
            raise self.fail("bytes as hexadecimal digits") from None
