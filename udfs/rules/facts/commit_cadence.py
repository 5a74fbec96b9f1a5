"""How often partitions of groups commit: the median gap between effective commits, where these show a rhythm.

A few commits within a second, as a tool or a transaction writes them, show none. A rhythm takes time to show itself:
more than a silence has to last that is held against it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Numbers
from udfs.lag.sums import sorted_within
from udfs.rules.facts.verdict_keys import KeyedCommits
from udfs.sentences.durations import SECOND

# In words a gap has whole seconds, so commits within one are at one time.
LEAST_COMMITS, LEAST_TIMES = 5, 3


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


def own_cadences(commits: KeyedCommits, num_keys: int, least_gaps: int, least_time: int) -> Numbers:
    """Of each key in microseconds; NONE: not known. It does not change while no commit comes. `least_gaps`,
    `least_time`: how long its commits have to go on, in usual gaps and in microseconds."""
    key, times = commits.key[commits.is_effective], commits.commit_time[commits.is_effective] // SECOND * SECOND
    is_same, steps = key[1:] == key[:-1], np.diff(times)
    # Where the clock was set back, nothing shows how much time passed.
    is_gap = is_same & (steps > 0)
    of_gaps, gaps = key[1:][is_gap], steps[is_gap]
    median = medians_of_cells(of_gaps, gaps, num_keys)
    span = np.zeros(num_keys, np.int64)
    np.add.at(span, of_gaps, gaps)
    is_rhythm = np.bincount(key, minlength=num_keys) >= LEAST_COMMITS
    is_rhythm &= np.bincount(of_gaps, minlength=num_keys) + 1 >= LEAST_TIMES
    is_rhythm &= span >= np.maximum(least_gaps * median, least_time)
    return np.where(is_rhythm, median, NONE)


def medians_of_cells(cell: Numbers, values: Numbers, num_cells: int) -> Numbers:
    """Whole numbers; NONE for a cell without values. Cells are in order."""
    number = np.bincount(cell, minlength=num_cells)
    begin = np.cumsum(number) - number
    ordered = np.append(sorted_within(cell, values), 0)
    is_there = number > 0
    low, high = (ordered[np.where(is_there, begin + place, 0)] for place in ((number - 1) // 2, number // 2))
    return np.where(is_there, ((low + high) / 2).astype(np.int64), NONE)
