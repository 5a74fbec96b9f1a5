"""Sums and differences of offsets that may not fit into 64 bits. They stop at the largest or smallest number instead
of starting again at the other end, as plain ones do. Brokers take any 64-bit number as an offset."""

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.nullable import Numbers, Positions

LARGEST = int(np.iinfo(np.int64).max)


def capped(number: int) -> int:
    return min(number, LARGEST)


def capped_differences(one: Numbers, other: Numbers) -> Numbers:
    plain = one - other
    # The sign is wrong.
    is_too_far = ((one ^ other) & (one ^ plain)) < 0
    # Never -2**63, which means NULL.
    return np.where(is_too_far, np.where(one < 0, -LARGEST, LARGEST), plain) if is_too_far.any() else plain


def capped_sums(values: Numbers, starts: Positions) -> Numbers:
    """Of values from 0 on: from each start up to the next one."""
    sums = np.add.reduceat(values, starts)
    if int(values.max(initial=0)) <= LARGEST // max(len(values), 1):
        return np.asarray(sums)
    return where_too_large(sums, np.add.reduceat(values.astype(np.float64), starts))


def where_too_large(sums: Numbers, rounded: NDArray[np.float64]) -> Numbers:
    """Sums of values from 0 on that may have started again. `rounded`: the same sums as floating-point numbers."""
    # Up to twice the largest number a sum that does not fit is negative, so the rounded one need not be exact.
    return np.where((rounded >= 1.5 * LARGEST) | (sums < 0), LARGEST, sums)


def capped_integers(values: NDArray[np.float64]) -> Numbers:
    """Whole numbers of numbers from 0 on."""
    # The float of LARGEST is one more than it, and would become the smallest number.
    is_too_large = values >= float(LARGEST)
    return np.where(is_too_large, LARGEST, np.where(is_too_large, 0, values).astype(np.int64))
