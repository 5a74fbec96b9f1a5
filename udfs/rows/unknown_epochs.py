"""Which record a row without a leader epoch is. An archive may lack the epochs that copies of the log have.

Such a row is the record of that row with an epoch at its offset which is equal to it. Where several epochs have a
record at the offset, one of them may be the row's: a leader may write what its successor truncates. A row that equals
none of them is of another log, unless no record there with an epoch counts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
NO_EPOCH = -(2**31)


@dataclass(frozen=True)
class KnownEpochs:
    """`epochs`: of the record of each row. `unequal`: places of rows that equal no row with an epoch at their offset;
    `unequal_to`: of the row there with the highest epoch."""

    epochs: Places
    unequal: Places
    unequal_to: Places


def known_epochs(
    offset: Places, epoch: Places, is_decoded: Flags, are_equal: Callable[[Places, Places], Flags]
) -> KnownEpochs:
    """Rows are sorted by offset and epoch. `are_equal` compares the rows of two lists of places."""
    named = first_rows(offset, epoch, is_decoded)
    unknown = np.flatnonzero(epoch == NO_EPOCH)
    least, end = (np.searchsorted(offset[named], offset[unknown], side) for side in ("left", "right"))
    has_any = end > least
    unknown, least, highest = unknown[has_any], least[has_any], end[has_any] - 1
    epochs, candidate = epoch.copy(), highest.copy()
    is_left = np.ones(len(unknown), np.bool_)
    while len(left := np.flatnonzero(is_left & (candidate >= least))):
        against = named[candidate[left]]
        is_equal = are_equal(unknown[left], against)
        epochs[unknown[left[is_equal]]] = epoch[against[is_equal]]
        is_left[left[is_equal]] = False
        candidate[left[~is_equal]] -= 1
    return KnownEpochs(epochs, unknown[is_left], named[highest[is_left]])


def first_rows(offset: Places, epoch: Places, is_decoded: Flags) -> Places:
    """Of each record with an epoch, the place of the first decoded row, else of its first row."""
    places = np.flatnonzero(epoch != NO_EPOCH)
    is_first = np.ones(len(places), np.bool_)
    is_first[1:] = (np.diff(offset[places]) != 0) | (np.diff(epoch[places]) != 0)
    record = np.cumsum(is_first) - 1
    first = places[is_first]
    decoded = places[is_decoded[places]]
    # Of equal records the last write wins, so they are written from the end.
    first[record[is_decoded[places]][::-1]] = decoded[::-1]
    return first


def of_other_log(known: KnownEpochs, offset: Places, epoch: Places, source: NDArray[np.int32]) -> Places:
    """Rows that equal no record at their offset although one of them counts. Where the warehouse (source 0) has both
    kinds, an earlier run has seen why."""
    if not len(known.unequal):
        return known.unequal
    is_unknown, is_held = epoch == NO_EPOCH, source == 0
    held_twice = np.intersect1d(offset[is_held & is_unknown], offset[is_held & ~is_unknown])
    # An epoch ends where a higher one begins: what it has from there on was truncated.
    highest = np.concatenate([[NO_EPOCH], np.maximum.accumulate(epoch)])
    before = highest[np.searchsorted(offset, offset[known.unequal])]
    is_explained = (before > epoch[known.unequal_to]) | np.isin(offset[known.unequal], held_twice)
    return known.unequal[~is_explained]
