"""Partition numbers below 0. No topic has them, but clients write assignments and claims and can put any number there.
They are left out of every set, since they would be confused with partitions of another topic, and are reported as
anomalies."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.sentences.name_lists import list_names

MOST_NAMED = 10

Numbers = np.ndarray[Any, np.dtype[np.int64]]


def without_negative(
    tps: Numbers, partitions: NDArray[np.int32], places: NDArray[np.intp]
) -> tuple[Numbers, NDArray[np.intp]]:
    """Topic partitions, and where each list begins and ends among them. `partitions`: the partition number of each."""
    is_real = partitions >= 0
    if is_real.all():
        return tps, places
    return tps[is_real], np.append(0, np.cumsum(is_real))[places]


def negative_partitions(lists: pa.ListArray, name: str) -> dict[int, list[str]]:
    """By row, the numbers below 0 as text. `name`: the field that says what the partitions belong to."""
    items = lists.flatten()
    lowest = pc.min(items.field("partitions").flatten()).as_py() if len(items) else None
    if lowest is None or lowest >= 0:
        return {}
    rows = enumerate(lists.to_pylist())
    negative = {row: [f"{of[name]}-{each}" for of in items or () for each in of["partitions"] if each < 0]
             for row, items in rows}  # fmt: skip
    return {row: numbers for row, numbers in negative.items() if numbers}


def some_of(names: Iterable[str]) -> str:
    """The first few: a record may contain millions."""
    return list_names(sorted(set(names)), MOST_NAMED)
