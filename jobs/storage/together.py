"""Work on many files of a storage at once: each waits for answers there, on HDFS half a second until it is closed."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from jobs.storage.stored_path import Place

T = TypeVar("T")
R = TypeVar("R")

# All that one run commits.
MOST_AT_ONCE = 32


def done_together(root: Place, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Results in order; on a local disk one after the other, since nothing waits there. All of it has ended when the
    first failure is raised."""
    if isinstance(root, Path):
        return list(map(work, items))
    with ThreadPoolExecutor(MOST_AT_ONCE, "groupscope-storage") as pool:
        return list(pool.map(work, items))
