"""With what arguments loops are called while the product runs."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from udfs.arrays.compiled import Code, Loop

Calls = dict[str, list[tuple[Any, ...]]]


@contextmanager
def recorded_calls(*loops: Loop) -> Iterator[Calls]:
    """The arguments of each call from Python, by the name of the loop, as they were before the call."""
    calls: Calls = {loop.__name__: [] for loop in loops}
    codes = {loop: loop.code for loop in loops}
    try:
        for loop, code in codes.items():
            loop.code = recording(code, calls[loop.__name__])
        yield calls
    finally:
        for loop, code in codes.items():
            loop.code = code


def recording(code: Code, calls: list[tuple[Any, ...]]) -> Code:
    def call(*arguments: Any) -> Any:
        calls.append(copy.deepcopy(arguments))
        return code(*arguments)

    return call
