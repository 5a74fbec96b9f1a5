"""Adds up the unread times of the moves of each rebalance."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jobs.replaying.partition.row_keys import with_column
from udfs.arrays.nullable import NONE, Flags, Numbers, integers, numbers
from udfs.groups.states.modern import UnreadTimes

COLUMNS = ("unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms")


@dataclass(frozen=True)
class Costs:
    """By the record that completes the assignment, which is unique for each rebalance of an offsets partition."""

    assignment: Numbers
    low: Numbers
    high: Numbers
    longest: Numbers

    @classmethod
    def of(cls, moves: pa.Table, which: Flags) -> "Costs":
        low, high = (numbers(moves.column(f"unread_{side}_ms")) for side in ("low", "high"))
        rows = np.flatnonzero(which & (high != NONE))
        assignment, of_row = np.unique(numbers(moves.column("assignment_offset"))[rows], return_inverse=True)
        costs = cls(assignment, *(np.zeros(len(assignment), np.int64) for _ in range(3)))
        np.add.at(costs.low, of_row, low[rows])
        np.add.at(costs.high, of_row, high[rows])
        np.maximum.at(costs.longest, of_row, high[rows])
        return costs

    def by_assignment(self) -> dict[int, UnreadTimes]:
        columns = (each.tolist() for each in (self.assignment, self.low, self.high, self.longest))
        return {
            assignment: UnreadTimes(low_ms=low, high_ms=high, longest_ms=longest)
            for assignment, low, high, longest in zip(*columns, strict=True)
        }

    def added_to(self, rebalances: pa.Table) -> pa.Table:
        """Adds to rows that may contain what earlier runs counted."""
        if not len(self.assignment) or not rebalances.num_rows:
            return rebalances
        offsets = numbers(rebalances.column("assignment_offset"))
        place = np.minimum(np.searchsorted(self.assignment, offsets), len(self.assignment) - 1)
        is_there = self.assignment[place] == offsets
        for name, mine in zip(COLUMNS, (self.low, self.high, self.longest), strict=True):
            known = numbers(rebalances.column(name))
            before = np.where(known == NONE, 0, known)
            both = np.maximum(before, mine[place]) if name == COLUMNS[-1] else before + mine[place]
            rebalances = with_column(rebalances, name, integers(np.where(is_there, both, known)))
        return rebalances
