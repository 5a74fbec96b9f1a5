"""Adds up the unread times of the moves of each rebalance."""

import numpy as np
import pyarrow as pa

from jobs.replaying.partition.row_keys import with_column
from udfs.arrays.nullable import NONE, Flags, integers, numbers

COLUMNS = ("unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms")


def with_costs(rebalances: pa.Table, moves: pa.Table, is_counted: Flags) -> pa.Table:
    """By the record that completes the assignment, which is unique for each rebalance of an offsets partition. `moves`:
    all of these rebalances, and perhaps others."""
    low, high = (numbers(moves.column(f"unread_{side}_ms")) for side in ("low", "high"))
    rows = np.flatnonzero(is_counted & (high != NONE))
    if not len(rows) or not rebalances.num_rows:
        return rebalances
    assignment, of_row = np.unique(numbers(moves.column("assignment_offset"))[rows], return_inverse=True)
    sums = np.zeros((len(COLUMNS), len(assignment)), np.int64)
    np.add.at(sums[0], of_row, low[rows])
    np.add.at(sums[1], of_row, high[rows])
    np.maximum.at(sums[2], of_row, high[rows])
    offsets = numbers(rebalances.column("assignment_offset"))
    place = np.minimum(np.searchsorted(assignment, offsets), len(assignment) - 1)
    is_there = assignment[place] == offsets
    for name, mine in zip(COLUMNS, sums, strict=True):
        rebalances = with_column(rebalances, name, integers(np.where(is_there, mine[place], NONE)))
    return rebalances
