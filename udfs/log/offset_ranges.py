"""Ranges of offsets, both ends included."""

from collections.abc import Iterable

import numpy as np

from udfs.arrays.nullable import Flags, Numbers, first_of

Range = tuple[int, int]


def join_ranges(ranges: Iterable[Range]) -> list[Range]:
    """The same offsets in as few ranges as there can be."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def join_by_group(groups: Numbers, firsts: Numbers, lasts: Numbers) -> dict[int, list[Range]]:
    """The same for many ranges of many groups."""
    order = np.lexsort((firsts, groups))
    groups, firsts = groups[order], firsts[order]
    is_new = first_of(groups)
    reached = running_most(is_new, lasts[order])
    begins = is_new.copy()
    # An end may be the largest number that there is.
    begins[1:] |= firsts[1:] - 1 > reached[:-1]
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(firsts))[: len(starts)] - 1
    joined: dict[int, list[Range]] = {}
    columns = groups[starts], firsts[starts], reached[ends]
    for group, first, last in zip(*(column.tolist() for column in columns), strict=True):
        joined.setdefault(group, []).append((first, last))
    return joined


def running_most(is_new: Flags, values: Numbers) -> Numbers:
    """The highest value so far, beginning anew where a new group begins."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), np.int64)
    # In a later group all ranks are higher, so none of an earlier one is left.
    ranks[order] = np.arange(len(values))
    before = (np.cumsum(is_new) - 1) * len(values)
    highest: Numbers = values[order][np.maximum.accumulate(ranks + before) - before]
    return highest
