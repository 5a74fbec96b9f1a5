"""How often partitions of groups commit: the median gap between effective commits."""

import numpy as np

from udfs.arrays.nullable import NONE, Numbers
from udfs.lag.sums import sorted_within
from udfs.rules.facts.verdict_keys import KeyedCommits

# One gap may be chance.
LEAST_GAPS = 2


def cadences(commits: KeyedCommits, group: Numbers) -> Numbers:
    """Of each key in microseconds, else the median of the other partitions of its group; NONE: not known. `group`: of
    each key."""
    own = own_cadences(commits, len(group))
    known = np.flatnonzero(own != NONE)
    known = known[np.argsort(group[known], kind="stable")]
    of_groups = medians_of_cells(group[known], own[known], int(group.max(initial=-1)) + 1)
    return np.where(own != NONE, own, of_groups[group])


def own_cadences(commits: KeyedCommits, num_keys: int) -> Numbers:
    key, times = commits.key[commits.is_effective], commits.commit_time[commits.is_effective]
    is_gap = key[1:] == key[:-1]
    number = np.bincount(key, minlength=num_keys)
    gaps = medians_of_cells(key[1:][is_gap], np.diff(times)[is_gap].clip(0), num_keys)
    return np.where(number > LEAST_GAPS, gaps, NONE)


def medians_of_cells(cell: Numbers, values: Numbers, num_cells: int) -> Numbers:
    """Whole numbers; NONE for a cell without values. Cells are in order."""
    number = np.bincount(cell, minlength=num_cells)
    begin = np.cumsum(number) - number
    ordered = np.append(sorted_within(cell, values), 0)
    is_there = number > 0
    low, high = (ordered[np.where(is_there, begin + place, 0)] for place in ((number - 1) // 2, number // 2))
    return np.where(is_there, ((low + high) / 2).astype(np.int64), NONE)
