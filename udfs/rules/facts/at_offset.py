"""Numbers the keys of rows from 0, and finds how far the intervals of a key extend that began before a given record of
the log. It compares record offsets, since record times go back at failovers. Open ends are NONE."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.arrays.texts import of_texts
from udfs.lag.as_of import NOWHERE, time_ranks

NO_END = np.iinfo(np.int64).max


def codes_in(names: pa.Array, column: pa.ChunkedArray) -> Numbers:
    """The place of each value in `names`; NOWHERE: it is not there, or NULL."""
    known = names.cast(pa.string())
    return np.asarray(of_texts(column, lambda texts: pc.index_in(texts, value_set=known, skip_nulls=True), NOWHERE))


def combine_columns(*columns: Numbers | Flags) -> Numbers:
    """A number for each row: rows with equal values in all columns have equal numbers, in the order of the columns."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        numbers = np.unique(numbers * (int(values.max(initial=0)) + 1) + values, return_inverse=True)[1]
    return numbers


def joined(parts: Sequence[Any]) -> Iterator[Any]:
    """Each field of dataclasses of arrays, of all of them one after the other."""
    for each in fields(parts[0]):
        yield np.concatenate([getattr(part, each.name) for part in parts])


def count_begun(
    keys: Numbers, froms: Numbers, ends: Numbers, wanted_keys: Numbers, wanted: Numbers
) -> tuple[Numbers, Numbers]:
    """The rows by key, beginning and end; and for each wanted key and place how many of them lie before it."""
    order = np.lexsort((ends, froms, keys))
    rank, wanted_rank, width = time_ranks(froms, wanted, max(int(keys.max()), int(wanted_keys.max(initial=0))))
    have, want = keys * width + rank, wanted_keys * width + wanted_rank
    return order, np.searchsorted(have[order], want, side="right")


def latest_end(keys: Numbers, froms: Numbers, ends: Numbers, wanted_keys: Numbers, wanted: Numbers) -> Numbers:
    """For each wanted key and place the latest end of the intervals that begin there or before, which may overlap;
    NONE: none begins. Ends need not be of the same measure as beginnings."""
    if not len(keys):
        return np.full(len(wanted), NONE)
    distinct, rank = np.unique(np.where(ends == NONE, NO_END, ends), return_inverse=True)
    order, number = count_begun(keys, froms, rank, wanted_keys, wanted)
    # Keys ascend, so that the largest rank so far begins anew with each of them.
    largest = np.maximum.accumulate(keys[order] * len(distinct) + rank[order]) % len(distinct)
    place = np.maximum(number - 1, 0)
    is_there = (number > 0) & (wanted_keys >= 0) & (keys[order[place]] == wanted_keys)
    return np.where(is_there, distinct[largest[place]], NONE)
