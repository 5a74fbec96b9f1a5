"""Python's cycle collector, held off while many rows are made: it would walk all of them again and again, three times
the work itself. What a replay makes has no cycles, so that nothing stays behind."""

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
