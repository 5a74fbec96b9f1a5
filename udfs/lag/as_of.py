"""Finds the interval of a key that was in force at a given time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.arrays.nullable import NONE, Numbers, numbers
from udfs.arrays.texts import as_texts, codes_of, encoded

NOWHERE = -1
# Codes must stay below this, so that they fit into an int64.
MOST_PLACES = 1 << 62
# Of numbers that count as near: partitions of a topic are. Farther ones would leave large gaps between codes.
MOST_DISTANCE = 1 << 16


def key_codes(names: tuple[str, ...], *tables: pa.Table) -> list[Numbers]:
    """Numbers the rows of each table: rows with equal values in these columns get equal numbers, across all tables.
    Numbers are in the order of the values, NULL last."""
    codes, size = np.zeros(sum(table.num_rows for table in tables), np.int64), 1
    for name in names:
        values = ranks([chunk for table in tables for chunk in table.column(name).chunks if len(chunk)])
        width = int(values.max(initial=0)) + 1
        if size * width > MOST_PLACES:
            codes = dense(codes, size)
            size = int(codes.max(initial=0)) + 1
        codes, size = codes * width + values, size * width
    ends = np.cumsum([table.num_rows for table in tables])
    return [np.asarray(part) for part in np.split(dense(codes, size), ends[:-1])]


def dense(codes: Numbers, size: int) -> Numbers:
    """Renumbers without gaps, in the same order. `size`: all codes are below it. A small range is looked up in a list,
    a large one is sorted."""
    if size > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)[1]
    is_used = np.zeros(size, np.bool_)
    is_used[codes] = True
    return np.asarray((np.cumsum(is_used) - 1)[codes])


def ranks(chunks: list[pa.Array]) -> Numbers:
    if not chunks:
        return np.empty(0, np.int64)
    if pa.types.is_integer(chunks[0].type) and (near := distances(numbers(pa.chunked_array(chunks)))) is not None:
        return near
    # Some chunks of a table may be text, others dictionary codes.
    codes = [each if pa.types.is_dictionary(each.type) else each.dictionary_encode() for each in chunks]
    joined = encoded(pa.chunked_array(codes))
    rank = np.append(pc.rank(joined.dictionary).to_numpy().astype(np.int64), len(joined.dictionary) + 1)
    return np.asarray(rank[codes_of(joined)])


def distances(values: Numbers) -> Numbers | None:
    """From the smallest of these numbers, which need no list of all that occur; None: they are too far apart."""
    least, most = int(values.min()), int(values.max())
    return values - least if least > NONE and most - least < MOST_DISTANCE else None


def first_rows(names: tuple[str, ...], tables: Sequence[pa.Table], codes: Numbers) -> pa.Table:
    """These columns of the first row with each code. `codes`: for the rows of all tables, one after the other, without
    unused codes below the largest."""
    first = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    parts, places, begin = [], [], 0
    for table in tables:
        here = np.flatnonzero((first >= begin) & (first < begin + table.num_rows))
        parts.append(as_texts(table.select(list(names)).take(pa.array(first[here] - begin))))
        places.append(here)
        begin += table.num_rows
    return pa.concat_tables(parts).take(pa.array(np.argsort(np.concatenate(places))))


def newest_at(keys: Numbers, times: Numbers, wanted_keys: Numbers, wanted_times: Numbers) -> Numbers:
    """For each wanted key and time: the key's row with the largest time that is not after it; of equal times, the last
    row; NOWHERE if there is none. Rows are in the order of events."""
    if not len(keys):
        return np.full(len(wanted_keys), NOWHERE)
    rank, wanted_rank, width = time_ranks(times, wanted_times, max(int(keys.max()), int(wanted_keys.max(initial=0))))
    have, want = keys * width + rank, wanted_keys * width + wanted_rank
    if (have[1:] >= have[:-1]).all():
        last = np.searchsorted(have, want, side="right") - 1
        place = np.maximum(last, 0)
    else:
        order = np.argsort(have, kind="stable")
        last = np.searchsorted(have[order], want, side="right") - 1
        place = order[np.maximum(last, 0)]
    return np.where((last >= 0) & (keys[place] == wanted_keys), place, NOWHERE)


def time_ranks(times: Numbers, wanted: Numbers, largest_key: int) -> tuple[Numbers, Numbers, int]:
    """Ranks of both kinds of times, and the number of possible ranks, small enough to combine with every key. Ranks are
    distances from the first time, unless times are too far apart."""
    known = times[times != NONE]
    first, last = int(known.min(initial=MOST_PLACES)), int(known.max(initial=-MOST_PLACES))
    if first > last or (last - first + 3) * (largest_key + 2) > MOST_PLACES:
        every_time = np.unique(np.concatenate([times, wanted]))
        return np.searchsorted(every_time, times), np.searchsorted(every_time, wanted), len(every_time) + 1
    # A row without a time comes before all. A wanted time outside of all times comes just before or after them.
    rank = np.where(times == NONE, 0, times - first + 1)
    return rank, np.clip(wanted, first - 1, last + 1) - first + 1, last - first + 3


def holding_at(keys: Numbers, begins: Numbers, ends: Numbers, wanted_keys: Numbers, wanted: Numbers) -> Numbers:
    """For each wanted key and place (a time or an offset of the log): the row whose half-open interval contains it;
    NOWHERE if there is none, or if the key is below 0. Intervals of a key do not overlap. An end of NONE means: no
    end."""
    if not len(keys):
        return np.full(len(wanted), NOWHERE)
    is_empty = (ends != NONE) & (ends <= begins)
    if is_empty.any():
        # One record may begin two intervals and end the first of them. The other is in force, so it must come last.
        order = np.argsort(~is_empty, kind="stable")
        rows = at(order, newest_at(keys[order], begins[order], wanted_keys, wanted), NOWHERE)
    else:
        rows = newest_at(keys, begins, wanted_keys, wanted)
    end = at(ends, rows)
    return np.where((wanted_keys < 0) | ((end != NONE) & (end <= wanted)), NOWHERE, rows)


def at(values: NDArray[Any], rows: Numbers, otherwise: int | bool = NONE) -> NDArray[Any]:
    """The values of these rows, and another one for NOWHERE."""
    if len(values) <= len(rows):
        # NOWHERE is the last place.
        return np.asarray(np.append(values, otherwise)[rows])
    return np.where(rows < 0, otherwise, values[np.maximum(rows, 0)])
