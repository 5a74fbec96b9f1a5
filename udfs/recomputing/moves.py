"""What moved from one assignment to the next, and the minimum that had to move (the KIP-429 measures of cost)."""

from dataclasses import dataclass

import numpy as np

from udfs.assignors.numbered import NOBODY
from udfs.assignors.problems import Numbers, Rows


@dataclass(frozen=True)
class Owners:
    """Before and now, by place: partitions of subscribed topics numbered through. NOBODY also stands for a member that
    is gone, GONE before."""

    before: Numbers
    now: Numbers


# The owner before has left the group; what it had moves in any case.
GONE = -2


def owners_by_place(rows: Rows, counts: Numbers) -> Numbers:
    """Of partitions that exist, the topics one behind the other; the last of several owners."""
    starts = np.cumsum(counts) - counts
    owners = np.full(int(counts.sum()), NOBODY, np.int64)
    rows = rows.take((rows.partitions >= 0) & (rows.partitions < counts[rows.topics]))
    owners[starts[rows.topics] + rows.partitions] = rows.members
    return owners


def moves_made(owners: Owners) -> int:
    """Partitions that an owner lost, to another one or, as cooperative groups do, to nobody for a while."""
    return int(np.count_nonzero((owners.before != NOBODY) & (owners.before != owners.now)))


def moves_needed(before: Numbers, num_members: int) -> int:
    """The least that leads to a balanced assignment, where all members subscribe to all the places' topics.

    A member keeps at most what a balanced assignment allows it, and as many as there are left over keep one more.
    """
    if not num_members:
        return 0
    share, extra = divmod(len(before), num_members)
    sizes = np.bincount(before[before >= 0], minlength=num_members)
    kept = int(np.minimum(sizes, share).sum()) + min(extra, int(np.count_nonzero(sizes > share)))
    return int(np.count_nonzero(before != NOBODY)) - kept
