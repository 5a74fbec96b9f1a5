"""How often partitions of groups commit: the median gap between effective commits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Numbers
from udfs.lag.sums import sorted_within
from udfs.rules.facts.verdict_keys import KeyedCommits

# One gap may be chance.
LEAST_GAPS = 2


@dataclass
class Cadences:
    """Of the keys of several ranges, in microseconds."""

    group_ids: list[pa.Array] = field(default_factory=list)
    own: list[Numbers] = field(default_factory=list)

    def add(self, group_ids: pa.Array, own: Numbers) -> None:
        """`group_ids`, `own`: of each key; NONE: not known."""
        is_known = own != NONE
        self.group_ids.append(group_ids.filter(pa.array(is_known)))
        self.own.append(own[is_known])

    @cached_property
    def by_group(self) -> dict[str, int]:
        """The median of the partitions of each group."""
        groups = pa.concat_arrays(self.group_ids).dictionary_encode()
        # Group and gap are put together in one number, which needs all its bits.
        group, own = groups.indices.to_numpy().astype(np.int64), np.concatenate(self.own)
        order = np.argsort(group, kind="stable")
        medians = medians_of_cells(group[order], own[order], len(groups.dictionary))
        return dict(zip(groups.dictionary.to_pylist(), medians.tolist(), strict=True))

    def or_of_others(self, own: Numbers, groups: Sequence[str], group: Numbers) -> Numbers:
        """Of each key its own, else the median of the other partitions of its group; NONE: not known. `group`: of each
        key, a place in `groups`."""
        of_groups = np.array([self.by_group.get(each, NONE) for each in groups], np.int64)
        return np.where(own != NONE, own, of_groups[group])


def own_cadences(commits: KeyedCommits, num_keys: int) -> Numbers:
    """Of each key in microseconds; NONE: not known."""
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
