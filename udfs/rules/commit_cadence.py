"""How often partitions of groups commit: the median gap between effective commits."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from udfs.replay.nullable import Numbers
from udfs.rules.lag_trend import median
from udfs.rules.verdict_keys import KeyedCommits

# One gap may be chance.
LEAST_GAPS = 2


class Cadences:
    """`group`: of each key. Worked out for the keys that are asked for."""

    def __init__(self, commits: KeyedCommits, group: Numbers) -> None:
        self.commits = commits
        self.group = group
        self.of_groups: dict[int, int | None] = {}

    def of(self, key: int) -> int | None:
        """In microseconds, of the key itself, else the median of the other partitions of its group."""
        return own if (own := self.own(key)) is not None else self.of_group(int(self.group[key]))

    def own(self, key: int) -> int | None:
        rows = slice(self.commits.bounds[key], self.commits.bounds[key + 1])
        times = self.commits.commit_time[rows][self.commits.is_effective[rows]]
        return int(median(np.diff(times).clip(0))) if len(times) > LEAST_GAPS else None

    def of_group(self, group: int) -> int | None:
        if group not in self.of_groups:
            gaps = [gap for key in self.keys_of[group] if (gap := self.own(key)) is not None]
            self.of_groups[group] = int(median(np.array(gaps))) if gaps else None
        return self.of_groups[group]

    @cached_property
    def keys_of(self) -> Sequence[list[int]]:
        order = np.argsort(self.group, kind="stable")
        bounds = np.cumsum(np.bincount(self.group))[:-1]
        return [part.tolist() for part in np.split(order, bounds)]
