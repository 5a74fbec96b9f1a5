"""Which record a row without a leader epoch is: an archive may lack the epochs that copies of the log have.

It is the record of an equal row with an epoch at its offset. If no row there is equal, it is a record of its own: one
of the two may have been truncated, which rows of these offsets alone do not show.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.nullable import Flags

Places = NDArray[np.int64]

# For NULL: below every epoch.
NO_EPOCH = -(2**31)


def with_epochs_known(
    winner: Places, offset: Places, epoch: Places, are_equal: Callable[[Places, Places], Flags]
) -> Places:
    """`winner`: for each row the one that takes the place of all rows of its offset and epoch. The result says which
    one takes the place of all rows of its record. Rows are numbered in the order of offset and epoch. `are_equal`
    compares the rows of two lists of numbers."""
    is_unknown = epoch == NO_EPOCH
    if is_unknown.all() or not is_unknown.any():
        return winner
    of_winner = np.arange(len(winner))
    is_winner = winner == of_winner
    unknown, named = np.flatnonzero(is_winner & is_unknown), np.flatnonzero(is_winner & ~is_unknown)
    least, end = (np.searchsorted(offset[named], offset[unknown], side) for side in ("left", "right"))
    candidate, left = end - 1, np.flatnonzero(end > least)
    # First the highest epoch at each offset: what a lower one has there is mostly truncated.
    while len(left):
        mine, others = unknown[left], named[candidate[left]]
        is_equal = are_equal(mine, others)
        of_winner[mine[is_equal]] = others[is_equal]
        candidate[left] -= 1
        left = left[~is_equal & (candidate[left] >= least[left])]
    return np.asarray(of_winner[winner])
