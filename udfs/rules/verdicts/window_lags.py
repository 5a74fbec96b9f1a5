"""Lags of partitions at the snapshots of a window, of many partitions at once."""

from collections.abc import Iterator, Sequence

import numpy as np

from udfs.arrays.nullable import Numbers, first_of
from udfs.arrays.number_ranges import ranges
from udfs.rules.verdicts.lag_trend import WindowLags, lag_trends
from udfs.rules.verdicts.own_facts import OwnFacts

# Snapshots of partitions at once: a window may hold thousands of each.
MOST_SNAPSHOTS = 1 << 20
LEAST_LAGS = 2


def window_lags(facts: OwnFacts, some: Sequence[int], until: Sequence[int]) -> dict[int, WindowLags]:
    """Of some keys, where any lag is known at a snapshot of the window, not after `until`. All have a commit and the
    end of their log."""
    keys = np.array(some, np.int64)
    first, number = facts.ends.of_window(keys, facts.since)
    by_key: dict[int, WindowLags] = {}
    piece = np.cumsum(number) // MOST_SNAPSHOTS
    for part in np.split(np.arange(len(keys)), np.flatnonzero(first_of(piece))[1:]):
        by_key |= of_keys(facts, keys[part], first[part], number[part], np.array(until, np.int64)[part])
    return by_key


def of_keys(facts: OwnFacts, keys: Numbers, first: Numbers, number: Numbers, until: Numbers) -> dict[int, WindowLags]:
    """`first`, `number`: the rows of snapshots of each key that are in the window."""
    key = np.repeat(keys, number)
    rows = ranges(first, number)
    times = facts.ends.times[rows]
    committed, is_known = facts.values.at(key, times)
    # Lag of later snapshots rests on commits that may be missing, or grows because there are none.
    is_known &= times <= np.minimum(np.repeat(until, number), facts.log_until)
    key, times = key[is_known], times[is_known]
    lags = np.maximum(facts.ends.end_offsets[rows[is_known]] - committed[is_known], 0)
    return dict(of_lags(key, times, lags))


def of_lags(key: Numbers, times: Numbers, lags: Numbers) -> Iterator[tuple[int, WindowLags]]:
    """Rows by key and time. Keys with equally many lags are worked out together."""
    starts = np.flatnonzero(first_of(key))
    sizes = np.diff(starts, append=len(key))
    for size in np.unique(sizes).tolist():
        begin = starts[sizes == size]
        trends = lag_trends(lags[begin[:, None] + np.arange(size)]) if size >= LEAST_LAGS else [None] * len(begin)
        columns = (each.tolist() for each in (key[begin], times[begin], times[begin + size - 1]))
        for name, earliest, latest, trend in zip(*columns, trends, strict=True):
            yield name, WindowLags(size, earliest, latest, trend)
