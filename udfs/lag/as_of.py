"""Which interval of a key held at a time."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.replay.nullable import NONE, Numbers

NOWHERE = -1


def key_codes(names: tuple[str, ...], *tables: pa.Table) -> list[Numbers]:
    """For each table a number a row: rows of equal values in these columns have equal numbers, in all the tables.
    Numbers stand in the order of the values, NULL last."""
    codes = np.zeros(sum(table.num_rows for table in tables), np.int64)
    for name in names:
        values = ranks([chunk for table in tables for chunk in table.column(name).chunks])
        codes = np.unique(codes * (int(values.max(initial=0)) + 1) + values, return_inverse=True)[1]
    ends = np.cumsum([table.num_rows for table in tables])
    return [np.asarray(part) for part in np.split(codes, ends[:-1])]


def ranks(chunks: list[pa.Array]) -> Numbers:
    if not chunks:
        return np.empty(0, np.int64)
    found = pa.concat_arrays(chunks).dictionary_encode()
    rank = np.append(pc.rank(found.dictionary).to_numpy().astype(np.int64), len(found.dictionary) + 1)
    return np.asarray(rank[found.indices.fill_null(NOWHERE).to_numpy(zero_copy_only=False)])


def newest_at(keys: Numbers, times: Numbers, wanted_keys: Numbers, wanted_times: Numbers) -> Numbers:
    """For each wanted key and time the row of the key whose time is the largest not above it, of equal times the last
    row; NOWHERE: there is none. Rows stand in the order of events."""
    if not len(keys):
        return np.full(len(wanted_keys), NOWHERE)
    order = np.lexsort((times, keys))
    all_times = np.unique(np.concatenate([times, wanted_times]))
    width = len(all_times) + 1
    have = keys[order] * width + np.searchsorted(all_times, times[order])
    want = wanted_keys * width + np.searchsorted(all_times, wanted_times)
    found = np.searchsorted(have, want, side="right") - 1
    place = order[np.maximum(found, 0)]
    return np.where((found >= 0) & (keys[place] == wanted_keys), place, NOWHERE)


def holding_at(
    keys: Numbers, from_times: Numbers, to_times: Numbers, wanted_keys: Numbers, wanted_times: Numbers
) -> Numbers:
    """Likewise, of half-open intervals that do not overlap within a key: NOWHERE also between two of them."""
    found = newest_at(keys, from_times, wanted_keys, wanted_times)
    if not len(keys):
        return found
    is_past = (found >= 0) & (to_times[np.maximum(found, 0)] <= wanted_times)
    return np.where(is_past, NOWHERE, found)


def at(values: NDArray[Any], rows: Numbers, otherwise: int | bool = NONE) -> NDArray[Any]:
    """The values of these rows, and another one for NOWHERE."""
    if not len(values):
        return np.full(len(rows), otherwise)
    return np.where(rows < 0, otherwise, values[np.maximum(rows, 0)])
