"""Pauses Python's cycle collector while many rows are made. It would scan all of them again and again, for three times
the work. A replay makes no cycles, so there is no garbage of them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
