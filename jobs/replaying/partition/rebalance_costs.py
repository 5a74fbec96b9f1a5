"""Adds up the unread times of the moves of each rebalance."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jobs.replaying.partition.row_keys import with_column
from udfs.arrays.nullable import NONE, Flags, Numbers, integers, numbers

Cost = tuple[int, int, int]
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
        sums = [np.zeros(len(assignment), np.int64) for _ in range(3)]
        np.add.at(sums[0], of_row, low[rows])
        np.add.at(sums[1], of_row, high[rows])
        np.maximum.at(sums[2], of_row, high[rows])
        return cls(assignment, *sums)

    def by_assignment(self) -> dict[int, Cost]:
        columns = (each.tolist() for each in (self.low, self.high, self.longest))
        return dict(zip(self.assignment.tolist(), zip(*columns, strict=True), strict=True))

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
