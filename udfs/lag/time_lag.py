"""Estimates when the message at an offset was written, from the end offsets of its partition in snapshots.

The message at offset g was written after the last snapshot whose end offset is g or below, and before the next one:
these are the bounds. Between the two, a straight line gives the estimate, as in lag exporters. Before the oldest
snapshot, it is the line through the oldest and the newest one.
"""

from dataclasses import dataclass

import numpy as np

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.lag.watermarks import LOOKBACK, Watermarks

MOST_BACK = 1 << 62


@dataclass(frozen=True)
class WrittenTimes:
    """Microseconds; NONE if unknown. `is_extrapolated`: by the line through the oldest and the newest snapshot."""

    estimate: Numbers
    earliest: Numbers
    latest: Numbers
    is_extrapolated: Flags


def written_times(watermarks: Watermarks, rows: Numbers, offsets: Numbers) -> WrittenTimes:
    """For messages at these offsets, each below the end offset in the watermark row of `rows`."""
    ends, times = watermarks.end_offsets, watermarks.row_times
    oldest = watermarks.run_starts[rows]
    if watermarks.reach_far_back:
        oldest = np.maximum(oldest, first_within(watermarks, rows))
    before = last_at_most(watermarks, rows, offsets)
    is_known = before >= oldest
    left = np.where(is_known, before, oldest)
    right = np.where(is_known, np.minimum(before + 1, rows), rows)
    is_extrapolated = ~is_known & (ends[right] > ends[left])
    span = np.maximum(ends[right] - ends[left], 1)
    share = (ends[right] - offsets) / span
    # Of a log that hardly grew, the line reaches back before all times.
    line = times[right] - np.minimum(np.rint(share * (times[right] - times[left])), MOST_BACK).astype(np.int64)
    # Written before the oldest snapshot, even if the line says otherwise.
    estimate = np.where(is_known, line, np.where(is_extrapolated, np.minimum(line, times[oldest]), NONE))
    return WrittenTimes(
        estimate,
        np.where(is_known, times[left], NONE),
        np.where(is_known, times[right], times[oldest]),
        is_extrapolated,
    )


def first_within(watermarks: Watermarks, rows: Numbers) -> Numbers:
    """The first row of the same partition that is not older than `LOOKBACK`."""
    num_times = max(len(watermarks.times), 1)
    oldest = np.searchsorted(watermarks.times, watermarks.row_times[rows] - LOOKBACK)
    return np.searchsorted(watermarks.place, watermarks.place[rows] // num_times * num_times + oldest)


def last_at_most(watermarks: Watermarks, rows: Numbers, offsets: Numbers) -> Numbers:
    """The last row of the same run whose end offset is not above the offset, which is below the end of `rows`; if there
    is none, the row before the run."""
    if watermarks.are_ends_far:
        ranks, of_offsets = watermarks.ranks(rows, offsets)
        return np.asarray(np.searchsorted(ranks, of_offsets, "right") - 1)
    least, ahead = watermarks.run_offsets
    return np.asarray(np.searchsorted(watermarks.rising, np.maximum(offsets, least[rows]) + ahead[rows], "right") - 1)
